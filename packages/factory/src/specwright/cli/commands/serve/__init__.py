"""Commands that serve other programs and browsers until they are stopped (design: command-line)."""
