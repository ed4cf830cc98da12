"""The module directories are what the gate judges; their tests run in the gate, not here."""

from gate_testkit.fixtures import kind, place, secret
from testkit.collection import (
    pytest_collection_modifyitems,
    pytest_runtest_logreport,
    pytest_runtestloop,
    pytest_sessionfinish,
)
from testkit.own_trust import own_trust

__all__ = [
    "kind",
    "own_trust",
    "place",
    "pytest_collection_modifyitems",
    "pytest_runtest_logreport",
    "pytest_runtestloop",
    "pytest_sessionfinish",
    "secret",
]

collect_ignore_glob = ["modules/*"]
