"""The debate over one deliverable, step by step (design: debate).

Each step takes the debate's state and returns the changes to it; `loop.DELIVERABLE_LOOP` defines the order. The state
holds ids and counters only; the content is in the records. Both kinds of deliverable use the same steps.
"""

from collections.abc import Sequence

from agent_wire import canonical_json
from ship_gate.base.ids import ArtifactType, artifact_id
from specwright.application.announce import announce, debate_event, gate_decision
from specwright.application.criteria import raise_questions
from specwright.application.debate.deliverable import Case, ContractSet, Deliverable, RevisionRequest, Version
from specwright.application.debate.implementation import Implementation
from specwright.application.debate.judges import (
    ask_arbiter,
    ask_challenger,
    store_record,
    store_ruling,
)
from specwright.application.factory import Factory
from specwright.application.loop_state import DebateState
from specwright.application.requests import without_source
from specwright.application.store.artifacts import Invocation
from specwright.application.store.records import Cause, DebateHistory, DebateRecords
from specwright.application.stored_plans import ReopenedPlan, load_plan
from specwright.application.tasks import task_at
from specwright.domain.answers import Decision, Failure, FaultOf, Verdict
from specwright.domain.debate.answer_rules import for_proposer, is_disputed
from specwright.domain.debate.records import (
    CONTRACTS,
    MAX_REVISIONS,
    Adjudication,
    Challenge,
    Proposal,
    TriedTest,
    active_tests,
    approval,
    named_in,
)
from specwright.domain.debate.reported_faults import DEPENDENCIES, MISSING_DEPENDENCY, as_failure
from specwright.domain.escalation import OPERATOR
from specwright.ports import Role, RunEvent, Scope

CONTRACT_CHANGED = Failure(
    invariant="The module meets its contract as it stands now.",
    evidence="The contract was found at fault and has been debated again; it is another than when these files were made.",
    required_change="Bring signature, behaviour, tests, obligations and examples to the contract in this message.",
)
"""The failure for a module to correct after its contract was reopened (design: debate)."""


_SUBJECTS = {Proposal: "debate.proposed", Challenge: "debate.challenged", Adjudication: "debate.ruled"}
"""The subject of each record's Wire (design: wire)."""

FREE_SOURCES = frozenset({"late", "reopened"})
"""The reasons for revisions that cost none of the budget (design: debate)."""


def open_debate(factory: Factory, state: DebateState) -> "Debate":
    """Return the debate over the deliverable in a state."""
    task, name = task_at(factory, state["task_id"], state.get("change", "")), state["deliverable"]
    plan, questions = load_plan(factory.artifacts, task.folder, state["plan_id"]), state.get("questions", [])
    if name != CONTRACTS:
        return Debate(factory, Implementation(factory, task, plan, name, questions))
    reopened = ReopenedPlan(plan, state["sealed"]) if "sealed" in state else None
    if sealed := state.get("baseline"):
        reopened = ReopenedPlan(plan, {}, factory.modules.contract(sealed))
    return Debate(factory, ContractSet(factory, task, plan, reopened, questions))


class Debate:
    """One debate: its deliverable and its records."""

    def __init__(self, factory: Factory, deliverable: Deliverable) -> None:
        self._factory = factory
        self._deliverable = deliverable
        self._task = deliverable.task
        self._artifacts = factory.artifacts

    def propose(self, state: DebateState) -> DebateState:
        """Make the first version and its proposal, whose id becomes that of the debate (design: debate)."""
        version = self._deliverable.submit(1, RevisionRequest(), "")
        proposal = self._add_proposal(version, 1)
        return {
            "debate_id": proposal.proposal_id,
            "version_id": version.version_id,
            "round": 1,
            "retry_count": 0,
            **_contract_fault(version),
        }

    def challenge(self, state: DebateState) -> DebateState:
        """Ask for the Challenger's verdict on this round."""
        case = self._case(state)
        record = ask_challenger(self._factory, case)
        self._record(state["debate_id"], case.number, record, f"{case.place(Role.CHALLENGER).run_id}/record")
        for name in self._deliverable.artifacts(case.version_id):
            self._artifacts.challenged(self._task.folder, name, record.challenge_id)
        self._note("challenged", f"round {case.number}: {record.verdict}")
        return {
            "verdict": record.verdict.value,
            "disputed": is_disputed(record) or bool(case.history.proposals[-1].contract_at_fault),
            "source_of_failure": "challenge",
        }

    def revise(self, state: DebateState) -> DebateState:
        """Begin the next round with a new version that corrects the failures, as a new artifact (design: debate)."""
        records, number = self._records(state["debate_id"]), state["round"] + 1
        free = state["source_of_failure"] in FREE_SOURCES
        if state["source_of_failure"] in {"adjudication", "reopened"} and records.has_ruling(number - 1):
            # not in `adjudicate`, which would find a DRAFT when it runs again after a crash
            ruling, left = records.one(Adjudication, number - 1), MAX_REVISIONS - state["retry_count"] + free
            rejected = ruling.decision is Decision.REJECT  # an approved version may be reopened as well
            for name in self._deliverable.artifacts(state["version_id"]) if rejected else ():
                self._artifacts.rejected(self._task.folder, name, ruling.adjudication_id, revisions_left=left)
        spent = state["retry_count"] if free else state["retry_count"] + 1
        request = self._request(state, records)._replace(revisions_left=MAX_REVISIONS - spent)
        version = self._deliverable.submit(number, request, state["version_id"])
        self._add_proposal(version, number, state["debate_id"])
        changes: DebateState = {"version_id": version.version_id, "round": number, "retry_count": spent}
        return {**changes, **_contract_fault(version)}

    def adjudicate(self, state: DebateState) -> DebateState:
        """Ask for the Arbiter's ruling on this round."""
        case = self._case(state, challenged=True)
        record = ask_arbiter(self._factory, case)
        self._record(state["debate_id"], case.number, record, f"{case.place(Role.ARBITER).run_id}/record")
        for name in self._deliverable.artifacts(case.version_id):
            self._artifacts.adjudicated(self._task.folder, name, record.adjudication_id)
        self._note("adjudicated", f"round {case.number}: {record.decision}")
        asked = raise_questions(self._factory, self._task, record, case.history)
        return {
            "questions": [*self._deliverable.questions, *asked],
            "decision": record.decision.value,
            "halt_reason": _rejection_reason(record),
            "confirmed_fault": record.confirmed_fault.value if record.confirmed_fault else "",
            "source_of_failure": "adjudication",
        }

    def _case(self, state: DebateState, *, challenged: bool = False) -> Case:
        """Return this round for its judges, before or after its challenge."""
        number = state["round"]
        history = self._records(state["debate_id"]).history(number, number - 1 + challenged, number - 1)
        left = MAX_REVISIONS - state["retry_count"]
        return Case(self._deliverable, state["version_id"], number, self._history(state, history), left)

    def apply_amendments(self, state: DebateState) -> DebateState:
        """Let the Proposer apply every amendment and account for each (design: amendments)."""
        records, number, before = self._records(state["debate_id"]), state["round"], state["version_id"]
        active_tests = self.active_tests(state["debate_id"], number, before)
        version, answer = self._deliverable.amend(
            before, number, records.one(Adjudication, number), active_tests
        )
        record = records.write_amendments(number, before, version.version_id, answer)
        debate_id, ref = state["debate_id"], self._artifacts.ref(self._task.folder, version.version_id)
        event = debate_event(self._factory, debate_id, "debate.amended", record, ref, version.by)
        place = f"{self._task.run}/{self._deliverable.name}/amended/{version.version_id}"
        announce(self._factory, self._factory.journal.scope(place), [event])
        self._note("amended", f"round {number}")
        return {"version_id": version.version_id}

    def validate_amendments(self, state: DebateState) -> DebateState:
        """Check that every amendment was applied, by the Proposer's flags and in the new version (design: amendments)."""
        records, number = self._records(state["debate_id"]), state["round"]
        before, after, answer = records.amendments(number)
        ruling = records.one(Adjudication, number)
        missing: list[str] = []
        for record in answer.applied:
            if not record.applied:
                index, amendment = record.amendment_index, ruling.amendments[record.amendment_index]
                what = f"{amendment.action} {amendment.target}: {amendment.detail}"
                missing.append(f"amendment {index} ({what}) was not applied: {record.note}")
        missing += self._deliverable.unapplied(before, after, ruling)
        if not missing:
            judged = records.one(Challenge, number).challenge_id, ruling.adjudication_id
            for name in self._deliverable.artifacts(after):
                self._artifacts.amended(self._task.folder, name, before, *judged)
        return {"halt_reason": "; ".join(missing)}

    def ship(self, state: DebateState) -> DebateState:
        """Run the gate; a failure costs a revision (design: debate)."""
        debate_id, number, version_id = state["debate_id"], state["round"], state["version_id"]
        records, name = self._records(debate_id), self._deliverable.name
        result = self._deliverable.verify(version_id, self.active_tests(debate_id, number, version_id))
        evidence, passed = records.write_gate(number, version_id, result), not result.failures
        gate = "lock" if name == CONTRACTS else "ship"
        ref = self._artifacts.ref(self._task.folder, version_id)
        decided = gate_decision(debate_id, gate, evidence, ref, passed=passed)
        events = self._deliverable.announcements(version_id, debate_id) if passed else ()
        scope = self._factory.journal.scope(f"{self._task.run}/{name}/decided/{version_id}")
        announce(self._factory, scope, [decided, *events])
        return {"halt_reason": "; ".join(f.evidence for f in result.failures), "source_of_failure": "gate"}

    def overrule(
        self, scope: Scope, by: Invocation, debate_id: str, version_id: str, number: int, rationale: str
    ) -> None:
        """Record a person's approval as the ruling of a separate round, `number` (design: escalation)."""
        records, last = self._records(debate_id), number - 1
        ruling = approval(artifact_id(ArtifactType.ADJUDICATION, scope.hex8()), version_id, rationale)
        history = records.history(last, last, last)
        store_ruling(self._factory, self._deliverable, scope, by, ruling, history)
        self._record(debate_id, number, ruling, scope.name)
        self._artifacts.overruled(self._task.folder, version_id, ruling.adjudication_id)
        self._note("overruled", f"by a person, after round {last}: {ruling.decision}")

    def provide(self, version: Version, debate_id: str, number: int) -> str:
        """Record a person's version as the proposal of a round. Return the debate's id, a new one if there was none."""
        proposal = self._add_proposal(version, number, debate_id)
        return debate_id or proposal.proposal_id

    def active_tests(self, debate_id: str, number: int, version_id: str) -> Sequence[TriedTest]:
        """Return the falsifying tests of the rounds so far that count for a version."""
        tried, struck = self._records(debate_id).falsified(number)
        if not tried:
            return []
        (contract,) = self._deliverable.contracts(version_id)
        return active_tests(tried, struck, canonical_json.digest(contract.to_json()))

    def _add_proposal(self, version: Version, number: int, debate_id: str = "") -> Proposal:
        """Add a submission as the proposal of a round; without a debate id, begin a debate."""
        place = self._task.place(self._deliverable.name, f"round-{number}", Role.PROPOSER)
        scope = self._factory.journal.scope(f"{place.run_id}/proposal", deferred=True)
        said = {name: value for name, value in version._asdict().items() if name in Proposal.model_fields}
        record = Proposal(
            proposal_id=artifact_id(ArtifactType.PROPOSAL, scope.hex8()),
            target_artifact_id=version.version_id,
            deliverable_ref=self._artifacts.ref(self._task.folder, version.version_id),
            **said,
        )
        about = [(record.deliverable_ref, "the deliverable that it is about")]
        store_record(self._factory, scope, version.by, record, about)
        self._record(debate_id or record.proposal_id, number, record, scope.name)
        self._note("provided" if version.by.role == OPERATOR else "proposed", f"round {number}")
        return record

    def _record(
        self, debate_id: str, number: int, record: Proposal | Challenge | Adjudication, scope: str
    ) -> None:
        """Add a record to its round, and append its Wire."""
        self._records(debate_id).write(number, record)
        name = record.ref.partition("@")[0]
        made = self._artifacts.envelope(self._task.folder, name)
        by = Invocation.of(made, self._task.task_id, self._task.folder)
        subject, data = _SUBJECTS[type(record)], record.to_bytes()
        cause = self._task.stream if name == debate_id else ""
        event = debate_event(self._factory, debate_id, subject, data, record.ref, by, caused_by=cause)
        announce(self._factory, self._factory.journal.scope(scope), [event])

    def _request(self, state: DebateState, records: DebateRecords) -> RevisionRequest:
        """Return what the next version must correct: the failures of the challenge, of the gate, of the ruling with the
        unstruck rest of the challenge, or of the module debate that reopened the contract (design: debate)."""
        number, version_id = state["round"], state["version_id"]
        active = self.active_tests(state["debate_id"], number, version_id)
        match state["source_of_failure"]:
            case "challenge":
                failures = [for_proposer(failure) for failure in records.one(Challenge, number).failures]
                return RevisionRequest(failures, (), active)
            case "gate":
                return RevisionRequest(records.gate(number, version_id).failures, (), active)
            case "late":
                return RevisionRequest(*self._contract_faults(state))
            case "reopened" if not records.has_ruling(number):
                faults = records.one(Proposal, number).contract_at_fault
                own = [as_failure(one) for one in faults if one.pointer == DEPENDENCIES]
                return RevisionRequest([CONTRACT_CHANGED, *own], (), active)
            case "reopened":
                challenge = records.one(Challenge, number)
                tests = [tried.name for tried in challenge.counterexamples]  # active ones run again
                own = [f for f in challenge.faults(FaultOf.MODULE) if not named_in(f, tests)]
                return RevisionRequest([CONTRACT_CHANGED, *own], _sources(challenge), active)
            case _:
                challenge, ruling = records.one(Challenge, number), records.one(Adjudication, number)
                failed = challenge.verdict is Verdict.FAIL
                left = challenge.without(ruling.struck_tests) if failed else []
                failures = [*left, _rejection(ruling.rationale)]
                return RevisionRequest(failures, _sources(challenge) if left else (), active)

    def _history(self, state: DebateState, history: DebateHistory) -> DebateHistory:
        """Return the debate so far, with the reasons for rounds started from outside it (design: debate)."""
        records, causes = self._records(state["debate_id"]), list[Cause]()
        for number in range(1, state["round"]):
            results = [records.gate(number, version_id) for version_id in records.judged(number)]
            if failures := [failure for result in results for failure in result.failures]:
                told = [without_source(failure) for failure in failures]
                causes.append(
                    Cause(number + 1, f"The gate refused what was approved in round {number}:", told)
                )
            elif results and "cause_debate" in state:
                about = self._records(state["cause_debate"]).history(1, 0, 0).proposals[0].deliverable_ref
                reason = f"The contracts were locked. The debate over the implementation {about} found them at fault:"
                causes.append(Cause(number + 1, reason, *self._contract_faults(state)))
        return history._replace(causes=causes)

    def _contract_faults(self, state: DebateState) -> tuple[list[Failure], tuple[tuple[str, str], ...]]:
        """Return the faults for which a module's debate reopened the contracts, and the records that state them
        (design: debate)."""
        records, number = self._records(state["cause_debate"]), state["cause_round"]
        proposal = records.one(Proposal, number)
        failures = [as_failure(fault) for fault in proposal.contract_at_fault]
        sources = ((proposal.ref, "what it says of its contract"),) if failures else ()
        if not records.has_ruling(number):  # code confirmed it
            return failures, sources
        challenge, ruling = records.one(Challenge, number), records.one(Adjudication, number)
        failures += [*challenge.faults(FaultOf.CONTRACT), _rejection(ruling.rationale)]
        return failures, (*sources, *_sources(challenge, ruling))

    def _records(self, debate_id: str) -> DebateRecords:
        return self._factory.debates.records(debate_id)

    def _note(self, kind: str, text: str) -> None:
        name = self._deliverable.name
        self._factory.progress.note(RunEvent(kind, self._task.entry.spec_task_id, f"{name} {text}"))


def _sources(challenge: Challenge, ruling: Adjudication | None = None) -> tuple[tuple[str, str], ...]:
    """Return the records of failures, with a note on the part that a role sees."""
    sources = [(challenge.ref, "its failures, without its assessments")]
    if ruling:
        sources.append((ruling.ref, "its rationale, as a failure to correct"))
    return tuple(sources)


def _contract_fault(version: Version) -> DebateState:
    """Return the state for a version whose contract is at fault, as code confirmed (design: contract-at-fault)."""
    if not version.confirmed:
        return {"confirmed_fault": ""}
    faults = "; ".join(f"{one.pointer}: {one.reason}" for one in version.contract_at_fault)
    at_fault = "plan" if version.confirmed == MISSING_DEPENDENCY else version.confirmed
    reason = f"the {at_fault} is at fault, as code confirmed: {faults}"
    return {"confirmed_fault": version.confirmed, "halt_reason": reason}


def _rejection(rationale: str) -> Failure:
    """Return a REJECT as a failure for the Proposer to correct (design: debate)."""
    return Failure(
        invariant="The Arbiter rejected the deliverable.", evidence=rationale, required_change=rationale
    )


def _rejection_reason(ruling: Adjudication) -> str:
    """Return the reason to halt if this ruling ends the debate."""
    if not ruling.confirmed_fault:
        return "the Arbiter rejected it and no revision is left"
    return f"the {ruling.confirmed_fault.value} is at fault, as the Arbiter confirmed: {ruling.rationale}"
