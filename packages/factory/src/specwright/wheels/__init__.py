"""Releases as installable wheels (design: release)."""

from specwright.wheels.exercise import FlitPackager, Limits

__all__ = ["FlitPackager", "Limits"]
