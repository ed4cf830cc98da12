"""Answers to escalations: the offered actions, the checks, and the effects (design: escalation).

Each suitable action is offered with a payload to fill in. A halted task can resume in place with another plan, a person's
approval, or a person's files.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast

from agent_wire import canonical_json
from specwright.application.announce import Announcement, announce, review, review_of
from specwright.application.criteria import open_questions
from specwright.application.debate.debate import Debate
from specwright.application.debate.implementation import Implementation
from specwright.application.escalation.halted import (
    HaltedTask,
    open_escalations,
    unusable_answers,
    unusable_roles,
)
from specwright.application.factory import Factory, ProjectView
from specwright.application.loop_state import EngineeringState, ResumedDebate
from specwright.application.pages import render_at_init
from specwright.application.planner import check_human_plan
from specwright.application.ship import reused
from specwright.application.store.artifacts import Invocation
from specwright.application.tasks import (
    Task,
    all_shipped,
    attempt_events,
    completion,
    project_state,
    refreshed_file,
    task_at,
)
from specwright.domain.acceptance.calls import unserved
from specwright.domain.answers import Decision
from specwright.domain.debate.records import MAX_REVISIONS, Adjudication, TriedTest
from specwright.domain.escalation import (
    OPERATOR,
    RELEASE,
    Action,
    AmendSpec,
    ApproveOverride,
    AttestShipped,
    EscalationArtifact,
    HumanResolution,
    ProvideFix,
    ResolutionRecord,
    SplitTask,
    actions_for,
)
from specwright.domain.modules.evidence import file_problems, overlaid
from specwright.domain.tasks.project_state import TaskStatus, expanded
from specwright.domain.tasks.task_board import TaskBoard
from specwright.domain.tasks.task_file import (
    TaskAmendment,
    TaskDefinition,
    amended,
    first_entry,
    parts_of,
    task_named,
)
from specwright.errors import AnswerError, InputError, RefusedError
from specwright.ports import Files, Role, RunEvent, Scope, provider_of

_CARRIED = ("plan_id", "shipped", "debates", "locked", "reopened_by")
"""The keys that the resumed run keeps from the state of the halted one, besides the failures."""

_CORRECTED = "The draft as it was handed in; what was approved wrongly has been corrected since."
"""The claim of a draft that resumes after a person corrected the approved examples."""


class AnsweredModule:
    """The failed module that an answer is about.

    Args:
        factory: The ports.
        task: The halted task.
        record: The answer.

    Raises:
        InputError: the payload names a module that did not fail, or none although several failed.
        RefusedError: the halt left no state to resume from.
    """

    def __init__(self, factory: Factory, task: Task, record: ResolutionRecord) -> None:
        self._factory = factory
        self._record = record
        self.halted = HaltedTask(factory, factory.escalations.escalation(record.escalation_id))
        if self.halted.plan is None:
            raise RefusedError(
                "this halt left no state to resume from",
                where=record.escalation_id,
                remedy="amend or split the task",
            )
        failed, wanted = self.halted.failed, str(record.payload.get("module", ""))
        name = wanted or (failed[0] if len(failed) == 1 else "")
        if name not in failed:
            names = ", ".join(failed) or "none that is still planned"
            what = f"{wanted!r} is not a failed module" if wanted else "several modules failed"
            raise InputError(f"{what}: {names}", where="payload.module", remedy="name one of them")
        self.module = Implementation(factory, task, self.halted.plan, name)
        self.judged = self.halted.judged(name)
        self.number = self.judged.round + 1
        """The number of the round that the answer opens."""
        place = task.place(name, f"round-{self.number}", Role.CHALLENGER)
        self.challenged_at = place._replace(resumed=place.resumed + 1)
        """The place where a person's files are challenged first."""

    @cached_property
    def tests(self) -> Sequence[TriedTest]:
        """Return the falsifying tests that still count."""
        debate_id, version_id, number = self.judged
        debate = Debate(self._factory, self.module)
        return debate.active_tests(debate_id, number, version_id) if debate_id else ()

    @property
    def claim(self) -> str:
        """The description of the files."""
        return self._record.payload.get("fix_description", _CORRECTED)

    @cached_property
    def files(self) -> Files:
        """Return the module's files with a person's fix applied, or its last draft if the answer corrects the spec.

        Raises:
            InputError: a path is outside the module, or a file cannot be removed.
        """
        if self._record.action is Action.RETRY:
            return self.halted.draft(self.module.name).files
        answer = ProvideFix.model_validate(self._record.payload)
        problems, files = list(file_problems(answer.fix_artifacts)), {}
        if not problems:
            version = self.judged.version_id
            base = self.module.files(version) if version else self.module.stub()
            files, problems = overlaid(base, answer.fix_artifacts, answer.removed_artifacts)
        if problems:
            raise InputError("; ".join(problems), where="payload.fix_artifacts", remedy="nothing was written")
        return files

    def overrule(self, scope: Scope, by: Invocation) -> tuple[str, str]:
        """Record a person's approval as the ruling of a separate round; the ship gate comes next (design: escalation).

        Returns:
            The debate, and the version to ship.
        """
        rationale = ApproveOverride.model_validate(self._record.payload).rationale
        debate_id, version_id, _ = self.judged
        Debate(self._factory, self.module).overrule(scope, by, debate_id, version_id, self.number, rationale)
        return debate_id, version_id

    def fix(self, scope: Scope, by: Invocation) -> tuple[str, str]:
        """Record a person's files as the proposal of the next round; the Challenger comes next (design: escalation).

        Returns:
            The debate, and the version to judge.
        """
        claim = self.claim
        stage = f"{'corrected' if claim == _CORRECTED else 'round'}-{self.number}"
        debate_id, before, number = self.judged
        records = self._factory.debates.records(debate_id) if debate_id else None
        proposals = records.history(number).proposals if records else ()
        checks = self.halted.last_checks(proposals, self.files)
        version = self.module.accept_fix(scope, by, claim, checks, self.files, before, self.tests, stage)
        debate = Debate(self._factory, self.module)
        return debate.provide(version, debate_id, self.number), version.version_id


def is_refused_by_gate(view: ProjectView, debate_id: str) -> bool:
    """Whether a failed debate ended with an approval: then the ship gate refused the version, which nobody can overrule."""
    records = view.debates.records(debate_id)
    ruling = records.find(Adjudication, max(records.rounds(), default=0))
    return ruling is not None and ruling.decision is Decision.APPROVE


def check_in_place(factory: Factory, task: Task, record: ResolutionRecord) -> None:
    """Check that a run could resume with an answer. Nothing is written and no model is asked.

    Args:
        factory: The ports.
        task: The halted task.
        record: The answer.

    Raises:
        InputError: the payload names something unknown, an invalid plan, or a path outside the module.
        RefusedError: no version could ship.
    """
    if record.action is Action.REVISE_PLAN:
        check_human_plan(factory, task, record)
        return
    failed = AnsweredModule(factory, task, record)
    if record.action in (Action.PROVIDE_FIX, Action.RETRY):
        _ = failed.files
    elif not failed.judged.version_id:
        raise RefusedError(
            f"{failed.module.name} has no version that could ship: no draft of it passed the preflight",
            where=record.escalation_id,
            remedy="give its files with PROVIDE_FIX",
        )
    elif is_refused_by_gate(factory, failed.judged.debate_id):
        raise RefusedError(
            f"{failed.module.name} was approved, but the ship gate refused it, and nobody can overrule the gate",
            where=record.escalation_id,
            remedy="give its files with PROVIDE_FIX, or run the task again with RETRY",
        )


def resume_module(factory: Factory, task: Task) -> EngineeringState:
    """Return the state in which an answer's module enters its debate, or fails at once."""
    record = cast(ResolutionRecord, task.answer)  # checked by `loop.begin_task`
    failed = AnsweredModule(factory, task, record)
    name, left = failed.module.name, failed.halted.escalation.left
    others = {other: why for other, why in left["failed"].items() if other != name}
    carried = {key: left[key] for key in _CARRIED if key in left}
    begun = cast(EngineeringState, {**carried, "failed": others, "deliverable": name})
    run_id = f"{task.run}/{name}/operator"
    scope = factory.journal.scope(run_id)
    by = factory.invocations.open_resolution(scope, run_id, task.task_id, task.folder, record.escalation_id)
    enter = "ship" if record.action is Action.APPROVE_OVERRIDE else "challenge"
    try:
        debate_id, version_id = failed.overrule(scope, by) if enter == "ship" else failed.fix(scope, by)
    except AnswerError as error:
        if record.action is not Action.RETRY:
            problems = list(error.problems)
            reason = f"{error.what}: {'; '.join(problems)}"
            return {**begun, "failed": {**others, name: reason}, "errors": problems}
        enter, debate_id, version_id = "propose", "", ""  # the draft fails for other reasons too
    spent = failed.judged.round if record.action is Action.RETRY else MAX_REVISIONS
    resumed = ResumedDebate(
        deliverable=name,
        enter=enter,
        debate_id=debate_id,
        version_id=version_id,
        round=failed.number,
        retry_count=min(spent, MAX_REVISIONS),
    )
    debates = {**begun["debates"], name: debate_id} if debate_id else begun["debates"]
    return {**begun, "resumed": resumed, "debates": debates}


FILL = "..."
"""A placeholder to fill in; required texts reject it unchanged (design: contracts)."""

DECISIONS = {
    "approve": "the changed contract is debated, made and sealed; what uses it follows, then the task runs again",
    "reject": "the contract stays; the task runs again without the change, or with --hold waits for another answer",
    "defer": "decide later; the task stays halted",
}
"""The decisions about an interface change exception (design: interface-changes)."""

RoleModels = Mapping[Role, str]
"""The model of each role, as the journal names it; none for a scripted role."""

_NO_TIME = "2000-01-01T00:00:00Z"


def suited_actions(view: ProjectView, escalation: EscalationArtifact) -> tuple[Action, ...]:
    """Return the actions that can answer an escalation now: those that its cause allows, but no attestation if nothing is
    sealed, and no override if no failed module was ever proposed or the ship gate refused the approved version."""
    unsuited = set[Action]()
    if not view.modules.refs():
        unsuited.add(Action.ATTEST_SHIPPED)
    judged = escalation.left.get("judged", {}).values()
    if all(is_refused_by_gate(view, one["debate_id"]) for one in judged):
        unsuited.add(Action.APPROVE_OVERRIDE)
    return tuple(action for action in actions_for(escalation.cause) if action not in unsuited)


def meaning(escalation: EscalationArtifact, action: Action) -> str:
    """Describe what an action does, and which model calls it costs."""
    if action is Action.RETRY and (roles := unusable_roles(escalation)):
        return (
            f"no answer of the {' and the '.join(roles)} could be used: try another model; the same one gets the same "
            "inputs, which helps only where its answers vary; costs the whole task"
        )
    if action is Action.AMEND_SPEC and escalation.cause == RELEASE:
        return "strike an approved example that is wrong itself; costs no call"
    if action is Action.RETRY and escalation.corrections:
        return "take the corrected text; the draft goes on and costs a challenge and a ruling"
    return action.means


def payload_draft(view: ProjectView, escalation: EscalationArtifact, action: Action) -> dict[str, Any]:
    """Return a payload to fill in, with the known values."""
    if action is Action.REVISE_PLAN:
        return {"revised_micro_plan": _planned(view, escalation)}
    definition = view.projection.definitions.get(escalation.task_id)
    criteria = list(definition.acceptance_criteria) if definition else [FILL]
    enough = [*criteria, FILL, FILL][: max(2, len(criteria))]
    failed, judged = [*escalation.failed], escalation.left.get("judged", {})
    one_of = {"module": next((one for one in failed if one in judged), failed[0])} if len(failed) > 1 else {}
    broken = escalation.details.get("broken_titles")
    dropped = escalation.details.get("abandoned") if not failed else None
    payloads: dict[Action, dict[str, Any]] = {
        Action.PROVIDE_FIX: {
            "fix_description": FILL,
            "fix_artifacts": {"implementation/__init__.py": FILL},
            **({"module": failed[0]} if failed else {}),
        },
        Action.APPROVE_OVERRIDE: {"rationale": FILL, **one_of},
        Action.RETRY: escalation.corrections,
        Action.AMEND_SPEC: {
            "amended_acceptance_criteria": enough,
            "amendment_rationale": FILL,
            **({"strike_examples": broken} if broken else {}),
            **({"drop_depends_on": dropped} if dropped else {}),
        },
        Action.SPLIT_TASK: {
            "new_tasks": [
                {"name": FILL, "description": FILL, "acceptance_criteria": enough, "depends_on": []}
            ]
        },
        Action.ATTEST_SHIPPED: {
            "module_ref": next(iter(escalation.details.get("shipped", {}).values()), "MM-00000000@1.0.0"),
            "rationale": FILL,
        },
        Action.REWORD_CRITERION: {"reworded_criterion": FILL, "rationale": FILL},
    }
    return payloads.get(action, {"rationale": FILL})


def _planned(view: ProjectView, escalation: EscalationArtifact) -> list[dict[str, Any]]:
    """Return the modules of the failed plan in short form, or a module to start from if there is no plan (design:
    planning)."""
    plan = HaltedTask(view, escalation).plan
    if plan is None:
        return [{"module_id": "one_module", "description": FILL, "depends_on": []}]
    names = {module.module_id: module.name for module in plan.plan.modules}
    return [
        {
            "module_id": module.name,
            "description": FILL,
            "depends_on": [names.get(ref.partition("@")[0], ref) for ref in module.depends_on],
        }
        for module in plan.plan.modules
    ]


def retry_halted(factory: Factory, models: RoleModels, role: str = "") -> None:
    """Answer RETRY to escalations of tasks that halted because a role gave no usable answer: those of the given role, or
    else those whose role has another model now. Earlier answers stay on record.

    Args:
        factory: The ports.
        models: The present models.
        role: The role to ask again; empty for all with another model.

    Raises:
        InputError: a role is given, but no task halted because of it.
    """
    waiting = [factory.escalations.escalation(name) for name in open_escalations(factory)]
    again = [one for one in waiting if _is_tried_again(factory, one, models, role)]
    if role and not again:
        done = "the researcher has finished: its spec is approved" if role == Role.RESEARCHER else ""
        raise InputError(
            done or f"no task halted because the {role} gave no usable answer",
            where="--retry",
            remedy="`specwright resolve ESC-ID RETRY` runs a halted task again",
        )
    for one in again:
        resolve(factory, HumanResolution(action=Action.RETRY, payload={}, escalation_id=one.escalation_id))


def _is_tried_again(factory: Factory, escalation: EscalationArtifact, models: RoleModels, role: str) -> bool:
    found = unusable_answers(escalation)
    if role:
        return role in found.values()
    # if a module failed for another reason too, a person must decide
    return len(found) >= max(1, len(escalation.failed)) and all(
        provider_of(factory.journal.recorded(scope, "model") or {}) != models.get(Role(of), "")
        for scope, of in found.items()
    )


class _Effect(NamedTuple):
    """The effect of an answer: Wires to append, and the definitions and task files to write first."""

    events: list[Announcement]
    definitions: tuple[TaskDefinition, ...] = ()
    files: Mapping[str, str] = MappingProxyType({})


def check(factory: Factory, resolution: HumanResolution) -> None:
    """Check that an answer can be taken; write nothing.

    Raises:
        InputError: there is no such escalation, or the payload names something unknown.
        RefusedError: the escalation is already answered, or the action does not suit it.
    """
    _EFFECTS[resolution.action](factory, *_opened(factory, resolution))


def check_fix(factory: Factory, resolution: HumanResolution, *, by_gate: bool = True) -> None:
    """Check that a person's files can become a proposal, before the answer is recorded; write nothing.

    Args:
        factory: The project.
        resolution: The answer; any action but PROVIDE_FIX passes.
        by_gate: Whether to run the gate on the files.

    Raises:
        InputError: the playbook has no challenge of the files.
        RefusedError: the gate refuses the files; the message has its findings.
    """
    if resolution.action is not Action.PROVIDE_FIX:
        return
    task, record = _opened(factory, resolution)
    name, of = record.escalation_id, task.entry.spec_task_id
    if factory.escalations.resolution(name) is not None:
        return  # already on record; a crash prevented its effect
    failed = AnsweredModule(factory, task, record)
    factory.roles.require_script(failed.challenged_at)
    if not by_gate:
        return
    factory.progress.note(RunEvent("escalation", of, f"{name}: the gate judges the files first"))
    if problems := failed.module.fix_problems(failed.claim, failed.files, failed.tests):
        shown = "".join(f"\n  {problem}" for problem in problems)
        raise RefusedError(
            f"the gate refuses these files; nothing was answered:{shown}",
            where=name,
            remedy=f"correct them and answer again; or record the answer as it is with --unchecked: then {name} is used up, "
            "and the refusal comes back as another escalation",
        )


def recorded_answer(factory: ProjectView) -> dict[str, Any] | None:
    """Return an answer that was written but not logged because of a crash. It counts; nobody is asked again."""
    answers = _recorded(factory, open_escalations(factory))
    return next((answer.to_json() for answer in answers), None)


def finish_answers(factory: Factory) -> None:
    """Apply answers to questions about criteria that were written but not logged because of a crash. No task waits for a
    question, so nothing else would apply them."""
    for answer in [*_recorded(factory, open_questions(factory))]:
        resolve(factory, answer)


def _recorded(factory: ProjectView, names: Iterable[str]) -> Iterator[HumanResolution]:
    """Yield the stored answers to escalations."""
    for name in names:
        if (record := factory.escalations.resolution(name)) is not None:
            yield HumanResolution(action=record.action, payload=record.payload, escalation_id=name)


def resolve(factory: Factory, resolution: HumanResolution) -> str:
    """Apply an answer: write its record, then task files, then append its Wires, all or none.

    Returns:
        The escalation's id.

    Raises:
        InputError, RefusedError: as `check`.
    """
    before = factory.projection.resolutions.get(resolution.escalation_id)
    if before is not None and _is_same(before, resolution):
        return resolution.escalation_id  # this node runs again after a crash
    task, record = _opened(factory, resolution)
    name = record.escalation_id
    scope = factory.journal.scope(f"resolution/{name}")
    record = record.model_copy(update={"resolved_at": scope.now()})
    effect = _EFFECTS[record.action](factory, task, record)
    factory.escalations.resolve(record)
    for definition in effect.definitions:
        factory.store.define(definition.to_bytes())
    for path, text in effect.files.items():
        factory.folder.replace(path, text.encode())
    decision = review_of(factory, "escalation.resolved", record, name, record.resolved_by)
    # the decision caused the other events, except the next attempt, caused by the end of the last one (design: wire)
    own = [
        event._replace(caused_by=decision.stream_id) if event.parent or event.type in _CAUSED else event
        for event in effect.events
    ]
    announce(factory, scope, [decision, *own])
    factory.projection.write(now=True)
    factory.progress.note(RunEvent("resolved", task.entry.spec_task_id, f"{name}: {record.action}"))
    return name


_CAUSED = ("task.failed", "task.cancelled", "task.started")
"""The events that an answer causes, besides those of a split task's parts."""


def _opened(factory: Factory, resolution: HumanResolution) -> tuple[Task, ResolutionRecord]:
    """Return the task of the answer's escalation, and the record of the answer without its time. Raise unless the
    escalation waits for such an answer."""
    waiting = [*open_escalations(factory), *open_questions(factory)]
    name = resolution.escalation_id or (waiting[0] if len(waiting) == 1 else "")
    if not name:
        names = ", ".join(waiting) or "none waits"
        raise InputError(
            f"the answer does not name an escalation: {names}", remedy="name one in `escalation_id`"
        )
    escalation = factory.escalations.escalation(name)
    if name not in waiting:
        by = factory.projection.resolutions.get(name)
        raise RefusedError(
            f"{name} is already answered" + (f": {by.action}, {by.resolved_at}" if by else ""),
            where=escalation.task_id,
            remedy="`specwright escalations` lists those that wait",
        )
    recorded = factory.escalations.resolution(name)
    if recorded is not None and not _is_same(recorded, resolution):
        raise RefusedError(
            f"{name} is already answered: {recorded.action}, {recorded.resolved_at}; a crash prevented its effect",
            where=escalation.task_id,
            remedy="`specwright run` applies that answer",
        )
    suited = suited_actions(factory, escalation)
    if resolution.action not in suited:
        raise RefusedError(
            f"{resolution.action} does not suit {name}: {escalation.cause_in_words}",
            where=escalation.task_id,
            remedy=f"this one can be answered with {', '.join(suited)}{_OTHERWISE.get(escalation.cause, '')}",
        )
    record = ResolutionRecord(
        escalation_id=name,
        task_id=escalation.task_id,
        action=resolution.action,
        payload=resolution.payload,
        resolved_by=OPERATOR,
        resolved_at=_NO_TIME,
    )
    return task_at(factory, escalation.task_id), record


def _is_same(record: ResolutionRecord, resolution: HumanResolution) -> bool:
    return (record.action, record.payload) == (resolution.action, resolution.payload)


_OTHERWISE = {RELEASE: ", or by `specwright report` or `specwright change`, which make another product"}
"""Other ways to answer an escalation, by cause."""


def _amend_spec(factory: Factory, task: Task, answer: ResolutionRecord) -> _Effect:
    """Begin the next attempt with another definition. For a shipped task, only wrong examples can be struck (design:
    executable-spec)."""
    payload = AmendSpec.model_validate(answer.payload)
    criteria, struck = payload.amended_acceptance_criteria, dict.fromkeys(payload.strike_examples)
    has_shipped = answer.escalation_id in factory.projection.failed_releases
    is_other = criteria != task.definition.acceptance_criteria or payload.drop_depends_on
    if has_shipped and (is_other or not struck):
        raise InputError(
            f"{task.task_id} has shipped, so its criteria cannot change; only approved examples can be struck here",
            where="payload",
            remedy="name their titles in `strike_examples`, or change the spec by `specwright change`",
        )
    tasks, depends_on = project_state(factory).tasks, task.definition.depends_on
    dropped = [task_named(factory.projection.definitions, text).task_id for text in payload.drop_depends_on]
    if unknown := [ref for ref in dropped if not {*expanded(tasks, [ref])} <= {*expanded(tasks, depends_on)}]:
        raise InputError(
            f"{task.task_id} does not depend on {', '.join(unknown)}", where="payload.drop_depends_on"
        )
    gone = {*expanded(tasks, dropped)}
    parts = [(ref, expanded(tasks, [ref])) for ref in depends_on]
    left = [one for ref, own in parts for one in ([ref] if gone.isdisjoint(own) else own) if one not in gone]
    definition = _with_criteria(task, criteria, payload.amendment_rationale, answer, left, struck)
    if has_shipped:
        return _amending(factory, task, definition, [_amended(factory, task, definition)])
    return _amending(factory, task, definition, next_attempt(factory, task, answer.escalation_id, definition))


def next_attempt(
    factory: Factory, task: Task, escalation: str, definition: TaskDefinition | None = None, cause: str = ""
) -> list[Announcement]:
    """Return the events of a halted task's next attempt; a task that has not run has no attempt to fail (design:
    projection).

    Args:
        factory: The ports.
        task: The task.
        escalation: The answered escalation.
        definition: The new definition, if it changed.
        cause: The stream whose last Wire ended the previous attempt.
    """
    definition, attempt = definition or task.definition, task.entry.attempt
    ready = all_shipped(factory, definition.depends_on)
    if task.entry.status is not TaskStatus.HALTED:
        amendment = _amended(factory, task, definition)
        return [amendment, task.event("task.available")] if ready else [amendment]
    failure = {"failure": {"kind": "halted", "retryable": True}, "reference": escalation}
    failed = task.event("task.failed", failure)._replace(caused_by=cause)
    known = factory.projection.definitions
    return [failed, *attempt_events(definition, attempt + 1, known, ready=ready)]


def _amending(
    factory: Factory, task: Task, definition: TaskDefinition, events: list[Announcement]
) -> _Effect:
    return _Effect(events, (definition,), {task.path: refreshed_file(factory, definition)})


def _amended(factory: Factory, task: Task, definition: TaskDefinition) -> Announcement:
    """Return the event that gives a waiting or shipped task another definition."""
    bound = canonical_json.sha256(definition.to_bytes())
    return review("task.amended", bound, task.task_id, OPERATOR)


def _split_task(factory: Factory, task: Task, answer: ResolutionRecord) -> _Effect:
    payload, projection = SplitTask.model_validate(answer.payload), factory.projection
    parts = parts_of(projection.definitions, task.task_id, payload.new_tasks)
    entries = {part.task_id: first_entry(part) for part in parts}
    # on a copy: raises on a cycle or a taken id
    TaskBoard(project_state(factory)).split(task.task_id, answer.resolved_at, entries)
    known = {**projection.definitions, **{part.task_id: part for part in parts}}
    whole, events = task.entry.spec_task_id, list[Announcement]()
    for part in parts:
        ready = all_shipped(factory, part.depends_on)
        events += attempt_events(part, 1, known, ready=ready, parent=whole)
    files = {f"project/{part.path}": render_at_init(part, known) for part in parts}
    return _Effect([*events, task.event("task.cancelled")], tuple(parts), files)


def _attest_shipped(factory: Factory, task: Task, answer: ResolutionRecord) -> _Effect:
    ref = AttestShipped.model_validate(answer.payload).module_ref
    if not factory.modules.is_sealed(ref):
        raise InputError(
            f"{ref} is not a sealed module",
            where="payload.module_ref",
            remedy="`specwright modules` lists them",
        )
    if problems := unserved(task.definition.acceptance, [factory.modules.contract(ref)]):
        raise InputError(
            f"{ref} does not provide what the task must provide: {'; '.join(problems)}",
            where="payload.module_ref",
            remedy="name another module; `specwright modules` lists them",
        )
    events = [
        task.event("task.started"),
        reused(factory, task, ref),
        *completion(factory, task, [ref], ref),
    ]
    return _Effect(events)


def _resume_attempt(factory: Factory, task: Task, answer: ResolutionRecord) -> _Effect:
    """Resume the attempt in place, with corrected examples if the answer has corrections; the engineering loop reads where
    from the answer. A RETRY without corrections begins the next attempt."""
    changes = answer.payload.get("corrections")
    if answer.action is Action.RETRY and not changes:
        return _Effect(next_attempt(factory, task, answer.escalation_id))
    check_in_place(factory, task, answer)
    started = task.event("task.started")
    if not changes:
        return _Effect([started])
    why = answer.payload.get("rationale") or f"Wrong as approved: {', '.join(changes)}."
    definition = _with_criteria(task, task.definition.acceptance_criteria, why, answer, changes=changes)
    return _amending(factory, task, definition, [_amended(factory, task, definition), started])


def _answer_question(factory: Factory, task: Task, answer: ResolutionRecord) -> _Effect:
    """Apply the answer to later roles and the release. A halted task's next attempt uses the changed criteria; a shipped
    task stays as it is (design: unshown-criteria)."""
    text = factory.projection.questions[answer.escalation_id].details["text"]
    criteria = task.definition.acceptance_criteria
    halted = task.entry.status is TaskStatus.HALTED and text in criteria
    if answer.action is Action.ACCEPT_UNSHOWN or not halted:
        return _Effect([])
    new = [] if answer.action is Action.DROP_CRITERION else [str(answer.payload["reworded_criterion"])]
    left = [one for old in criteria for one in ([old] if old != text else new)]
    if not left:
        raise RefusedError(
            f"this is the only criterion of {task.task_id}",
            where=answer.escalation_id,
            remedy="REWORD_CRITERION, or ABANDON_TASK by the escalation of its halt",
        )
    number, acceptance = criteria.index(text) + 1, task.definition.acceptance
    dropped = answer.action is Action.DROP_CRITERION
    items = acceptance.items if acceptance and dropped else ()
    gone = {one.title: None for one in items if one.criteria == [number]}
    definition = _with_criteria(task, left, str(answer.payload["rationale"]), answer, changes=gone)
    return _amending(factory, task, definition, [_amended(factory, task, definition)])


def _with_criteria(
    task: Task,
    criteria: Sequence[str],
    why: str,
    answer: ResolutionRecord,
    depends_on: Sequence[str] | None = None,
    changes: Mapping[str, Any] = {},
) -> TaskDefinition:
    """Return a task's definition with other criteria, the remaining dependencies, and without struck examples."""
    amendment = TaskAmendment(
        replaced_criteria=task.definition.acceptance_criteria,
        rationale=why,
        escalation_ref=answer.escalation_id,
        amended_at=answer.resolved_at,
    )
    left = task.definition.depends_on if depends_on is None else list(dict.fromkeys(depends_on))
    return amended(task.definition, criteria, amendment, left, changes)


_Handler: TypeAlias = Callable[[Factory, Task, ResolutionRecord], _Effect]

_EFFECTS: Mapping[Action, _Handler] = {
    Action.RETRY: _resume_attempt,
    Action.AMEND_SPEC: _amend_spec,
    Action.SPLIT_TASK: _split_task,
    Action.ABANDON_TASK: lambda factory, task, answer: _Effect([task.event("task.cancelled")]),
    Action.ATTEST_SHIPPED: _attest_shipped,
    Action.REVISE_PLAN: _resume_attempt,
    Action.APPROVE_OVERRIDE: _resume_attempt,
    Action.PROVIDE_FIX: _resume_attempt,
    Action.ACCEPT_UNSHOWN: _answer_question,
    Action.DROP_CRITERION: _answer_question,
    Action.REWORD_CRITERION: _answer_question,
}
"""The function that applies each action (design: escalation)."""
