"""The debate: its records, and the rules for challenges, rulings and amendments (design: debate)."""
