"""The errors that a user may see.

The base classes are those of `ship_gate`. The log of Wires raises errors of `agent_wire` instead, so `except` clauses use
tuples that hold both: `SpecwrightErrors`, `InputErrors`, `RefusedErrors`, `CorruptionErrors`.

An error says what failed, where, and what to do next. `exit_code` is the exit code of the command
(design: command-line). Wrong input (`InputError`), a violated rule (`RefusedError`), a failing model (`ModelError`) and
damaged records (`CorruptionError`) are different classes.

    SpecwrightError
    ├── InputError              exit 2
    │   ├── ScriptError         exit 1   the playbook has no answer for this place
    │   └── UntrustedError      exit 2   the project file has a setting that the user has not trusted
    ├── RefusedError            exit 1
    │   └── BusyError           exit 1   another process holds the project
    ├── ModelError              exit 1
    │   ├── ModelUnavailableError    the endpoint rejected the request
    │   │   ├── NoAccessError   exit 4   it rejected the key, or does not know the model
    │   │   ├── UnreachableError    exit 5   it cannot be reached, is busy or broken, or limits the rate
    │   │   └── NoCreditError   exit 6   the account has no credit left
    │   └── AnswerError              the role gave no usable answer; the raw answers are kept
    ├── DatabaseUnavailableError    exit 1   a database server cannot be reached
    ├── NetworkUnavailableError     exit 1   the Hedera network or its mirror node cannot be reached
    ├── CorruptionError         exit 1
    │   └── NonDeterminismError      a repeated request differs from the journalled one
    ├── BudgetError             exit 3   the next call may exceed a budget
    ├── ChangeRaisedError       exit 1   a role found a dependency's contract wrong; its task halts
    └── InterruptedRunError     exit 130 the user stopped the run; it can be resumed
"""

from typing import ClassVar

import agent_wire.errors as wire
from ship_gate.errors import CorruptionError, InputError, RefusedError, ShipGateError
from ship_gate.errors import InterruptedRunError as InterruptedRunError
from ship_gate.errors import UntrustedError as UntrustedError

SpecwrightError = ShipGateError
"""The base class, under this package's own name."""

BusyError = wire.BusyError
DatabaseUnavailableError = wire.DatabaseUnavailableError
NetworkUnavailableError = wire.NetworkUnavailableError

AnyError = ShipGateError | wire.AgentWireError
SpecwrightErrors = (ShipGateError, wire.AgentWireError)
InputErrors = (InputError, wire.InputError)
RefusedErrors = (RefusedError, wire.RefusedError)
CorruptionErrors = (CorruptionError, wire.CorruptionError)


class ScriptError(InputError):
    """The playbook has no answer for a place that the run has reached. All results are kept."""

    exit_code: ClassVar[int] = 1


class ModelError(SpecwrightError):
    """The model, or the access to it, failed."""


class ModelUnavailableError(ModelError):
    """The endpoint did not answer this request."""


class NoAccessError(ModelUnavailableError):
    """The endpoint rejected the key, or does not know the model.

    Args:
        options: Command-line options for the `run` that resumes; empty if only the key is wrong.
    """

    exit_code: ClassVar[int] = 4

    def __init__(self, what: str, *, where: str = "", remedy: str = "", options: str = "") -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.options = options


class UnreachableError(ModelUnavailableError):
    """The endpoint cannot be reached, is busy or broken. The same request may succeed later."""

    exit_code: ClassVar[int] = 5


class NoCreditError(ModelUnavailableError):
    """The account has no credit left. Add credit and resume the run."""

    exit_code: ClassVar[int] = 6


class AnswerError(ModelError):
    """A role used up its attempts without a usable answer, or gave an answer that ends its task.

    Args:
        raw_answers: The answers as received, oldest first, for the escalation.
        problems: All problems of the last answer.
        fault: `spec` if code confirmed that the approved spec is wrong (design: contract-at-fault); else empty.
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
    """A repeated request differs from the one that the journal has at its place (design: journal)."""


class BudgetError(SpecwrightError):
    """The next model call may exceed a budget. Raise the budget and resume the run.

    Args:
        setting: The setting to raise; empty if raising it would not help.
        enough: A value of the setting that allows the call.
    """

    exit_code: ClassVar[int] = 3

    def __init__(
        self, what: str, *, where: str = "", remedy: str = "", setting: str = "", enough: str = ""
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.setting = setting
        self.enough = enough


class ChangeRaisedError(SpecwrightError):
    """A role raised an interface change exception. Its task halts, and a person decides (design: interface-changes).

    Args:
        exception_id: `ICE-...`.
    """

    def __init__(self, exception_id: str) -> None:
        super().__init__(f"the interface change exception {exception_id} was raised")
        self.exception_id = exception_id
