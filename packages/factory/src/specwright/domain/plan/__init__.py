"""Micro plans: the model, the rules, and plans that a person writes (design: planning)."""
