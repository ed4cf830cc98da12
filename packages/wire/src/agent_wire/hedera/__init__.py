"""Mirrors the log on a topic of the Hedera Consensus Service (design: mirrors)."""
