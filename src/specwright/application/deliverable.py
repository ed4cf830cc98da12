"""What is debated: the contracts of a plan, or the implementation of a module (D10)."""

from collections.abc import Sequence
from typing import Protocol, TypedDict

from specwright.application.briefs import DependencyView
from specwright.application.project_stage import Task
from specwright.application.records import Invocation
from specwright.domain.answers import AmendmentsAnswer, Failure
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import Adjudication

__all__ = ["CONTRACTS", "Deliverable", "Submitted"]

CONTRACTS = "contracts"
"""The subject of a contract debate, where an implementation debate has the module's name."""


class Submitted(TypedDict):
    """A new version of the deliverable: its artifact, and the claim about it."""

    target: str
    claim: str
    acceptance_checks: list[str]
    test_inventory: dict[str, list[str]]
    examples: str
    preflight: list[str]


class Deliverable(Protocol):
    """What is debated."""

    subject: str
    task: Task

    def submit(
        self, round_number: int, failures: Sequence[Failure], before: str
    ) -> tuple[Submitted, Invocation]:
        """Make the deliverable, or revise it after failures; `before` is the version that failed."""
        ...

    def contracts(self, target: str) -> list[MicroModuleContract]:
        """The contracts that are debated or implemented."""
        ...

    def dependencies(self, target: str) -> list[DependencyView]:
        """What it calls."""
        ...

    def amend(
        self, target: str, round_number: int, decided: Adjudication
    ) -> tuple[Submitted, AmendmentsAnswer]:
        """Have amendments applied."""
        ...

    def unapplied(self, before: str, after: str, decided: Adjudication) -> list[str]:
        """What is structurally untrue about applied amendments (F§9.6)."""
        ...

    def verify(self, target: str) -> list[Failure]:
        """The last word of code: the ship gate, or the lock; no failure means it may ship."""
        ...

    def artifacts(self, target: str) -> list[str]:
        """The artifacts whose status follows the debate."""
        ...
