"""Processes that may do little, are bounded in everything, and leave nothing (design: ship-gate)."""
