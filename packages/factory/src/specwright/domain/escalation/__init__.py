"""Escalations and the answers that a person may give (design: escalation)."""
