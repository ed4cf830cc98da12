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
    │   ├── ModelUnavailableError    the endpoint refuses the request
    │   │   ├── NoAccessError   exit 4   it refuses the key, or does not know the model
    │   │   ├── UnreachableError    exit 5   it cannot be reached, is busy or broken, or asks to wait
    │   │   └── NoCreditError   exit 6   the account behind the key is empty
    │   └── AnswerError              the role never gave a usable answer; the raw answers are kept
    ├── DatabaseUnavailableError    exit 1   a database server cannot be reached
    ├── NetworkUnavailableError     exit 1   the network of a topic, or its mirror node, cannot be reached
    ├── CorruptionError         exit 1
    │   └── NonDeterminismError      a repeated request differs from the journalled one
    ├── BudgetError             exit 3   the next call may exceed a budget
    ├── ChangeRaisedError       exit 1   a role found a dependency's contract wrong; its task halts
    └── InterruptedRunError     exit 130 somebody stopped it; it can go on
"""

from typing import ClassVar

import agent_wire.errors as wire
from ship_gate.errors import CorruptionError, InputError, RefusedError, ShipGateError
from ship_gate.errors import InterruptedRunError as InterruptedRunError
from ship_gate.errors import UntrustedError as UntrustedError

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
    """The endpoint gives no answer to this request."""


class NoAccessError(ModelUnavailableError):
    """The endpoint refuses the key, or does not know the model.

    Args:
        options: Of the `run` that goes on; empty if only the key is wrong.
    """

    exit_code: ClassVar[int] = 4

    def __init__(self, what: str, *, where: str = "", remedy: str = "", options: str = "") -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.options = options


class UnreachableError(ModelUnavailableError):
    """The endpoint cannot be reached, is busy or broken: the same request may be answered later."""

    exit_code: ClassVar[int] = 5


class NoCreditError(ModelUnavailableError):
    """The account behind a key is empty: a person adds credit, and the run goes on."""

    exit_code: ClassVar[int] = 6


class AnswerError(ModelError):
    """A role gave no usable answer within its attempts, or one that ends its task.

    Args:
        raw_answers: The answers as they came, oldest first, for the escalation.
        problems: Everything that was wrong with the last of them.
        fault: What ends the task: `spec`, if code confirmed that what was approved is wrong (design: contract-at-fault).
    """

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        remedy: str = "",
        raw_answers: tuple[str, ...] = (),
        problems: tuple[str, ...] = (),
        fault: str = "",
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.raw_answers = raw_answers
        self.problems = problems
        self.fault = fault


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
