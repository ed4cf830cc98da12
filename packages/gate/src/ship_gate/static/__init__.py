"""What the gate sees in the source of a candidate without running it (design: module-directory)."""
