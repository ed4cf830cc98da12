"""The environment variables of the tests' process and the module's: a call finds those of its caller, and leaves its own
behind there (design: module-directory).

Both processes start with the same variables, so only the differences travel.
"""

import contextlib
import os
from typing import Any, cast

Variables = dict[str, str]
Differences = dict[str, str | None]
"""Variables that differ from those at the start; None for one that is gone."""

_OWN = "PYTEST_"
"""How the names begin that pytest sets for itself."""


def differences(start: Variables) -> Differences:
    """What the variables of this process have become since its start."""
    now = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
    changed: Differences = {name: value for name, value in now.items() if start.get(name) != value}
    return {**changed, **dict.fromkeys(start.keys() - now.keys())}


def restore(start: Variables, changed: object = None) -> None:
    """Set the variables of this process to those of its start, with differences that came from the other process."""
    given = cast("dict[str, Any]", changed) if isinstance(changed, dict) else {}
    wanted: dict[str, Any] = {**start, **given}
    for name in [name for name in os.environ if not name.startswith(_OWN)]:
        if wanted.get(name) is None:
            del os.environ[name]
    for name, value in wanted.items():
        if isinstance(value, str) and not name.startswith(_OWN) and os.environ.get(name) != value:
            with contextlib.suppress(ValueError):  # what no variable can be
                os.environ[name] = value
