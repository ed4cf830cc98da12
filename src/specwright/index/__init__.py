"""The Code Index in SQLite with exact vector search (F§14, DESIGN §12)."""
