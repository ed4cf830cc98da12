"""The module directories are what the gate judges; their tests run in the gate, not here."""

collect_ignore_glob = ["modules/*"]
