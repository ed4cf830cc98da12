"""The release manifest and the failure report (design: release).

When a release starts and where its files go is decided elsewhere, the gates are in `release_gates`, and the
wheel is made behind `ports.packaging`.
"""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from ship_gate.base.ids import ModuleRefText
from ship_gate.base.record import Record, SemVer, Sha256, Timestamp
from specwright.domain.modules.evidence import TestOutcome
from specwright.domain.modules.release_gates import (
    Gate,
    GateFailure,
    ReleaseModule,
    check_release_set,
    run_gates,
)

Result = TestOutcome
"""PASS or FAIL."""

_REMEDY = {
    Gate.DEPENDENCY: "Release the missing module too, or re-ship its consumer against what the set holds.",
    Gate.FINGERPRINT: "Re-ship the consumer against the producer's current contract.",
    Gate.DEPRECATION: "Re-ship the consumer against the replacement, or deprecate the consumer as well.",
    Gate.CODE_INDEX: "Release the version that is SHIPPED in the Code Index; run `specwright verify`.",
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
    def of(cls, failures: Sequence[GateFailure]) -> Self:
        """FAIL for each gate that has a violation."""
        failed = {failure.gate for failure in failures}
        return cls.model_validate({gate: Result.FAIL if gate in failed else Result.PASS for gate in Gate})

    @property
    def overall(self) -> Result:
        """PASS if and only if all four are (design: release)."""
        return Result.PASS if all(getattr(self, gate) is Result.PASS for gate in Gate) else Result.FAIL


class ProductResult(Record):
    """What became of the wheel (design: release). `wheel` is its file name beside the manifest, null if none was made."""

    wheel: str | None
    sha256: Sha256 | None
    result: Result
    detail: str

    @classmethod
    def without_wheel(cls, why: str) -> Self:
        """There is no wheel."""
        return cls(wheel=None, sha256=None, result=Result.FAIL, detail=why)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.wheel is None) != (self.sha256 is None):
            raise ValueError("a wheel comes with its sha256")
        if self.result is Result.PASS and self.wheel is None:
            raise ValueError("without a wheel the product is FAIL")
        return self


class UnshownInRelease(Record):
    """An acceptance criterion that no test shows (design: unshown-criteria). `answer` is the person's, empty if none was
    given."""

    task_id: str
    criterion: int
    text: str
    ruling: str
    reason: str
    question: str
    answer: str


class ReleaseManifest(Record):
    """`releases/{release_id}/manifest.json` (design: release, and `product` of)."""

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
        """Whether gates and product both PASS; otherwise the command exits 1 (design: release)."""
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
    """The manifest of a set, its gates run and its notes written.

    Args:
        release_id: `REL-` + 8 drawn hex digits.
        created_at: ISO-8601 UTC.
        spec_version: Of the ProductSpec that drove the project.
        modules: In the order in which they are to be listed.
        product: Not part of the overall result.
        unshown: Acceptance criteria that nothing shows.
        missing: Which tasks of the product are not in the set, in words; empty if none.

    Raises:
        RefusedError: the set is no product.
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


def _notes(count: int, failures: Sequence[GateFailure], product: ProductResult, missing: str) -> str:
    set_of = f"{count} module{'s' if count != 1 else ''}"
    if failures:
        explanations = " ".join(f"{failure.gate}: {failure.explanation}" for failure in failures)
        head = f"{set_of}; blocked by the integration gates. {explanations}"
    else:
        head = f"{set_of}; all four integration gates pass."
    part = f" Only a part of the product: {missing}." if missing else ""
    return f"{head}{part} Product {product.result}: {product.detail}"


def failure_report(manifest: ReleaseManifest, modules: Sequence[ReleaseModule]) -> str | None:
    """What is stored beside a manifest that did not succeed, as Markdown; None if it did (design: release).

    Args:
        manifest: Of this set.
        modules: The set, for the violations.
    """
    if manifest.succeeded:
        return None
    lines = [
        f"# Release {manifest.release_id} failed",
        "",
        f"Made {manifest.created_at} of version {manifest.spec_version}.",
    ]
    for gate, failures in _by_gate(run_gates(modules)).items():
        lines += ["", f"## {gate}: FAIL", ""]
        for failure in failures:
            lines += [f"- {failure.explanation}", f"  Concerned: {', '.join(failure.module_refs)}"]
        lines += ["", _REMEDY[gate]]
    if manifest.product.result is Result.FAIL:
        lines += ["", "## product: FAIL", "", manifest.product.detail]
    lines += ["", "Then run `specwright release` again.", ""]
    return "\n".join(lines)


def _by_gate(failures: Sequence[GateFailure]) -> dict[Gate, list[GateFailure]]:
    return {gate: found for gate in Gate if (found := [f for f in failures if f.gate is gate])}
