"""The ship gate: what code observes about a module (design: sealing, ship-gate)."""
