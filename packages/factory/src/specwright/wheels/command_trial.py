"""Tries the command of an installed product: its help, wrong calls, and Ctrl-C (design: shell).

Each call has a process of its own in the sandbox; this module decides whether it ended rightly. What the shell itself must
do is the same for every product: it complains in a line, never with a traceback, and ends with the codes that it states.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ship_gate.base.text import shortened
from specwright.ports.packaging import (
    CommandEnd,
    ExampleOutcome,
    InstalledProduct,
    NoReportError,
    ProductPackage,
    ProductTrials,
)
from specwright.wheels.environment import CleanEnvironment
from specwright.wheels.wheel import programs_of

USAGE, INTERRUPTED = 2, 130
_ILL = "\x1b[31m?\u2028"
"""A word that is no number, no date, and not fit to be printed."""
_TRACEBACK = b"Traceback (most recent call last)"

Trial = Callable[[], ExampleOutcome]


def script_problem(environment: CleanEnvironment, product: ProductPackage) -> str:
    """Whether the installation lacks a program."""
    for name in programs_of(product):
        if not (environment.python.parent / name).is_file():
            return f"the installed wheel has no command {name}"
    return ""


def command_trials(installed: InstalledProduct, trials: ProductTrials, seconds: float) -> list[Trial]:
    """Everything that is tried; none of a product without a command.

    Args:
        installed: The product.
        trials: Runs its command.
        seconds: For each call.
    """
    if "command" not in (installed.product.interface or {}):
        return []
    return [*_Calls(installed, trials, seconds).of_shell()]


class _ShellCall(NamedTuple):
    """How a call of the shell itself must end.

    Args:
        arguments: Of the call.
        code: The exit code.
        stdout: How its output begins; empty if it prints nothing.
        stderr: Whether it complains.
    """

    arguments: tuple[str, ...]
    code: int
    stdout: str = ""
    stderr: bool = True


class _Calls:
    """Calls of one installed command."""

    def __init__(self, installed: InstalledProduct, trials: ProductTrials, seconds: float) -> None:
        assert installed.product.interface is not None
        self._installed, self._trials, self._seconds = installed, trials, seconds
        self._command: Mapping[str, Any] = installed.product.interface["command"]
        self._name: str = self._command["name"]

    def of_shell(self) -> Iterator[Trial]:
        """Help, wrong calls, and Ctrl-C as it starts."""
        expected = [
            _ShellCall(("--help",), 0, "usage:", stderr=False),
            _ShellCall(("--version",), 0, self._name, stderr=False),
        ]
        for one in self._command["uses"]:
            first = (one["subcommand"],) if one["subcommand"] else ()
            if first:
                expected.append(_ShellCall((*first, "--help"), 0, "usage:", stderr=False))
            expected += [_ShellCall((*first, *words), USAGE) for words in _wrong_words(one["words"])]
        if self._command["uses"][0]["subcommand"]:
            expected += [_ShellCall((), USAGE), _ShellCall(("no-such-subcommand",), USAGE)]
        for place, one in enumerate(expected):
            yield self._trial(one, f"c{place}")
        yield self._interrupted_start

    def _trial(self, expected: _ShellCall, place: str) -> Trial:
        def run() -> ExampleOutcome:
            heading = " ".join((self._name, *(ascii(word)[1:-1] for word in expected.arguments)))
            try:
                end = self._call(place, expected.arguments)
                problem = _shell_problem(end, expected)
            except NoReportError as error:
                problem = str(error)
            return self._outcome(heading, problem)

        return run

    def _interrupted_start(self) -> ExampleOutcome:
        try:
            end = self._call("c-interrupted", ("--help",), interrupted=True)
            problem = _interruption_problem(end)
        except NoReportError as error:
            problem = str(error)
        return self._outcome(f"Ctrl-C as {self._name} starts", problem)

    def _outcome(self, heading: str, problem: str) -> ExampleOutcome:
        return ExampleOutcome(self._name, heading, not problem, problem, kind="command")

    def _call(self, place: str, arguments: Sequence[str], *, interrupted: bool = False) -> CommandEnd:
        return self._trials.run_command(
            self._installed, place, arguments, self._seconds, interrupted=interrupted
        )


def _wrong_words(words: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Wrong calls of a subcommand: an unknown option, nothing where something is needed, words that are no values."""
    yield ("--no-such-option",)
    needed = [word for word in words if word["needed"] and word["place"] != "stdin"]
    if needed:
        yield ()
    for word in words:
        if word["place"] == "stdin" or word["flag"]:
            continue
        if word["content"] != "value" or not _is_free(word["type"]):
            ill = "no/such/file" if word["content"] != "value" else _ILL
            yield tuple(_written(one, ill if one is word else "1") for one in words if one in (word, *needed))


def _is_free(kind: str) -> bool:
    """Whether any word is a value."""
    return re.search(r"\b(str|Path)\b", re.sub(r"'[^']*'", "", kind)) is not None


def _written(word: Mapping[str, Any], text: str) -> str:
    return f"--{word['name']}={text}" if word["place"] == "option" else text


def _shell_problem(end: CommandEnd, expected: _ShellCall) -> str:
    if _TRACEBACK in end.stderr:
        return f"it shows a traceback: {_shown(end.stderr)}"
    if end.code != expected.code:
        return f"it ends with exit code {end.code}, not {expected.code}; {_shown(end.stderr)}"
    printed = end.stdout.decode("utf-8", "replace")
    if not printed.startswith(expected.stdout) or bool(printed) != bool(expected.stdout):
        return f"it prints {_shown(end.stdout)}"
    if bool(end.stderr) != expected.stderr:
        return f"on stderr stands {_shown(end.stderr)}"
    return (
        ""
        if b"\x1b" not in end.stderr
        else "it passes the control characters of an argument on to the terminal"
    )


def _interruption_problem(end: CommandEnd) -> str:
    if not end.interrupted:
        return "it ended before Ctrl-C came"
    if _TRACEBACK in end.stderr:
        return f"it shows a traceback: {_shown(end.stderr)}"
    return "" if end.code == INTERRUPTED else f"it ends with exit code {end.code}, not {INTERRUPTED}"


def _shown(data: bytes) -> str:
    return shortened(repr(data.decode("utf-8", "replace")), 300)
