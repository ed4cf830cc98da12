"""Ship evidence and the execution log as F§11.2 and F§11.3 describe them, with what D20 adds."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from specwright.domain.modules.evidence import (
    ExecutedTest,
    ExecutionLog,
    LogDigest,
    ShipEvidence,
    TestOutcome,
    TreeHashes,
    evidence_ref,
    tree_sha256,
)
from testkit.domain.ship_evidence import MODULE, NOW, evidence_data

TREES = st.dictionaries(st.text("abc/_.", min_size=1), st.binary(max_size=8), min_size=1, max_size=5)


def log_of(*outcomes: str) -> ExecutionLog:
    """A log with one test per outcome."""
    tests = [ExecutedTest(name=f"test_{i}", result=TestOutcome(o)) for i, o in enumerate(outcomes)]
    return ExecutionLog.of(MODULE, "1.0.0", NOW, tests)


def log_data(**changes: Any) -> dict[str, Any]:
    """The JSON of a log of two tests, with fields replaced."""
    return log_of("PASS", "PASS").to_json() | changes


@given(TREES)
def test_the_hash_of_a_tree_does_not_depend_on_the_order_of_its_files(files: dict[str, bytes]) -> None:
    """A tree is a mapping: reading a directory in another order gives the same hash (D-20-03)."""
    assert tree_sha256(dict(reversed(files.items()))) == tree_sha256(files)


@given(TREES, st.data())
def test_one_changed_byte_or_path_changes_the_hash_of_a_tree(
    files: dict[str, bytes], data: st.DataObject
) -> None:
    """No sealed byte and no file name can change unnoticed (D-20-03)."""
    path = data.draw(st.sampled_from(sorted(files)))
    renamed = {("x" + key if key == path else key): value for key, value in files.items()}
    rest = {key: value for key, value in files.items() if key != path}
    hashes = [tree_sha256(tree) for tree in (files, files | {path: files[path] + b"!"}, renamed, rest)]
    assert len(set(hashes)) == 4


def test_the_hash_of_a_tree_can_be_computed_without_this_program() -> None:
    """The SHA-256 of the canonical JSON of path to SHA-256: an outsider can check it (D-20-03)."""
    inner = {"a.py": hashlib.sha256(b"1").hexdigest(), "b/c.py": hashlib.sha256(b"2").hexdigest()}
    text = json.dumps(inner, sort_keys=True, separators=(",", ":"))
    assert tree_sha256({"b/c.py": b"2", "a.py": b"1"}) == hashlib.sha256(text.encode()).hexdigest()


def test_the_execution_log_is_no_part_of_the_tree_of_tests() -> None:
    """Evidence is written after the tests it is about, and has a hash of its own (D-20-03)."""
    files = {"implementation/__init__.py": b"x", "tests/test_a.py": b"y", "examples.md": b"z"}
    hashes = TreeHashes.of(files | {"tests/execution_log.json": b"{}"})
    assert hashes == TreeHashes(
        implementation=tree_sha256({"__init__.py": b"x"}), tests=tree_sha256({"test_a.py": b"y"})
    )


def test_a_log_counts_its_tests_and_leaves_unmeasured_durations_out() -> None:
    """The fields are those of F§11.3 and no others (F-11.3-05)."""
    log = log_of("PASS", "FAIL", "PASS")
    assert log.to_json() == {
        "module_id": MODULE,
        "module_version": "1.0.0",
        "executed_at": NOW,
        "tests": [{"name": f"test_{i}", "result": r} for i, r in enumerate(("PASS", "FAIL", "PASS"))],
        "summary": {"total": 3, "passed": 2, "failed": 1},
    }
    assert ExecutionLog.from_bytes(log.to_bytes(), "execution_log.json") == log


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tests": []}, "at least 1 item"),
        ({"tests": [{"name": "t", "result": "PASS"}] * 2}, "more than once: t"),
        ({"tests": [{"name": "t", "result": "SKIP"}, {"name": "u", "result": "PASS"}]}, "'PASS' or 'FAIL'"),
        ({"tests": [{"name": "t", "result": "PASS", "duration_ms": -1}]}, "greater than or equal to 0"),
        ({"summary": {"total": 3, "passed": 3, "failed": 0}}, "does not count its tests"),
        ({"summary": {"total": 2, "passed": 1, "failed": 1}}, "does not count its tests"),
        ({"summary": {"total": 2, "passed": 2, "failed": 1}}, "are not 2 in total"),
        ({"verdict": "fine"}, "Extra inputs"),
    ],
)
def test_a_log_that_is_no_evidence_is_refused_for_its_reason(changes: dict[str, Any], reason: str) -> None:
    """At least one test, unique names, PASS or FAIL only, and counts that match (F-11.3-05)."""
    with pytest.raises(ValidationError, match=reason):
        ExecutionLog.model_validate(log_data(**changes))


def test_evidence_holds_the_fields_of_the_document_and_of_the_design() -> None:
    """F§11.2 first, D20 after it, none left out; reading gives back what was written (F-11.2-01, D-20-03)."""
    data = evidence_data()
    evidence = ShipEvidence.from_bytes(json.dumps(data).encode(), "ship.json")
    assert evidence.to_json() == data
    assert list(evidence.to_json())[:6] == [
        "module_id",
        "module_version",
        "ship_id",
        "verified_at",
        "verification",
        "environment",
    ]
    assert ShipEvidence.from_bytes(evidence.to_bytes(), "ship.json") == evidence
    for name in data:
        with pytest.raises(ValidationError, match=rf"\n{name}\n  Field required"):
            ShipEvidence.model_validate({other: value for other, value in data.items() if other != name})


def test_evidence_refers_to_the_execution_log_of_its_own_version() -> None:
    """`evidence_ref` is a path below the state store, and no other version's (F-11.3-04)."""
    assert evidence_ref(MODULE, "1.0.0") == f"modules/{MODULE}/1.0.0/tests/execution_log.json"
    other = evidence_data()["verification"] | {"evidence_ref": evidence_ref(MODULE, "1.0.1")}
    with pytest.raises(ValidationError, match="own execution log"):
        ShipEvidence.model_validate(evidence_data(verification=other))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"execution_log": {"summary": {"total": 2, "passed": 1, "failed": 1}, "sha256": "f" * 64}},
            "a failed test forbids",
        ),
        ({"gate": [{"name": "fuzz", "result": "FAIL"}]}, "a failed gate check forbids the result PASS: fuzz"),
        ({"gate": []}, "at least 1 item"),
        ({"ship_id": "SHIP-1"}, "should match pattern"),
        ({"dependency_fingerprints": {"MM-00000002": "c" * 64}}, "should match pattern"),
        ({"dependency_fingerprints": {"MM-00000002@1.0.0": "c"}}, "should match pattern"),
    ],
)
def test_evidence_that_contradicts_itself_is_refused(changes: dict[str, Any], reason: str) -> None:
    """PASS cannot be written over a failure, and every reference has its form (F-11.2-01, F-11.3-06)."""
    with pytest.raises(ValidationError, match=reason):
        ShipEvidence.model_validate(evidence_data(**changes))


def test_the_digest_of_a_log_is_the_hash_of_the_bytes_that_are_stored() -> None:
    """Who has the file can recompute what `ship.json` says of it (D-20-03)."""
    log = log_of("PASS")
    assert LogDigest.of(log).sha256 == hashlib.sha256(log.to_bytes()).hexdigest()
    assert LogDigest.of(log).summary == log.summary
