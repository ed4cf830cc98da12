"""The documents of `--json`: their names, and the JSON Schema of each (design: command-line)."""
