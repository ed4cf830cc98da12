"""The debate over a deliverable, step by step (F§9, D10, D11, D15).

Each method is one node of the debate graph: it takes the debate's state and returns what changes. The state holds
ids and counters only; what was said lies in the records. Two kinds of deliverable are debated by the same steps.
"""

from typing import TypedDict

from specwright import canonical_json
from specwright.application.announcing import announce, gate_decision
from specwright.application.debate.deliverable import CONTRACTS, Deliverable, Remarks
from specwright.application.debate.parties import Parties
from specwright.application.debate.records import DebateRecords
from specwright.application.debate.trail import Cause, Trail, without_source
from specwright.application.factory import Factory
from specwright.application.stores.artifact_store import artifacts
from specwright.application.stores.kept_records import keep
from specwright.domain.answers import Amendment, Decision, Failure, FaultOf, Verdict
from specwright.domain.debate import MAX_REVISIONS, Adjudication, Challenge
from specwright.domain.falsifying import TriedTest, named_in, standing
from specwright.domain.rubric import as_told
from specwright.domain.rulings import is_disputed
from specwright.ports.progress import Step

__all__ = ["Debate", "DebateState"]

CONTRACT_CHANGED = Failure(
    invariant="The module meets its contract as it stands now.",
    evidence="The contract was found at fault and has been debated again; it is another than when these files were made.",
    required_change="Bring signature, behaviour, tests, obligations and examples to the contract in this message.",
)
"""What a module is told whose contract was reopened (D10)."""


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
    disputed: bool
    decision: str
    confirmed_fault: str
    halt_reason: str
    source_of_failure: str
    cause_debate: str
    cause_round: int


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
        submitted, by = self._deliverable.submit(1, Remarks(), "")
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
        trail = self._trail(state, records.trail(number, number - 1, number - 1))
        record = self._parties.challenge(state["target"], number, trail)
        records.write_challenge(number, record)
        for name in self._deliverable.artifacts(state["target"]):
            self._store.challenged(self._task.folder, name, record.challenge_id)
        self._note("challenged", f"round {number}: {record.verdict}")
        return {
            "verdict": record.verdict.value,
            "disputed": is_disputed(record),
            "source_of_failure": "challenge",
        }

    def after_challenge(self, state: DebateState) -> str:
        """`revise` while a FAIL has revisions left, else `adjudicate` (F§9.3).

        A FAIL is adjudicated before it costs a revision where the Arbiter may find that it is none, or that the module
        cannot help it (D10, D13).
        """
        failed = state["verdict"] == Verdict.FAIL and not state["disputed"]
        return "revise" if failed and state["retry_count"] < MAX_REVISIONS else "adjudicate"

    def revise(self, state: DebateState) -> DebateState:
        """The next round: a new version that answers the failures, as a new artifact (D11)."""
        records, number = self._records(state["debate_id"]), state["round"] + 1
        if state["source_of_failure"] in {"adjudication", "reopened"}:
            # here, not where it is decided: that step, run again after a crash, would meet a DRAFT
            ruling, left = records.adjudication(number - 1), MAX_REVISIONS - state["retry_count"]
            for name in self._deliverable.artifacts(state["target"]):
                self._store.rejected(self._task.folder, name, ruling.adjudication_id, revisions_left=left)
        submitted, by = self._deliverable.submit(number, self._remarks(state, records), state["target"])
        records.write_proposal(number, self._parties.proposal(submitted, by, number))
        self._note("proposed", f"round {number}")
        return {"target": submitted["target"], "round": number, "retry_count": state["retry_count"] + 1}

    def adjudicate(self, state: DebateState) -> DebateState:
        """The Arbiter's ruling on this round."""
        records, number = self._records(state["debate_id"]), state["round"]
        trail = self._trail(state, records.trail(number, number, number - 1))
        record = self._parties.adjudicate(
            state["target"],
            number,
            trail,
            left=MAX_REVISIONS - state["retry_count"],
        )
        records.write_adjudication(number, record)
        for name in self._deliverable.artifacts(state["target"]):
            self._store.adjudicated(self._task.folder, name, record.adjudication_id)
        self._note("adjudicated", f"round {number}: {record.decision}")
        return {
            "decision": record.decision.value,
            "confirmed_fault": record.confirmed_fault.value if record.confirmed_fault else "",
            "source_of_failure": "adjudication",
        }

    def after_adjudication(self, state: DebateState) -> str:
        """`ship`, `apply_amendments`, `revise` inside the window, or `halt` (D11).

        A confirmed fault of the contract or the plan leaves the debate: nothing here can put it right (D10).
        """
        decision = Decision(state["decision"])
        if decision is Decision.APPROVE:
            return "ship"
        if decision is Decision.APPROVE_WITH_AMENDMENTS:
            return "apply_amendments"
        exhausted = state["retry_count"] >= MAX_REVISIONS
        return "halt" if exhausted or state["confirmed_fault"] else "revise"

    def why_left(self, state: DebateState) -> str:
        """Why a ruling ends the debate, in a sentence."""
        if not state["confirmed_fault"]:
            return "the Arbiter rejected it and no revision is left"
        rationale = self._records(state["debate_id"]).adjudication(state["round"]).rationale
        return f"the {state['confirmed_fault']} is at fault, as the Arbiter confirmed: {rationale}"

    def apply_amendments(self, state: DebateState) -> DebateState:
        """The Proposer applies every amendment; what it says of each is kept (F§9.6)."""
        records, number = self._records(state["debate_id"]), state["round"]
        submitted, answer = self._deliverable.amend(
            state["target"], number, records.adjudication(number), self._standing(state, records)
        )
        written = records.write_amendments(number, state["target"], submitted["target"], answer)
        scope = f"{self._task.run}/{self._deliverable.subject}/amended/{submitted['target']}"
        keep(self._factory.journal.scope(scope), written)
        self._note("amended", f"round {number}")
        return {"target": submitted["target"]}

    def validate_amendments(self, state: DebateState) -> DebateState:
        """Whether every amendment was applied, by the flags and by looking (F§9.6)."""
        records, number = self._records(state["debate_id"]), state["round"]
        before, after, answer = records.amendments(number)
        ruling = records.adjudication(number)
        missing = [
            f"amendment {a.amendment_index} ({_shown(ruling.amendments[a.amendment_index])}) was not applied: {a.note}"
            for a in answer.applied
            if not a.applied
        ]
        missing += self._deliverable.unapplied(before, after, ruling)
        if not missing:
            judged = records.challenge(number).challenge_id, records.adjudication(number).adjudication_id
            for name in self._deliverable.artifacts(after):
                self._store.amended(self._task.folder, name, before, *judged)
        return {"halt_reason": "; ".join(missing)}

    def ship(self, state: DebateState) -> DebateState:
        """The gate's own observation; a failure spends a revision (D11, rule 2)."""
        records = self._records(state["debate_id"])
        judged = self._deliverable.verify(state["target"], self._standing(state, records))
        evidence = records.write_gate(state["round"], state["target"], judged)
        self._tell_decision(state["target"], evidence, passed=not judged.failures)
        return {"halt_reason": "; ".join(f.evidence for f in judged.failures), "source_of_failure": "gate"}

    def _tell_decision(self, target: str, evidence: bytes, *, passed: bool) -> None:
        project_id, subject = self._factory.projection.project_id, self._deliverable.subject
        scope = self._factory.journal.scope(f"{self._task.run}/{subject}/decided/{target}")
        decided = gate_decision(
            project_id,
            "lock" if subject == CONTRACTS else "ship",
            evidence,
            self._store.ref(self._task.folder, target),
            passed=passed,
            caused_by=self._task.stream,
        )
        announce(self._factory, scope, project_id, [decided])

    def after_ship(self, state: DebateState) -> str:
        """`shipped`, `revise` or `halt`."""
        if not state["halt_reason"]:
            return "shipped"
        return "revise" if state["retry_count"] < MAX_REVISIONS else "halt"

    def _remarks(self, state: DebateState, records: DebateRecords) -> Remarks:
        """What the next version is told: by the challenge, the gate, or the ruling with what is left of the challenge;
        or by the debate of a module that found the contract at fault (D10, D15)."""
        number, standing = state["round"], self._standing(state, records)
        match state["source_of_failure"]:
            case "challenge":
                return Remarks([as_told(f) for f in records.challenge(number).failures], (), standing)
            case "gate":
                return Remarks(records.gate_failures(number, state["target"]), (), standing)
            case "late":
                return Remarks(*self._found_late(state))
            case "reopened":
                found = records.challenge(number)
                shown = [tried.name for tried in found.counterexamples]  # those that stand are run again
                own = [f for f in found.faults(FaultOf.MODULE) if not named_in(f, shown)]
                return Remarks([CONTRACT_CHANGED, *own], self._told_by(found), standing)
            case _:
                found, ruling = records.challenge(number), records.adjudication(number)
                left = found.without(ruling.struck_tests) if found.verdict is Verdict.FAIL else []
                told_by = self._told_by(found) if left else ()
                return Remarks([*left, _rejection(ruling.rationale)], told_by, standing)

    def _trail(self, state: DebateState, trail: Trail) -> Trail:
        """The debate so far, with why it has the rounds that none of its challenges and rulings asked for (D10, D11)."""
        records, causes = self._records(state["debate_id"]), list[Cause]()
        for number in range(1, state["round"]):
            judged = [records.gate_failures(number, target) for target in records.judged(number)]
            if failures := [failure for found in judged for failure in found]:
                causes.append(Cause(number + 1, [without_source(failure) for failure in failures]))
            elif judged and "cause_debate" in state:
                causes.append(Cause(number + 1, *self._found_late(state)))
        return trail._replace(causes=causes)

    def _found_late(self, state: DebateState) -> tuple[list[Failure], tuple[tuple[str, str], ...]]:
        """What a module's debate says of the contracts that are debated again, and the records that say it (D10)."""
        elsewhere, number = self._records(state["cause_debate"]), state["cause_round"]
        found, ruling = elsewhere.challenge(number), elsewhere.adjudication(number)
        told = [*found.faults(FaultOf.CONTRACT), _rejection(ruling.rationale)]
        return told, self._told_by(found, ruling)

    def _standing(self, state: DebateState, records: DebateRecords) -> list[TriedTest]:
        """The falsifying tests of the rounds so far that count, under the contract as it is."""
        tried, struck = records.falsified(state["round"])
        if not tried:
            return []
        (contract,) = self._deliverable.contracts(state["target"])
        return standing(tried, struck, canonical_json.digest(contract.to_json()))

    def _told_by(self, found: Challenge, ruling: Adjudication | None = None) -> tuple[tuple[str, str], ...]:
        named = [(f"{found.challenge_id}@1.0.0", "its failures, without its assessments")]
        if ruling:
            named.append((f"{ruling.adjudication_id}@1.0.0", "its rationale, as a failure to correct"))
        return tuple(named)

    def _records(self, debate_id: str) -> DebateRecords:
        return DebateRecords(self._factory.store, debate_id)

    def _note(self, kind: str, text: str) -> None:
        entry = self._task.entry
        self._factory.progress.note(Step(kind, entry.spec_task_id, f"{self._deliverable.subject} {text}"))


def _rejection(rationale: str) -> Failure:
    """A REJECT as the failure that it is to the Proposer (D15)."""
    return Failure(
        invariant="The Arbiter rejected the deliverable.", evidence=rationale, required_change=rationale
    )


def _shown(amendment: Amendment) -> str:
    return f"{amendment.action} {amendment.target}: {amendment.detail}"
