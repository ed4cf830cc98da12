"""Every error that a person may see, drawn once. The gate's are the base; a log of Wires raises the wire package's own, so
an `except` clause names both by a tuple: `SpecwrightErrors`, `InputErrors`, `RefusedErrors`,
`CorruptionErrors`.

An error says what failed, where, and what to do next. `exit_code` is what the command line returns for it
(design: command-line). "You gave something wrong" (`InputError`), "a rule refused it" (`RefusedError`), "the other side
broke" (`ModelError`) and "our own records disagree" (`CorruptionError`) are different classes.

    SpecwrightError
    ├── InputError              exit 2
    │   ├── ScriptError         exit 1   the scripted answers hold none for this place
    │   └── UntrustedError      exit 2   a setting came with the project, and its user has not trusted it
    ├── RefusedError            exit 1
    │   └── BusyError           exit 1   somebody else holds the project
    ├── ModelError              exit 1
    │   ├── ModelUnavailableError    the endpoint cannot be reached or refuses us
    │   │   └── NoCreditError  exit 3   the account behind the key is empty
    │   ├── NoAccessError   exit 3   it refuses a key or a model that had answered before
    │   └── AnswerError              the role never gave a usable answer; the raw answers are kept
    ├── DatabaseUnavailableError    exit 1   a database server cannot be reached
    ├── NetworkUnavailableError     exit 1   the network of a topic, or its mirror node, cannot be reached
    ├── CorruptionError         exit 1
    │   └── NonDeterminismError      a repeated request differs from the journalled one
    ├── BudgetError             exit 3   the next call may exceed a budget
    ├── ChangeRaisedError       exit 1   a role found a dependency's contract wrong; its task halts
    └── InterruptedRunError     exit 130 somebody stopped it; it can go on
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import ClassVar

import agent_wire.errors as wire
from ship_gate.errors import (
    CorruptionError,
    InputError,
    InterruptedRunError,
    RefusedError,
    ShipGateError,
    UntrustedError,
)

__all__ = [
    "AnswerError",
    "AnyError",
    "BudgetError",
    "BusyError",
    "ChangeRaisedError",
    "CorruptionError",
    "CorruptionErrors",
    "DatabaseUnavailableError",
    "InputError",
    "InputErrors",
    "InterruptedRunError",
    "ModelError",
    "ModelUnavailableError",
    "NetworkUnavailableError",
    "NoAccessError",
    "NoCreditError",
    "NonDeterminismError",
    "RefusedError",
    "RefusedErrors",
    "ScriptError",
    "SpecwrightError",
    "SpecwrightErrors",
    "UntrustedError",
]

SpecwrightError = ShipGateError
"""The base class, under the name that this package's users know it by."""

BusyError = wire.BusyError
DatabaseUnavailableError = wire.DatabaseUnavailableError
NetworkUnavailableError = wire.NetworkUnavailableError

AnyError = ShipGateError | wire.AgentWireError
SpecwrightErrors = (ShipGateError, wire.AgentWireError)
InputErrors = (InputError, wire.InputError)
RefusedErrors = (RefusedError, wire.RefusedError)
CorruptionErrors = (CorruptionError, wire.CorruptionError)


class ScriptError(InputError):
    """The scripted answers hold none for a place that a run has come to; what was done is kept."""

    exit_code: ClassVar[int] = 1


class ModelError(SpecwrightError):
    """The model's side failed."""


class ModelUnavailableError(ModelError):
    """The endpoint cannot be reached, or refuses the request."""


class NoCreditError(ModelUnavailableError):
    """The account behind a key is empty: a person adds credit, and the run goes on."""

    exit_code: ClassVar[int] = 3


class NoAccessError(ModelError):
    """The endpoint refuses a key or a model after it was paid for answers: a person mends it, and the run goes on."""

    exit_code: ClassVar[int] = 3


class AnswerError(ModelError):
    """A role gave no usable answer within its attempts.

    Args:
        raw_answers: The answers as they came, oldest first, for the escalation.
        problems: Everything that was wrong with the last of them.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        remedy: str = "",
        raw_answers: tuple[str, ...] = (),
        problems: tuple[str, ...] = (),
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.raw_answers = raw_answers
        self.problems = problems


class NonDeterminismError(CorruptionError):
    """A request that is repeated differs from the journalled one at its place (design: journal)."""


class BudgetError(SpecwrightError):
    """The next call of a model may exceed a budget; a person may raise it, and the run goes on.

    Args:
        setting: The budget; empty if it is another matter than its size.
        enough: A budget that the call fits into.
    """

    exit_code: ClassVar[int] = 3

    def __init__(
        self, what: str, *, where: str = "", remedy: str = "", setting: str = "", enough: str = ""
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.setting = setting
        self.enough = enough


class ChangeRaisedError(SpecwrightError):
    """A role raised an interface change exception: its task halts, and a person decides (design: interface-changes).

    Args:
        exception_id: `ICE-...`.
    """

    def __init__(self, exception_id: str) -> None:
        super().__init__(f"the interface change exception {exception_id} was raised")
        self.exception_id = exception_id


@contextmanager
def needing_extra(extra: str, who: str, where: str = "") -> Generator[None]:
    """Say what to install where an import in the block fails.

    Args:
        extra: Of this distribution.
        who: Needs it, with the verb: `workers need`.
        where: The setting or the command; by default the extra.

    Raises:
        InputError: a package of the extra is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise InputError(
            f"{who} the package {error.name}, which is not installed",
            where=where or extra,
            remedy=f"pip install 'specwright-factory[{extra}]'",
        ) from error
