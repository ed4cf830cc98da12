"""Functions that were written without the factory, as modules with contracts."""
