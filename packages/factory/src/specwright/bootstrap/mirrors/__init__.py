"""What follows a project's log elsewhere: tables of the read model, a Hedera topic (design: read-model, hedera)."""
