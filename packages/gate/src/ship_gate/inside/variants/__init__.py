"""The run of the mutants inside the sandbox: a fork for each variant of a module."""
