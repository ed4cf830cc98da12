"""The command line (design: command-line)."""
