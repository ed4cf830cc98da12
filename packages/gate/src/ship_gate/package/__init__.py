"""Judges the public functions of a package where they are: no copy of a function, no contract (design: package-gate)."""
