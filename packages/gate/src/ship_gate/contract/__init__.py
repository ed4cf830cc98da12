"""Contracts of micro modules: types, rules, docstrings, obligations and examples (design: contracts, module-directory)."""
