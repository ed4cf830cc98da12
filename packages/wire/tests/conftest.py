"""Hooks of all tests of the wire package."""

from testkit.collection import pytest_collection_modifyitems

__all__ = ["pytest_collection_modifyitems"]
