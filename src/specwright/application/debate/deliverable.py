"""What is debated: the contracts of a plan, or the implementation of a module (D10)."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypedDict

from specwright.application.debate.briefs import DependencyView
from specwright.application.project_stage import Task
from specwright.application.stores.records import Invocation
from specwright.domain.answers import AmendmentsAnswer, Failure, FalsifyingTest
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import CONTRACTS, Adjudication
from specwright.domain.falsifying import TriedTest
from specwright.ports.gate import Trial
from specwright.ports.journal import Scope
from specwright.ports.roles import Files

__all__ = ["CONTRACTS", "Deliverable", "Judged", "Remarks", "Submitted"]


class Submitted(TypedDict):
    """A new version of the deliverable: its artifact, and the claim about it."""

    target: str
    claim: str
    acceptance_checks: list[str]
    test_inventory: dict[str, list[str]]
    examples: str
    preflight: list[str]


class Remarks(NamedTuple):
    """What the debate so far asks of the next version.

    Args:
        failures: To be corrected.
        told_by: The records that they come from, beside those of the version itself, with what is shown of each.
        standing: Falsifying tests that it must pass.
    """

    failures: Sequence[Failure] = ()
    told_by: Sequence[tuple[str, str]] = ()
    standing: Sequence[TriedTest] = ()


class Judged(NamedTuple):
    """The last word of code on a version.

    Args:
        failures: What keeps it from shipping.
        observed: What was seen, for the escalation: fingerprints, their difference, the execution log (F§11.2).
    """

    failures: list[Failure]
    observed: dict[str, Any]


class Deliverable(Protocol):
    """What is debated."""

    subject: str
    task: Task

    def submit(self, round_number: int, remarks: Remarks, before: str) -> tuple[Submitted, Invocation]:
        """Make the deliverable, or revise it after failures; `before` is the version that failed."""
        ...

    def contracts(self, target: str) -> list[MicroModuleContract]:
        """The contracts that are debated or implemented."""
        ...

    def files(self, target: str) -> Files:
        """The module's files in one version; a contract debate has none."""
        ...

    def dependencies(self, target: str) -> list[DependencyView]:
        """What it calls."""
        ...

    def falsify(self, target: str, tests: Sequence[FalsifyingTest], scope: Scope) -> Sequence[Trial]:
        """Try tests of the Challenger on a version (D13)."""
        ...

    def amend(
        self, target: str, round_number: int, decided: Adjudication, standing: Sequence[TriedTest]
    ) -> tuple[Submitted, AmendmentsAnswer]:
        """Have amendments applied; falsifying tests that stand still count."""
        ...

    def unapplied(self, before: str, after: str, decided: Adjudication) -> list[str]:
        """What is structurally untrue about applied amendments (F§9.6)."""
        ...

    def verify(self, target: str, standing: Sequence[TriedTest]) -> Judged:
        """The last word of code: the ship gate, or the lock; no failure means it may ship."""
        ...

    def artifacts(self, target: str) -> list[str]:
        """The artifacts whose status follows the debate."""
        ...
