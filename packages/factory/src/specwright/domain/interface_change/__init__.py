"""How the contract of a sealed module may change (design: interface-changes)."""
