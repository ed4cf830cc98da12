"""The documents that commands print with `--json`, that their pages show, and that the studio shows (design:
command-line)."""
