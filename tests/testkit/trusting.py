"""What the user of a test trusts: settings that a test writes are its user's own, unless the test is about a stranger's."""

from contextlib import suppress
from pathlib import Path

from ship_gate.trust import record_trust
from specwright.bootstrap.run_options import decisive_options
from specwright.bootstrap.stores import LAST_RUN
from specwright.errors import SpecwrightError
from specwright.settings import decisive_in_file

__all__ = ["trusting"]


def trusting(*places: object) -> None:
    """Trust the settings and the last options in those of some places that are projects; those of this directory, too."""
    for place in (Path(), *map(Path, map(str, places))):
        # what is damaged on purpose is left to the command
        with suppress(SpecwrightError, OSError, ValueError, TypeError, AttributeError):
            record_trust(place, decisive_in_file(place))
            if (place / LAST_RUN).is_file():
                record_trust(place, decisive_options(place))
