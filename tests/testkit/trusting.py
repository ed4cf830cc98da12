"""What the user of a test trusts: settings that a test writes are its user's own, unless the test is about a stranger's."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ship_gate.trust import record_trust
from specwright.bootstrap.storage.stores import LAST_RUN
from specwright.cli.session.options import decisive_options
from specwright.errors import SpecwrightError
from specwright.settings import decisive_in_file

__all__ = ["own_trust", "trusting"]


@pytest.fixture(scope="session", autouse=True)
def own_trust(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A record of trust of this test run, for its processes too; never that of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


def trusting(*places: object) -> None:
    """Trust the settings and the last options in those of some places that are projects; those of this directory, too."""
    for place in (Path(), *map(Path, map(str, places))):
        # what is damaged on purpose is left to the command
        with suppress(SpecwrightError, OSError, ValueError, TypeError, AttributeError):
            record_trust(place, decisive_in_file(place))
            if (place / LAST_RUN).is_file():
                record_trust(place, decisive_options(place))
