"""Sealed modules: ship evidence, Code Index entries, releases (design: sealing, code-index)."""
