"""The debate over a deliverable, step by step (F§9, D10, D11, D15).

Each method is one node of the debate graph: it takes the debate's state and returns what changes. The state holds
ids and counters only; what was said lies in the records. Two kinds of deliverable are debated by the same steps.
"""

from typing import TypedDict

from specwright.application.debate_parties import Parties
from specwright.application.debate_records import DebateRecords
from specwright.application.deliverable import Deliverable
from specwright.application.factory import Factory
from specwright.application.records import artifacts
from specwright.domain.answers import Decision, Failure, Verdict
from specwright.domain.debate import MAX_REVISIONS
from specwright.ports.progress import Step

__all__ = ["Debate", "DebateState"]


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


class Debate:
    """One debate: its parties, its deliverable and its records."""

    def __init__(self, factory: Factory, deliverable: Deliverable) -> None:
        self._factory = factory
        self._deliverable = deliverable
        self._parties = Parties(factory, deliverable)
        self._task = deliverable.task
        self._store = artifacts(factory)

    def propose(self, state: DebateState) -> DebateState:
        """The first version and its proposal; the debate is named by this proposal (D15)."""
        submitted, by = self._deliverable.submit(1, (), "")
        proposal = self._parties.proposal(submitted, by, 1)
        self._records(proposal.proposal_id).write_proposal(1, proposal)
        self._note("proposed", "round 1")
        return {
            "debate_id": proposal.proposal_id,
            "target": submitted["target"],
            "round": 1,
            "retry_count": 0,
        }

    def challenge(self, state: DebateState) -> DebateState:
        """The Challenger's verdict on this round."""
        records, number = self._records(state["debate_id"]), state["round"]
        trail = records.trail(proposals=number, challenges=number - 1, adjudications=number - 1)
        record = self._parties.challenge(state["target"], number, trail)
        records.write_challenge(number, record)
        for name in self._deliverable.artifacts(state["target"]):
            self._store.challenged(self._task.folder, name, record.challenge_id)
        self._note("challenged", f"round {number}: {record.verdict}")
        return {"verdict": record.verdict.value, "source_of_failure": "challenge"}

    def after_challenge(self, state: DebateState) -> str:
        """`revise` while a FAIL has revisions left, else `adjudicate` (F§9.3)."""
        failed = state["verdict"] == Verdict.FAIL
        return "revise" if failed and state["retry_count"] < MAX_REVISIONS else "adjudicate"

    def revise(self, state: DebateState) -> DebateState:
        """The next round: a new version that answers the failures, as a new artifact (D11)."""
        records, number = self._records(state["debate_id"]), state["round"] + 1
        if state["source_of_failure"] == "adjudication":
            # here, not where it is decided: that step, run again after a crash, would meet a DRAFT
            ruling, left = records.adjudication(number - 1), MAX_REVISIONS - state["retry_count"]
            for name in self._deliverable.artifacts(state["target"]):
                self._store.rejected(self._task.folder, name, ruling.adjudication_id, revisions_left=left)
        submitted, by = self._deliverable.submit(number, self._failures(state, records), state["target"])
        records.write_proposal(number, self._parties.proposal(submitted, by, number))
        self._note("proposed", f"round {number}")
        return {"target": submitted["target"], "round": number, "retry_count": state["retry_count"] + 1}

    def adjudicate(self, state: DebateState) -> DebateState:
        """The Arbiter's ruling on this round."""
        records, number = self._records(state["debate_id"]), state["round"]
        trail = records.trail(proposals=number, challenges=number, adjudications=number - 1)
        record = self._parties.adjudicate(
            state["target"],
            number,
            trail,
            left=MAX_REVISIONS - state["retry_count"],
            failed=state["verdict"] == Verdict.FAIL,
        )
        records.write_adjudication(number, record)
        for name in self._deliverable.artifacts(state["target"]):
            self._store.adjudicated(self._task.folder, name, record.adjudication_id)
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
        return "halt" if exhausted else "revise"

    def apply_amendments(self, state: DebateState) -> DebateState:
        """The Proposer applies every amendment; what it says of each is kept (F§9.6)."""
        records, number = self._records(state["debate_id"]), state["round"]
        submitted, answer = self._deliverable.amend(state["target"], number, records.adjudication(number))
        records.write_amendments(number, state["target"], submitted["target"], answer)
        self._note("amended", f"round {number}")
        return {"target": submitted["target"]}

    def validate_amendments(self, state: DebateState) -> DebateState:
        """Whether every amendment was applied, by the flags and by looking (F§9.6)."""
        records, number = self._records(state["debate_id"]), state["round"]
        before, after, answer = records.amendments(number)
        missing = [
            f"amendment {a.amendment_index} was not applied: {a.note}"
            for a in answer.applied
            if not a.applied
        ]
        missing += self._deliverable.unapplied(before, after, records.adjudication(number))
        if not missing:
            judged = records.challenge(number).challenge_id, records.adjudication(number).adjudication_id
            for name in self._deliverable.artifacts(after):
                self._store.amended(self._task.folder, name, before, *judged)
        return {"halt_reason": "; ".join(missing)}

    def ship(self, state: DebateState) -> DebateState:
        """The gate's own observation; a failure spends a revision (D11, rule 2)."""
        failures = self._deliverable.verify(state["target"])
        self._records(state["debate_id"]).write_gate(state["round"], state["target"], failures)
        return {"halt_reason": "; ".join(f.evidence for f in failures), "source_of_failure": "gate"}

    def after_ship(self, state: DebateState) -> str:
        """`shipped`, `revise` or `halt`."""
        if not state["halt_reason"]:
            return "shipped"
        return "revise" if state["retry_count"] < MAX_REVISIONS else "halt"

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

    def _records(self, debate_id: str) -> DebateRecords:
        return DebateRecords(self._factory.store, debate_id)

    def _note(self, kind: str, text: str) -> None:
        entry = self._task.entry
        self._factory.progress.note(Step(kind, entry.spec_task_id, f"{self._deliverable.subject} {text}"))
