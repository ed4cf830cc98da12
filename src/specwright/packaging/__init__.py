"""Releases as installable wheels (D28)."""

from specwright.packaging.exercise import Limits
from specwright.packaging.flit_packager import FlitPackager

__all__ = ["FlitPackager", "Limits"]
