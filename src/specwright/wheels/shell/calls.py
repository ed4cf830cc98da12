"""Calls of a product's functions by what `interface.json` says of them."""

import asyncio
import contextlib
import datetime
import importlib
import json
import signal
import sys
import traceback
import uuid
from collections.abc import Generator, Mapping
from importlib import resources
from typing import Any

from .results import named_results, part_of
from .types import Types

__all__ = [
    "CLOCK",
    "Function",
    "clock_value",
    "document",
    "escaped",
    "exit_code",
    "extra_missing",
    "log_fault",
    "signals_end",
]

PACKAGE = __package__.rpartition(".")[0] if __package__ else ""


def document() -> dict[str, Any]:
    """The interfaces of this product."""
    text = resources.files(__package__ or "").joinpath("interface.json").read_text(encoding="utf-8")
    return json.loads(text)


class Function:
    """A public function of the product.

    Args:
        name: Of the function.
        stated: What the document says of it.
    """

    def __init__(self, name: str, stated: Mapping[str, Any]) -> None:
        self.name = name
        self.types = Types(PACKAGE, stated["classes"])
        self._stated = stated

    @property
    def is_pure(self) -> bool:
        """Whether its contract declares no effect."""
        return not self._stated["effects"]

    def default(self, kind: str, word: str) -> Any:
        """The value of a default that the interface states."""
        return clock_value(word) if word in CLOCK else self.types.from_word(kind, word)

    def call(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Its outputs by name."""
        module = importlib.import_module(f"{PACKAGE}.{self._stated['module']}")
        result = getattr(module, self.name)(**arguments)
        if self._stated["is_async"]:
            result = asyncio.run(result)
        outputs = list(self._stated["outputs"])
        return named_results(outputs, result) if outputs else {}

    def declared(self, error: Exception) -> str:
        """The name of the declared error that this one is; empty if it is none."""
        names = [kind.__name__ for kind in type(error).__mro__]
        return next((name for name in names if name in self._stated["errors"]), "")


def exit_code(rules: list[dict[str, Any]], outputs: Mapping[str, Any]) -> int:
    """What the result says as an exit code: that of the first rule that holds, else 0."""
    for rule in rules:
        value = part_of(outputs, rule["of"]) if rule["of"] else next(iter(outputs.values()))
        if bool(value) == (rule["when"] == "filled"):
            return rule["code"]
    return 0


CLOCK = ("today", "now")
"""Defaults that are read from the clock."""


def clock_value(word: str) -> datetime.datetime | datetime.date:
    """What the clock of this machine says."""
    now = datetime.datetime.now().astimezone()  # noqa: TID251 - the shell is where a clock comes in
    return now.date() if word == "today" else now


def escaped(text: str) -> str:
    """A text of a parser, which argparse formats only if it names the program."""
    return text.replace("%", "%%") if "%(prog)" in text else text


def log_fault() -> str:
    """Write the traceback of the error that is handled to stderr, under an id; the id."""
    number = uuid.uuid4().hex  # noqa: TID251 - the shell is where randomness comes in
    now = datetime.datetime.now(datetime.UTC)  # noqa: TID251 - and the clock
    told = f"{now.isoformat(timespec='seconds')} fault {number}\n{traceback.format_exc()}"
    print(told, file=sys.stderr, flush=True)  # noqa: T201 - the log of a server
    return number


def extra_missing(name: str, distribution: str, extra: str) -> int:
    """Say what to install; the exit code."""
    print(f"{name}: it needs more packages; pip install '{distribution}[{extra}]'", file=sys.stderr)  # noqa: T201
    return 1


@contextlib.contextmanager
def signals_end() -> Generator[None]:
    """Let a server end by SIGINT and SIGTERM without the signal ending the process after it."""

    def ignore(number: int, frame: object) -> None:
        """The server has ended already."""

    before = {one: signal.signal(one, ignore) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
