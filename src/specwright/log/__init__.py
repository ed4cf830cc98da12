"""The embedded Wire log in SQLite (D29, D32, D36)."""
