"""Fixtures of the storage tests."""

import pytest


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def asynchronous(request: pytest.FixtureRequest) -> bool:
    """Which twin of every method is called."""
    return request.param
