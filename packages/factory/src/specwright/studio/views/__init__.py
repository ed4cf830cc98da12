"""What the pages show, as records made from the log and the store (design: studio)."""
