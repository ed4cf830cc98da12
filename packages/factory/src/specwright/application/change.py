"""A change of a released product: what is asked for, and what the researcher makes of it (design: change).

What follows from the log in files, for a change or a migration: done at once, and again where a crash came in between
(design: change).

A bug report: an example that a sealed module fails begins a repair, or a change request (design: bug-reports).

The approval of a change: what it does, shown by code, and the Wires that begin it (design: change).

The notes of all versions of a product, from what the log says of its changes (design: release).

What depends on a module that has got a later version, by a change or an exception: judged again by the gate and sealed
by code, or migrated by a task of its own (design: change, interface-changes).

No model is asked here. What is to be done follows from the state and the contracts alone, so a run that goes on after a
crash finds the same, and what was judged is in the journal.

The end of a change: released, or abandoned (design: change).
"""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, NamedTuple, cast

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ModuleRef
from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples_file import Example
from ship_gate.contract.versions import serves
from ship_gate.verdict import GateVerdict
from specwright.application import scopes
from specwright.application.announce import Announcement, announce, project_stream, review, task_event
from specwright.application.debate.gate_runs import (
    GateRun,
    approved_examples,
    candidate,
    examples_of_reports,
    judge,
    module_acceptance,
    with_falsifying_tests,
)
from specwright.application.debate.implementation import ENTRY
from specwright.application.deprecation import finish_deprecations, reports_of, retirement, superseded
from specwright.application.factory import Factory, ProjectView
from specwright.application.messages.parts import as_block, as_contract
from specwright.application.messages.researcher import RESEARCHER_NOTES
from specwright.application.ship import seal_files
from specwright.application.store import layout
from specwright.application.store.artifacts import note_hashes
from specwright.application.tasks import (
    all_shipped,
    dispatched_file,
    project_state,
    refreshed_file,
    spec_errors,
    task_board,
)
from specwright.domain.base.graph import reachable
from specwright.domain.base.slugs import import_name, slugify
from specwright.domain.escalation import OPERATOR, NewTask
from specwright.domain.interface_change import Bump, next_version
from specwright.domain.modules.code_index import IndexStatus
from specwright.domain.modules.evidence import ResealedModule, tree_sha256
from specwright.domain.modules.release import ModuleChange, ReleaseManifest, VersionNotes, render_notes
from specwright.domain.spec.change_request import (
    BugReport,
    ChangeRequest,
    read_example,
    statement_of,
    statements,
)
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft
from specwright.domain.spec.spec_changes import SpecDifference, change_problems, spec_difference
from specwright.domain.spec.spec_markdown import render
from specwright.domain.tasks.project_state import WAITING, TaskEntry, TaskStatus, expanded
from specwright.domain.tasks.task_board import Outcome
from specwright.domain.tasks.task_changes import UNFINISHED
from specwright.domain.tasks.task_file import TaskDefinition, lay_out_change, parts_of
from specwright.errors import InputError, RefusedError, SpecwrightErrors
from specwright.ports import Assignment, Files, Place, Role, Scope, Step


def finish_change(factory: Factory) -> None:
    """Write what the log says of the last change: its SPEC.md, that it was abandoned, and the files of its tasks; and the
    files of migrations that have not run."""
    _write_migration_files(factory)
    if not factory.projection.changes:
        return
    change = factory.projection.changes[-1]
    files = layout.spec_files(change.request.number)
    if not factory.store.exists(files.source):
        factory.store.replace(files.source, change.request.spec_text.encode())
    if change.request.report is not None:
        _write_spec_of_repair(factory, change.request.number)
    if change.ended == "abandoned" and not factory.store.exists(files.abandoned):
        _write_task_files(factory)
        factory.store.replace(files.abandoned, b"")  # last: it says that all else is done
    if change.before is not None and not change.ended:
        _write_task_files(factory)


def _write_migration_files(factory: Factory) -> None:
    """The files of migrations that wait."""
    projection = factory.projection
    for task_id in projection.migrations if projection.board else ():
        if projection.board is not None and projection.board.entry(task_id).status in WAITING:
            _write_task_file(factory, task_id)


def _write_spec_of_repair(factory: Factory, number: int) -> None:
    """The spec that a repair was begun with: that of the release, under the next version (design: bug-reports)."""
    files, scope = layout.spec_files(number), factory.journal.scope(f"{scopes.product_change(number)}/files")
    if not factory.store.exists(files.spec):
        spec = factory.projection.spec  # a repair that is given up has its files before
        assert spec is not None
        factory.store.replace(files.text, render(spec, ()).encode())
        factory.store.replace(files.spec, spec.to_bytes())
    note_hashes(scope, {path: factory.store.read(path) for path in (files.source, files.text, files.spec)})


def _write_task_files(factory: Factory) -> None:
    """The files of tasks that the change has run again, as they are told now."""
    projection = factory.projection
    before = projection.changes[-1].before
    if before is None or projection.board is None:
        return
    for task_id, entry in projection.board.tasks.items():
        if task_id not in before.tasks or before.tasks[task_id].attempt != entry.attempt:
            _write_task_file(factory, task_id)


def _write_task_file(factory: Factory, task_id: str) -> None:
    definition, status = factory.projection.definitions[task_id], task_board(factory).entry(task_id).status
    path = f"project/{definition.path}"
    told = dispatched_file(factory, definition)
    text = refreshed_file(factory, definition) if status in WAITING or told is None else told
    if not factory.folder.exists(path) or factory.folder.read(path) != text.encode():
        factory.folder.replace(path, text.encode())


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
    projection = factory.projection
    if (under_way := projection.open_change) is not None:
        if under_way.request.report is not None or under_way.request.asked[::2] != (request, spec_text):
            raise InputError(
                f"another change is under way since {under_way.request.asked_at}",
                remedy="finish it with `specwright run`, or give it up with `specwright change --abandon`",
            )
        return
    number = len(projection.changes) + 1
    scope = factory.journal.scope(f"{scopes.product_change(number)}/request")
    base = released_spec(factory)
    _check_request(factory, request, spec_before, spec_text)
    if request or factory.given_spec is None:
        factory.roles.require_script(_researcher_at(number))
    asked = ChangeRequest(
        number=number,
        base_version=base.spec_version,
        request=request,
        spec_before=spec_before,
        spec_text=spec_text,
        asked_at=scope.now(),
        asked_by=OPERATOR,
    )
    sha256, reference = factory.store.define(asked.to_bytes()), scopes.product_change(number)
    event = review(projection.project_id, "change.requested", sha256, reference, OPERATOR)
    announce(factory, scope, projection.project_id, [event])
    finish_change(factory)
    factory.progress.note(Step("change", "", f"{reference}: {request or 'the changed SPEC.md'}"))


def released_spec(factory: ProjectView) -> ProductSpec:
    """The spec of the released product.

    Raises:
        InputError: nothing was approved.
        RefusedError: the product is not released yet.
    """
    spec, board = factory.projection.spec, factory.projection.board
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
    """What keeps an amended spec from being emitted: what keeps any, and what the approved one rules out (design:
    change)."""
    if errors := spec_errors(data):
        return errors
    before, tasks = factory.projection.spec, project_state(factory).tasks
    assert before is not None
    draft = ProductSpecDraft.model_validate(data)
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


def _researcher_at(number: int, restart: int = 1) -> Place:
    """Where a change is asked of the researcher."""
    return Place(scopes.product_change(number), restart, "", "", Role.RESEARCHER)


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
    spec = factory.projection.spec
    assert spec is not None
    draft = {
        name: value for name, value in spec.to_json().items() if name not in ("created_at", "updated_at")
    }
    approved = canonical_json.pretty(draft)
    asked = [as_block("The request", request.request, "text")] if request.request else []
    asked += [as_block("The change of SPEC.md", request.diff, "diff")] if request.diff else []
    rejected = (
        ["# Rejection Feedback\n\n" + "\n".join(f"- {reason}" for reason in reasons)] if reasons else []
    )
    parts = [
        _INSTRUCTION.format(version=spec.spec_version, number=_next_number(factory)),
        *asked,
        *rejected,
        as_block("The approved spec", approved.decode(), "json"),
        *_contracts(factory),
        RESEARCHER_NOTES,
    ]
    return Assignment(
        answer=ProductSpecDraft,
        place=_researcher_at(request.number, restart),
        message="\n\n".join(parts),
        pack={"SPEC.md": request.spec_text.encode(), "spec.json": approved},
        writable=("spec.json", "notes/"),
    )


_INSTRUCTION = (
    "The product of this spec is released. Amend the approved spec, which is also `/spec.json` in your directory, so that "
    "it says what is asked for below, and change nothing else: what stays keeps its ids and its words, to the letter, "
    "since each task with another word is built again. A new task gets a new id, from {number} on. What is not wanted "
    "any more is left out, and so is every dependency on it. `spec_version` is greater than {version}: a minor version, "
    "or a major one if something that users call is removed or breaks. Where a function changes, say in the task that "
    "owns it what stays as it was."
)


def _next_number(factory: ProjectView) -> str:
    numbers = (int(e.spec_task_id.removeprefix("TSK-")) for e in project_state(factory).tasks.values())
    return f"TSK-{1 + max(numbers, default=0):03d}"


def _contracts(factory: ProjectView) -> list[str]:
    return [as_contract(factory.modules.contract(ref)) for ref in product_modules(factory)]


def product_modules(factory: ProjectView) -> list[str]:
    """The modules of all shipped tasks, and whatever they call, each once; of a module that a task has, only its version,
    so that the gates of a release name those that call an earlier one."""
    state = project_state(factory)
    tasks = [state.tasks[task_id] for task_id in state.ordered]
    refs = [ref for entry in tasks if entry.status is TaskStatus.SHIPPED for ref in entry.module_refs]
    own = list(dict.fromkeys(refs))
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
    change = factory.projection.open_change
    if change is None:
        released_spec(factory)
    repaired = change.request.report if change else None
    contract = _module(factory, module, repaired)
    example = read_example(text, contract, where, _package_of(factory))
    owner = _owner(factory, contract.ref)
    if repaired is not None and repaired.example == example._replace(line=1):
        return TriedReport(factory.modules.contract(repaired.module_ref), example, repaired.observed, owner)
    files = factory.modules.files(contract.ref)
    found = factory.gate.try_examples(candidate(factory.modules, contract, files), [example])
    observed = "; ".join(one.message.partition("; correct the example")[0] for one in found)
    if observed.startswith(tuple(f"it raises {name}" for name in _OWN_FAULTS)):
        raise InputError(
            f"the example errs by itself: {observed}",
            where=where,
            remedy=f"write `from modules.{contract.name} import {contract.name}`, and import what Python itself has",
        )
    return TriedReport(contract, example, observed, owner)


def begin_report(factory: Factory, tried: TriedReport, pointer: str, spec_text: str) -> None:
    """Begin what a failed example asks for: a repair if it breaks a statement, else a change request with the example in
    it. A report that is under way goes on.

    Args:
        tried: Failed.
        pointer: What it breaks: a JSON pointer into the contract or the number of a criterion; empty if nothing says it.
        spec_text: The SPEC.md that the product was built from.

    Raises:
        InputError: nothing stands where the report points, or another change is under way; nothing is written.
    """
    contract, projection = tried.contract, factory.projection
    if not pointer:
        begin_change(factory, request_of(tried), spec_text, spec_text)
        return
    definition = projection.definitions[tried.task_id]
    pointed = statement_of(contract, definition.acceptance_criteria, pointer)
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
    if (under_way := projection.open_change) is not None:
        if under_way.request.report != report:
            raise InputError(
                f"another change is under way since {under_way.request.asked_at}",
                remedy="finish it with `specwright run`, or give it up with `specwright change --abandon`",
            )
        return
    attempt = project_state(factory).tasks[tried.task_id].attempt + 1
    factory.roles.require_script(
        Place(definition.spec_task_id, attempt, contract.name, "round-1", Role.PROPOSER)
    )
    _begin_repair(factory, report, tried.task_id, spec_text)


def _begin_repair(factory: Factory, report: BugReport, task_id: str, spec_text: str) -> None:
    """One batch of Wires: the report, its approval, and the next attempt of the task that shipped the module. The report
    is the person's own approval, and the spec says the same under the next version."""
    projection, before = factory.projection, released_spec(factory)
    number, project_id = len(projection.changes) + 1, projection.project_id
    scope = factory.journal.scope(f"{scopes.product_change(number)}/report")
    now, reference = scope.now(), scopes.product_change(number)
    asked = ChangeRequest(
        number=number,
        base_version=before.spec_version,
        request="",
        spec_before=spec_text,
        spec_text=spec_text,
        asked_at=now,
        asked_by=OPERATOR,
        report=report,
    )
    version = next_version(before.spec_version, Bump.PATCH)
    spec = before.model_copy(update={"spec_version": version, "updated_at": now})
    requested, approved = factory.store.define(asked.to_bytes()), factory.store.define(spec.to_bytes())
    events = [
        review(project_id, "change.requested", requested, reference, OPERATOR),
        review(project_id, "change.approved", approved, reference, OPERATOR),
        *_next_attempt(factory, task_id),
    ]
    announce(factory, scope, project_id, events)
    finish_change(factory)
    projection.write(now=True)
    factory.progress.note(
        Step("change", report.task_id, f"{reference}: {report.name} fails {report.heading!r}")
    )


def _next_attempt(factory: Factory, task_id: str) -> list[Announcement]:
    """The task runs again as it is; what it depends on is shipped."""
    definitions, entry = factory.projection.definitions, project_state(factory).tasks[task_id]
    definition, attempt = definitions[task_id], entry.attempt + 1
    bound = {"definition_sha256": canonical_json.sha256(definition.to_bytes())}
    waits = [definitions[ref].spec_task_id for ref in definition.depends_on]
    created = task_event("task.created", entry.spec_task_id, attempt, bound, waits)
    cause = project_stream(factory.projection.project_id)
    return [
        created._replace(caused_by=cause),
        task_event("task.available", entry.spec_task_id, attempt, {}),
    ]


def reportable(view: ProjectView, module: str) -> tuple[MicroModuleContract, list[tuple[str, str]]]:
    """The contract of a module of the product, and everything that a report of it may point at, each with its text.

    Args:
        view: The project.
        module: Its name, its MM-ID, or the reference of its version.

    Raises:
        InputError: there is no such module.
        RefusedError: the product is not released yet.
    """
    change = view.projection.open_change
    if change is None:
        released_spec(view)
    contract = _module(view, module, change.request.report if change else None)
    criteria = view.projection.definitions[_owner(view, contract.ref)].acceptance_criteria
    return contract, statements(contract, criteria)


def _package_of(view: ProjectView) -> str:
    """By which users import the product."""
    spec = view.projection.spec
    return import_name(slugify(spec.title)) if spec else ""


def request_of(tried: TriedReport) -> str:
    """A report that breaks no statement, as a change request."""
    example = tried.example
    fence = "`" * 3
    return (
        f"{tried.contract.name} should give what this example says; now {tried.observed}. No statement of its contract and "
        f"no criterion promises it yet.\n\n## {example.heading}\n\n{example.prose}\n\n{fence}python\n"
        f"{example.code.rstrip()}\n{fence}\n\n{fence}text\n{example.expected}\n{fence}"
    )


def _question(factory: ProjectView, tried: TriedReport, pointer: str) -> InputError:
    """What the person is asked who points at what is not there."""
    criteria = factory.projection.definitions[tried.task_id].acceptance_criteria
    rows = "\n    ".join(f"{place}  {text}" for place, text in statements(tried.contract, criteria))
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


class ChangedModule(NamedTuple):
    """A module of a task that runs again: it may get a new version.

    Args:
        name: As it is imported.
        module_ref: The version now.
        task_id: The task, as the spec names it.
        used_by: The names of the modules that call it.
    """

    name: str
    module_ref: str
    task_id: str
    used_by: tuple[str, ...]


class ChangePreview(NamedTuple):
    """What a change does, as the approval gate shows it."""

    number: int
    request: str
    version_before: str
    version: str
    difference: SpecDifference
    modules: tuple[ChangedModule, ...]

    @property
    def tasks_to_build(self) -> int:
        """How many tasks ask models."""
        return len(self.difference.added) + len(self.difference.changed)

    def to_json(self) -> dict[str, Any]:
        """The preview for a program."""
        modules = [module._asdict() for module in self.modules]
        return {**self._asdict(), "difference": self.difference.to_json(), "modules": modules}


def preview_of(view: ProjectView, spec: ProductSpec) -> ChangePreview:
    """What the approval of a spec would change."""
    change, before = view.projection.open_change, view.projection.spec
    assert change is not None
    assert before is not None
    difference = spec_difference(before, spec)
    contracts = [view.modules.contract(ref) for ref in product_modules(view)]
    modules = [
        ChangedModule(
            name=contract.name,
            module_ref=contract.ref,
            task_id=entry.spec_task_id,
            used_by=tuple(c.name for c in contracts if any(d.ref == contract.ref for d in c.dependencies)),
        )
        for entry in project_state(view).tasks.values()
        if entry.spec_task_id in difference.changed and entry.status is TaskStatus.SHIPPED
        for contract in contracts
        if contract.ref in entry.module_refs
    ]
    number, asked = change.request.number, change.request.request
    return ChangePreview(number, asked, before.spec_version, spec.spec_version, difference, tuple(modules))


def approve_change(factory: Factory, spec: ProductSpec, by: str) -> None:
    """Accept the amended spec: one batch of Wires names it, and begins, adds and removes tasks (design: change, wire).

    Raises:
        InputError: the spec cannot be laid out; it is not accepted.
    """
    projection = factory.projection
    change, before = projection.open_change, projection.spec
    assert change is not None
    assert before is not None
    number, project_id = change.request.number, projection.project_id
    difference = spec_difference(before, spec)
    definitions = {d.spec_task_id: d for d in lay_out_change(spec, difference, projection.definitions)}
    scope = factory.journal.scope(f"{scopes.product_change(number)}/approval")
    sha256, folder = factory.store.define(spec.to_bytes()), layout.spec_files(number).folder
    for definition in definitions.values():
        factory.store.define(definition.to_bytes())
    note_hashes(scope, {f"{folder}/{path}": data for path, data in factory.store.tree(folder).items()})
    decision = review(project_id, "change.approved", sha256, scopes.product_change(number), by)
    removed = [
        review(project_id, "task.removed", sha256, task_id, by)
        for task_id in _removed_tasks(factory, difference.removed)
    ]
    begun = _attempts(factory, difference, definitions)
    announce(factory, scope, project_id, [decision, *removed, *begun])
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
    tasks, cause = project_state(factory).tasks, project_stream(factory.projection.project_id)
    attempts = {e.spec_task_id: e.attempt + 1 for e in tasks.values() if e.spec_task_id in definitions}
    by_id = {definition.task_id: definition for definition in definitions.values()}
    names = {task_id: entry.spec_task_id for task_id, entry in tasks.items()}
    names |= {definition.task_id: name for name, definition in definitions.items()}
    waits = {name: [names[ref] for ref in d.depends_on] for name, d in definitions.items()}
    order = TopologicalSorter(
        {name: [ref for ref in waits[name] if ref in difference.added] for name in difference.added}
    ).static_order()  # one that is added names only tasks that are there
    for name in (*order, *difference.changed):
        definition, attempt = definitions[name], attempts.get(name, 1)
        bound = {"definition_sha256": canonical_json.sha256(definition.to_bytes())}
        yield task_event("task.created", name, attempt, bound, waits[name])._replace(caused_by=cause)
        if all(ref not in by_id and _stays_shipped(tasks, ref) for ref in definition.depends_on):
            yield task_event("task.available", name, attempt, {})


def _stays_shipped(tasks: Mapping[str, Any], task_id: str) -> bool:
    return all(tasks[ref].status is TaskStatus.SHIPPED for ref in expanded(tasks, [task_id]))


def release_notes(view: ProjectView) -> str:
    """The notes of the version that is released now and of those before it."""
    return render_notes(list(_versions(view)))


def _versions(view: ProjectView) -> Iterator[VersionNotes]:
    """The versions from the first; a change that was abandoned made none."""
    made = [c for c in view.projection.changes if c.before is not None and c.ended != "abandoned"]
    hashes = [*(c.before.spec_sha256 for c in made if c.before), view.projection.spec_sha256]
    specs = [ProductSpec.from_bytes(view.store.definition(sha256), sha256) for sha256 in hashes]
    states = [*(c.before.tasks for c in made if c.before), project_state(view).tasks]
    yield VersionNotes(specs[0], None, "", ())
    for n, change in enumerate(made, start=1):
        modules = list(_modules(view, states[n - 1], states[n]))
        asked = change.request
        yield VersionNotes(specs[n], specs[n - 1], asked.request, modules, asked.report)


def _modules(
    view: ProjectView, before: Mapping[str, TaskEntry], after: Mapping[str, TaskEntry]
) -> Iterator[ModuleChange]:
    old, new = _shipped(before), _shipped(after)
    for module_id, (ref, task) in new.items():
        was = ModuleRef.parse(old[module_id][0]).version if module_id in old else ""
        if ref != old.get(module_id, ("", ""))[0]:
            reason = _reason(view, ref) or f"built for {task}"
            name = view.modules.contract(ref).name
            yield ModuleChange(name, was, ModuleRef.parse(ref).version, reason)
    for module_id, (ref, task) in old.items():
        if module_id not in new:
            name = view.modules.contract(ref).name
            yield ModuleChange(name, ModuleRef.parse(ref).version, "", f"{task} does not need it any more")


def _reason(view: ProjectView, ref: str) -> str:
    """Why there is a version that no task built; empty for one that a task did."""
    if (name := view.projection.changed_by.get(ref)) is not None:
        return f"{name}: {view.projection.exceptions[name].reason}"
    resealed = view.projection.resealed.get(ref)
    return resealed.reason if resealed else ""


def _shipped(tasks: Mapping[str, TaskEntry]) -> dict[str, tuple[str, str]]:
    """The modules of shipped tasks by their ids: reference, and the task that has it first."""
    found: dict[str, tuple[str, str]] = {}
    for entry in sorted(tasks.values(), key=lambda one: one.declaration_order):
        if entry.status is TaskStatus.SHIPPED:
            for ref in entry.module_refs:
                found.setdefault(ModuleRef.parse(ref).module_id, (ref, entry.spec_task_id))
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

    @property
    def compatible(self) -> bool:
        """Whether all of these versions serve it by their numbers."""
        return all(serves(ModuleRef.parse(new).version, old) for old, new in self.later.items())


class _Candidate(NamedTuple):
    """A consumer as it would be sealed again, and what the gate says of it."""

    contract: MicroModuleContract
    files: Files
    verdict: GateVerdict


def settle_consumers(factory: Factory) -> None:
    """Bring every consumer of a later version up to date, as far as that needs no task that is still to run."""
    if not factory.projection.cause:
        return
    _retire_migrated(factory)
    while (consumer := _next_consumer(factory)) is not None:
        judged = _judged_again(factory, consumer) if consumer.compatible else None
        if judged is not None and judged.verdict.passed:
            _reseal(factory, consumer, judged)
        else:
            _migrate(factory, consumer)


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
    state, migrations = project_state(factory), factory.projection.migrations
    shipped = {t: state.tasks[t] for t in state.ordered if state.tasks[t].status is TaskStatus.SHIPPED}
    current: dict[str, str] = {}
    for entry in shipped.values():
        for ref in entry.module_refs:
            module = ModuleRef.parse(ref)
            known = current.get(module.module_id)
            if known is None or serves_later(known, module):
                current[module.module_id] = ref
    found: dict[str, Consumer] = {}
    for task_id, entry in shipped.items():
        for ref in entry.module_refs if task_id not in migrations else ():
            contract = factory.modules.contract(ref)
            called = {
                d.ref: current.get(ModuleRef.parse(d.ref).module_id, d.ref) for d in contract.dependencies
            }
            if current[contract.module_id] != ref:
                called[ref] = current[contract.module_id]  # it was reused, and broke since
            later = {old: new for old, new in called.items() if old != new}
            if later:
                found.setdefault(ref, Consumer(task_id, contract, later))
    return list(found.values())


def serves_later(known: str, module: ModuleRef) -> bool:
    """Whether a version is a later one than a known reference of the same module."""
    return _numbers(module.version) > _numbers(ModuleRef.parse(known).version)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _judged_again(factory: Factory, consumer: Consumer) -> _Candidate:
    """The same files under a contract that names the later versions, as the gate judges them."""
    cause, old = factory.projection.cause, consumer.contract
    scope = factory.journal.scope(f"{cause}/reseal/{old.ref}")
    asked: JsonValue = {"tool": "versions", "of": old.module_id}
    taken = cast(
        Sequence[str],
        scope.recall("tool", asked, lambda: cast(JsonValue, factory.modules.versions(old.module_id))),
    )
    version = old.module_version
    while version in taken:
        version = next_version(version, Bump.PATCH)
    called = [d.model_copy(update={"ref": consumer.later.get(d.ref, d.ref)}) for d in old.dependencies]
    contract = old.model_copy(update={"module_version": version, "dependencies": called})
    files = dict(factory.modules.files(old.ref))
    files[ENTRY] = factory.gate.documented(files[ENTRY], contract)

    def measured(digest: str) -> Scope:
        return factory.journal.scope(f"{cause}/{contract.name}/measured/{digest}")

    def started_at(digest: str) -> str:
        return factory.journal.scope(f"{scope.name}/run/{digest}").now()

    judging, earlier = candidate(factory.modules, contract, files), factory.modules.regression_tests(old.ref)
    task = factory.projection.definitions[consumer.task_id]
    approved = module_acceptance(task, judging)
    binding = (examples_of_reports(reports_of(factory, contract.module_id)), approved_examples(approved))
    run = GateRun(
        factory.gate, factory.progress, scope, measured, True, started_at, binding, approved.properties
    )
    verdict = with_falsifying_tests(
        factory.gate, factory.progress, scope, judging, judge(run, judging), earlier=earlier
    )
    return _Candidate(contract, files, verdict)


def _reseal(factory: Factory, consumer: Consumer, judged: _Candidate) -> None:
    """Seal it; the log says so, and the tasks that had the version before have this one."""
    cause, project_id = factory.projection.cause, factory.projection.project_id
    old, contract = consumer.contract, judged.contract
    scope = factory.journal.scope(f"{f'{cause}/reseal/{old.ref}'}/seal")
    struck = factory.modules.evidence(old.ref).struck_tests
    tests = factory.modules.regression_tests(old.ref)
    sealed = seal_files(factory, scope, contract, judged.verdict, struck, tests)
    names = [f"{factory.modules.contract(new).name} {new}" for new in consumer.later.values()]
    record = ResealedModule(
        module_ref=contract.ref,
        replaces=old.ref,
        sha256=tree_sha256(sealed),
        reason=f"judged again with {', '.join(names)}",
    )
    sha256 = factory.store.define(record.to_bytes())
    events = [review(project_id, "module.sealed", sha256, contract.ref)]
    events += superseded(factory, scope, old.ref, contract.ref, record.reason)
    announce(factory, scope, project_id, events)
    finish_deprecations(factory)
    entry = task_board(factory).entry(consumer.task_id)
    factory.progress.note(
        Step("sealed", entry.spec_task_id, f"{contract.name} {contract.ref}, {record.reason}")
    )


def _migrate(factory: Factory, consumer: Consumer) -> None:
    """Append a task that builds the consumer's task again, from its plan and contracts, with what it calls now."""
    projection, project_id = factory.projection, factory.projection.project_id
    whole = projection.definitions[consumer.task_id]
    changed = [
        f"{factory.modules.contract(old).name}, {old} is {new} now" for old, new in consumer.later.items()
    ]
    part = NewTask.model_construct(
        name=f"Migrate: {whole.name}",
        description=f"{whole.description} What it is built on has changed: {'; '.join(changed)}.",
        acceptance_criteria=list(whole.acceptance_criteria),
        depends_on=list(whole.depends_on),
        subtasks=None,
        io_contract_sketch=None,
    )
    (definition,) = parts_of(projection.definitions, whole.task_id, [part])
    sha256 = factory.store.define(definition.to_bytes())
    scope = factory.journal.scope(f"{projection.cause}/migration/{whole.spec_task_id}")
    waits = [projection.definitions[ref].spec_task_id for ref in definition.depends_on]
    created = task_event(
        "task.created",
        definition.spec_task_id,
        1,
        {"definition_sha256": sha256},
        [whole.spec_task_id, *waits],
    )
    events = [created._replace(parent=whole.spec_task_id)]
    if all_shipped(factory, definition.depends_on):
        events.append(task_event("task.available", definition.spec_task_id, 1, {}))
    announce(factory, scope, project_id, events)
    finish_change(factory)
    factory.progress.note(
        Step("migration", definition.spec_task_id, f"{whole.spec_task_id}: {'; '.join(changed)}")
    )


def _retire_migrated(factory: Factory) -> None:
    """Retire the versions whose places migrations have taken, where no release of a change does it."""
    projection, tasks = factory.projection, project_state(factory).tasks
    if projection.open_change is not None:
        return
    shipped = {
        ref for entry in tasks.values() if entry.status is TaskStatus.SHIPPED for ref in entry.module_refs
    }
    made = {ref for name in projection.migrations for ref in tasks[name].module_refs} & shipped
    for ref in sorted(made):
        module = ModuleRef.parse(ref)
        for version in factory.modules.versions(module.module_id):
            old = f"{module.module_id}@{version}"
            if serves_later(old, module) and old not in shipped:
                scope = factory.journal.scope(f"{projection.cause}/superseded/{old}")
                if events := superseded(factory, scope, old, ref):
                    announce(factory, scope, projection.project_id, events)
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
    project_id, number = factory.projection.project_id, factory.projection.change_number
    now = {ModuleRef.parse(module.module_ref).module_id: module.module_ref for module in manifest.modules}
    earlier = {module.module_ref for module in before.modules} if before else set[str]()
    events = [review(project_id, "change.released", sha256, scopes.product_change(number))]
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
    number, project_id = change.request.number, projection.project_id
    scope = factory.journal.scope(f"{scopes.product_change(number)}/abandon")
    sha256 = factory.store.define(change.request.to_bytes())
    events = [review(project_id, "change.abandoned", sha256, scopes.product_change(number), OPERATOR)]
    if change.before is not None:
        begun = [
            entry
            for task_id, entry in project_state(factory).tasks.items()
            if task_id not in change.before.tasks or entry.attempt != change.before.tasks[task_id].attempt
        ]
        events += [
            task_event("task.cancelled", entry.spec_task_id, entry.attempt, {})
            for entry in begun
            if entry.status in UNFINISHED
        ]
        old = {ref for entry in change.before.tasks.values() for ref in entry.module_refs}
        made = {ref for entry in project_state(factory).tasks.values() for ref in entry.module_refs} - old
        events += [
            retirement(factory, scope, entry, "The change that made it was abandoned.")
            for entry in factory.index.entries()
            if entry.ref in made and entry.status is IndexStatus.SHIPPED
        ]
    announce(factory, scope, project_id, events)
    finish_change(factory)
    finish_deprecations(factory)
    projection.write(now=True)
    factory.progress.note(Step("abandoned", "", scopes.product_change(number)))
