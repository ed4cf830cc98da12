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
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Mapping, Sequence
from importlib import resources
from typing import Any

from .results import named_results, part_of
from .scalars import ValueProblem
from .types import Types

__all__ = [
    "CLOCK",
    "Function",
    "ServerOptions",
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
    return dict(json.loads(text))


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

    def declared(self, error: BaseException) -> str:
        """The name of the declared error that this one is; empty if it is none."""
        names = [kind.__name__ for kind in type(error).__mro__]
        return next((name for name in names if name in self._stated["errors"]), "")


class ServerOptions:
    """The parameters that no request gives, but the person who starts a server.

    Args:
        stated: What the document says of them.
        functions: Of the product, by name.
        words: Those that were given, by parameter.

    Raises:
        ValueProblem: a word is no value of its type.
    """

    def __init__(
        self,
        stated: Sequence[Mapping[str, str]],
        functions: Mapping[str, Function],
        words: Mapping[str, str] | None = None,
    ) -> None:
        self._words = {one["parameter"]: one["default"] for one in stated} | dict(words or {})
        for one in stated:
            try:
                self.value(functions[one["calls"]], one["parameter"], one["type"])
            except ValueProblem as problem:
                raise ValueProblem(f"--{one['name']}: {problem}") from problem

    def value(self, function: Function, parameter: str, kind: str) -> Any:
        """What a function is called with; the clock is read now."""
        return function.default(kind, self._words[parameter])

    @staticmethod
    def add_to(parser: ArgumentParser, stated: Sequence[Mapping[str, str]]) -> None:
        """Have a program take them."""
        for one in stated:
            clock = one["default"] in CLOCK
            told = "the clock, at each request" if clock else one["default"]
            parser.add_argument(
                f"--{one['name']}",
                dest=f"of_{one['parameter']}",
                metavar="WORD",
                help=escaped("; ".join([*([one["help"]] if one["help"] else []), f"default: {told}"])),
            )

    @staticmethod
    def words(chosen: Namespace, stated: Sequence[Mapping[str, str]]) -> dict[str, str]:
        """The words that a command line has of them, by parameter."""
        words = {one["parameter"]: getattr(chosen, f"of_{one['parameter']}") for one in stated}
        return {name: word for name, word in words.items() if word is not None}


def exit_code(rules: list[dict[str, Any]], outputs: Mapping[str, Any]) -> int:
    """What the result says as an exit code: that of the first rule that holds, else 0."""
    for rule in rules:
        value = part_of(outputs, rule["of"]) if rule["of"] else next(iter(outputs.values()))
        if bool(value) == (rule["when"] == "filled"):
            return int(rule["code"])
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
