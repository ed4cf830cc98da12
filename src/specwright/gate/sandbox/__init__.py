"""Processes that may do little, are bounded in everything, and leave nothing (DESIGN §8, D-S8-10, D-S8-11)."""
