"""Inputs drawn from a contract, to see whether the module keeps it (design: module-directory, ship-gate)."""
