"""What is stored of a run, by whom it may be read, and how it is kept (F§5, F§7, F§8)."""
