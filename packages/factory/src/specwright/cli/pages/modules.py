"""Tasks, modules and what is known about them: tables, contracts with their evidence, how a module came about (design:
artifact-lifecycle), what shows a criterion (design: release), bug reports, exceptions, costs."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from ship_gate.contract.statements import entries
from ship_gate.terminal.page import Page, brief
from specwright.application.history.provenance import DebatedImplementation, DebatedPlan, Trail
from specwright.application.stages.trace import Trace
from specwright.cli.at_work import at_work_in_words
from specwright.documents.commands import next_command
from specwright.documents.modules import Matches, Module, Modules, TaskRow, Tasks
from specwright.documents.reports import (
    Costs,
    Exceptions,
    ReleaseDifference,
    Report,
    ShownException,
    Statements,
)
from specwright.domain.artifacts import ArtifactEnvelope, ContextPack, Purpose
from specwright.domain.modules.release import KINDS, CriterionReport, TaskReport
from specwright.domain.tasks.project_state import ProjectState
from specwright.domain.tasks.task_board import by_spec_id

_DIMENSIONS = {"Inputs": "inputs", "Outputs": "outputs", "Errors": "error_surfaces", "Effects": "effects"}
_OF_CLASS = {"base": "derives from ", "field": "field "}

_LONGEST_POINTER = 30
"""Columns of the pointers; a longer one is on a line of its own."""

FEW = 3
"""References withheld for one reason that are named; the rest are counted, and are in the context pack."""


def module_page(module: Module) -> Page:
    """The contract, dimension by dimension, and the evidence; first that the version is deprecated, if it is."""
    page, contract, evidence = Page(), module.contract, module.evidence
    page.heading(f"{contract.name}  {contract.ref}")
    page.prose(contract.purpose)
    page.line()
    if deprecation := module.deprecation:
        page.row("DEPRECATED", f"{deprecation.decided_at}: {deprecation.reason}", 0)
        page.rows("Instead", filter(None, (deprecation.replacement, deprecation.migration_note)), 0)
        page.rows("Used by", deprecation.consumers or ["no other module"], 0)
        if again := module.sealed_again:
            page.row("Sealed again", f"as {again.module_ref}, {again.reason}", 0)
        else:
            page.row("Release", "fails while it, or what depends on it, is part of the product", 0)
            page.copy("Undo", next_command(f"deprecate {contract.ref}", rest='--undo --reason "..."'), 0)
    for title, field in _DIMENSIONS.items():
        said = [
            "\n".join((one.sentence, *(f"- {_OF_CLASS.get(part.form, '')}{part.text}" for part in parts)))
            for one, parts in entries(contract, field)
        ]
        page.rows(title, said or ["none"], 0)
    page.rows("Modes", [", ".join(contract.modes.names)], 0)
    calls = ", ".join(dependency.ref for dependency in contract.dependencies)
    summary, verified = evidence.execution_log.summary, evidence.verification
    page.line()
    page.row("Calls", calls or "no other module", 0)
    tests = f"{summary.passed} of {summary.total} tests passed"
    page.row("Evidence", f"{verified.result}, {tests}, {evidence.verified_at}", 0)
    page.rows("By a person", [one.sentence for one in module.decided], 0)
    page.copy("Interface", verified.interface_fingerprint, 0)
    page.copy("Files", module.files, 0)
    return page


def difference_page(found: ReleaseDifference) -> Page:
    """What differs between two releases, in colours."""
    page = Page()
    page.patch(found.lines())
    return page


def provenance_page(chain: Trail) -> Page:
    """The chain from a module back to its spec."""
    page, evidence = Page(), chain.evidence
    page.heading(f"{chain.contract.body.name}  {chain.contract.body.ref}")
    page.prose(chain.contract.body.purpose, 2)
    page.heading("Evidence")
    page.prose(f"{evidence.ship_id}  {evidence.verification.result}, {evidence.verified_at}", 2)
    summary = evidence.execution_log.summary
    page.row("tests", f"{summary.passed} of {summary.total} passed")
    page.row("gate", ", ".join(f"{check.name} {check.result}" for check in evidence.gate))
    page.copy("interface", evidence.verification.interface_fingerprint)
    page.rows("by a person", [f"{one.sentence} ({one.stated_in})" for one in chain.decided])
    if chain.exceptions:
        page.row("exceptions", ", ".join(chain.exceptions))
    _add_rounds(page, "Implementation", chain.implementation, chain.implementation.versions)
    page.heading("Contract")
    locked = next(
        (output.ref for output in chain.contract.outputs if output.purpose == Purpose.LOCKED_AFTER),
        "not locked",
    )
    page.prose(f"{chain.contract.ref}  {chain.contract.status}, locked after {locked}", 2)
    calls = [_named(chain, dependency.ref) for dependency in chain.contract.body.dependencies]
    page.row("calls", ", ".join(calls) or "no other module")
    _add_rounds(page, "Plan", chain.plan, [chain.plan])
    page.row("modules", ", ".join(module.name for module in chain.plan.body.modules))
    page.heading("Reuse")
    page.prose(f"{chain.reuse.conclusion}: {chain.reuse.justification}", 2)
    page.row("searched", chain.reuse.query)
    page.heading("Who saw what")
    for one in chain.invocations:
        contribution, pack = one.contribution, one.context_pack
        page.prose(f"{contribution.produced_by.run_id}  {contribution.type}  {contribution.artifact_ref}", 2)
        page.row(pack.context_pack_id, f"shows {_shown(chain, pack)}", 4)
        for reason, refs in _grouped((row.reason, row.ref) for row in pack.excluded_refs).items():
            page.row("withheld", f"{_listed(chain, refs)} ({reason})", 4)
    page.heading("Task")
    page.prose(f"{chain.task.task_id}  {chain.task.name}", 2)
    for criterion in chain.task.acceptance_criteria:
        page.prose(f"- {criterion}", 4, 2)
    page.heading("Spec")
    page.line(f"  {chain.spec.spec}")
    page.line(f"  definition {chain.spec.definition_sha256}")
    page.heading("Files")
    module = f"modules/{chain.contract.body.ref.replace('@', '/')}/"
    page.prose(
        f"below state_store/: {module}, artifacts/*/ID/, debates/ID/, context_packs/ID.json, definitions/ID",
        2,
    )
    return page


def _add_rounds(
    page: Page, title: str, debate: DebatedImplementation | DebatedPlan, versions: Sequence[ArtifactEnvelope]
) -> None:
    page.heading(f"{title} (debate {debate.debate_id})")
    for envelope in versions:
        page.prose(f"{envelope.ref}  {envelope.status}, by {envelope.created_by.run_id}", 2)
    for one in debate.rounds:
        page.row(f"round {one.number}", f"{one.proposal.proposal_id}: {one.proposal.claim}")
        if challenge := one.challenge:
            failures = "; ".join(failure.evidence for failure in challenge.failures)
            verdict = f"{challenge.challenge_id}  {challenge.verdict}"
            page.row("", f"{verdict}: {failures}" if failures else verdict)
        if ruling := one.adjudication:
            by = f"by {one.overruled}, in place of the Arbiter: " if one.overruled else ""
            page.row("", f"{ruling.adjudication_id}  {ruling.decision}: {by}{ruling.rationale}")
            page.rows("", (f"- {done.action} {done.target}: {done.detail}" for done in ruling.amendments))


def _shown(chain: Trail, pack: ContextPack) -> str:
    """Each reference once, with everything that is shown of it."""
    permissions = _grouped((row.ref, row.permission) for row in pack.included_refs)
    return ", ".join(f"{_named(chain, ref)} {' and '.join(parts)}" for ref, parts in permissions.items())


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _listed(chain: Trail, refs: Sequence[str]) -> str:
    names = ", ".join(_named(chain, ref) for ref in refs[:FEW])
    return f"{names} and {len(refs) - FEW} more" if len(refs) > FEW else names


def _named(chain: Trail, ref: str) -> str:
    return f"{chain.names[ref]} {ref}" if ref in chain.names else ref


def trace_page(found: Trace) -> Page:
    """Each task with its modules and its criteria, and what shows them."""
    page = Page()
    page.heading(f"{found.text}  ({found.found_as})")
    for task in found.tasks:
        _add_task(page, task)
    page.line()
    page.prose("Paths are those below state_store/; after a # stands a JSON pointer.")
    return page


def _add_task(page: Page, task: TaskReport) -> None:
    page.heading(f"{task.task_id}  {task.name}  {task.status}")
    for module in task.modules:
        page.copy(
            "module", f"{', '.join(module.functions)}  {module.module_ref}, {module.tests} tests passed"
        )
        for path in module.source:
            page.copy("", path)
    if not task.modules:
        page.row("module", "none is shipped yet")
    for criterion in task.criteria:
        _add_criterion(page, criterion)


def _add_criterion(page: Page, criterion: CriterionReport) -> None:
    page.prose(f"criterion {criterion.criterion}  {criterion.status}: {criterion.text}", 2, 2)
    if criterion.reason:
        page.prose(criterion.reason, 4)
    if ruling := criterion.ruling:
        page.prose(f"set aside: {ruling.reason} {ruling.answer or 'Nobody has answered.'}", 4)
    for one in criterion.evidence:
        page.prose(f"- {one.result} {KINDS[one.kind]} {one.name}: {one.detail}", 4, 2)
        for path in dict.fromkeys((one.stated_in, *one.ran_in)):
            page.line(path, " " * 6)


def tasks_page(tasks: Tasks, state: ProjectState, names: Mapping[str, str]) -> Page:
    """A table of the tasks.

    Args:
        tasks: All of them.
        state: Of the project, which names tasks as the spec does.
        names: Of the modules that they shipped, by reference.
    """
    page = Page()
    rows = [
        (
            one.spec_task_id,
            "SPLIT" if one.superseded_by else one.status,
            brief(one.task),
            _last(one, state, names),
        )
        for one in tasks.tasks
    ]
    page.table(("TASK", "STATUS", "NAME", "MODULES, OR WHAT IT WAITS FOR"), rows, whole=("TASK", "STATUS"))
    return page


def _last(task: TaskRow, state: ProjectState, names: Mapping[str, str]) -> str:
    shipped = task.module_refs if task.module_ref else ()
    return ", ".join(f"{ref}  {names[ref]}" for ref in shipped) or by_spec_id(state, task.why)


def modules_page(modules: Modules) -> Page:
    """A table of the sealed modules."""
    page = Page()
    rows = [
        (
            one.module_ref,
            brief(one.name),
            str(one.tests),
            one.purpose if one.status == "SHIPPED" else f"{one.status}. {one.purpose}",
        )
        for one in modules.modules
    ]
    page.table(("MODULE", "NAME", "TESTS", "PURPOSE"), rows, whole=("MODULE", "NAME", "TESTS"))
    return page


def matches_page(matches: Matches) -> Page:
    """A table of what was found in the Code Index."""
    page = Page()
    rows = [(one.ref, brief(one.name), f"{one.match:.2f}", one.purpose) for one in matches.matches]
    page.table(("MODULE", "NAME", "MATCH", "PURPOSE"), rows, whole=("MODULE", "NAME", "MATCH"))
    return page


def report_page(report: Report) -> Page:
    """A bug report whose example holds."""
    page = Page()
    page.prose(
        f"The example {report.example!r} holds: {report.name}, {report.module_ref}, gives what it says. Nothing was changed."
    )
    return page


def statements_page(module: Statements, example: str = "bug.md") -> Page:
    """What a report may point at, and the command.

    Args:
        module: The statements about it.
        example: The file of the example.
    """
    page = Page()
    if module.example:
        page.prose(f"The example {module.example!r} fails: {module.observed}. Nothing was changed.")
    page.heading(f"What a report of {module.name}, {module.module_ref}, may name with --pointer")
    columns = min(_LONGEST_POINTER, max(len(one.pointer) for one in module.statements))
    for one in module.statements:
        page.labelled(f"  {one.pointer}", one.text, labels=columns + 4)
    what = f"--example {shlex.quote(example)} --pointer POINTER"
    page.line(next_command(f"report {module.name}", rest=what), "Then: ")
    return page


def exceptions_page(found: Exceptions) -> Page:
    """Every interface change exception, with the change that it proposes and what was decided."""
    page = Page()
    for one in found.exceptions:
        _add_exception(page, one)
    if not found.exceptions:
        page.line("No role has found the contract of a shipped module wrong.")
    return page


def _add_exception(page: Page, one: ShownException) -> None:
    page.heading(f"{one.exception_id}  {one.status}  against {one.target_module}")
    page.row("raised by", f"{one.raised_by.role} at {one.raised_by.run_id}")
    page.row("type", f"{one.type}, {one.urgency}, {one.compatibility_expectation}")
    page.row("reason", one.reason)
    for said in one.evidence:
        page.row("evidence", said)
    for field, value in one.proposed_contract_delta.to_json().items():
        if value:
            page.row(field.replace("_", " "), str(value))
    for decision in one.decisions:
        page.row("decided", f"{decision.decided_at}: {decision.decision} {decision.reason}".strip())
    for outcome in one.outcomes:
        made = outcome.version.module_ref if outcome.version else ""
        page.row("outcome", f"{outcome.resolved_at}: {outcome.reason or made}")
    if one.escalation:
        page.copy("answer", next_command(f"exceptions approve {one.exception_id}"))
        page.copy("whole page", next_command(f"escalations {one.escalation}"))


def costs_page(costs: Costs, *, scripted: bool) -> Page:
    """The costs as a table, and what its zeros and gaps mean."""
    page, whole = Page(), costs.total
    columns = [costs.by, "requests", "characters", "tokens in", "tokens out", "money"]
    if costs.waiting:
        page.prose(f"A request has no answer yet: {at_work_in_words(costs.waiting)}.")
    if not whole.requests:
        page.prose("No answer has come yet." if costs.waiting else "No model has been asked yet.")
        return page
    rows = [
        [part, *(f"{number:,}" for number in [*cost.to_json().values()][:4]), cost.money]
        for part, cost in {**costs.parts, "in all": whole}.items()
    ]
    unpriced = whole.unpriced == whole.requests
    if unpriced:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    page.table(columns, rows, whole=columns[1:])
    if costs.refusals:
        page.prose(costs.refusals)
    if scripted and not whole.input_tokens + whole.output_tokens:
        page.prose("The answers are scripted: they have no tokens and cost nothing.")
    if unpriced:
        page.prose("The price of the models is unknown; `[prices]` in specwright.toml sets it.")
    return page
