"""What belongs to the whole process: its environment variables, and what else may outlive a call (design: ship-gate,
module-directory).

A call finds the environment variables of its caller, and leaves its own behind there. The tests' process and the module's
start with the same variables, so only the differences travel. All else is compared before and after each call.

Left out: what is changed and put back within one call, of which nobody else sees anything.
"""

import contextlib
import csv
import decimal
import os
import random  # noqa: TID251 - the generator that all share is compared, not used
import sys
import warnings
from _locale import LC_ALL, setlocale
from typing import Any, cast


def process_state() -> dict[str, Any]:
    """What a call could leave changed, by its name."""
    context = decimal.getcontext()
    return {
        "the working directory": _folder(),
        "the locale": setlocale(LC_ALL, None),
        "the decimal context": (
            context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp,
            [signal for signal, is_trapped in context.traps.items() if is_trapped],
        ),
        "the recursion limit": sys.getrecursionlimit(),
        "the limit of digits": sys.get_int_max_str_digits(),
        "the filters of warnings": [*warnings.filters],
        "the dialects of csv": (csv.list_dialects(), csv.field_size_limit()),
        "the handlers of logs": _of_logs(),
        "a hook of the interpreter": (sys.excepthook, sys.displayhook, sys.unraisablehook),
        "the path of imports": ([*sys.path], [*sys.meta_path], [*sys.path_hooks]),
        "the generator of chance": random.getstate(),
    }  # fmt: skip


def _of_logs() -> tuple[int, list[Any], int]:
    """The library is loaded by modules that log; until then it is as it will be when it is loaded."""
    library: Any = sys.modules.get("logging")
    if library is None:
        return 30, [], 0
    return library.root.level, [*library.root.handlers], library.root.manager.disable


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str]]:
    """What is another than before: the kind of effect, and the name."""
    return [
        ("RANDOMNESS" if name == "the generator of chance" else "MUTATION", name)
        for name, value in after.items()
        if before[name] != value
    ]


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - asked at each call
    except OSError:
        return ""


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
