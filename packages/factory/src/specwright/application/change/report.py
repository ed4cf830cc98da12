"""A bug report: an example that a sealed module fails begins a repair, or a change request (design: bug-reports)."""

from typing import NamedTuple

from agent_wire import canonical_json
from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples_file import Example
from specwright.application import scopes
from specwright.application.announce import Announcement, announce, project_stream, review, task_event
from specwright.application.change.catch_up import finish_change
from specwright.application.change.request import begin_change, product_modules, released_spec
from specwright.application.debate.gate_runs import candidate
from specwright.application.factory import Factory, ProjectView
from specwright.application.tasks import project_state
from specwright.domain.base.slugs import import_name, slugify
from specwright.domain.escalation.resolutions import OPERATOR
from specwright.domain.interface_change.comparison import Bump, next_version
from specwright.domain.spec.bug_report import BugReport
from specwright.domain.spec.change_request import ChangeRequest
from specwright.domain.spec.reported_example import read_example, statement_of, statements
from specwright.errors import InputError
from specwright.ports.progress import Step
from specwright.ports.roles import Place, Role

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
