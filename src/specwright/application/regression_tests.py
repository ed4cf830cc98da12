"""The falsifying tests that a version must pass because an earlier version of its module did (design:
falsifying-tests)."""

from typing import cast

from packaging.version import Version

from specwright.application import scopes
from specwright.application.factory import Factory, ProjectView
from specwright.application.history.sealed_debate import tests_of_debate
from specwright.canonical_json import JsonValue
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.falsifying_tests import RegressionTest
from specwright.domain.debate.regression_tests import as_regression_tests, still_counting

_FIRST = "1.0.0"


def tests_sealed_with(view: ProjectView, module_ref: str) -> list[RegressionTest]:
    """The tests beside a sealed version; of one that was sealed before they were kept, those of its debate."""
    sealed = view.modules.regression_tests(module_ref)
    return sealed.tests if sealed else as_regression_tests(tests_of_debate(view, module_ref), (), module_ref)


def required_tests(factory: Factory, contract: MicroModuleContract, run: str) -> list[RegressionTest]:
    """The tests of earlier versions that a later version must pass; which version comes before it is journalled.

    Args:
        factory: The ports.
        contract: Of the later version.
        run: Of its task.
    """
    if contract.module_version == _FIRST:
        return []
    scope = factory.journal.scope(scopes.regression_tests(run, contract.name))
    asked: JsonValue = {"tool": "version_before", "of": contract.ref}
    before = cast(str, scope.recall("tool", asked, lambda: _before(factory, contract)))
    return (
        still_counting(tests_sealed_with(factory, before), factory.modules.contract(before), contract)
        if before
        else []
    )


def _before(view: ProjectView, contract: MicroModuleContract) -> str:
    """The last sealed version before one; empty if there is none."""
    own = Version(contract.module_version)
    earlier = sorted(
        (v for v in map(Version, view.modules.versions(contract.module_id)) if v < own), reverse=True
    )
    refs = (f"{contract.module_id}@{version}" for version in earlier)
    return next((ref for ref in refs if view.modules.is_sealed(ref)), "")
