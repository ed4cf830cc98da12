"""Agent Wire v1.1: the typed, replayable event protocol. Imports without the factory."""
