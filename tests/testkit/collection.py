"""What holds for the tests of every package: the marker `nightly` implies `slow`, and how long properties are searched.

A property without a number of its own tries 20 examples; `make test-nightly` tries many more, of the fast properties too.
A conftest imports the hook from here.
"""

import signal

import pytest
from hypothesis import settings

__all__ = ["pytest_collection_modifyitems"]

settings.register_profile("quick", settings(), max_examples=20, deadline=None)
settings.register_profile("thorough", settings(), max_examples=1000, deadline=None)
settings.load_profile("quick")

# a shell starts what runs in the background with Ctrl-C ignored, and what the tests start would ignore it too
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark nightly tests as slow too, so that `-m "not slow"` is the fast tests alone."""
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.slow)
