"""The debate over a deliverable: who is told what, and what becomes of their words (design: debate)."""
