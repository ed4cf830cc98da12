"""The embedded Wire log in SQLite (design: projection, wire)."""
