"""Offline verification of a project: seals, records, log and projection."""
