"""Interface change exceptions as the factory handles them (design: interface-changes)."""
