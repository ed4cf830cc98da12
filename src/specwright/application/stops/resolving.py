"""A person's answer to an escalation: checked, then appended as one batch of Wires (F§17.2, F§17.3, D8, D22, D33).

No model is asked here. What an action does to a task is said by its Wires; the project loop goes on from the
state that they make. An answer is given once: the same one told again after a crash changes nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast

from specwright.application.announcing import Announcement, announce, review, task_event
from specwright.application.factory import Factory, Reading
from specwright.application.project_stage import (
    Task,
    all_shipped,
    completion,
    project_state,
    refreshed_file,
    task_at,
)
from specwright.application.shipping import reused
from specwright.application.stops.loop_stops import escalation_at, open_escalations
from specwright.application.stops.resuming import check_in_place
from specwright.domain import state_changes
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.ids import ModuleRef
from specwright.domain.project_state import TaskStatus
from specwright.domain.resolutions import (
    OPERATOR,
    Action,
    AmendSpec,
    AttestShipped,
    HumanResolution,
    ResolutionRecord,
    SplitTask,
    actions_of,
)
from specwright.domain.task_file import TaskAmendment, TaskDefinition, amended, first_entry, render_at_init
from specwright.domain.task_parts import parts_of, task_named
from specwright.errors import InputError, RefusedError
from specwright.ports.journal import Scope
from specwright.ports.progress import Step

__all__ = ["check", "resolve", "standing_answer"]


class _Answer(NamedTuple):
    """An answer with what it is about."""

    escalation: EscalationArtifact
    task: Task
    given: HumanResolution


class _Effect(NamedTuple):
    """What an answer comes to: Wires to append, and before them the definitions that they name and task files."""

    events: list[Announcement]
    definitions: tuple[TaskDefinition, ...] = ()
    files: Mapping[str, str] = MappingProxyType({})


def check(factory: Factory, given: HumanResolution) -> None:
    """Whether an answer can be taken; nothing is written.

    Raises:
        InputError: no such escalation, or its payload names what is not there.
        RefusedError: the escalation is answered, or this action does not suit it.
    """
    answer = _opened(factory, given)
    _EFFECTS[given.action](factory, answer, "2000-01-01T00:00:00Z")


def standing_answer(factory: Reading) -> dict[str, Any] | None:
    """The answer to a waiting escalation that was recorded before a crash kept it from the log; it is the one that
    counts, and is taken without asking again."""
    for name in open_escalations(factory):
        if (record := _recorded(factory, name)) is not None:
            given = HumanResolution(action=record.action, payload=record.payload, escalation_id=name)
            return given.to_json()
    return None


def resolve(factory: Factory, given: HumanResolution) -> str:
    """Take an answer: its record, its task files, then its Wires, all or none.

    Returns:
        The escalation's id.

    Raises:
        InputError, RefusedError: as `check`.
    """
    if given.escalation_id in factory.projection.resolutions:
        record = factory.projection.resolutions[given.escalation_id]
        if (record.action, record.payload) == (given.action, given.payload):
            return given.escalation_id  # this node runs again after a crash
    answer = _opened(factory, given)
    name = answer.escalation.escalation_id
    scope = factory.journal.scope(f"resolution/{name}")
    now = scope.now()
    effect = _EFFECTS[given.action](factory, answer, now)
    _tell(factory, scope, _record(answer, now), effect)
    factory.progress.note(Step("resolved", answer.task.entry.spec_task_id, f"{name}: {given.action}"))
    return name


def _record(answer: _Answer, now: str) -> ResolutionRecord:
    return ResolutionRecord(
        escalation_id=answer.escalation.escalation_id,
        task_id=answer.task.task_id,
        action=answer.given.action,
        payload=answer.given.payload,
        resolved_by=OPERATOR,
        resolved_at=now,
    )


def _tell(factory: Factory, scope: Scope, record: ResolutionRecord, effect: _Effect) -> None:
    factory.store.publish(f"resolutions/{record.escalation_id}.json", record.to_bytes())
    project_id = factory.projection.project_id
    for definition in effect.definitions:
        factory.store.define(definition.to_bytes())
    for path, text in effect.files.items():
        factory.folder.replace(path, text.encode())
    bound = factory.store.define(record.to_bytes())
    told = review(project_id, "escalation.resolved", bound, record.escalation_id, record.resolved_by)
    # the decision is what caused the rest, but for a next attempt, which the end of the last one did (D33)
    own = [
        event._replace(caused_by=told.stream_id) if _is_caused(event) else event for event in effect.events
    ]
    announce(factory, scope, project_id, [told, *own])
    factory.projection.write(now=True)


def _is_caused(event: Announcement) -> bool:
    return event.type in ("task.failed", "task.cancelled", "task.started") or bool(event.parent)


def _opened(factory: Factory, given: HumanResolution) -> _Answer:
    waiting = open_escalations(factory)
    name = given.escalation_id or (waiting[0] if len(waiting) == 1 else "")
    if not name:
        told = ", ".join(waiting) or "none waits"
        raise InputError(f"the answer names no escalation: {told}", remedy="name one in `escalation_id`")
    escalation = escalation_at(factory, name)
    if name not in waiting:
        by = factory.projection.resolutions.get(name)
        raise RefusedError(
            f"{name} is answered" + (f" already: {by.action}, {by.resolved_at}" if by else ""),
            where=escalation.task_id,
            remedy="`specwright escalations` lists those that wait",
        )
    stands = _recorded(factory, name)
    if stands is not None and (stands.action, stands.payload) != (given.action, given.payload):
        raise RefusedError(
            f"{name} is answered already: {stands.action}, {stands.resolved_at}; a crash came before it was carried out",
            where=escalation.task_id,
            remedy="`specwright run` goes on with that answer",
        )
    suited = actions_of(escalation.details)
    if given.action not in suited:
        raise RefusedError(
            f"{given.action} does not suit {name}: {_UNSUITED[given.action]}",
            where=escalation.task_id,
            remedy=f"this one can be answered with {', '.join(suited)}",
        )
    return _Answer(escalation, task_at(factory, escalation.task_id), given)


def _recorded(factory: Reading, name: str) -> ResolutionRecord | None:
    path = f"resolutions/{name}.json"
    return ResolutionRecord.from_bytes(factory.store.read(path), path) if factory.store.exists(path) else None


_UNSUITED = {
    Action.APPROVE_OVERRIDE: "there is no module that could ship, since no proposal of one ever passed the preflight",
    Action.PROVIDE_FIX: "there is no module to fix",
    Action.REVISE_PLAN: "its task has not run",
    Action.ATTEST_SHIPPED: "its task has not run",
}


def _amend_spec(factory: Factory, answer: _Answer, now: str) -> _Effect:
    payload, task = cast(AmendSpec, answer.given.read()), answer.task
    dropped = [task_named(factory.projection.definitions, text).task_id for text in payload.drop_depends_on]
    if strange := [ref for ref in dropped if ref not in task.definition.depends_on]:
        raise InputError(
            f"{task.task_id} does not depend on {', '.join(strange)}", where="payload.drop_depends_on"
        )
    amendment = TaskAmendment(
        replaced_criteria=task.definition.acceptance_criteria,
        rationale=payload.amendment_rationale,
        escalation_ref=answer.escalation.escalation_id,
        amended_at=now,
    )
    kept = [ref for ref in task.definition.depends_on if ref not in dropped]
    definition = amended(task.definition, payload.amended_acceptance_criteria, amendment, kept)
    events = list(_again(factory, task, definition, answer.escalation.escalation_id))
    return _Effect(events, (definition,), {task.path: refreshed_file(factory, definition)})


def _again(
    factory: Factory, task: Task, definition: TaskDefinition, escalation: str
) -> Iterator[Announcement]:
    """A halted task's next attempt; a task that has not run has nothing to fail (D-29-05)."""
    attempt, spec_id, bound = task.entry.attempt, task.entry.spec_task_id, _digest(definition)
    if task.entry.status is TaskStatus.HALTED:
        failure = {"kind": "halted", "retryable": True}
        yield task_event("task.failed", spec_id, attempt, {"failure": failure, "reference": escalation})
        attempt += 1
        waits = [factory.projection.definitions[ref].spec_task_id for ref in definition.depends_on]
        yield task_event("task.created", spec_id, attempt, {"definition_sha256": bound}, waits)
    else:
        yield review(factory.projection.project_id, "task.amended", bound, task.task_id, OPERATOR)
    if all_shipped(factory, definition.depends_on):
        yield task_event("task.available", spec_id, attempt, {})


def _split_task(factory: Factory, answer: _Answer, now: str) -> _Effect:
    payload, task, projection = cast(SplitTask, answer.given.read()), answer.task, factory.projection
    if projection.spec is None:  # it is approved: its tasks are there
        raise RefusedError("no spec is approved", where=task.task_id)
    parts = parts_of(projection.spec, projection.definitions, task.task_id, payload.new_tasks)
    # refuses a circle, and an id that is taken
    entries = {part.task_id: first_entry(part) for part in parts}
    state_changes.split_into(project_state(factory), task.task_id, entries, now)
    known = {**projection.definitions, **{part.task_id: part for part in parts}}
    events = [event for part in parts for event in _part(factory, task, part, known)]
    files = {f"project/{part.path}": render_at_init(part, known) for part in parts}
    return _Effect([*events, _cancelled(task)], tuple(parts), files)


def _part(
    factory: Factory, whole: Task, part: TaskDefinition, known: Mapping[str, TaskDefinition]
) -> Iterator[Announcement]:
    waits = [whole.entry.spec_task_id, *(known[ref].spec_task_id for ref in part.depends_on)]
    made = task_event("task.created", part.spec_task_id, 1, {"definition_sha256": _digest(part)}, waits)
    yield made._replace(parent=whole.entry.spec_task_id)
    if all_shipped(factory, part.depends_on):
        yield task_event("task.available", part.spec_task_id, 1, {})


def _abandon_task(factory: Factory, answer: _Answer, now: str) -> _Effect:
    return _Effect([_cancelled(answer.task)])


def _attest_shipped(factory: Factory, answer: _Answer, now: str) -> _Effect:
    payload, task = cast(AttestShipped, answer.given.read()), answer.task
    ref = payload.module_ref
    if not factory.store.exists("modules/{}/{}/ship.json".format(*ModuleRef.parse(ref))):
        raise InputError(
            f"{ref} is no sealed module", where="payload.module_ref", remedy="`specwright modules` lists them"
        )
    events = [
        _started(task),
        reused(factory, task, ref),
        *completion(factory, task, [ref], ref),
    ]
    return _Effect(events)


def _go_on(factory: Factory, answer: _Answer, now: str) -> _Effect:
    """The same attempt goes on; where, the engineering loop reads from the answer."""
    check_in_place(factory, answer.task, _record(answer, now))
    return _Effect([_started(answer.task)])


def _started(task: Task) -> Announcement:
    return task_event("task.started", task.entry.spec_task_id, task.entry.attempt, {})


def _cancelled(task: Task) -> Announcement:
    return task_event("task.cancelled", task.entry.spec_task_id, task.entry.attempt, {})


def _digest(definition: TaskDefinition) -> str:
    return sha256(definition.to_bytes()).hexdigest()


_Handler: TypeAlias = Callable[[Factory, _Answer, str], _Effect]

_EFFECTS: Mapping[Action, _Handler] = {
    Action.AMEND_SPEC: _amend_spec,
    Action.SPLIT_TASK: _split_task,
    Action.ABANDON_TASK: _abandon_task,
    Action.ATTEST_SHIPPED: _attest_shipped,
    Action.REVISE_PLAN: _go_on,
    Action.APPROVE_OVERRIDE: _go_on,
    Action.PROVIDE_FIX: _go_on,
}
"""What each action does (F§17.2)."""
