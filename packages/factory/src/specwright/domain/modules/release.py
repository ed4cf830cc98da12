"""A release: its modules, the four integration gates, the manifest, the failure report, the notes for users and the
acceptance report (design: release).

Each gate is a function from the modules of the set to its violations. The acceptance report lists every criterion of the
approved spec with its evidence; a reference is the path of a file below `state_store/`, and after a `#` a JSON pointer
into it. `ports.Packager` builds the wheel.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, StringConstraints, computed_field, model_validator

from agent_wire import canonical_json
from ship_gate.base.ids import ModuleRef, ModuleRefText
from ship_gate.base.record import OmittedIfEmpty, Record, SemVer, Sha256, Text, Timestamp
from ship_gate.base.text import inline, one_line
from ship_gate.contract.contract import MicroModuleContract, serves
from ship_gate.findings import Finding
from specwright.domain.base.document import Document
from specwright.domain.modules.code_index import CodeIndexEntry, IndexStatus
from specwright.domain.modules.evidence import ShipEvidence, TestOutcome
from specwright.domain.spec.change_request import BugReport
from specwright.domain.spec.product_spec import ProductSpec, spec_difference
from specwright.errors import CorruptionError, InputError, RefusedError


class Gate(StrEnum):
    """The four integration gates in the order of the manifest."""

    DEPENDENCY = "dependency_check"
    FINGERPRINT = "fingerprint_check"
    DEPRECATION = "deprecation_check"
    CODE_INDEX = "code_index_check"


class ReleaseDependency(NamedTuple):
    """A dependency of a module in the set.

    Args:
        ref: The reference in the Code Index entry, `MM-...@x.y.z` or `MM-...@^x.y.z`.
        built_against: The version in the ship evidence; None if the evidence has none.
        index_status: The status of the referenced version; None if it is not in the index.
    """

    ref: str
    built_against: ModuleRef | None
    index_status: IndexStatus | None

    @property
    def module_id(self) -> str:
        """The id of the dependency, without its version."""
        return self.ref.partition("@")[0]


class ReleaseModule(NamedTuple):
    """A module version in the set; `index_status` is None if it has no entry."""

    contract: MicroModuleContract
    evidence: ShipEvidence
    index_status: IndexStatus | None
    dependencies: tuple[ReleaseDependency, ...] = ()

    @property
    def ref(self) -> str:
        """`MM-...@x.y.z`."""
        return self.contract.ref


def release_module(
    contract: MicroModuleContract, evidence: ShipEvidence, index: Mapping[str, CodeIndexEntry]
) -> ReleaseModule:
    """Build a module of the set, with its dependencies from evidence and index.

    Args:
        contract: The sealed contract.
        evidence: The ship evidence of the same version.
        index: Entries by `MM-...@x.y.z`, including those of the dependencies.

    Raises:
        CorruptionError: contract and evidence belong to different versions.
    """
    if contract.ref != evidence.ref:
        raise CorruptionError(
            f"the ship evidence of {contract.ref} is for {evidence.ref}", remedy="run `specwright verify`"
        )
    entry = index.get(contract.ref)
    # dependencies come from the index entry; without one gate 4 fails, and the contract still lists them
    refs = entry.dependencies if entry else [dependency.ref for dependency in contract.dependencies]
    built = {(ref := ModuleRef.parse(text)).module_id: ref for text in evidence.dependency_fingerprints}

    def known(ref: str) -> tuple[ModuleRef | None, IndexStatus | None]:
        against = built.get(ref.partition("@")[0])
        entry = index.get(ref) or index.get(str(against))
        return against, entry.status if entry else None

    return ReleaseModule(
        contract=contract,
        evidence=evidence,
        index_status=entry.status if entry else None,
        dependencies=tuple(ReleaseDependency(ref, *known(ref)) for ref in refs),
    )


def check_release_set(modules: Sequence[ReleaseModule]) -> None:
    """Raise unless a set can be a product (design: contracts, release).

    Raises:
        RefusedError: the set is empty, or has an unshipped module, two versions of a module, or two modules of one name.
    """
    if not modules:
        raise RefusedError(
            "no task shipped a module, so there is nothing to release",
            remedy="revise SPEC.md and begin in a new directory: `specwright init DIR`",
        )
    if unshipped := [m.ref for m in modules if m.evidence.verification.result is TestOutcome.FAIL]:
        raise RefusedError(
            f"only shipped modules can be released; these are not shipped: {', '.join(unshipped)}"
        )
    versions, names = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for module in modules:
        versions[module.contract.module_id].append(module.ref)
        names[module.contract.name].append(module.ref)
    for module_id, refs in versions.items():
        if len(refs) > 1:
            raise RefusedError(
                f"a release can have only one version of a module; this one has {' and '.join(refs)}",
                where=module_id,
                remedy="name one of them",
            )
    for name, refs in names.items():
        if len(refs) > 1:
            raise RefusedError(
                f"two modules cannot both be imported as `{name}`: {' and '.join(refs)}",
                where=name,
                remedy="release them separately, or ship one of them under another name",
            )


def dependency_check(modules: Sequence[ReleaseModule]) -> tuple[Finding, ...]:
    """Gate 1: every dependency is in the set, in the referenced version or a compatible later one."""
    members, found = {module.contract.module_id: module for module in modules}, list[Finding]()
    for module in modules:
        for dependency in module.dependencies:
            member, refs = members.get(dependency.module_id), f"{module.ref}, {dependency.ref}"
            wanted = f"{_called(module)} depends on {dependency.ref}"
            if member is None:
                why = f"{wanted}, which is not in the release set."
                found.append(Finding(Gate.DEPENDENCY, refs, why))
            elif not serves(member.contract.module_version, dependency.ref):
                why = f"{wanted}, but the set holds {_called(member)}."
                found.append(Finding(Gate.DEPENDENCY, f"{refs}, {member.ref}", why))
    return tuple(found)


def fingerprint_check(modules: Sequence[ReleaseModule]) -> tuple[Finding, ...]:
    """Gate 2: each consumer was built against the present contract of its dependency in the set.

    Gate 1 reports dependencies that are not in the set.
    """
    members = {module.contract.module_id: module for module in modules}
    return tuple(
        Finding(Gate.FINGERPRINT, f"{module.ref}, {producer.ref}", drift)
        for module in modules
        for dependency in module.dependencies
        if (producer := members.get(dependency.module_id)) and (drift := _drift(module, dependency, producer))
    )


def _drift(module: ReleaseModule, dependency: ReleaseDependency, producer: ReleaseModule) -> str | None:
    if dependency.built_against is None:
        return f"The ship evidence of {_called(module)} names no version of {_called(producer)}."
    built = module.evidence.dependency_fingerprints[str(dependency.built_against)]
    current = producer.evidence.verification.interface_fingerprint
    if built == current:
        return None
    return (
        f"{_called(module)} was built against {dependency.built_against}, contract fingerprint {built}; "
        f"that of {_called(producer)} is {current}."
    )


def deprecation_check(modules: Sequence[ReleaseModule]) -> tuple[Finding, ...]:
    """Gate 3: no active module depends on a DEPRECATED or SUPERSEDED one."""
    retired = (IndexStatus.DEPRECATED, IndexStatus.SUPERSEDED)
    return tuple(
        Finding(
            Gate.DEPRECATION,
            f"{module.ref}, {dependency.ref}",
            f"{_called(module)} depends on {dependency.ref}, in the Code Index {dependency.index_status}.",
        )
        for module in modules
        if module.index_status is not IndexStatus.DEPRECATED
        for dependency in module.dependencies
        if dependency.index_status in retired
    )


def code_index_check(modules: Sequence[ReleaseModule]) -> tuple[Finding, ...]:
    """Gate 4: every module of the set has an entry with the status SHIPPED."""
    return tuple(
        Finding(
            Gate.CODE_INDEX,
            module.ref,
            f"{_called(module)} is {module.index_status or 'not there'} in the Code Index, not SHIPPED.",
        )
        for module in modules
        if module.index_status is not IndexStatus.SHIPPED
    )


def _called(module: ReleaseModule) -> str:
    return f"{module.contract.name} ({module.ref})"


def run_gates(modules: Sequence[ReleaseModule]) -> tuple[Finding, ...]:
    """Return all violations, in the order of the gates; empty means that all four PASS.

    A finding's code is the gate, its place the modules and references, consumer first.
    """
    checks = (dependency_check, fingerprint_check, deprecation_check, code_index_check)
    return tuple(failure for check in checks for failure in check(modules))


Result = TestOutcome
"""PASS or FAIL."""

_UNDO = "take a deprecation back by `specwright deprecate MM-ID@VERSION --undo --reason TEXT`"
_REMEDY = {
    Gate.DEPENDENCY: "Release the missing module too, or re-ship its consumer against what the set holds.",
    Gate.FINGERPRINT: "Re-ship the consumer against the producer's current contract.",
    Gate.DEPRECATION: f"Re-ship the consumer against the replacement, deprecate the consumer as well, or {_UNDO}.",
    Gate.CODE_INDEX: f"Release the version that is SHIPPED in the Code Index, or {_UNDO}; run `specwright verify`.",
}


class ReleasedModule(Record):
    """A module of the release with its evidence."""

    module_ref: ModuleRefText
    ship_ref: Annotated[str, Field(pattern=r"^SHIP-[0-9a-f]{8}$")]


class IntegrationGates(Record):
    """The result of each gate."""

    dependency_check: Result
    fingerprint_check: Result
    deprecation_check: Result
    code_index_check: Result

    @classmethod
    def of(cls, failures: Sequence[Finding]) -> Self:
        """Build the results: FAIL for each gate with a violation."""
        failed = {failure.code for failure in failures}
        return cls.model_validate({gate: Result.FAIL if gate in failed else Result.PASS for gate in Gate})

    @property
    def overall(self) -> Result:
        """PASS if all four gates pass (design: release)."""
        return Result.PASS if all(getattr(self, gate) is Result.PASS for gate in Gate) else Result.FAIL


class ProductResult(Record):
    """The result of building and testing the wheel (design: release). `wheel` is its file name beside the manifest, or null.
    `source` has the hashes of the files of the source tree, by path in the project."""

    wheel: str | None
    sha256: Sha256 | None
    result: Result
    detail: str
    source: dict[str, Sha256] = Field(default_factory=dict)

    @classmethod
    def without_wheel(cls, why: str) -> Self:
        """Build the result of a release without a wheel."""
        return cls(wheel=None, sha256=None, result=Result.FAIL, detail=why)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.wheel is None) != (self.sha256 is None):
            raise ValueError("a wheel comes with its sha256")
        if self.result is Result.PASS and self.wheel is None:
            raise ValueError("without a wheel the product is FAIL")
        return self


class UnshownInRelease(Record):
    """An acceptance criterion that no test shows (design: unshown-criteria). `answer` is a person's answer, or empty."""

    task_id: str
    criterion: int
    text: str
    ruling: str
    reason: str
    question: str
    answer: str


class ReleaseManifest(Record):
    """`releases/{release_id}/manifest.json` (design: release)."""

    release_id: Annotated[str, Field(pattern=r"^REL-[0-9a-f]{8}$")]
    created_at: Timestamp
    spec_version: SemVer
    modules: Annotated[list[ReleasedModule], Field(min_length=1)]
    integration_gates: IntegrationGates
    overall_result: Result
    notes: str
    product: ProductResult
    unshown_criteria: list[UnshownInRelease] = Field(default_factory=list)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.overall_result is not self.integration_gates.overall:
            raise ValueError("overall_result is PASS if and only if all four integration gates are")
        ids = [module.module_ref.partition("@")[0] for module in self.modules]
        if len(set(ids)) != len(ids):
            raise ValueError("a release holds one version of a module")
        return self

    @property
    def succeeded(self) -> bool:
        """Whether gates and product both pass; otherwise the command exits with 1 (design: release)."""
        return self.overall_result is Result.PASS and self.product.result is Result.PASS


def release_manifest(
    release_id: str,
    created_at: str,
    spec_version: str,
    modules: Sequence[ReleaseModule],
    product: ProductResult,
    unshown: Sequence[UnshownInRelease] = (),
    *,
    missing: str = "",
) -> ReleaseManifest:
    """Run the gates on a set and build its manifest.

    Args:
        release_id: `REL-` + 8 drawn hex digits.
        created_at: The time, ISO-8601 UTC.
        spec_version: The version of the product spec.
        modules: The set, in the order of the manifest.
        product: The result of the wheel, which is not part of the overall result.
        unshown: Acceptance criteria that nothing shows.
        missing: A description of the tasks that are not in the set; empty if none.

    Raises:
        RefusedError: the set cannot be a product.
    """
    check_release_set(modules)
    failures = run_gates(modules)
    gates = IntegrationGates.of(failures)
    return ReleaseManifest(
        release_id=release_id,
        created_at=created_at,
        spec_version=spec_version,
        modules=[ReleasedModule(module_ref=m.ref, ship_ref=m.evidence.ship_id) for m in modules],
        integration_gates=gates,
        overall_result=gates.overall,
        notes=_notes(len(modules), failures, product, missing),
        product=product,
        unshown_criteria=list(unshown),
    )


def _notes(count: int, failures: Sequence[Finding], product: ProductResult, missing: str) -> str:
    set_of = f"{count} module{'s' if count != 1 else ''}"
    if failures:
        explanations = " ".join(f"{failure.code}: {failure.message}" for failure in failures)
        head = f"{set_of}; blocked by the integration gates. {explanations}"
    else:
        head = f"{set_of}; all four integration gates pass."
    part = f" Only a part of the product: {missing}." if missing else ""
    return f"{head}{part} Product {product.result}: {product.detail}"


def failure_report(manifest: ReleaseManifest, modules: Sequence[ReleaseModule]) -> str | None:
    """Return the Markdown report to store beside a failed manifest; None if it succeeded (design: release).

    Args:
        manifest: The manifest of the set.
        modules: The set.
    """
    if manifest.succeeded:
        return None
    lines = [
        f"# Release {manifest.release_id} failed",
        "",
        f"Made {manifest.created_at} of version {manifest.spec_version}.",
    ]
    for gate, failures in groupby(run_gates(modules), key=lambda failure: failure.code):
        lines += ["", f"## {gate}: FAIL", ""]
        for failure in failures:
            lines += [f"- {failure.message}", f"  Concerned: {failure.where}"]
        lines += ["", _REMEDY[Gate(gate)]]
    if manifest.product.result is Result.FAIL:
        lines += ["", "## product: FAIL", "", manifest.product.detail]
    lines += ["", "Then run `specwright release` again.", ""]
    return "\n".join(lines)


class ModuleChange(NamedTuple):
    """A module that changed in a version of the product.

    Args:
        name: Its name.
        before: Its previous version; empty if it is new.
        after: Its version; empty if it was removed.
        reason: The reason.
    """

    name: str
    before: str
    after: str
    reason: str

    @property
    def line(self) -> str:
        """The change in one line."""
        step = f"{self.before} -> {self.after}" if self.before and self.after else self.after or "removed"
        return f"`{self.name}` {step}: {self.reason}"


class VersionNotes(NamedTuple):
    """One version of the product.

    Args:
        spec: The approved spec.
        before: The spec of the previous version; None for the first.
        request: The requested change, in a sentence; empty if only SPEC.md was edited.
        modules: The changed modules.
        report: The bug report that it repairs (design: change).
        version: The version of a post-release, with the same spec and another wheel; otherwise empty.
    """

    spec: ProductSpec
    before: ProductSpec | None
    request: str
    modules: Sequence[ModuleChange]
    report: BugReport | None = None
    version: str = ""


def render_notes(versions: Sequence[VersionNotes]) -> str:
    """Render the notes as Markdown, newest version first."""
    return "\n".join(line for notes in reversed(versions) for line in _version(notes))


def _version(notes: VersionNotes) -> Iterator[str]:
    again = f": {own} released again" if notes.version not in ("", own := notes.spec.spec_version) else ""
    yield from (f"## {notes.version or own}{again}", "")
    if notes.request:
        yield from (f"Asked for: {inline(one_line(notes.request))}", "")
    names = {task.task_id: task.name for task in (notes.before or notes.spec).tasks()}
    names |= {task.task_id: task.name for task in notes.spec.tasks()}
    for title, lines in _sections(notes, names).items():
        if lines:
            yield from (f"### {title}", "", *(f"- {line}" for line in lines), "")


def _sections(notes: VersionNotes, names: Mapping[str, str]) -> dict[str, list[str]]:
    nothing = notes.spec.model_copy(update={"pillars": []})
    difference = spec_difference(notes.before or nothing, notes.spec)
    return {
        "Added": [_task(names, name) for name in difference.added],
        "Changed": [
            "\n  - ".join((_task(names, name), *map(inline, what)))
            for name, what in difference.changed.items()
        ],
        "Fixed": [_fixed(notes.report)] if notes.report else [],
        "Removed": [_task(names, name) for name in difference.removed],
        "Modules": [inline(module.line) for module in notes.modules],
    }


def _fixed(report: BugReport) -> str:
    said = f"{report.heading}: {report.observed}. That broke {report.broken_statement}"
    return f"`{report.name}`: {inline(one_line(said))}"


def _task(names: Mapping[str, str], name: str) -> str:
    return f"{inline(one_line(names[name]))} ({name})"


VERSION = 1
"""The version of the document's schema, as in `--json`."""

JUDGED_BY_MODELS = "no example, property or test names it: judged by models"

Reference = Annotated[str, StringConstraints(pattern=r"^[^/#][^#]*(#(/.*)?)?$")]
"""`modules/MM-0a1b2c3d/1.0.0/ship.json#/gate/6`."""


class CriterionStatus(StrEnum):
    """The status of a criterion in a release."""

    SHOWN = "SHOWN"
    """An approved example or property shows it, and none fails."""
    TESTED = "TESTED"
    """Passing tests show it according to a role; no person approved them."""
    FAILED = "FAILED"
    """An example, property or test of it fails."""
    SET_ASIDE = "SET_ASIDE"
    """The Arbiter ruled that no test can show it (design: unshown-criteria)."""
    JUDGED = "JUDGED"
    """No code shows it; models judged it."""
    AMENDED = "AMENDED"
    """A person replaced it while its task was halted (design: escalation)."""
    UNRELEASED = "UNRELEASED"
    """No module of its task is part of the release."""


EvidenceKind = Literal["example", "property", "module_test", "falsifying_test"]
"""The kinds of evidence for a criterion."""


class CriterionEvidence(Record):
    """An example, property or test that shows a criterion.

    Args:
        kind: The kind of evidence.
        name: The title of an example or property, or the name of a test.
        result: The result; NOT_RUN if nothing ran it.
        detail: Where it ran, or how it failed.
        author: The author of an example or property.
        stated_in: The reference to its text.
        named_in: The reference to where it cites the criterion.
        ran_in: The references to the results of its runs.
    """

    kind: EvidenceKind
    name: str
    result: Literal["PASS", "FAIL", "NOT_RUN"]
    detail: str = ""
    author: Literal["researcher", "person"] | None = None
    stated_in: Reference
    named_in: Reference
    ran_in: list[Reference] = Field(default_factory=list)


class CriterionRulingReport(Record):
    """A ruling that set a criterion aside, and a person's answer, or an empty one."""

    reason: Text
    answer: str
    ruling: Reference
    question: Reference
    answered_in: Reference | None = None


class CriterionReport(Record):
    """A criterion of the spec.

    Args:
        criterion: Its number in the task, from 1.
        text: The approved text.
        stated_in: The reference to the text.
        executable: Whether an example or property of the spec shows it.
        status: Its status.
        reason: Why it is not shown, in a sentence; empty if it is.
        evidence: The evidence for it.
        ruling: The ruling that set it aside, if any.
    """

    criterion: int
    text: str
    stated_in: Reference
    executable: bool
    status: CriterionStatus
    reason: str = ""
    evidence: list[CriterionEvidence] = Field(default_factory=list)
    ruling: CriterionRulingReport | None = None


class ModuleReport(OmittedIfEmpty):
    """A sealed module of a task.

    Args:
        module_ref: `MM-...@x.y.z`.
        name: Its name.
        functions: Its entry points.
        contract: The reference to its contract.
        source: The references to the files of its implementation.
        tests: The number of tests that passed at the ship gate.
        execution_log: The reference to their results.
        judged_in: The reference to its Challenger's assessments.
        out_of_scope: The values for which its contract promises only a declared error or a value of the declared type.
    """

    omitted = ("out_of_scope",)

    module_ref: str
    name: str
    functions: list[str]
    contract: Reference
    source: list[Reference]
    tests: int
    execution_log: Reference
    judged_in: Reference | None = None
    out_of_scope: list[str] = Field(default_factory=list)


class PersonDecision(Record):
    """A person's answer to a halt.

    Args:
        action: The action, such as `APPROVE_OVERRIDE`.
        decided_by: The person.
        decided_at: The time.
        rationale: The reason; empty for actions without one.
        stated_in: The file, below `state_store/`.
    """

    action: str
    decided_by: str
    decided_at: str
    rationale: str
    stated_in: str

    @property
    def sentence(self) -> str:
        """The decision as a sentence."""
        why = f": {self.rationale}" if self.rationale else ""
        return f"{self.action} by {self.decided_by}, {self.decided_at}{why}"


class TaskReport(OmittedIfEmpty):
    """A task of the spec: its criteria, its shipped modules, and the answers to its halts."""

    omitted = ("decided",)

    task_id: str
    name: str
    status: str
    criteria: list[CriterionReport]
    modules: list[ModuleReport]
    decided: list[PersonDecision] = Field(default_factory=list)


class AcceptanceReport(Document, schema="acceptance"):
    """The report of a release.

    Args:
        release_id: `REL-...`.
        spec_id: The id of the approved spec.
        spec_version: Its version.
        spec: The reference to its immutable copy.
        manifest: The reference to the release's manifest.
        tasks: Every task of the spec, in declaration order.
    """

    release_id: str
    spec_id: str
    spec_version: SemVer
    spec: Reference
    manifest: Reference
    tasks: list[TaskReport]

    @computed_field
    @property
    def counts(self) -> dict[str, int]:
        """The number of criteria, of executable ones, and of those in each status."""
        criteria = [one for task in self.tasks for one in task.criteria]
        found = Counter(one.status for one in criteria)
        executable = sum(one.executable for one in criteria)
        statuses = {status.value.lower(): found[status] for status in CriterionStatus}
        return {"criteria": len(criteria), "executable": executable, **statuses}

    @property
    def document(self) -> dict[str, Any]:
        """The content of `acceptance.json`."""
        return {"schema": self.schema_name, "version": VERSION, **self.to_json()}

    @classmethod
    def from_document(cls, data: bytes, where: str) -> Self:
        """Read `acceptance.json`; unknown keys of a later version are ignored.

        Args:
            data: The bytes of the file.
            where: The file, for the message.

        Raises:
            InputError: the file is not an acceptance report.
        """
        try:
            whole: Any = canonical_json.loads(data)
            known = {
                n: whole[n] for n, field in cls.model_fields.items() if field.is_required() or n in whole
            }
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"not an acceptance report: {error!r}", where=where) from error
        return cls.from_bytes(canonical_json.pretty(known), where)


KINDS = {
    "example": "approved example",
    "property": "approved property",
    "module_test": "test of the module",
    "falsifying_test": "falsifying test",
}
"""The name of each kind of evidence."""
