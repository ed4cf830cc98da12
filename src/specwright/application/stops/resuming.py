"""A halted task that goes on in place: with another plan, a person's approval, or a person's files (F§17.2, F§17.3, D22).

Where a run begins is read from the answer and from the escalation that it answers, both of which never change: a run
that begins again after a crash begins at the same place. A person's approval stands in place of the Arbiter's ruling, a
person's files in place of the Proposer's; neither has a revision left, and everything after them is as ever.
"""

from typing import Any, NamedTuple, cast

from specwright import canonical_json
from specwright.application.debate.implementation import Implementation
from specwright.application.debate.parties import Parties
from specwright.application.debate.records import DebateRecords
from specwright.application.engineering_state import EngineeringState, Entered
from specwright.application.factory import Factory
from specwright.application.project_stage import Task, task_at
from specwright.application.stops.escalations import escalation_at
from specwright.application.stops.given_plans import check_plan
from specwright.application.stops.halt_reasons import module_of
from specwright.application.stores.artifact_store import artifacts
from specwright.application.stores.records import Invocation, open_answer
from specwright.application.stores.stored_plans import load_plan
from specwright.domain.debate import MAX_REVISIONS, approval
from specwright.domain.falsifying import TriedTest, standing
from specwright.domain.fix_files import file_problems, overlaid
from specwright.domain.ids import ArtifactType, artifact_id
from specwright.domain.resolutions import Action, ApproveOverride, ProvideFix, ResolutionRecord
from specwright.errors import AnswerError, InputError, RefusedError
from specwright.ports.journal import Scope
from specwright.ports.progress import Step
from specwright.ports.roles import Files

__all__ = ["check_in_place", "entrance", "go_on"]

_ENTERED = (Action.APPROVE_OVERRIDE, Action.PROVIDE_FIX)

_CARRIED = ("plan_id", "shipped", "debates", "locked", "reopened_by")
"""What the state of the halted run hands on, beside what failed."""


class _Judged(NamedTuple):
    """Where the debate over a failed module was left."""

    debate_id: str = ""
    target: str = ""
    round: int = 0


class _Aim(NamedTuple):
    """The failed module that an answer is about, and what the halt left of it."""

    module: Implementation
    halted: dict[str, Any]
    judged: _Judged


def check_in_place(factory: Factory, task: Task, record: ResolutionRecord) -> None:
    """Whether a run could begin with an answer; nothing is written and nobody asked.

    Args:
        factory: The ports.
        task: The halted task.
        record: The answer.

    Raises:
        InputError: its payload names what is not there, a plan that does not hold, or a path outside the module.
        RefusedError: there is nothing that could ship.
    """
    if record.action is Action.REVISE_PLAN:
        check_plan(factory, task, record)
        return
    aim = _aim(factory, task, record)
    if record.action is Action.PROVIDE_FIX:
        _fixed(aim, record)
    elif not aim.judged.target:
        raise RefusedError(
            f"{aim.module.subject} has nothing that could ship: no proposal of it ever passed the preflight",
            where=record.escalation_id,
            remedy="give its files with PROVIDE_FIX",
        )


def entrance(factory: Factory, state: EngineeringState) -> str:
    """`resume` where an answer brings something to ship or to challenge, else `micro_plan`."""
    answer = task_at(factory, state["task_id"]).answer
    return "resume" if answer is not None and answer.action in _ENTERED else "micro_plan"


def go_on(factory: Factory, state: EngineeringState) -> EngineeringState:
    """The state with which the module that an answer is about enters its debate, or fails at once."""
    task = task_at(factory, state["task_id"])
    record = cast(ResolutionRecord, task.answer)  # `entrance` saw it
    aim = _aim(factory, task, record)
    name, halted = aim.module.subject, aim.halted
    failed = {other: why for other, why in halted["failed"].items() if other != name}
    carried = {key: halted[key] for key in _CARRIED if key in halted}
    begun = cast(EngineeringState, {**carried, "failed": failed, "subject": name})
    scope = factory.journal.scope(f"{task.run}/{name}/operator")
    by = open_answer(
        factory, scope, f"{task.run}/{name}/operator", task.task_id, task.folder, record.escalation_id
    )
    enter = _overruled if record.action is Action.APPROVE_OVERRIDE else _provided
    try:
        entered = enter(factory, scope, by, aim, record)
    except AnswerError as error:
        said = list(error.problems)
        return {**begun, "failed": {**failed, name: f"{error.what}: {'; '.join(said)}"}, "errors": said}
    return {**begun, "entered": entered, "debates": {**begun["debates"], name: entered["debate_id"]}}


def _overruled(
    factory: Factory, scope: Scope, by: Invocation, aim: _Aim, record: ResolutionRecord
) -> Entered:
    """A person's approval as the ruling of a round of its own; the ship gate comes next (D22)."""
    why, (debate_id, target, last) = ApproveOverride.model_validate(record.payload).rationale, aim.judged
    records, number, task = DebateRecords(factory.store, debate_id), last + 1, aim.module.task
    ruling = approval(artifact_id(ArtifactType.ADJUDICATION, scope.hex8()), target, why)
    Parties(factory, aim.module).rule(scope, by, ruling, records.trail(last, last, last))
    records.write_adjudication(number, ruling)
    artifacts(factory).overruled(task.folder, target, ruling.adjudication_id)
    _note(factory, task, "overruled", f"{aim.module.subject} round {number}: {ruling.decision}")
    return _entered(aim, "ship", debate_id, target, number)


def _provided(factory: Factory, scope: Scope, by: Invocation, aim: _Aim, record: ResolutionRecord) -> Entered:
    """A person's files as the proposal of the next round, or of a first one; the Challenger comes next (F§17.2)."""
    fix, judged = ProvideFix.model_validate(record.payload), aim.judged
    tests = _standing(factory, aim)
    submitted = aim.module.take(scope, by, fix.fix_description, _fixed(aim, record), judged.target, tests)
    number = judged.round + 1
    proposal = Parties(factory, aim.module).proposal(submitted, by, number)
    debate_id = judged.debate_id or proposal.proposal_id
    DebateRecords(factory.store, debate_id).write_proposal(number, proposal)
    _note(factory, aim.module.task, "provided", f"{aim.module.subject} round {number}")
    return _entered(aim, "challenge", debate_id, submitted["target"], number)


def _entered(aim: _Aim, enter: str, debate_id: str, target: str, number: int) -> Entered:
    return Entered(
        subject=aim.module.subject,
        enter=enter,
        debate_id=debate_id,
        target=target,
        round=number,
        retry_count=MAX_REVISIONS,
    )


def _aim(factory: Factory, task: Task, record: ResolutionRecord) -> _Aim:
    details = escalation_at(factory, record.escalation_id).details
    halted = cast("dict[str, Any] | None", details.get("resume"))
    if halted is None:
        raise RefusedError(
            "this halt left nothing to go on with",
            where=record.escalation_id,
            remedy="amend or split the task",
        )
    plan = load_plan(factory, task, halted["plan_id"])
    failed = [name for name in halted["failed"] if name in plan.contracts]
    payload = ApproveOverride if record.action is Action.APPROVE_OVERRIDE else ProvideFix
    wanted = payload.model_validate(record.payload).module
    name = wanted or (failed[0] if len(failed) == 1 else "")
    if name not in failed:
        told = ", ".join(failed) or "none that is still planned"
        what = f"{wanted!r} is no module that failed" if wanted else "several modules failed"
        raise InputError(f"{what}: {told}", where="payload.module", remedy="name one of them")
    judged = _Judged(**halted["judged"].get(name, {}))
    return _Aim(module_of(factory, task, plan, name), halted, judged)


def _fixed(aim: _Aim, record: ResolutionRecord) -> Files:
    """The module's files with those of the fix.

    Raises:
        InputError: one of them has no place there.
    """
    given = ProvideFix.model_validate(record.payload).fix_artifacts
    problems, files = list(file_problems(given)), {}
    if not problems:
        base = aim.module.files(aim.judged.target) if aim.judged.target else aim.module.stub()
        files, problems = overlaid(base, given)
    if problems:
        raise InputError("; ".join(problems), where="payload.fix_artifacts", remedy="nothing was written")
    return files


def _standing(factory: Factory, aim: _Aim) -> list[TriedTest]:
    """The falsifying tests that no ruling struck."""
    if not aim.judged.debate_id:
        return []
    tried, struck = DebateRecords(factory.store, aim.judged.debate_id).falsified(aim.judged.round)
    (contract,) = aim.module.contracts(aim.judged.target)
    return standing(tried, struck, canonical_json.digest(contract.to_json()))


def _note(factory: Factory, task: Task, kind: str, text: str) -> None:
    factory.progress.note(Step(kind, task.entry.spec_task_id, text))
