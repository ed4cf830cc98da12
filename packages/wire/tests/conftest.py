"""Hooks of all tests of the wire package."""

from testkit.collection import (
    pytest_collection_modifyitems,
    pytest_runtest_logreport,
    pytest_runtestloop,
    pytest_sessionfinish,
)

__all__ = [
    "pytest_collection_modifyitems",
    "pytest_runtest_logreport",
    "pytest_runtestloop",
    "pytest_sessionfinish",
]
