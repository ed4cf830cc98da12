"""How a result came about: provenance of a module, rounds of a debate."""
