"""Makes module directories of functions that were written without the factory."""
