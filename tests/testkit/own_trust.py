"""A record of trust that belongs to a test run; it needs nothing of the packages."""

from collections.abc import Iterator

import pytest

__all__ = ["own_trust"]


@pytest.fixture(scope="session", autouse=True)
def own_trust(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A record of trust of this test run, for its processes too; never that of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
