"""Specwright: a software factory that turns a one-page SPEC.md into an installable package, with evidence."""

__all__ = ["__version__"]

__version__ = "0.1.0"
