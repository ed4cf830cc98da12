"""Deprecation of a sealed module version: first the Wire, then the Code Index (design: deprecation); and the bug reports
and falsifying tests of earlier versions that a later one must pass (design: change, falsifying-tests)."""

from typing import cast

from packaging.version import Version

from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ModuleRef
from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.independent_tests import RegressionTest
from ship_gate.contract.rules import default_of
from specwright.application.announce import Announcement, announce, review_of
from specwright.application.factory import Factory, ProjectView
from specwright.domain.artifacts import FIRST_VERSION, ArtifactEnvelope
from specwright.domain.debate.records import still_counting
from specwright.domain.escalation import OPERATOR
from specwright.domain.modules.code_index import CodeIndexEntry, Deprecation, DeprecationRequest, IndexStatus
from specwright.domain.spec.change_request import BugReport
from specwright.errors import RefusedError
from specwright.ports import RunEvent, Scope


def deprecate(factory: Factory, asked: DeprecationRequest) -> Deprecation:
    """Deprecate a sealed version. Its files stay, but search and release no longer offer it.

    Raises:
        RefusedError: the version or its replacement is not sealed here, or is already retired.
    """
    ref = asked.module_ref
    entry = _active(factory, ref)
    if asked.replacement is not None:
        _active(factory, asked.replacement)
    scope = factory.journal.scope(f"deprecation/{ref}")
    announce(factory, scope, [_decision(factory, scope, asked, IndexStatus.DEPRECATED)])
    finish_deprecations(factory)
    factory.progress.note(RunEvent("deprecated", "", f"{entry.name} {ref}"))
    return factory.projection.deprecations[ref]


def finish_deprecations(factory: Factory) -> None:
    """Retire in the Code Index the versions that are deprecated in the log.

    Missing entries are ignored here; `verify` reports them.
    """
    for decided in factory.projection.deprecations.values():
        entry = factory.index.get(*ModuleRef.parse(decided.module_ref))
        if entry is not None and entry.status is IndexStatus.SHIPPED:
            factory.artifacts.retired(decided.module_ref, decided.replacement or decided.module_ref)
            factory.index.retire(decided)


def retirement(
    factory: Factory, scope: Scope, entry: CodeIndexEntry, reason: str, later: str | None = None
) -> Announcement:
    """Build the event that retires a version: SUPERSEDED by a later one, or DEPRECATED if there is none."""
    note = f"Use {later} instead." if later else "Nothing takes its place."
    asked = DeprecationRequest(module_ref=entry.ref, reason=reason, migration_note=note, replacement=later)
    return _decision(factory, scope, asked, IndexStatus.SUPERSEDED if later else IndexStatus.DEPRECATED)


def _decision(factory: Factory, scope: Scope, asked: DeprecationRequest, status: IndexStatus) -> Announcement:
    decided = Deprecation(
        **asked.model_dump(),
        decided_at=scope.now(),
        decided_by=OPERATOR,
        consumers=[one.ref for one in factory.index.entries() if asked.module_ref in one.dependencies],
        status=status,
    )
    return review_of(factory, f"module.{status.lower()}", decided, asked.module_ref, OPERATOR)


def superseded(factory: Factory, scope: Scope, ref: str, later: str, why: str = "") -> list[Announcement]:
    """Build the event that supersedes a version; none if it is already retired, and none in an open change, whose release
    retires replaced versions (design: change).

    Args:
        factory: The ports.
        scope: The source of the time.
        ref: The version.
        later: The version that replaces it.
        why: The cause, such as an exception.
    """
    entry = factory.index.get(*ModuleRef.parse(ref))
    if factory.projection.open_change or entry is None or entry.status is not IndexStatus.SHIPPED:
        return []
    reason = f"{later} takes its place{f' ({why})' if why else ''}."
    return [retirement(factory, scope, entry, reason, later)]


def _active(factory: Factory, ref: str) -> CodeIndexEntry:
    """Return the entry of an active version."""
    entry = factory.index.get(*ModuleRef.parse(ref))
    if entry is None:
        like = did_you_mean(ref, factory.modules.refs())
        raise RefusedError(f"{ref} is not sealed here", remedy=f"{like}`specwright modules` lists what is")
    if entry.status is not IndexStatus.SHIPPED:
        raise RefusedError(f"{ref} is already {entry.status}", where=entry.name, remedy=entry.notes)
    return entry


def reports_of(view: ProjectView, contract: MicroModuleContract) -> list[BugReport]:
    """Return the bug reports that later versions of a module must satisfy, oldest first. Left out are reports whose repair
    was abandoned, and examples that no longer fit the required inputs."""

    def required(one: MicroModuleContract) -> set[str]:
        return {given.name for given in one.inputs if default_of(given) is None}

    begun = [one for one in view.projection.changes if one.before is not None and one.ended != "abandoned"]
    reports = [one.request.report for one in begun if one.request.report is not None]
    own = [one for one in reports if ModuleRef.parse(one.module_ref).module_id == contract.module_id]
    return [one for one in own if required(view.modules.contract(one.module_ref)) == required(contract)]


def required_tests(factory: Factory, contract: MicroModuleContract, run: str) -> list[RegressionTest]:
    """Return the tests of earlier versions that a later one must pass. The choice of the earlier version is journalled.

    Args:
        factory: The ports.
        contract: The contract of the later version.
        run: The run of its task.
    """
    if contract.module_version == FIRST_VERSION:
        return []
    scope = factory.journal.scope(f"{run}/{contract.name}/regression-tests")
    asked: JsonValue = {"tool": "version_before", "of": contract.ref}
    before = cast(str, scope.recall("tool", asked, lambda: version_before(factory, contract)))
    if not before:
        return []
    kept = factory.modules.regression_tests(before)
    return still_counting(kept, factory.modules.contract(before), contract)


def version_before(view: ProjectView, contract: MicroModuleContract) -> str:
    """Return the last sealed version before one; empty if there is none."""
    own = Version(contract.module_version)
    earlier = sorted(
        (v for v in map(Version, view.modules.versions(contract.module_id)) if v < own), reverse=True
    )
    refs = (f"{contract.module_id}@{version}" for version in earlier)
    return next((ref for ref in refs if view.modules.is_sealed(ref)), "")


def artifact_before(view: ProjectView, contract: MicroModuleContract) -> ArtifactEnvelope | None:
    """Return the implementation artifact of the last sealed version before one, if any (design: artifact-lifecycle)."""
    ref = version_before(view, contract)
    return view.artifacts.sealed_as(view.projection.debated_as(ref)) if ref else None
