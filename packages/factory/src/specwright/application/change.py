"""A change of a released product: what is asked for, and what the researcher makes of it (design: change).

What follows from the log in files, for a change or a migration: done at once, and again where a crash came in between
(design: change).

A bug report: an example that a sealed module fails begins a repair, or a change request (design: change).

The approval of a change: what it does, shown by code, and the Wires that begin it (design: change).

The notes of all versions of a product, from what the log says of its changes (design: release).

What depends on a module that has got a later version, by a change or an exception: judged again by the gate and sealed
by code, or migrated by a task of its own (design: change, interface-changes).

No model is asked here. What is to be done follows from the state and the contracts alone, so a run that goes on after a
crash finds the same, and what was judged is in the journal.

The end of a change: released, or abandoned (design: change).
"""

import ast
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

from packaging.version import Version

from ship_gate.base.ids import ModuleRef
from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples import Example
from specwright.application import scopes
from specwright.application.announce import PROJECT, Announcement, announce, review, review_of, task_event
from specwright.application.debate.gate_runs import GateRun, candidate, judge_whole
from specwright.application.debate.implementation import ENTRY
from specwright.application.deprecation import finish_deprecations, reports_of, retirement, superseded
from specwright.application.factory import Factory, ProjectView
from specwright.application.pages import spec_page
from specwright.application.planner import own_module
from specwright.application.projection import ProductChange, SpecSnapshot
from specwright.application.rendering import as_json, rendered
from specwright.application.requests import PLAIN_IMPORT, as_contract
from specwright.application.ship import seal_files
from specwright.application.store import layout
from specwright.application.store.artifacts import note_hashes
from specwright.application.tasks import (
    all_shipped,
    attempt_events,
    dispatched_file,
    project_state,
    refreshed_file,
    spec_errors,
    task_board,
)
from specwright.domain.acceptance.calls import acceptance_of_module
from specwright.domain.acceptance.rules import contradict
from specwright.domain.base.graph import reachable
from specwright.domain.base.slugs import import_name, slugify
from specwright.domain.escalation import OPERATOR, NewTask
from specwright.domain.interface_change import Bump, next_version
from specwright.domain.modules.code_index import IndexStatus, UndoneDeprecation
from specwright.domain.modules.evidence import ResealedModule, tree_sha256
from specwright.domain.modules.release import ModuleChange, ReleaseManifest, VersionNotes, render_notes
from specwright.domain.spec.change_request import (
    BugReport,
    ChangeRequest,
    example_text,
    read_example,
    statement_of,
    statements,
)
from specwright.domain.spec.product_spec import (
    LEVELS,
    ProductSpec,
    ProductSpecDraft,
    SpecDifference,
    change_problems,
    spec_difference,
)
from specwright.domain.tasks.project_state import WAITING, TaskEntry, TaskStatus, expanded, shipped_modules
from specwright.domain.tasks.task_board import Outcome
from specwright.domain.tasks.task_changes import UNFINISHED
from specwright.domain.tasks.task_file import TaskDefinition, lay_out_change, parts_of
from specwright.errors import InputError, RefusedError, SpecwrightErrors
from specwright.ports import Assignment, Place, Role, RunEvent, Scope


def finish_change(factory: Factory) -> None:
    """Write what the log says of the last change: its SPEC.md, that it was abandoned, its spec as the product's once it is
    released, and the files of its tasks; and the files of migrations that have not run."""
    projection, store = factory.projection, factory.store
    tasks = projection.board.tasks if projection.board else dict[str, TaskEntry]()
    shown = [name for name in projection.migrations if tasks[name].status in WAITING]
    change = projection.changes[-1] if projection.changes else None
    files = layout.spec_files(change.request.number if change else 0)
    given_up = change is not None and change.ended == "abandoned" and not store.exists(files.abandoned)
    if change is not None:
        if not store.exists(files.source):
            store.replace(files.source, change.request.spec_text.encode())
        if change.request.report is not None:
            _write_spec_of_repair(factory, files, change.request.number)
        if change.before is not None and (given_up or not change.ended):
            shown += _begun(factory, change.before)
        if change.ended == "released":
            _show_released(factory, files)
    for task_id in shown:
        definition = projection.definitions[task_id]
        sent = dispatched_file(factory, definition)
        text = (
            refreshed_file(factory, definition) if tasks[task_id].status in WAITING or sent is None else sent
        )
        path = f"project/{definition.path}"
        if not factory.folder.exists(path) or factory.folder.read(path) != text.encode():
            factory.folder.replace(path, text.encode())
    if given_up:
        store.replace(files.abandoned, b"")  # last: it says that all else is done


def _show_released(factory: Factory, files: layout.SpecFiles) -> None:
    """Have the folder of the product show the spec that is released; a repair has not all of its pages."""
    store = factory.store
    for own, place in zip(files.shown, layout.spec_files().shown, strict=True):
        if store.exists(own) and not (store.exists(place) and store.read(place) == store.read(own)):
            store.replace(place, store.read(own))


def _write_spec_of_repair(factory: Factory, files: layout.SpecFiles, number: int) -> None:
    """The spec that a repair was begun with: that of the release, under the next version (design: change)."""
    scope = factory.journal.scope(f"{scopes.product_change(number)}/files")
    if not factory.store.exists(files.spec):
        spec = factory.projection.approved_spec  # a repair that is given up has its files before
        factory.store.replace(files.text, spec_page(spec).encode())
        factory.store.replace(files.spec, spec.to_bytes())
    note_hashes(scope, {path: factory.store.read(path) for path in (files.source, files.text, files.spec)})


def _begun(factory: ProjectView, before: SpecSnapshot) -> dict[str, TaskEntry]:
    """The tasks that a change has added or runs again."""
    attempts = {task_id: entry.attempt for task_id, entry in before.tasks.items()}
    tasks = task_board(factory).tasks.items()
    return {task_id: entry for task_id, entry in tasks if attempts.get(task_id) != entry.attempt}


LONGEST_REQUEST = 10_000
"""Characters of a request."""

_STAMPED = "2000-01-01T00:00:00Z"


def begin_change(factory: Factory, request: str, spec_before: str, spec_text: str) -> None:
    """Begin a change; asked for in the same words again, it goes on.

    Args:
        request: A sentence, or empty.
        spec_before: The SPEC.md that the product was built from.
        spec_text: As it is now.

    Raises:
        InputError: there is nothing to change or no change in it, another change is open, or a structured spec does not
            follow the approved one; nothing is written.
        RefusedError: the product is not released yet.
    """
    asked = request, spec_before, spec_text
    if _is_under_way(factory, lambda one: not one.report and (one.request, one.spec_text) == asked[::2]):
        return
    number = len(factory.projection.changes) + 1
    reference = scopes.product_change(number)
    scope, base = factory.journal.scope(f"{reference}/request"), released_spec(factory)
    _check_request(factory, request, spec_before, spec_text)
    if request or factory.given_spec is None:
        factory.roles.require_script(researcher_at(number), request=request, after=base.spec_version)
    announce(factory, scope, [_requested(factory, scope, base, asked)])
    finish_change(factory)
    factory.progress.note(RunEvent("change", "", f"{reference}: {request or 'the changed SPEC.md'}"))


def _is_under_way(factory: ProjectView, is_same: Callable[[ChangeRequest], bool]) -> bool:
    """Whether a change that is asked for is under way.

    Raises:
        InputError: another one is.
    """
    change = factory.projection.open_change
    if change is not None and not is_same(change.request):
        raise InputError(
            f"another change is under way since {change.request.asked_at}",
            remedy="finish it with `specwright run`, or give it up with `specwright change --abandon`",
        )
    return change is not None


def _requested(
    factory: Factory,
    scope: Scope,
    base: ProductSpec,
    asked: tuple[str, str, str],
    report: BugReport | None = None,
) -> Announcement:
    """The event by which the next change is asked for: by a sentence, the SPEC.md before and the one now."""
    number, (request, spec_before, spec_text) = len(factory.projection.changes) + 1, asked
    record = ChangeRequest(
        number=number,
        base_version=base.spec_version,
        request=request,
        spec_before=spec_before,
        spec_text=spec_text,
        asked_at=scope.now(),
        asked_by=OPERATOR,
        report=report,
    )
    return review_of(factory, "change.requested", record, scopes.product_change(number), OPERATOR)


def released_spec(factory: ProjectView) -> ProductSpec:
    """The spec of the released product.

    Raises:
        InputError: nothing was approved.
        RefusedError: the product is not released yet.
    """
    spec, board = factory.projection.decided_spec, factory.projection.board
    if spec is None or board is None:
        raise InputError(
            "no spec was approved here, so there is nothing to change",
            remedy="edit SPEC.md before the approval, or have the draft changed with `specwright amend`",
        )
    if board.outcome() is not Outcome.COMPLETE or not factory.projection.releases:
        raise RefusedError(
            "the product is not released yet",
            remedy="`specwright status` says what it waits for; a change comes after the release",
        )
    return spec


def _check_request(factory: Factory, request: str, spec_before: str, spec_text: str) -> None:
    if len(request) > LONGEST_REQUEST:
        raise InputError(
            f"the request has {len(request):,} characters; the limit is {LONGEST_REQUEST:,}",
            remedy="say what is to change in SPEC.md instead",
        )
    if not request and spec_before == spec_text:
        raise InputError(
            "nothing has changed: SPEC.md is the one that the product was built from",
            remedy="edit SPEC.md, or say in a sentence what is to change with --request TEXT",
        )
    given = None if request else factory.given_spec
    if given is not None and (problems := change_errors(factory, given)):
        raise InputError("the product spec cannot follow the approved one", where="\n    ".join(problems))


def change_errors(factory: ProjectView, data: Any) -> Sequence[str]:
    """What keeps a draft from being emitted: what keeps any, and for a change what the approved spec rules out (design:
    change)."""
    errors, before = spec_errors(data), factory.projection.decided_spec
    if errors or before is None:
        return errors
    tasks, draft = project_state(factory).tasks, ProductSpecDraft.model_validate(data)
    taken = {entry.spec_task_id for entry in tasks.values()}
    abandoned = {e.spec_task_id for e in tasks.values() if e.status is TaskStatus.ABANDONED}
    if problems := change_problems(before, draft, taken, abandoned):
        return problems
    try:
        spec = draft.stamped(_STAMPED, _STAMPED)
        lay_out_change(spec, spec_difference(before, spec), factory.projection.definitions)
    except SpecwrightErrors as error:
        return [error.what]
    return []


LONGEST_SPEC = 20_000
"""Of a spec that stands whole in the request for a change; of a longer one the details of tasks are read."""

_RARELY_CHANGED = frozenset({"rationale", "subtasks"})
_DETAILS = frozenset({"io_contract_sketch", "acceptance", "decisions", "depends_on"})


def researcher_at(number: int, restart: int = 1) -> Place:
    """Where the researcher is asked for a spec: the first, number 0, or that of a change."""
    return Place(scopes.product_change(number) if number else "", restart, "", "", Role.RESEARCHER)


def change_assignment(
    factory: Factory, request: ChangeRequest, restart: int, reasons: Sequence[str]
) -> Assignment[ProductSpecDraft]:
    """The researcher's assignment: what is asked for, the approved spec, and the contracts of what is shipped; no source
    (design: change).

    Args:
        request: What is asked for.
        restart: 1, and one more after each rejection.
        reasons: Why earlier drafts were rejected.
    """
    spec = factory.projection.decided_spec
    assert spec is not None
    draft = spec.model_dump(mode="json", exclude_defaults=True, exclude={"created_at", "updated_at"})
    approved = [*_by_pointer(draft, "", _RARELY_CHANGED)]
    if is_long := sum(map(len, approved)) > LONGEST_SPEC:
        approved = [*_by_pointer(draft, "", _RARELY_CHANGED | _DETAILS)]
    numbers = [int(one.spec_task_id.removeprefix("TSK-")) for one in task_board(factory).tasks.values()]
    contracts = [factory.modules.contract(ref) for ref in product_modules(factory)]
    message = rendered(
        "change.md",
        version=spec.spec_version,
        number=f"TSK-{1 + max(numbers, default=0):03d}",
        asked=request,
        reasons=reasons,
        approved="\n".join(approved),
        is_long=is_long,
    )
    return Assignment(
        answer=ProductSpecDraft,
        place=researcher_at(request.number, restart),
        message=message,
        pack={
            "SPEC.md": request.spec_text.encode(),
            "spec.json": as_json(draft).encode(),
            "notes.md": rendered("researcher.md").encode(),
            **{f"tasks/{one.task_id}.json": as_json(one.to_json()).encode() for one in spec.tasks()},
            **{f"contracts/{one.name}.md": as_contract(one).encode() for one in contracts},
        },
        before=json.dumps(draft),
    )


def _by_pointer(part: Mapping[str, Any], pointer: str, left_out: Collection[str]) -> Iterator[str]:
    """A part of a spec and the parts below it, a line each with its JSON pointer, without the fields that a change rarely
    touches, and with examples in short."""
    below = next((name for name, _ in LEVELS if name in part), "")
    skipped = {below, *left_out, *({"description"} if below in ("epics", "stories", "tasks") else ())}
    own = {name: value for name, value in part.items() if name not in skipped}
    if sketch := own.get("io_contract_sketch"):
        own["io_contract_sketch"] = {name: sketch[name] for name in ("inputs", "outputs", "error_surfaces")}
    if examples := own.get("acceptance", {}).get("examples"):
        own["acceptance"] = {**own["acceptance"], "examples": [*map(_example_in_short, examples)]}
    yield f"{pointer or '/'} {json.dumps(own, ensure_ascii=False)}"
    for number, one in enumerate(part.get(below, ())):
        yield from _by_pointer(one, f"{pointer}/{below}/{number}", left_out)


def _example_in_short(one: Mapping[str, Any]) -> str:
    code = "; ".join(line for line in one["code"].splitlines() if not PLAIN_IMPORT.match(line))
    return f"{one['title']} {one['criteria']}: {code} gives {one['gives']}"


def product_modules(factory: ProjectView) -> list[str]:
    """The modules of all shipped tasks, and whatever they call, each once; of a module that a task has, only its version,
    so that the gates of a release name those that call an earlier one."""
    own = list(dict.fromkeys(ref for _, ref in shipped_modules(task_board(factory).tasks)))
    shipped_ids = {ModuleRef.parse(ref).module_id for ref in own}

    def called(ref: str) -> list[str]:
        refs = [dependency.ref for dependency in factory.modules.contract(ref).dependencies]
        return [one for one in refs if ModuleRef.parse(one).module_id not in shipped_ids]

    return [*own, *reachable(own, called)]


_OWN_FAULTS = ("ImportError", "ModuleNotFoundError")


class TriedReport(NamedTuple):
    """A report whose example was run.

    Args:
        contract: Of the version that the product has now.
        example: As it was reported.
        observed: How the outcome differs; empty if the example holds.
        task_id: The task that shipped the module.
    """

    contract: MicroModuleContract
    example: Example
    observed: str
    task_id: str


def try_report(factory: Factory, module: str, text: str, where: str) -> TriedReport:
    """Run the example of a report against the sealed module; nothing is written.

    Args:
        module: Its name, its MM-ID, or the reference of its version.
        text: Of the file.
        where: The file, for messages.

    Raises:
        InputError: there is no such module, or this is no example of it.
        RefusedError: the product is not released yet.
    """
    repaired = _repaired(factory)
    contract = _module(factory, module, repaired)
    example = read_example(text, contract, where, import_name(slugify(factory.projection.spec_title)))
    owner = _owner(factory, contract.ref)
    if repaired is not None and repaired.example == example._replace(line=1):
        return TriedReport(factory.modules.contract(repaired.module_ref), example, repaired.observed, owner)
    files = factory.modules.files(contract.ref)
    found = factory.gate.try_examples(candidate(factory.modules, contract, files), [example])
    observed = "; ".join(one.message for one in found)
    if observed.startswith(tuple(f"it raises {name}" for name in _OWN_FAULTS)):
        raise InputError(
            f"the example errs by itself: {observed}",
            where=where,
            remedy=f"write `from modules.{contract.name} import {contract.name}`, and import what Python itself has",
        )
    _check_approved(factory.projection.definitions[owner], contract, example, where)
    return TriedReport(contract, example, observed, owner)


def _check_approved(
    task: TaskDefinition, contract: MicroModuleContract, example: Example, where: str
) -> None:
    """Refuse an example that says otherwise than an approved one: a repair would have to give both."""
    reported = _without_imports(example.code)
    for one in acceptance_of_module(task.acceptance, task.acceptance_criteria, contract, ()).examples:
        if _without_imports(one.code) == reported and contradict(one.expected, example.expected):
            raise InputError(
                f"an approved example of the same code, {one.heading!r}, gives {one.expected!r}; only one can be right",
                where=where,
                remedy='`specwright change --request "what is to change"` changes what was approved',
            )


def _without_imports(code: str) -> list[str]:
    """The statements of an example but its imports, which stand in any order."""
    return [ast.dump(one) for one in ast.parse(code).body if not isinstance(one, ast.Import | ast.ImportFrom)]


def begin_report(factory: Factory, tried: TriedReport, pointer: str, spec_text: str) -> None:
    """Begin what a failed example asks for: a repair if it breaks a statement, else a change request with the example in
    it. A report that is under way goes on. The spec of a repair says the same as before, under the next version.

    Args:
        tried: Failed.
        pointer: What it breaks: a JSON pointer into the contract, `criterion 2`, `decision 1`; empty if nothing says it.
        spec_text: The SPEC.md that the product was built from.

    Raises:
        InputError: nothing stands where the report points, or another change is under way; nothing is written.
    """
    contract, projection = tried.contract, factory.projection
    if not pointer:
        begin_change(factory, request_of(tried), spec_text, spec_text)
        return
    definition = projection.definitions[tried.task_id]
    pointed = statement_of(contract, _approved(definition), pointer)
    if pointed is None:
        raise _question(factory, tried, pointer)
    example = tried.example
    report = BugReport(
        module_ref=contract.ref,
        name=contract.name,
        task_id=definition.spec_task_id,
        breaks=pointed[0],
        statement=pointed[1],
        heading=example.heading,
        prose=example.prose,
        code=example.code,
        expected=example.expected,
        observed=tried.observed,
    )
    if _is_under_way(factory, lambda asked: asked.report == report):
        return
    attempt = task_board(factory).entry(tried.task_id).attempt + 1
    factory.roles.require_script(
        Place(definition.spec_task_id, attempt, contract.name, "round-1", Role.PROPOSER)
    )
    # one batch: the report, which is the person's own approval, and the next attempt of the task that shipped the module
    reference = scopes.product_change(len(projection.changes) + 1)
    scope, before = factory.journal.scope(f"{reference}/report"), released_spec(factory)
    requested = _requested(factory, scope, before, ("", spec_text, spec_text), report)
    version = next_version(before.spec_version, Bump.PATCH)
    spec = before.model_copy(update={"spec_version": version, "updated_at": scope.now()})
    approved = review_of(factory, "change.approved", spec, reference, OPERATOR)
    again = attempt_events(definition, attempt, projection.definitions, ready=True, cause=PROJECT)
    announce(factory, scope, [requested, approved, *again])
    finish_change(factory)
    projection.write(now=True)
    factory.progress.note(
        RunEvent("change", report.task_id, f"{reference}: {report.name} fails {report.heading!r}")
    )


def reportable(view: ProjectView, module: str) -> tuple[MicroModuleContract, list[tuple[str, str]]]:
    """The contract of a module of the product, and everything that a report of it may point at, each with its text.

    Args:
        view: The project.
        module: Its name, its MM-ID, or the reference of its version.

    Raises:
        InputError: there is no such module.
        RefusedError: the product is not released yet.
    """
    contract = _module(view, module, _repaired(view))
    return contract, statements(contract, _approved(view.projection.definitions[_owner(view, contract.ref)]))


def _approved(task: TaskDefinition) -> dict[str, list[str]]:
    """What a person approved of a task, in words."""
    return {"criterion": task.acceptance_criteria, "decision": task.decisions}


def _repaired(view: ProjectView) -> BugReport | None:
    """The report whose repair is under way.

    Raises:
        RefusedError: the product is not released yet.
    """
    if (change := view.projection.open_change) is None:
        released_spec(view)
    return change.request.report if change else None


def request_of(tried: TriedReport) -> str:
    """A report that breaks no statement, as a change request."""
    return (
        f"{tried.contract.name} should give what this example says; now {tried.observed}. No statement of its contract and "
        f"no criterion promises it yet.\n\n{example_text(tried.example).rstrip()}"
    )


def _question(factory: ProjectView, tried: TriedReport, pointer: str) -> InputError:
    """What the person is asked who points at what is not there."""
    task = _approved(factory.projection.definitions[tried.task_id])
    rows = "\n    ".join(f"{place}  {text}" for place, text in statements(tried.contract, task))
    return InputError(
        f"the example {tried.example.heading!r} fails: {tried.observed}; nothing stands at {pointer!r}",
        where=f"{tried.contract.name}, {tried.contract.ref}\n    {rows}",
        remedy="repeat the command with --pointer and one of these; without it, it becomes a change request",
    )


def _module(view: ProjectView, wanted: str, repaired: BugReport | None) -> MicroModuleContract:
    """The contract of a module of the product, by its name, its id or its reference; while it is repaired, that of the
    version that was reported."""
    refs = [*([repaired.module_ref] if repaired else []), *product_modules(view)]
    contracts = {ref: view.modules.contract(ref) for ref in refs}
    for ref, contract in contracts.items():
        if wanted in (ref, contract.name, contract.module_id):
            return contract
    older = next((c for c in contracts.values() if wanted.startswith(f"{c.module_id}@")), None)
    what = (
        f"{wanted} is not the version of {older.name} that the product has; that is {older.ref}"
        if older
        else f"the product has no module {wanted!r}"
    )
    names = ", ".join(sorted(contract.name for contract in contracts.values()))
    known = [name for contract in contracts.values() for name in (contract.name, contract.ref)]
    raise InputError(what, remedy=f"{did_you_mean(wanted, known)}name one of these: {names}")


def _owner(view: ProjectView, ref: str) -> str:
    """The task that made the version that the product has, or else the first that has it."""
    made = view.modules.evidence(view.projection.debated_as(ref)).journal_ref
    holders = {t: e.spec_task_id for t, e in project_state(view).tasks.items() if ref in e.module_refs}
    if not holders:
        raise InputError(
            f"{ref} belongs to no task that the product still has, so no task can repair it",
            remedy="ask for it with `specwright change`",
        )
    own = (task_id for task_id, name in holders.items() if made.startswith(f"journal.jsonl#{name}."))
    return next(own, next(iter(holders)))


def approve_change(factory: Factory, spec: ProductSpec, by: str) -> None:
    """Accept the amended spec: one batch of Wires names it, and begins, adds and removes tasks (design: change, wire).

    Raises:
        InputError: the spec cannot be laid out; it is not accepted.
    """
    projection = factory.projection
    change, before = projection.open_change, projection.decided_spec
    assert change is not None
    assert before is not None
    number, reference = change.request.number, scopes.product_change(change.request.number)
    difference = spec_difference(before, spec)
    definitions = {d.spec_task_id: d for d in lay_out_change(spec, difference, projection.definitions)}
    scope, folder = factory.journal.scope(f"{reference}/approval"), layout.spec_files(number).folder
    sha256 = factory.store.define(spec.to_bytes())
    for definition in definitions.values():
        factory.store.define(definition.to_bytes())
    note_hashes(scope, {f"{folder}/{path}": data for path, data in factory.store.tree(folder).items()})
    gone = _removed_tasks(factory, difference.removed)
    events = [review("change.approved", sha256, reference, by)]
    events += [review("task.removed", sha256, task_id, by) for task_id in gone]
    announce(factory, scope, [*events, *_attempts(factory, difference, definitions)])
    finish_change(factory)
    projection.write(now=True)


def _removed_tasks(factory: ProjectView, removed: Sequence[str]) -> list[str]:
    """The shipped tasks that are removed, a split one by its parts."""
    tasks = project_state(factory).tasks
    whole = [task_id for task_id, entry in tasks.items() if entry.spec_task_id in removed]
    whole += [name for name, of in factory.projection.migrations.items() if of in whole]
    return [ref for ref in expanded(tasks, whole) if tasks[ref].status is TaskStatus.SHIPPED]


def _attempts(
    factory: ProjectView, difference: SpecDifference, definitions: Mapping[str, TaskDefinition]
) -> Iterator[Announcement]:
    """The first attempts of added tasks, then the next ones of changed tasks, caused by the approval."""
    tasks = project_state(factory).tasks
    attempts = {e.spec_task_id: e.attempt + 1 for e in tasks.values() if e.spec_task_id in definitions}
    by_id = {definition.task_id: definition for definition in definitions.values()}
    waits = {ref for definition in by_id.values() for ref in definition.depends_on}
    known = {ref: by_id.get(ref) or factory.projection.definitions[ref] for ref in waits}
    added = {definitions[name].task_id: definitions[name].depends_on for name in difference.added}
    order = TopologicalSorter(
        {task_id: [ref for ref in depends_on if ref in added] for task_id, depends_on in added.items()}
    ).static_order()  # one that is added names only tasks that are there
    for definition in (*(by_id[one] for one in order), *(definitions[name] for name in difference.changed)):
        attempt = attempts.get(definition.spec_task_id, 1)
        ready = by_id.keys().isdisjoint(definition.depends_on) and all_shipped(factory, definition.depends_on)
        yield from attempt_events(definition, attempt, known, ready=ready, cause=PROJECT)


def _changes_made(view: ProjectView) -> list[ProductChange]:
    return [c for c in view.projection.changes if c.before is not None and c.ended != "abandoned"]


def product_specs(view: ProjectView) -> list[ProductSpec]:
    """The approved spec of each version of the product, oldest first."""
    hashes = [*(c.before.spec_sha256 for c in _changes_made(view) if c.before), view.projection.spec_sha256]
    return [ProductSpec.from_bytes(view.store.definition(sha256), sha256) for sha256 in hashes]


def release_notes(view: ProjectView, version: str) -> str:
    """The notes of the version that is released now, maybe a post-release, and of those before it; a change that was
    abandoned made none."""
    made, specs = _changes_made(view), product_specs(view)
    states = [*(c.before.tasks for c in made if c.before), project_state(view).tasks]
    notes = [VersionNotes(specs[0], None, "", ())]
    for n, change in enumerate(made, start=1):
        asked, modules = change.request, list(_modules(view, states[n - 1], states[n]))
        notes.append(VersionNotes(specs[n], specs[n - 1], asked.request, modules, asked.report))
    return render_notes([*notes[:-1], notes[-1]._replace(version=version)])


def _modules(
    view: ProjectView, before: Mapping[str, TaskEntry], after: Mapping[str, TaskEntry]
) -> Iterator[ModuleChange]:
    old, new = _shipped(before), _shipped(after)
    for module_id, (ref, task) in new.items():
        was = ModuleRef.parse(old[module_id][0]).version if module_id in old else ""
        if ref != old.get(module_id, ("", ""))[0]:
            if (by := view.projection.changed_by.get(ref)) is not None:
                reason = f"{by}: {view.projection.exceptions[by].record.reason}"
            else:
                resealed = view.projection.resealed.get(ref)
                reason = resealed.reason if resealed else f"built for {task}"
            name = view.modules.contract(ref).name
            yield ModuleChange(name, was, ModuleRef.parse(ref).version, reason)
    for module_id, (ref, task) in old.items():
        if module_id not in new:
            name = view.modules.contract(ref).name
            yield ModuleChange(name, ModuleRef.parse(ref).version, "", f"{task} does not need it any more")


def _shipped(tasks: Mapping[str, TaskEntry]) -> dict[str, tuple[str, str]]:
    """The modules of shipped tasks by their ids: reference, and the task that has it first."""
    found: dict[str, tuple[str, str]] = {}
    for task_id, ref in shipped_modules(tasks):
        found.setdefault(ModuleRef.parse(ref).module_id, (ref, tasks[task_id].spec_task_id))
    return found


class Consumer(NamedTuple):
    """A module of a shipped task that calls an earlier version of something than the product has now.

    Args:
        task_id: The task.
        contract: Of the module.
        later: The version that the product has, by the reference in the contract.
    """

    task_id: str
    contract: MicroModuleContract
    later: Mapping[str, str]


def settle_consumers(factory: Factory) -> None:
    """Bring every consumer of a later version up to date, as far as that needs no task that is still to run."""
    if not factory.projection.cause:
        return
    _retire_migrated(factory)
    while (consumer := _next_consumer(factory)) is not None:
        if consumer.contract.ref in consumer.later or not _resealed(factory, consumer):
            _migrate(factory, consumer)


def undo_deprecation(factory: Factory, ref: str, reason: str) -> None:
    """Seal the files of a deprecated version again, as its next one, and bring up to date what calls it: a status in the
    Code Index never goes back (design: deprecation). The same again after a crash goes on.

    Raises:
        RefusedError: it is no deprecated version of the product, or a change is under way.
    """
    projection = factory.projection
    if ref not in projection.undone:
        used = {one for _, one in shipped_modules(task_board(factory).tasks)}
        if not projection.is_deprecated(ref) or ref not in used:
            why = f"{ref} is no deprecated module of the product, so there is nothing to undo"
            raise RefusedError(why, remedy="`specwright modules` says which are deprecated")
        if projection.open_change is not None:
            raise RefusedError("a change is under way", remedy="release it or give it up first")
        scope = factory.journal.scope(f"undone/{ref}")
        record = UndoneDeprecation(module_ref=ref, reason=reason)
        announce(factory, scope, [review_of(factory, "deprecation.undone", record, ref, OPERATOR)])
    elif _next_consumer(factory) is None:
        sealed = next((new for new, one in projection.resealed.items() if one.replaces == ref), "")
        raise RefusedError(f"the deprecation of {ref} was undone already", where=sealed)
    settle_consumers(factory)


def _next_consumer(factory: ProjectView) -> Consumer | None:
    """A consumer that can be settled now: nothing that it calls is itself one. One that its migration left behind is not
    waited for."""
    consumers, tasks = _consumers(factory), project_state(factory).tasks
    migrations, migrated = factory.projection.migrations, factory.projection.migrated
    running = {whole for name, whole in migrations.items() if tasks[name].status in UNFINISHED}
    waiting = {c.contract.ref for c in consumers if c.task_id in running or c.task_id not in migrated}
    for consumer in consumers:
        called = {*consumer.later.values(), *(d.ref for d in consumer.contract.dependencies)}
        if consumer.task_id not in running | migrated and waiting.isdisjoint(called):
            return consumer
    return None


def _consumers(factory: ProjectView) -> list[Consumer]:
    shipped = shipped_modules(task_board(factory).tasks)
    refs = sorted((ModuleRef.parse(ref) for _, ref in shipped), key=_age)
    current = {module.module_id: str(module) for module in refs}
    found: dict[str, Consumer] = {}
    for task_id, ref in shipped:
        if task_id in factory.projection.migrations or factory.projection.is_deprecated(ref):
            continue
        contract = factory.modules.contract(ref)
        called = {d.ref: current.get(ModuleRef.parse(d.ref).module_id, d.ref) for d in contract.dependencies}
        if current[contract.module_id] != ref:
            called[ref] = current[contract.module_id]  # it was reused, and broke since
        later = {old: new for old, new in called.items() if old != new}
        if later or ref in factory.projection.undone:
            found.setdefault(ref, Consumer(task_id, contract, later))
    return list(found.values())


def _age(module: ModuleRef) -> Version:
    return Version(module.version)


def _resealed(factory: Factory, consumer: Consumer) -> bool:
    """Judge the same files under a contract that names the later versions; if they pass, seal them. Then the log says so,
    and the tasks that had the version before have this one."""
    cause, old = factory.projection.cause, consumer.contract
    scope = factory.journal.scope(f"{cause}/reseal/{old.ref}")
    called = [d.model_copy(update={"ref": consumer.later.get(d.ref, d.ref)}) for d in old.dependencies]
    contract = own_module(factory, scope, old).next_version(old.model_copy(update={"dependencies": called}))
    files = dict(factory.modules.files(old.ref))
    files[ENTRY] = factory.gate.documented(files[ENTRY], contract)

    judging, tests = candidate(factory.modules, contract, files), factory.modules.regression_tests(old.ref)
    measured, scopes = f"{cause}/{contract.name}/measured", factory.journal.scope
    run = GateRun(factory.gate, factory.progress, scopes, scope, measured, judging, shipping=True)
    definition, reports = factory.projection.definitions[consumer.task_id], reports_of(factory, contract)
    factory.progress.note(
        RunEvent("judging", definition.spec_task_id, f"{contract.name} {contract.ref}, by the ship gate")
    )
    verdict = judge_whole(run, definition, reports, tests)
    if not verdict.passed:
        return False
    scope = factory.journal.scope(f"{scope.name}/seal", deferred=True)
    struck = factory.modules.evidence(old.ref).struck_tests
    sealed = seal_files(factory, scope, contract, verdict, struck, tests)
    names = [f"{factory.modules.contract(new).name} {new}" for new in consumer.later.values()]
    reason = f"judged again with {', '.join(names)}"
    if undone := factory.projection.undone.get(old.ref):
        reason = f"its deprecation was undone: {undone.reason}"
    record = ResealedModule(
        module_ref=contract.ref,
        replaces=old.ref,
        sha256=tree_sha256(sealed),
        reason=reason,
    )
    events = [review_of(factory, "module.resealed", record, contract.ref)]
    events += superseded(factory, scope, old.ref, contract.ref, record.reason)
    announce(factory, scope, events)
    finish_deprecations(factory)
    task = task_board(factory).entry(consumer.task_id).spec_task_id
    factory.progress.note(RunEvent("sealed", task, f"{contract.name} {contract.ref}, {record.reason}"))
    return True


def _migrate(factory: Factory, consumer: Consumer) -> None:
    """Append a task that builds the consumer's task again, from its plan and contracts, with what it calls now."""
    projection = factory.projection
    whole = projection.definitions[consumer.task_id]
    names = {old: factory.modules.contract(old).name for old in consumer.later}
    called = "; ".join(f"{names[old]}, {old} is {new} now" for old, new in consumer.later.items())
    changed = called or f"{consumer.contract.ref} is not deprecated any more"
    part = NewTask.model_construct(
        name=f"Migrate: {whole.name}",
        description=f"{whole.description} What it is built on has changed: {changed}.",
        acceptance_criteria=list(whole.acceptance_criteria),
        depends_on=list(whole.depends_on),
        subtasks=None,
        io_contract_sketch=None,
    )
    (definition,) = parts_of(projection.definitions, whole.task_id, [part])
    factory.store.define(definition.to_bytes())
    scope = factory.journal.scope(f"{projection.cause}/migration/{whole.spec_task_id}")
    ready, known = all_shipped(factory, definition.depends_on), projection.definitions
    announce(factory, scope, attempt_events(definition, 1, known, ready=ready, parent=whole.spec_task_id))
    finish_change(factory)
    factory.progress.note(RunEvent("migration", definition.spec_task_id, f"{whole.spec_task_id}: {changed}"))


def _retire_migrated(factory: Factory) -> None:
    """Retire the versions whose places migrations have taken, where no release of a change does it."""
    projection, tasks = factory.projection, task_board(factory).tasks
    shipped = {ref for _, ref in shipped_modules(tasks)}
    made = [ModuleRef.parse(ref) for name in projection.migrations for ref in tasks[name].module_refs]
    later = {one.module_id: one for one in made if str(one) in shipped}
    for entry in factory.index.entries():
        new = later.get(entry.module_id)
        if new and entry.ref not in shipped and _age(new) > Version(entry.version):
            scope = factory.journal.scope(f"{projection.cause}/superseded/{entry.ref}")
            if events := superseded(factory, scope, entry.ref, str(new)):
                announce(factory, scope, events)
    finish_deprecations(factory)


def closing_events(
    factory: Factory, scope: Scope, manifest: ReleaseManifest, sha256: str, before: ReleaseManifest | None
) -> list[Announcement]:
    """What ends a change with its release: versions that have later ones are superseded, what is not in the product any
    more is deprecated.

    Args:
        scope: Of the release.
        manifest: Of the release, which succeeded.
        sha256: Its definition.
        before: The manifest of the release that the change began from.
    """
    reference = scopes.product_change(factory.projection.change_number)
    now = {ModuleRef.parse(module.module_ref).module_id: module.module_ref for module in manifest.modules}
    earlier = {module.module_ref for module in before.modules} if before else set[str]()
    events = [review("change.released", sha256, reference)]
    for entry in factory.index.entries():
        later = now.get(entry.module_id)
        if entry.status is not IndexStatus.SHIPPED or entry.ref == later:
            continue
        if later is not None:
            events.append(retirement(factory, scope, entry, f"{later} takes its place.", later))
        elif entry.ref in earlier:
            events.append(retirement(factory, scope, entry, f"Removed in {manifest.spec_version}."))
    return events


def abandon_change(factory: Factory) -> None:
    """Give up the change that is under way: the product is what was released last, what the change made is kept.

    Raises:
        InputError: none is under way.
    """
    projection = factory.projection
    change = projection.open_change
    if change is None:
        raise InputError(
            "no change is under way, so there is nothing to abandon",
            remedy="`specwright status` says where the project is",
        )
    reference = scopes.product_change(change.request.number)
    scope = factory.journal.scope(f"{reference}/abandon")
    events = [review_of(factory, "change.abandoned", change.request, reference, OPERATOR)]
    if change.before is not None:
        events += [
            task_event("task.cancelled", entry.spec_task_id, entry.attempt, {})
            for entry in _begun(factory, change.before).values()
            if entry.status in UNFINISHED
        ]
        old = {ref for entry in change.before.tasks.values() for ref in entry.module_refs}
        made = {ref for entry in project_state(factory).tasks.values() for ref in entry.module_refs} - old
        events += [
            retirement(factory, scope, entry, "The change that made it was abandoned.")
            for entry in factory.index.entries()
            if entry.ref in made and entry.status is IndexStatus.SHIPPED
        ]
    announce(factory, scope, events)
    finish_change(factory)
    finish_deprecations(factory)
    projection.write(now=True)
    factory.progress.note(RunEvent("abandoned", "", reference))
