"""What earlier versions of a module bind a later one to: bug reports, and falsifying tests that they passed (design:
bug-reports, falsifying-tests)."""

from typing import cast

from packaging.version import Version

from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ModuleRef
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.falsifying_tests import RegressionTest
from specwright.application.factory import Factory, ProjectView
from specwright.domain.debate.falsifying import still_counting
from specwright.domain.spec.change_request import BugReport

_FIRST = "1.0.0"


def reports_of(view: ProjectView, module_id: str) -> list[BugReport]:
    """The reports of a module that a repair was begun for, oldest first; not those whose repair was given up."""
    begun = [one for one in view.projection.changes if one.before is not None and one.ended != "abandoned"]
    reports = [one.request.report for one in begun if one.request.report is not None]
    return [report for report in reports if ModuleRef.parse(report.module_ref).module_id == module_id]


def required_tests(factory: Factory, contract: MicroModuleContract, run: str) -> list[RegressionTest]:
    """The tests of earlier versions that a later version must pass; which version comes before it is journalled.

    Args:
        factory: The ports.
        contract: Of the later version.
        run: Of its task.
    """
    if contract.module_version == _FIRST:
        return []
    scope = factory.journal.scope(f"{run}/{contract.name}/regression-tests")
    asked: JsonValue = {"tool": "version_before", "of": contract.ref}
    before = cast(str, scope.recall("tool", asked, lambda: _before(factory, contract)))
    if not before:
        return []
    kept = factory.modules.regression_tests(before)
    return still_counting(kept, factory.modules.contract(before), contract)


def _before(view: ProjectView, contract: MicroModuleContract) -> str:
    """The last sealed version before one; empty if there is none."""
    own = Version(contract.module_version)
    earlier = sorted(
        (v for v in map(Version, view.modules.versions(contract.module_id)) if v < own), reverse=True
    )
    refs = (f"{contract.module_id}@{version}" for version in earlier)
    return next((ref for ref in refs if view.modules.is_sealed(ref)), "")
