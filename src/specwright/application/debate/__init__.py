"""The debate over a deliverable: who is told what, and what becomes of their words (F§9, D10, D11)."""
