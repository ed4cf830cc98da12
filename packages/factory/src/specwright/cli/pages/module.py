"""A module for a reader: its contract and evidence, or how it came about, back to the spec (design: provenance); and what
answers to a criterion or a task (design: trace)."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.terminal.page import Page
from specwright.application.factory import ProjectView
from specwright.application.history.provenance import DebateRounds, Provenance
from specwright.application.stages.trace import Trace
from specwright.domain.artifacts import ArtifactEnvelope, ContextPack, Purpose
from specwright.domain.modules.acceptance_page import KINDS
from specwright.domain.modules.acceptance_report import CriterionReport, TaskReport
from specwright.domain.modules.code_index import Deprecation
from specwright.domain.modules.evidence import ShipEvidence

FEW = 3
"""References withheld for one reason that are named; the rest are counted, and are in the context pack."""


def module_page(
    contract: MicroModuleContract,
    evidence: ShipEvidence,
    files: Path,
    deprecation: Deprecation | None = None,
) -> Page:
    """The contract, dimension by dimension, and the evidence; first that the version is deprecated, if it is."""
    page = Page()
    page.heading(f"{contract.name}  {contract.ref}")
    page.prose(contract.purpose)
    page.line()
    if deprecation:
        page.row("DEPRECATED", f"{deprecation.decided_at}: {deprecation.reason}", 0)
        page.row("Instead", _instead(deprecation), 0)
    for title, entries in _dimensions(contract.to_json()):
        page.rows(title, entries or ["none"], 0)
    calls = ", ".join(dependency.ref for dependency in contract.dependencies)
    summary, verified = evidence.execution_log.summary, evidence.verification
    tests = f"{summary.passed} of {summary.total} tests passed"
    page.line()
    page.row("Calls", calls or "no other module", 0)
    page.row("Evidence", f"{verified.result}, {tests}, {evidence.verified_at}", 0)
    page.copy("Interface", verified.interface_fingerprint, 0)
    page.copy("Files", str(files), 0)
    return page


def _evidence_page(contract: MicroModuleContract, evidence: ShipEvidence) -> Page:
    """How the page of a sealed module begins: what it is, and what proves it."""
    page, summary = Page(), evidence.execution_log.summary
    page.heading(f"{contract.name}  {contract.ref}")
    page.prose(contract.purpose, 2)
    page.heading("Evidence")
    page.prose(f"{evidence.ship_id}  {evidence.verification.result}, {evidence.verified_at}", 2)
    page.row("tests", f"{summary.passed} of {summary.total} passed")
    page.row("gate", ", ".join(f"{check.name} {check.result}" for check in evidence.gate))
    page.copy("interface", evidence.verification.interface_fingerprint)
    return page


def deprecation_page(view: ProjectView, decided: Deprecation, directory: Path) -> Page:
    """What was deprecated, who depends on it, and what that means for the next release."""
    page = Page()
    page.row("Deprecated:", f"{view.modules.contract(decided.module_ref).name}  {decided.module_ref}", 0)
    page.row("Instead:", _instead(decided), 0)
    names = [f"{view.modules.contract(ref).name}  {ref}" for ref in decided.consumers]
    page.rows("Used by:", names or ["no other module"], 0)
    page.line()
    page.prose(
        "It stays readable, and releases that were made with it stay as they are. The next release fails while it, or "
        "a module that depends on it, is part of the product."
    )
    page.copy("See:", f"specwright module {decided.module_ref} {shlex.quote(str(directory))}", 0)
    return page


def _instead(decided: Deprecation) -> str:
    return (
        f"{decided.replacement}. {decided.migration_note}" if decided.replacement else decided.migration_note
    )


def _dimensions(contract: dict[str, Any]) -> list[tuple[str, list[str]]]:
    def value(entry: dict[str, Any], details: str) -> str:
        return "\n".join([f"{entry['name']}: {entry['type']}", *(f"- {detail}" for detail in entry[details])])

    effects = [f"{entry['type']} {entry['target']}: {entry['description']}" for entry in contract["effects"]]
    return [
        ("Inputs", [value(entry, "constraints") for entry in contract["inputs"]]),
        ("Outputs", [value(entry, "invariants") for entry in contract["outputs"]]),
        ("Errors", [_error(entry) for entry in contract["error_surfaces"]]),
        ("Effects", effects),
        ("Modes", [", ".join(name for name in ("sync", "async") if contract["modes"][name])]),
    ]


def _error(entry: dict[str, Any]) -> str:
    """An error surface, with what is stated of its class below it."""
    base = [f"- derives from {entry['base']}"] if entry.get("base") else []
    shared = [f"- {entry['shared']}"] if entry.get("shared") else []
    fields = [f"- field {one['name']}: {one['type']}" for one in entry.get("fields", ())]
    return "\n".join([f"{entry['name']}: {entry['when']}", *base, *shared, *fields])


def provenance_page(chain: Provenance) -> Page:
    """The chain from a module back to its spec."""
    page = _evidence_page(chain.contract, chain.evidence)
    if chain.exceptions:
        page.row("exceptions", ", ".join(chain.exceptions))
    _add_rounds(page, "Implementation", chain.debate, chain.versions)
    page.heading("Contract")
    locked = next(
        (output.ref for output in chain.locked.outputs if output.purpose == Purpose.LOCKED_AFTER),
        "not locked",
    )
    page.prose(f"{chain.locked.ref}  {chain.locked.status}, locked after {locked}", 2)
    calls = [_named(chain, dependency.ref) for dependency in chain.contract.dependencies]
    page.row("calls", ", ".join(calls) or "no other module")
    _add_rounds(page, "Plan", chain.contract_debate, (chain.planned,))
    page.row("modules", ", ".join(module.name for module in chain.plan.modules))
    page.heading("Reuse")
    page.prose(f"{chain.reuse.conclusion}: {chain.reuse.justification}", 2)
    page.row("searched", chain.reuse.query)
    page.heading("Who saw what")
    for contribution, pack in chain.invocations:
        page.prose(f"{contribution.produced_by.run_id}  {contribution.type}  {contribution.artifact_ref}", 2)
        page.row(pack.context_pack_id, f"shows {_shown(chain, pack)}", 4)
        for reason, refs in _withheld(pack).items():
            page.row("withheld", f"{_listed(chain, refs)} ({reason})", 4)
    page.heading("Task")
    page.prose(f"{chain.task.task_id}  {chain.task.name}", 2)
    for criterion in chain.task.acceptance_criteria:
        page.prose(f"- {criterion}", 4, 2)
    page.heading("Spec")
    page.line(f"  {chain.spec}")
    page.line(f"  definition {chain.spec_sha256}")
    page.heading("Files")
    module = f"modules/{chain.contract.ref.replace('@', '/')}/"
    page.prose(
        f"below state_store/: {module}, artifacts/*/ID/, debates/ID/, context_packs/ID.json, definitions/ID",
        2,
    )
    return page


def _add_rounds(page: Page, title: str, debate: DebateRounds, versions: Sequence[ArtifactEnvelope]) -> None:
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
            page.row("", f"{ruling.adjudication_id}  {ruling.decision}: {ruling.rationale}")
            page.rows("", (f"- {done.action} {done.target}: {done.detail}" for done in ruling.amendments))


def _shown(chain: Provenance, pack: ContextPack) -> str:
    """Each reference once, with everything that is shown of it."""
    permissions: dict[str, list[str]] = {}
    for row in pack.included_refs:
        permissions.setdefault(row.ref, []).append(row.permission)
    return ", ".join(f"{_named(chain, ref)} {' and '.join(parts)}" for ref, parts in permissions.items())


def _withheld(pack: ContextPack) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = {}
    for row in pack.excluded_refs:
        by_reason.setdefault(row.reason, []).append(row.ref)
    return by_reason


def _listed(chain: Provenance, refs: Sequence[str]) -> str:
    names = ", ".join(_named(chain, ref) for ref in refs[:FEW])
    return f"{names} and {len(refs) - FEW} more" if len(refs) > FEW else names


def _named(chain: Provenance, ref: str) -> str:
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
