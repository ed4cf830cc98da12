"""Writing to a terminal: results, errors, tables, progress."""
