"""The bug reports that bind every version of a module (design: bug-reports)."""

from specwright.application.factory import ProjectView
from specwright.domain.base.ids import ModuleRef
from specwright.domain.spec.bug_report import BugReport


def reports_of(view: ProjectView, module_id: str) -> list[BugReport]:
    """The reports of a module that a repair was begun for, oldest first; not those whose repair was given up."""
    begun = [one for one in view.projection.changes if one.before is not None and one.ended != "abandoned"]
    reports = [one.request.report for one in begun if one.request.report is not None]
    return [report for report in reports if ModuleRef.parse(report.module_ref).module_id == module_id]
