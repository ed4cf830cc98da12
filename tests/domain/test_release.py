"""The four integration gates, the manifest and the failure report of a release (F§15.4, D28)."""

import keyword
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ship_gate.contract.contract import MicroModuleContract
from specwright.domain.base.slugs import import_name
from specwright.domain.modules.code_index import CodeIndexEntry, IndexStatus, summarise
from specwright.domain.modules.evidence import ShipEvidence, evidence_ref
from specwright.domain.modules.release import (
    Gate,
    ProductResult,
    ReleaseManifest,
    ReleaseModule,
    Result,
    check_release_set,
    code_index_check,
    dependency_check,
    deprecation_check,
    failure_report,
    fingerprint_check,
    release_manifest,
    release_module,
    run_gates,
)
from specwright.errors import CorruptionError, RefusedError

NOW = "2026-05-06T16:00:00Z"
PARSE, FORMAT = "MM-0000000a", "MM-0000000b"
WHEEL = ProductResult(
    wheel="app-1.0.0-py3-none-any.whl", sha256="a" * 64, result=Result.PASS, detail="It runs."
)


def contract(
    module_id: str, name: str, version: str = "1.0.0", needs: tuple[str, ...] = (), returns: str = "str"
) -> MicroModuleContract:
    """A contract with one input and one output."""
    return MicroModuleContract.model_validate(
        {
            "module_id": module_id,
            "module_version": version,
            "name": name,
            "purpose": f"Does what {name} says.",
            "inputs": [{"name": "text", "type": "str"}],
            "outputs": [{"name": "result", "type": returns}],
            "error_surfaces": [],
            "effects": [],
            "modes": {"sync": True, "async": False},
            "dependencies": [{"ref": ref, "why": "It is called."} for ref in needs],
        }
    )


def evidence(of: MicroModuleContract, built: Mapping[str, str] | None = None, **changes: Any) -> ShipEvidence:
    """Evidence of a version; `built` holds the fingerprints it was built against."""
    data = {
        "module_id": of.module_id,
        "module_version": of.module_version,
        "ship_id": f"SHIP-{of.module_id[3:]}",
        "verified_at": NOW,
        "verification": {
            "result": "PASS",
            "interface_fingerprint": of.interface_fingerprint,
            "evidence_ref": evidence_ref(of.module_id, of.module_version),
        },
        "environment": {"repo_revision": "3f1", "dependency_lock_ref": "3f1", "runner_id": "one"},
        "dependency_fingerprints": dict(built or {}),
        "tree_sha256": {"implementation": "d" * 64, "tests": "e" * 64},
        "gate": [{"name": "static", "result": "PASS"}],
        "struck_tests": [],
        "journal_ref": "TSK-001/ship",
        "execution_log": {"summary": {"total": 1, "passed": 1, "failed": 0}, "sha256": "f" * 64},
    }
    return ShipEvidence.model_validate(data | changes)


def index_of(*contracts: MicroModuleContract, **statuses: IndexStatus) -> dict[str, CodeIndexEntry]:
    """Entries by reference; a status is given by the module's name."""
    return {
        c.ref: summarise(c).model_copy(update={"status": statuses.get(c.name, IndexStatus.SHIPPED)})
        for c in contracts
    }


PRODUCER = contract(PARSE, "parse")
CONSUMER = contract(FORMAT, "format_it", needs=(f"{PARSE}@1.0.0",))
BUILT = {f"{PARSE}@1.0.0": PRODUCER.interface_fingerprint}


def release_set(
    *parts: tuple[MicroModuleContract, Mapping[str, str]], index: Mapping[str, CodeIndexEntry] | None = None
) -> list[ReleaseModule]:
    """Modules, each with the fingerprints that it was built against; SHIPPED unless the index says otherwise."""
    entries = index_of(PRODUCER, CONSUMER, *(one for one, _ in parts)) if index is None else index
    return [release_module(one, evidence(one, built), entries) for one, built in parts]


def sound_set(index: Mapping[str, CodeIndexEntry] | None = None) -> list[ReleaseModule]:
    """A producer and its consumer, both as they should be unless the index says otherwise."""
    return release_set((PRODUCER, {}), (CONSUMER, BUILT), index=index)


def set_with_producer(version: str, returns: str = "str") -> list[ReleaseModule]:
    """The consumer of parse@1.0.0, beside another version of parse."""
    return release_set((contract(PARSE, "parse", version, returns=returns), {}), (CONSUMER, BUILT))


def failing_gates(modules: list[ReleaseModule]) -> set[str]:
    """The gates that a set fails."""
    return {failure.code for failure in run_gates(modules)}


def manifest_of(modules: list[ReleaseModule], product: ProductResult = WHEEL) -> ReleaseManifest:
    """The manifest of a set."""
    return release_manifest("REL-1a2b3c4d", NOW, "1.2.0", modules, product)


def test_a_sound_set_passes_all_four_gates() -> None:
    """A producer, and a consumer built against it, both SHIPPED in the index (F-15-03 to F-15-06)."""
    assert run_gates(sound_set()) == ()


def test_a_set_that_lacks_a_dependency_fails_the_dependency_check_alone() -> None:
    """The violation names the consumer and the reference that dangles (F-15-03, F-15-08)."""
    modules = sound_set()[1:]
    (failure,) = dependency_check(modules)
    assert failure.where == f"{FORMAT}@1.0.0, {PARSE}@1.0.0"
    assert "not in the release set" in failure.message
    assert failing_gates(modules) == {Gate.DEPENDENCY}


SERVES = [
    ("1.0.0", "1.0.0", True),
    ("1.0.0", "1.0.1", True),
    ("^1.1.0", "1.2.0", True),
    ("1.1.0", "1.0.9", False),
    ("1.0.0", "2.0.0", False),
    ("0.1.0", "0.1.3", True),
    ("0.1.0", "0.2.0", False),
    ("latest", "1.0.0", False),
]


def test_a_dependency_is_met_by_its_version_or_a_compatible_later_one() -> None:
    """A release has one version per module, so the one in the set must serve (F-15-03, D-28-04)."""
    for reference, in_the_set, passes in SERVES:
        producer = contract(PARSE, "parse", in_the_set)
        consumer = contract(FORMAT, "format_it", needs=(f"{PARSE}@{reference}",))
        built = {f"{PARSE}@{in_the_set}": producer.interface_fingerprint}
        found = dependency_check(release_set((producer, {}), (consumer, built)))
        assert (found == ()) is passes, (reference, in_the_set)


def test_a_producer_whose_contract_moved_on_fails_the_fingerprint_check_alone() -> None:
    """The consumer was built against parse@1.0.0, the set holds another contract (F-15-04, F-15-08)."""
    modules = set_with_producer("1.1.0", returns="str | None")
    (failure,) = fingerprint_check(modules)
    assert failure.where == f"{FORMAT}@1.0.0, {PARSE}@1.1.0"
    assert PRODUCER.interface_fingerprint in failure.message
    assert modules[0].contract.interface_fingerprint in failure.message
    assert failing_gates(modules) == {Gate.FINGERPRINT}


def test_a_producer_that_was_patched_behind_the_same_contract_passes() -> None:
    """A patch leaves the fingerprint alone, and with it all who were built against it; what nobody recorded is not taken to
    match (F-15-04)."""
    assert run_gates(set_with_producer("1.0.1")) == ()
    (failure,) = fingerprint_check(release_set((PRODUCER, {}), (CONSUMER, {})))
    assert "names no version of parse" in failure.message


def test_an_active_consumer_of_a_retired_module_fails_the_deprecation_check() -> None:
    """The version that it refers to is retired, also where the set holds a newer one; of a range the version that the
    consumer was built against counts; one that is DEPRECATED itself may refer to it (F-15-05)."""
    newer, retired = contract(PARSE, "parse", "1.0.1"), IndexStatus.DEPRECATED
    for status in (retired, IndexStatus.SUPERSEDED):
        entries = index_of(newer, CONSUMER) | index_of(PRODUCER, parse=status)
        modules = release_set((newer, {}), (CONSUMER, BUILT), index=entries)
        (failure,) = deprecation_check(modules)
        assert failure.where == f"{FORMAT}@1.0.0, {PARSE}@1.0.0"
        assert str(status) in failure.message
        assert failing_gates(modules) == {Gate.DEPRECATION}
    ranged = contract(FORMAT, "format_it", needs=(f"{PARSE}@^1.0.0",))
    entries = index_of(PRODUCER, ranged, parse=retired)
    assert len(deprecation_check(release_set((ranged, BUILT), index=entries))) == 1
    both = index_of(PRODUCER, CONSUMER, parse=retired, format_it=retired)
    assert deprecation_check(sound_set(both)) == ()


def test_a_module_without_a_shipped_entry_fails_the_code_index_check_alone() -> None:
    """Missing, deprecated and superseded entries all count (F-15-06, F-15-08)."""
    for status in (None, IndexStatus.DEPRECATED, IndexStatus.SUPERSEDED):
        entries = index_of(PRODUCER) | (index_of(CONSUMER, format_it=status) if status else {})
        modules = sound_set(entries)
        (failure,) = code_index_check(modules)
        assert failure.where == f"{FORMAT}@1.0.0"
        assert failing_gates(modules) == {Gate.CODE_INDEX}


def test_the_manifest_has_the_fields_of_the_document_and_the_product() -> None:
    """In the document's order, modules as given, `product` last (F-15-07, F-15-10)."""
    assert manifest_of(sound_set()).to_json() == {
        "release_id": "REL-1a2b3c4d",
        "created_at": NOW,
        "spec_version": "1.2.0",
        "modules": [
            {"module_ref": f"{PARSE}@1.0.0", "ship_ref": "SHIP-0000000a"},
            {"module_ref": f"{FORMAT}@1.0.0", "ship_ref": "SHIP-0000000b"},
        ],
        "integration_gates": dict.fromkeys(
            ["dependency_check", "fingerprint_check", "deprecation_check", "code_index_check"], "PASS"
        ),
        "overall_result": "PASS",
        "notes": "2 modules; all four integration gates pass. Product PASS: It runs.",
        "product": {
            "wheel": "app-1.0.0-py3-none-any.whl",
            "sha256": "a" * 64,
            "result": "PASS",
            "detail": "It runs.",
            "source": {},
        },
        "unshown_criteria": [],
    }


@given(st.sets(st.sampled_from(list(Gate))))
def test_the_overall_result_is_pass_if_and_only_if_all_four_gates_are(failed: set[Gate]) -> None:
    """A manifest that says otherwise cannot be made (F-15-08)."""
    data = manifest_of(sound_set()).to_json()
    data["integration_gates"] = {gate: "FAIL" if gate in failed else "PASS" for gate in Gate}
    right, wrong = ("FAIL", "PASS") if failed else ("PASS", "FAIL")
    assert ReleaseManifest.model_validate(data | {"overall_result": right}).overall_result == right
    with pytest.raises(ValidationError, match="if and only if"):
        ReleaseManifest.model_validate(data | {"overall_result": wrong})


def test_a_failing_wheel_leaves_the_overall_result_alone_yet_the_release_did_not_succeed() -> None:
    """The product is a result of its own, and cannot pass on nothing (F-15-08, D-28-02)."""
    manifest = manifest_of(sound_set(), ProductResult.without_wheel("No module is called by a task."))
    assert (manifest.overall_result, manifest.product.result) == ("PASS", "FAIL")
    assert not manifest.succeeded
    assert manifest_of(sound_set()).succeeded
    with pytest.raises(ValidationError, match="comes with its sha256"):
        ProductResult(wheel="a.whl", sha256=None, result=Result.FAIL, detail="")
    with pytest.raises(ValidationError, match="without a wheel"):
        ProductResult(wheel=None, sha256=None, result=Result.PASS, detail="")


def test_a_blocked_release_has_a_report_that_names_gate_modules_and_remedy() -> None:
    """It stands beside a manifest with FAIL, whose notes say the same in short (F-15-09)."""
    modules = set_with_producer("1.1.0", returns="str | None")
    manifest = manifest_of(modules)
    report = failure_report(manifest, modules)
    assert manifest.overall_result == "FAIL"
    assert "fingerprint_check: format_it (MM-0000000b@1.0.0) was built against" in manifest.notes
    assert report is not None
    assert "## fingerprint_check: FAIL" in report
    assert "Concerned: MM-0000000b@1.0.0, MM-0000000a@1.1.0" in report
    assert "Re-ship the consumer" in report
    assert "dependency_check" not in report
    assert "## product" not in report


def test_a_failing_product_has_a_report_too_and_a_success_has_none() -> None:
    """What went wrong is auditable wherever it went wrong (F-15-09, D-28-02)."""
    broken = ProductResult.without_wheel("`import app` fails.")
    report = failure_report(manifest_of(sound_set(), broken), sound_set())
    assert report is not None
    assert "## product: FAIL\n\n`import app` fails." in report
    assert failure_report(manifest_of(sound_set()), sound_set()) is None


def test_a_set_with_two_versions_of_a_module_is_refused() -> None:
    """One version per module, and the refusal names both (F-15-13, D-28-04)."""
    modules = [*sound_set(), *set_with_producer("2.0.0")[:1]]
    with pytest.raises(RefusedError, match=f"one version of a module.* {PARSE}@1.0.0 and {PARSE}@2.0.0"):
        manifest_of(modules)
    two = manifest_of(sound_set()).to_json()
    two["modules"].append({"module_ref": f"{PARSE}@2.0.0", "ship_ref": "SHIP-0000000c"})
    with pytest.raises(ValidationError, match="one version of a module"):
        ReleaseManifest.model_validate(two)


def test_a_set_that_is_none_is_refused() -> None:
    """Two modules of one import name would be one directory of the wheel; only shipped modules are released, and at least
    one; evidence of another version is a contradiction of our records (F-15-13, D-21-01, F-15-02, F-15-07)."""
    twin = contract("MM-0000000c", "parse")
    with pytest.raises(RefusedError, match="both be imported as `parse`"):
        check_release_set([*sound_set(), release_module(twin, evidence(twin), {})])
    with pytest.raises(RefusedError, match="nothing to release"):
        check_release_set([])
    ref = evidence_ref(PARSE, "1.0.0")
    verification = {"result": "FAIL", "interface_fingerprint": "a" * 64, "evidence_ref": ref}
    with pytest.raises(RefusedError, match=f"are not shipped: {PARSE}@1.0.0"):
        check_release_set([release_module(PRODUCER, evidence(PRODUCER, verification=verification), {})])
    with pytest.raises(CorruptionError, match="is for MM-0000000b"):
        release_module(PRODUCER, evidence(CONSUMER), {})


PACKAGES = {
    "tab-keeper": "tab_keeper",
    "3d-tool": "product_3d_tool",
    "import": "product_import",
    "json": "product_json",
    "test": "product_test",
    "n-1a2b3c4": "n_1a2b3c4",
}


def test_the_package_is_named_by_the_distribution() -> None:
    """With a prefix where Python could not import it by that name (D-28-01)."""
    assert {name: import_name(name) for name in PACKAGES} == PACKAGES


@given(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True))
def test_every_slug_gives_a_name_that_python_can_import(slug: str) -> None:
    """No title is without a package (D-28-01)."""
    name = import_name(slug)
    assert name.isidentifier()
    assert not keyword.iskeyword(name)
    assert name not in sys.stdlib_module_names
