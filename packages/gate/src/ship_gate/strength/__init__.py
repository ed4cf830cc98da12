"""Whether the tests of a module would notice a fault in it (design: ship-gate)."""
