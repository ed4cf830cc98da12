"""Stops: why the factory asks a person, and how it goes on with the answer (F§10.3, F§17)."""
