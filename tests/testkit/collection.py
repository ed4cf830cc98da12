"""What holds for the tests of every package: the marker `nightly` implies `slow`, and how long properties are searched.

A property without a number of its own tries 20 examples; `make test-nightly` tries many more, of the fast properties too.
With SKIPPED_TO=FILE the tests that were skipped are listed there, so that `make test-skipped` can run them where nothing
is missing. A conftest imports the hooks from here.

What is imported and collected stays to the end: the garbage collector does not look at it, which took a tenth of the time.
"""

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

__all__ = [
    "pytest_collection_modifyitems",
    "pytest_runtest_logreport",
    "pytest_runtestloop",
    "pytest_sessionfinish",
]

_SKIPPED = dict[str, None]()

gc.disable()
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


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Collect the garbage of tests alone."""
    gc.freeze()
    gc.enable()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that was skipped."""
    if report.skipped and not hasattr(report, "wasxfail"):
        _SKIPPED[report.nodeid] = None


def pytest_sessionfinish() -> None:
    """Write what was skipped, a test a line."""
    wanted = os.environ.get("SKIPPED_TO")
    if wanted and "PYTEST_XDIST_WORKER" not in os.environ:
        Path(wanted).parent.mkdir(exist_ok=True)
        Path(wanted).write_text("".join(f"{name}\n" for name in _SKIPPED), encoding="utf-8")
