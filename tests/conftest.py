"""What holds for all tests: the marker `nightly` implies `slow`, and how long properties are searched.

A property without a number of its own tries 60 examples; `make test-nightly` tries many more, of the fast properties too.
"""

import pytest
from hypothesis import settings

settings.register_profile("quick", settings(), max_examples=60, deadline=None)
settings.register_profile("thorough", settings(), max_examples=1000, deadline=None)
settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark nightly tests as slow too, so that `-m "not slow"` is the fast tests alone."""
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.slow)
