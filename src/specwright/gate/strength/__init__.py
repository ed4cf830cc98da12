"""Whether the tests of a module would notice a fault in it (DESIGN §8, D-S8-07, D-S8-08)."""
