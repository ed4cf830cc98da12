"""What may cross a module's boundary: types, literals, classes with their fields, and how much (design: contracts)."""
