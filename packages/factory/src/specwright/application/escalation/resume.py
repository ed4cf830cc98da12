"""A halted task that continues in place: with another plan, a person's approval, or a person's files (design: escalation).

Where a run begins follows from the answer and the escalation that it answers. Neither ever changes, so a run that begins
again after a crash begins at the same place. A person's approval replaces the Arbiter's ruling, a person's files replace
the Proposer's. Neither leaves a revision; everything after them is as in any debate.
"""

from typing import Any, NamedTuple, cast

from specwright.application.debate.debate import Debate
from specwright.application.debate.implementation import Implementation, module_of
from specwright.application.escalation.actions import is_refused_by_gate
from specwright.application.escalation.fix import reason_of_same_files
from specwright.application.escalation.last_answers import last_checks
from specwright.application.factory import Factory
from specwright.application.loop_state import EngineeringState, ResumedDebate
from specwright.application.plan.planner import check_human_plan
from specwright.application.plan.stored_plans import load_plan
from specwright.application.store.artifacts import Invocation
from specwright.application.tasks import Task
from specwright.domain.debate.debate import MAX_REVISIONS
from specwright.domain.escalation import Action, ApproveOverride, ProvideFix, ResolutionRecord
from specwright.domain.modules.evidence import file_problems, overlaid
from specwright.errors import AnswerError, InputError, RefusedError
from specwright.ports import Files, Place, Role, Scope

_CARRIED = ("plan_id", "shipped", "debates", "locked", "reopened_by")
"""What the resumed run takes over from the state of the halted one, beside what failed."""


class _FailedModule(NamedTuple):
    """The failed module that an answer is about, the state that its halt left, and the version that its debate judged
    last, in which round; empty if it had none."""

    module: Implementation
    halted: dict[str, Any]
    debate_id: str = ""
    version_id: str = ""
    round: int = 0


def check_in_place(factory: Factory, task: Task, record: ResolutionRecord) -> None:
    """Check that a run could begin with an answer; nothing is written and no model is asked.

    Args:
        factory: The ports.
        task: The halted task.
        record: The answer.

    Raises:
        InputError: its payload names what is not there, a plan that does not hold, or a path outside the module.
        RefusedError: there is nothing that could ship.
    """
    if record.action is Action.REVISE_PLAN:
        check_human_plan(factory, task, record)
        return
    failed = _failed_module(factory, task, record)
    if record.action is Action.PROVIDE_FIX:
        _fixed_files(failed, record)
    elif not failed.version_id:
        raise RefusedError(
            f"{failed.module.name} has nothing that could ship: no proposal of it ever passed the preflight",
            where=record.escalation_id,
            remedy="give its files with PROVIDE_FIX",
        )
    elif is_refused_by_gate(factory, failed.debate_id):
        raise RefusedError(
            f"{failed.module.name} was approved; the ship gate refused it, and nobody overrules the gate",
            where=record.escalation_id,
            remedy="give its files with PROVIDE_FIX, or have the task run again with RETRY",
        )


class FixVerdict(NamedTuple):
    """What became of a person's files before their answer counts.

    Args:
        problems: What the preflight would refuse of them.
        reason: Why the last draft failed, if these are its files; else None.
    """

    problems: list[str]
    reason: str | None


def examine_fix(factory: Factory, task: Task, record: ResolutionRecord) -> FixVerdict:
    """Judge a person's files by the preflight; nothing is written and no model is asked. Fails as `check_in_place`."""
    failed = _failed_module(factory, task, record)
    debate, before = Debate(factory, failed.module), failed.version_id
    tests = debate.active_tests(failed.debate_id, failed.round, before) if failed.debate_id else ()
    files = _fixed_files(failed, record)
    halted = factory.escalations.escalation(record.escalation_id)
    reason = reason_of_same_files(factory, halted, failed.module.name, files)
    return FixVerdict(failed.module.fix_problems(files, tests), reason)


def asked_next(factory: Factory, task: Task, record: ResolutionRecord) -> Place:
    """Who judges a person's files first, and where. Fails as `check_in_place`."""
    failed = _failed_module(factory, task, record)
    place = task.place(failed.module.name, f"round-{failed.round + 1}", Role.CHALLENGER)
    return place._replace(resumed=place.resumed + 1)


def resume_module(factory: Factory, task: Task) -> EngineeringState:
    """The state with which the module that an answer is about enters its debate, or fails at once."""
    record = cast(ResolutionRecord, task.answer)  # `loop.begin_task` saw it
    failed = _failed_module(factory, task, record)
    name, halted = failed.module.name, failed.halted
    others = {other: why for other, why in halted["failed"].items() if other != name}
    carried = {key: halted[key] for key in _CARRIED if key in halted}
    begun = cast(EngineeringState, {**carried, "failed": others, "deliverable": name})
    run_id = f"{task.run}/{name}/operator"
    scope = factory.journal.scope(run_id)
    by = factory.invocations.open_resolution(scope, run_id, task.task_id, task.folder, record.escalation_id)
    enter = _overruled if record.action is Action.APPROVE_OVERRIDE else _fixed
    try:
        resumed = enter(factory, scope, by, failed, record)
    except AnswerError as error:
        problems = list(error.problems)
        reason = f"{error.what}: {'; '.join(problems)}"
        return {**begun, "failed": {**others, name: reason}, "errors": problems}
    return {**begun, "resumed": resumed, "debates": {**begun["debates"], name: resumed["debate_id"]}}


def _overruled(
    factory: Factory, scope: Scope, by: Invocation, failed: _FailedModule, record: ResolutionRecord
) -> ResumedDebate:
    """A person's approval as the ruling of a round of its own; the ship gate comes next (design: escalation)."""
    rationale = ApproveOverride.model_validate(record.payload).rationale
    debate = Debate(factory, failed.module)
    debate.overrule(scope, by, failed.debate_id, failed.version_id, failed.round + 1, rationale)
    return _resumed(failed, "ship", failed.debate_id, failed.version_id)


def _fixed(
    factory: Factory, scope: Scope, by: Invocation, failed: _FailedModule, record: ResolutionRecord
) -> ResumedDebate:
    """A person's files as the proposal of the next round, or of a first one; the Challenger comes next (design:
    escalation)."""
    claim, before = ProvideFix.model_validate(record.payload).fix_description, failed.version_id
    debate, halted = Debate(factory, failed.module), factory.escalations.escalation(record.escalation_id)
    tests = debate.active_tests(failed.debate_id, failed.round, before) if failed.debate_id else ()
    files, number = _fixed_files(failed, record), failed.round + 1
    records = factory.debates.records(failed.debate_id) if failed.debate_id else None
    checks = last_checks(halted, records.history(failed.round).proposals if records else (), files)
    version = failed.module.accept_fix(scope, by, claim, checks, files, before, tests, number)
    debate_id = debate.provide(version, failed.debate_id, number)
    return _resumed(failed, "challenge", debate_id, version.version_id)


def _resumed(failed: _FailedModule, enter: str, debate_id: str, version_id: str) -> ResumedDebate:
    return ResumedDebate(
        deliverable=failed.module.name,
        enter=enter,
        debate_id=debate_id,
        version_id=version_id,
        round=failed.round + 1,
        retry_count=MAX_REVISIONS,
    )


def _failed_module(factory: Factory, task: Task, record: ResolutionRecord) -> _FailedModule:
    details = factory.escalations.escalation(record.escalation_id).details
    halted = cast("dict[str, Any] | None", details.get("resume"))
    if halted is None:
        raise RefusedError(
            "this halt left nothing to go on with",
            where=record.escalation_id,
            remedy="amend or split the task",
        )
    plan = load_plan(factory.artifacts, task.folder, halted["plan_id"])
    failed = [name for name in halted["failed"] if name in plan.contracts]
    payload = ApproveOverride if record.action is Action.APPROVE_OVERRIDE else ProvideFix
    wanted = payload.model_validate(record.payload).module
    name = wanted or (failed[0] if len(failed) == 1 else "")
    if name not in failed:
        names = ", ".join(failed) or "none that is still planned"
        what = f"{wanted!r} is no module that failed" if wanted else "several modules failed"
        raise InputError(f"{what}: {names}", where="payload.module", remedy="name one of them")
    return _FailedModule(module_of(factory, task, plan, name), halted, **halted["judged"].get(name, {}))


def _fixed_files(failed: _FailedModule, record: ResolutionRecord) -> Files:
    """The module's files with those of the fix."""
    answer = ProvideFix.model_validate(record.payload)
    fix = answer.fix_artifacts
    problems, files = list(file_problems(fix)), {}
    if not problems:
        base = failed.module.files(failed.version_id) if failed.version_id else failed.module.stub()
        files, problems = overlaid(base, fix, answer.removed_artifacts)
    if problems:
        raise InputError("; ".join(problems), where="payload.fix_artifacts", remedy="nothing was written")
    return files
