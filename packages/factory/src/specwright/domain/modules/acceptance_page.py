"""`releases/{release_id}/acceptance.md`: the acceptance report for a person (design: release)."""

from collections.abc import Iterator

from ship_gate.base.markdown_text import inline, printable
from specwright.domain.modules.acceptance_report import (
    AcceptanceReport,
    CriterionEvidence,
    CriterionReport,
    CriterionRulingReport,
    CriterionStatus,
    ModuleReport,
    TaskReport,
)

KINDS = {
    "example": "approved example",
    "property": "approved property",
    "module_test": "test of the module",
    "falsifying_test": "falsifying test",
}
"""What each kind of evidence is called."""

_STATUS_TEXT = {
    CriterionStatus.SHOWN: "shown by an approved example or property",
    CriterionStatus.TESTED: "tested",
    CriterionStatus.FAILED: "FAILED",
    CriterionStatus.SET_ASIDE: "set aside: no test can show it",
    CriterionStatus.JUDGED: "not shown by code",
    CriterionStatus.AMENDED: "replaced by a person",
    CriterionStatus.UNRELEASED: "not in this release",
}


def render_report(report: AcceptanceReport) -> str:
    """The report as Markdown."""
    counts = report.counts
    statuses = ", ".join(
        f"{counts[s.value.lower()]} {_STATUS_TEXT[s]}" for s in CriterionStatus if counts[s.value.lower()]
    )
    lines = [
        f"# Acceptance of {report.spec_id} {report.spec_version}, release {report.release_id}",
        "",
        f"{counts['criteria']} criteria, {counts['executable']} with an approved example or property: {statuses}.",
        "",
        f"The approved spec is `{report.spec}`, the manifest `{report.manifest}`. Paths are those below `state_store/`; "
        "after a `#` stands a JSON pointer. Which criterion an approved example shows, a person approved with the spec; of "
        "a test it is what the plan, the Proposer or the Challenger said of it.",
    ]
    for task in report.tasks:
        lines += _task(task)
    return "\n".join((*lines, ""))


def _task(task: TaskReport) -> Iterator[str]:
    yield from ("", f"## {task.task_id} {printable(task.name)}: {task.status}", "")
    yield from (line for module in task.modules for line in _module(module))
    for criterion in task.criteria:
        yield from _criterion(criterion)


def _module(module: ModuleReport) -> Iterator[str]:
    called = ", ".join(f"`{name}`" for name in module.functions)
    judged = f"; judged in `{module.judged_in}`" if module.judged_in else ""
    sources = ", ".join(f"`{path}`" for path in module.source)
    yield f"- {called} ({module.module_ref}): {sources}"
    yield f"  {module.tests} tests passed, `{module.execution_log}`{judged}"
    for values in module.out_of_scope:
        yield f"  built in part; out of scope, with an error or any value: {inline(values)}"


def _criterion(criterion: CriterionReport) -> Iterator[str]:
    yield from ("", f"### Criterion {criterion.criterion}: {_STATUS_TEXT[criterion.status]}", "")
    yield inline(criterion.text)
    if criterion.reason:
        reason = inline(criterion.reason).rstrip(".")
        yield from ("", f"{reason[:1].upper()}{reason[1:]}.")
    ruling = list(_ruling(criterion.ruling)) if criterion.ruling else []
    if items := [*ruling, *(line for one in criterion.evidence for line in _evidence(one))]:
        yield from ("", *items)


def _ruling(ruling: CriterionRulingReport) -> Iterator[str]:
    yield f"- ruling `{ruling.ruling}`: {inline(ruling.reason)}"
    answer = f"{inline(ruling.answer)} (`{ruling.answered_in}`)" if ruling.answer else "nobody has answered"
    yield f"- question `{ruling.question}`: {answer}"


def _evidence(one: CriterionEvidence) -> Iterator[str]:
    mine = " (yours)" if one.author == "person" else ""
    detail = f": {inline(one.detail)}" if one.detail else ""
    yield f"- {one.result} {KINDS[one.kind]} {printable(one.name)!r}{mine}{detail}"
    yield f"  - stated in `{one.stated_in}`"
    if not one.named_in.startswith(one.stated_in):
        yield f"  - named for the criterion in `{one.named_in}`"
    yield from (f"  - ran in `{ref}`" for ref in one.ran_in)
