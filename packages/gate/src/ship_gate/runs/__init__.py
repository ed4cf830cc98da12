"""Runs of a module's tests and examples in the sandbox."""
