"""The acceptance report for a person (F§15.4)."""

from specwright.application.stages.release import render_report
from specwright.domain.modules.release import (
    AcceptanceReport,
    ModuleReport,
    PersonDecision,
    TaskReport,
)

SEALED = "modules/MM-00000001/1.0.0"


def report(*out_of_scope: str) -> AcceptanceReport:
    """Of a product of one module."""
    module = ModuleReport(
        module_ref="MM-00000001@1.0.0",
        name="find_links",
        functions=["find_links"],
        contract=f"{SEALED}/contract.json",
        source=[f"{SEALED}/implementation/__init__.py"],
        tests=3,
        execution_log=f"{SEALED}/tests/execution_log.json",
        out_of_scope=list(out_of_scope),
    )
    task = TaskReport(task_id="TSK-001", name="Find links", status="SHIPPED", criteria=[], modules=[module])
    return AcceptanceReport(
        release_id="REL-00000001",
        spec_id="SPEC-001",
        spec_version="1.0.0",
        spec="product/spec.json",
        manifest="releases/REL-00000001/manifest.json",
        tasks=[task],
    )


def test_what_a_module_leaves_out_is_visible_in_the_release():
    """D-10-07: a planner's limit was made after the spec was approved, so the report of the release has it."""
    page = render_report(report("links within quotes"))
    assert "  built in part; out of scope, with an error or any value: links within quotes\n" in page
    assert "built in part" not in render_report(report())
    assert "out_of_scope" not in str(report().document)


def test_what_a_person_decided_is_visible_in_the_release():
    """F-17.2-03: who, when and why, at its task, and how often at the beginning; nothing of it where nobody decided."""
    plain = report()
    decided = PersonDecision(
        action="APPROVE_OVERRIDE",
        decided_by="human:operator",
        decided_at="2026-01-02T03:04:05Z",
        rationale="The folder exists.",
        stated_in="resolutions/ESC-00000001.json",
    )
    task = plain.tasks[0].model_copy(update={"decided": [decided]})
    page = render_report(plain.model_copy(update={"tasks": [task]}))
    assert "A person decided 1 time where a task halted" in page
    assert (
        "APPROVE_OVERRIDE by human:operator, 2026-01-02T03:04:05Z: The folder exists. (`resolutions/ESC-"
        in page
    )
    assert "person decided" not in render_report(plain)
    assert "decided" not in str(plain.document)
