"""The debate over a deliverable, step by step (F§9, D10, D11, D15).

Each function is one node of the debate graph: it takes the debate's state and returns what changes. The state holds
ids and counters only; what was said lies in the records. Two kinds of deliverable are debated by the same steps:
the contracts of a plan, and the implementation of a module.
"""

from collections.abc import Sequence
from typing import Protocol, TypedDict

from specwright.application.briefs import DependencyView, Trail, arbiter_message, challenge_message
from specwright.application.debate_records import DebateRecords
from specwright.application.factory import Factory
from specwright.application.project_stage import Task
from specwright.application.records import (
    Invocation,
    advance,
    contribute,
    create_artifact,
    open_invocation,
    set_back,
)
from specwright.domain.amendments import target_problems
from specwright.domain.answers import (
    AmendmentsAnswer,
    ArbiterAnswer,
    ChallengerAnswer,
    Decision,
    Failure,
    Verdict,
)
from specwright.domain.artifact import ArtifactStatus
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import MAX_REVISIONS, Adjudication, Proposal, adjudication, challenge
from specwright.domain.ids import ArtifactType, artifact_id
from specwright.domain.provenance import ContributionType, Permission
from specwright.domain.rubric import compliance_problems, mild_review
from specwright.errors import AnswerError
from specwright.ports.progress import Step
from specwright.ports.roles import Assignment, Place, Role

__all__ = ["Debate", "DebateState", "Deliverable", "Submitted"]


class DebateState(TypedDict, total=False):
    """JSON primitives only; histories stay in files (DESIGN §5)."""

    schema_version: int
    task_id: str
    subject: str
    debate_id: str
    target: str
    round: int
    retry_count: int
    verdict: str
    decision: str
    halt_reason: str
    source_of_failure: str


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
    ) -> tuple[Submitted, AmendmentsAnswer, Invocation]:
        """Have amendments applied."""
        ...

    def unapplied(self, before: str, after: str, decided: Adjudication) -> list[str]:
        """What is structurally untrue about applied amendments (F§9.6)."""
        ...

    def verify(self, target: str, round_number: int) -> list[Failure]:
        """The last word of code: the ship gate, or the lock; no failure means it may ship."""
        ...

    def artifacts(self, target: str) -> list[str]:
        """The artifacts whose status follows the debate."""
        ...


class Debate:
    """One debate: its factory, its deliverable and its records."""

    def __init__(self, factory: Factory, deliverable: Deliverable) -> None:
        self._factory = factory
        self._deliverable = deliverable
        self._task = deliverable.task

    def propose(self, state: DebateState) -> DebateState:
        """The first version and its proposal; the debate is named by this proposal (D15)."""
        submitted, by = self._deliverable.submit(1, (), "")
        proposal = self._proposal(submitted, by, 1)
        self._records(proposal.proposal_id).write_proposal(1, proposal)
        return {
            "debate_id": proposal.proposal_id,
            "target": submitted["target"],
            "round": 1,
            "retry_count": 0,
        }

    def challenge(self, state: DebateState) -> DebateState:
        """The Challenger's verdict on this round."""
        records, number = self._records(state["debate_id"]), state["round"]
        trail = records.trail()
        place = self._place(number, Role.CHALLENGER)
        scope = self._factory.journal.scope(f"{place.run_id}/record")
        contracts = self._deliverable.contracts(state["target"])
        dependencies = self._deliverable.dependencies(state["target"])
        criteria = self._task.definition.acceptance_criteria
        by = self._open(place, contracts, dependencies, trail)
        message = challenge_message(
            self._deliverable.subject, trail.proposals[-1], contracts, dependencies, criteria, trail
        )
        answer = self._challenged(
            Assignment(place, message, {"proposal.json": trail.proposals[-1].to_bytes()})
        )
        record = challenge(answer, artifact_id(ArtifactType.CHALLENGE, scope.hex8()), state["target"])
        records.write_challenge(number, record)
        create_artifact(
            self._factory,
            scope,
            by,
            ArtifactType.CHALLENGE,
            {"challenge.json": record.to_bytes()},
            name=record.challenge_id,
        )
        contribute(self._factory, scope, by, ContributionType.CHALLENGE, f"{record.challenge_id}@1.0.0")
        self._advance(state["target"], ArtifactStatus.CHALLENGED)
        self._note("challenged", f"round {number}: {record.verdict}")
        return {"verdict": record.verdict.value, "source_of_failure": "challenge"}

    def after_challenge(self, state: DebateState) -> str:
        """`revise` while a FAIL has revisions left, else `adjudicate` (F§9.3)."""
        failed = state["verdict"] == Verdict.FAIL
        return "revise" if failed and state["retry_count"] < MAX_REVISIONS else "adjudicate"

    def revise(self, state: DebateState) -> DebateState:
        """The next round: a new version that answers the failures, as a new artifact (D11)."""
        records, number = self._records(state["debate_id"]), state["round"] + 1
        failures = self._failures(state, records)
        submitted, by = self._deliverable.submit(number, failures, state["target"])
        records.write_proposal(number, self._proposal(submitted, by, number))
        return {"target": submitted["target"], "round": number, "retry_count": state["retry_count"] + 1}

    def adjudicate(self, state: DebateState) -> DebateState:
        """The Arbiter's ruling on this round."""
        records, number = self._records(state["debate_id"]), state["round"]
        trail, exhausted = records.trail(), state["verdict"] == Verdict.FAIL
        place = self._place(number, Role.ARBITER)
        scope = self._factory.journal.scope(f"{place.run_id}/record")
        contracts = self._deliverable.contracts(state["target"])
        by = self._open(place, contracts, (), trail)
        task_file = self._factory.folder.read(self._task.path).decode()
        left = MAX_REVISIONS - state["retry_count"]
        message = arbiter_message(task_file, contracts, trail, left, failed=exhausted)
        answer = self._factory.roles.arbitrate(
            Assignment(place, message, {}), lambda given: self._ruling_problems(given, exhausted=exhausted)
        )
        record = adjudication(answer, artifact_id(ArtifactType.ADJUDICATION, scope.hex8()), state["target"])
        records.write_adjudication(number, record)
        create_artifact(
            self._factory,
            scope,
            by,
            ArtifactType.ADJUDICATION,
            {"adjudication.json": record.to_bytes()},
            name=record.adjudication_id,
        )
        contribute(self._factory, scope, by, ContributionType.ADJUDICATION, f"{record.adjudication_id}@1.0.0")
        self._advance(state["target"], ArtifactStatus.ADJUDICATED)
        self._note("adjudicated", f"round {number}: {record.decision}")
        return {"decision": record.decision.value, "source_of_failure": "adjudication"}

    def after_adjudication(self, state: DebateState) -> str:
        """`ship`, `apply_amendments`, `revise` inside the window, or `halt` (D11)."""
        decision = Decision(state["decision"])
        if decision is Decision.APPROVE:
            return "ship"
        if decision is Decision.APPROVE_WITH_AMENDMENTS:
            return "apply_amendments"
        exhausted = state["verdict"] == Verdict.FAIL or state["retry_count"] >= MAX_REVISIONS
        if exhausted:
            return "halt"
        for name in self._deliverable.artifacts(state["target"]):
            set_back(self._factory, self._task.folder, name)
        return "revise"

    def apply_amendments(self, state: DebateState) -> DebateState:
        """The Proposer applies every amendment; what it says of each is kept (F§9.6)."""
        records, number = self._records(state["debate_id"]), state["round"]
        decided = records.adjudication(number)
        submitted, answer, _ = self._deliverable.amend(state["target"], number, decided)
        records.write_amendments(number, state["target"], submitted["target"], answer)
        return {"target": submitted["target"]}

    def validate_amendments(self, state: DebateState) -> DebateState:
        """Whether every amendment was applied, by the flags and by looking (F§9.6)."""
        records, number = self._records(state["debate_id"]), state["round"]
        decided = records.adjudication(number)
        before, after, answer = records.amendments(number)
        missing = [
            f"amendment {a.amendment_index} was not applied: {a.note}"
            for a in answer.applied
            if not a.applied
        ]
        missing += self._deliverable.unapplied(before, after, decided)
        if not missing:
            for status in (ArtifactStatus.CHALLENGED, ArtifactStatus.ADJUDICATED):
                self._advance(after, status)
        return {"halt_reason": "; ".join(missing)}

    def ship(self, state: DebateState) -> DebateState:
        """The gate's own observation; a failure spends a revision (D11, rule 2)."""
        failures = self._deliverable.verify(state["target"], state["round"])
        records = self._records(state["debate_id"])
        records.write_gate(state["round"], state["target"], failures)
        return {"halt_reason": "; ".join(f.evidence for f in failures), "source_of_failure": "gate"}

    def after_ship(self, state: DebateState) -> str:
        """`shipped`, `revise` or `halt`."""
        if not state["halt_reason"]:
            return "shipped"
        return "revise" if state["retry_count"] < MAX_REVISIONS else "halt"

    def _challenged(self, assignment: Assignment) -> ChallengerAnswer:
        subject_tests = self._evidence_names(assignment)
        try:
            return self._factory.roles.challenge(assignment, lambda a: compliance_problems(a, subject_tests))
        except AnswerError as error:
            return mild_review(error.what)

    def _evidence_names(self, assignment: Assignment) -> frozenset[str]:
        proposal = Proposal.from_bytes(assignment.pack["proposal.json"], "proposal")
        return frozenset(proposal.test_inventory)

    def _ruling_problems(self, answer: ArbiterAnswer, *, exhausted: bool) -> list[str]:
        found: list[str] = []
        if exhausted and answer.decision is Decision.APPROVE:
            found.append("decision: after a FAIL without revisions left APPROVE is refused; amend or reject")
        return found + target_problems(answer.amendments, contracts=self._deliverable.subject == "contracts")

    def _failures(self, state: DebateState, records: DebateRecords) -> list[Failure]:
        number = state["round"]
        if state["source_of_failure"] == "challenge":
            return list(records.challenge(number).failures)
        if state["source_of_failure"] == "gate":
            return records.gate_failures(number, state["target"])
        rationale = records.adjudication(number).rationale
        return [
            Failure(
                invariant="The Arbiter rejected the deliverable.",
                evidence=rationale,
                required_change=rationale,
            )
        ]

    def _proposal(self, submitted: Submitted, by: Invocation, number: int) -> Proposal:
        place = self._place(number, Role.PROPOSER)
        scope = self._factory.journal.scope(f"{place.run_id}/proposal")
        proposal = Proposal(
            proposal_id=artifact_id(ArtifactType.PROPOSAL, scope.hex8()),
            target_artifact_id=submitted["target"],
            claim=submitted["claim"],
            deliverable_ref=f"{submitted['target']}@1.0.0",
            acceptance_checks=submitted["acceptance_checks"],
            test_inventory=submitted["test_inventory"],
            examples=submitted["examples"],
            preflight=submitted["preflight"],
        )
        body = {"proposal.json": proposal.to_bytes()}
        create_artifact(self._factory, scope, by, ArtifactType.PROPOSAL, body, name=proposal.proposal_id)
        self._note("proposed", f"round {number}")
        return proposal

    def _open(
        self,
        place: Place,
        contracts: Sequence[MicroModuleContract],
        dependencies: Sequence[DependencyView],
        trail: Trail,
    ) -> Invocation:
        included = [(f"{p.proposal_id}@1.0.0", Permission.FULL, "the debate so far") for p in trail.proposals]
        included += [
            (f"{c.challenge_id}@1.0.0", Permission.FULL, "the debate so far") for c in trail.challenges
        ]
        included += [(c.ref, Permission.FULL, "the contract in question") for c in contracts]
        included += [(d.contract.ref, Permission.CONTRACT_ONLY, "a dependency") for d in dependencies]
        task_permission = Permission.FULL if place.role is Role.ARBITER else Permission.SUMMARY_ONLY
        included.append(
            (f"{self._task.task_id}@1.0.0", task_permission, "task file, or its acceptance criteria")
        )
        excluded = [
            (f"{name}@1.0.0", "implementation source is never shown to this role")
            for name in {p.target_artifact_id for p in trail.proposals}
        ]
        scope = self._factory.journal.scope(f"{place.run_id}/pack")
        return open_invocation(
            self._factory, scope, place, self._task.task_id, self._task.folder, included, sorted(excluded)
        )

    def _advance(self, target: str, status: ArtifactStatus) -> None:
        for name in self._deliverable.artifacts(target):
            advance(self._factory, self._task.folder, name, status)

    def _records(self, debate_id: str) -> DebateRecords:
        return DebateRecords(self._factory.store, debate_id)

    def _place(self, number: int, role: Role) -> Place:
        entry = self._task.entry
        return Place(entry.spec_task_id, entry.attempt, self._deliverable.subject, f"round-{number}", role)

    def _note(self, kind: str, text: str) -> None:
        entry = self._task.entry
        self._factory.progress.note(Step(kind, entry.spec_task_id, f"{self._deliverable.subject} {text}"))
