"""The Code Index in SQLite with exact vector search (design: code-index)."""
