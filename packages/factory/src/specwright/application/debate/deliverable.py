"""What is debated: the contracts of a plan, or the implementation of a module (design: debate)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.falsifying_tests import FalsifyingTest
from ship_gate.verdict import Trial
from specwright.application.announce import Announcement
from specwright.application.criteria import CriterionRuling
from specwright.application.messages.debate import JudgedDebate
from specwright.application.store.artifacts import Invocation
from specwright.application.store.debates import DebateHistory, GateResult
from specwright.application.store.modules import DependencyView
from specwright.application.tasks import Task
from specwright.domain.answers import Amendment, AmendmentsAnswer, ContractFault, Failure
from specwright.domain.debate.debate import MAX_REVISIONS, Adjudication
from specwright.domain.debate.falsifying import TriedTest
from specwright.domain.spec.change_request import BugReport
from specwright.ports import Files, Place, Role, Scope

PLAN_CLAIM = "its claim about the contracts"
"""What is shown of the plan in a module's debate."""


class Version(NamedTuple):
    """A new version of a deliverable, with what its proposal says about it.

    Args:
        version_id: Its artifact.
        by: The invocation that made it.
        claim: What it does and why.
        acceptance_checks: What shows that it is accepted.
        test_inventory: The obligations that each test shows.
        tests: What each test asserts, as code extracted it.
        contract_changes: Of the contracts since the version before, a line for each statement.
        examples: `examples.md`.
        preflight: What the preflight saw.
        contract_at_fault: What is wrong with its contract (design: contract-at-fault).
        confirmed: Whose fault code has confirmed that to be, as the loop knows it; empty if it has not.
    """

    version_id: str
    by: Invocation
    claim: str
    acceptance_checks: Sequence[str]
    test_inventory: Mapping[str, list[str]] = MappingProxyType({})
    tests: str = ""
    contract_changes: Sequence[str] = ()
    examples: str = ""
    preflight: Sequence[str] = ()
    contract_at_fault: Sequence[ContractFault] = ()
    confirmed: str = ""


class RevisionRequest(NamedTuple):
    """What the debate so far asks of the next version.

    Args:
        failures: To be corrected.
        sources: The records that they come from, beside those of the version itself, with what is shown of each.
        active_tests: Falsifying tests that it must pass.
        revisions_left: After this one; None of a first version.
    """

    failures: Sequence[Failure] = ()
    sources: Sequence[tuple[str, str]] = ()
    active_tests: Sequence[TriedTest] = ()
    revisions_left: int | None = None


class Deliverable(ABC):
    """What is debated.

    Args:
        questions: Those about criteria that this run of the task has raised so far (design: unshown-criteria).
        plan_claim: What the planner says of the locked contracts; empty in a contract debate.
        plan_ref: The plan; empty in a contract debate.
    """

    name: str
    task: Task
    questions: Sequence[str] = ()
    plan_claim = plan_ref = ""

    @abstractmethod
    def submit(self, round_number: int, request: RevisionRequest, before: str) -> Version:
        """Make the first version, or revise the version `before`, which failed."""

    @property
    def reports(self) -> Sequence[BugReport]:
        """The bug reports whose examples every version of a module must give."""
        return ()

    @abstractmethod
    def contracts(self, version_id: str) -> list[MicroModuleContract]:
        """The contracts that are debated or implemented."""

    def files(self, version_id: str) -> Files:
        """The module's files in one version; a contract debate has none."""
        return {}

    @abstractmethod
    def dependencies(self, version_id: str) -> list[DependencyView]:
        """The sealed modules that it calls."""

    def falsify(self, version_id: str, tests: Sequence[FalsifyingTest], scope: Scope) -> Sequence[Trial]:
        """Run tests of the Challenger on a version (design: falsifying-tests); contracts have none."""
        return ()

    def problems_by_code(
        self, version_id: str, round_number: int, amendments: Sequence[Amendment]
    ) -> Sequence[str] | None:
        """What keeps a version from being locked once code has applied amendments; empty if nothing does, None if code
        cannot apply them all, as in files (design: amendments)."""
        return None

    @abstractmethod
    def amend(
        self, version_id: str, round_number: int, ruling: Adjudication, active_tests: Sequence[TriedTest]
    ) -> tuple[Version, AmendmentsAnswer]:
        """Apply the amendments of a ruling; the active falsifying tests still count."""

    @abstractmethod
    def unapplied(self, before: str, after: str, ruling: Adjudication) -> list[str]:
        """The amendments that the new version does not show (design: amendments)."""

    @abstractmethod
    def verify(self, version_id: str, active_tests: Sequence[TriedTest]) -> GateResult:
        """Judge a version by the ship gate, or lock the contracts; without failures it may ship."""

    def announcements(self, version_id: str, debate_id: str) -> Sequence[Announcement]:
        """What the log says, beside the gate's decision, of a version without failures."""
        return ()

    def artifacts(self, version_id: str) -> list[str]:
        """The artifacts whose status follows the debate."""
        return [version_id]


class Case(NamedTuple):
    """A debate in the round that is judged.

    Args:
        deliverable: What is debated.
        version_id: Its version.
        number: The round.
        history: The debate so far; its last proposal is judged, or its last challenge.
        revisions_left: Of the deliverable.
    """

    deliverable: Deliverable
    version_id: str
    number: int
    history: DebateHistory
    revisions_left: int = MAX_REVISIONS

    @property
    def name(self) -> str:
        """Of the deliverable."""
        return self.deliverable.name

    @property
    def contracts(self) -> list[MicroModuleContract]:
        """Those that are debated or implemented."""
        return self.deliverable.contracts(self.version_id)

    def shown(self, rulings: Mapping[int, CriterionRuling], unsound: Sequence[str] = ()) -> JudgedDebate:
        """What a request tells of it, with the rulings on criteria, and with what keeps the contracts from being locked."""
        of = self.deliverable
        told = of.task.definition, of.plan_claim, rulings, unsound, of.reports
        return JudgedDebate(self.name, self.contracts, self.history, self.revisions_left, *told)

    def place(self, role: Role) -> Place:
        """Where a role judges it."""
        return self.deliverable.task.place(self.name, f"round-{self.number}", role)

    def problems_by_code(self, amendments: Sequence[Amendment]) -> Sequence[str] | None:
        """What keeps the contracts from being locked with amendments; None if code cannot apply them."""
        return self.deliverable.problems_by_code(self.version_id, self.number, amendments)
