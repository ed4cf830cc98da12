"""The command line (DESIGN §9)."""
