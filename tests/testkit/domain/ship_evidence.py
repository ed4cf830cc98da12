"""The JSON of sound ship evidence, for tests to change."""

from typing import Any

MODULE = "MM-1a2b3c4d"


NOW = "2026-05-06T16:00:00.123Z"


def evidence_data(**changes: Any) -> dict[str, Any]:
    """The JSON of sound evidence, with fields replaced."""
    return {
        "module_id": MODULE,
        "module_version": "1.0.0",
        "ship_id": "SHIP-00000001",
        "verified_at": NOW,
        "verification": {
            "result": "PASS",
            "interface_fingerprint": "a" * 64,
            "evidence_ref": f"modules/{MODULE}/1.0.0/tests/execution_log.json",
        },
        "environment": {"repo_revision": "3f1", "dependency_lock_ref": "b" * 64, "runner_id": "bubblewrap"},
        "dependency_fingerprints": {"MM-00000002@1.0.0": "c" * 64},
        "tree_sha256": {"implementation": "d" * 64, "tests": "e" * 64},
        "gate": [
            {
                "name": "static",
                "result": "PASS",
                "findings": 0,
                "detail": "",
                "duration_ms": 0.0,
                "observed": {},
            }
        ],
        "struck_tests": [{"test": "test_x", "contract_pointer": "/inputs/0", "reason": "asks for more"}],
        "journal_ref": "TSK-001/slugify/ship",
        "execution_log": {"summary": {"total": 2, "passed": 2, "failed": 0}, "sha256": "f" * 64},
    } | changes
