"""Fixtures of the gate's own tests."""

from gate_testkit.fixtures import kind, place, secret

__all__ = ["kind", "place", "secret"]
