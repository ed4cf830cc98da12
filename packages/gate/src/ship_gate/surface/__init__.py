"""The public surface of a module: extracted from source, compared with the contract."""
