"""Inputs drawn from a contract, to see whether the module keeps it (DESIGN §8.1, D-S8-14)."""
