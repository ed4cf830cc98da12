"""Logs are closed after each test."""

from collections.abc import Iterator

import pytest

from wire_testkit.damage import OPENED


@pytest.fixture(autouse=True)
def logs_are_closed() -> Iterator[None]:
    """Close what the test opened."""
    yield
    while OPENED:
        OPENED.pop().close()
