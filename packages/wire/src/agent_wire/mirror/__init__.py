"""The read model: what a log says as tables for reading, in SQLite or Postgres (design: mirrors)."""
