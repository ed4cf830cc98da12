"""Halts, stalls, and what a person's answer does (design: escalation)."""
