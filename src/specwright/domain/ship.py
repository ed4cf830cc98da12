"""Ship evidence: what makes "it works" falsifiable (F§11.2, F§11.3, D20).

`ship.json` seals a version; `tests/execution_log.json` is the evidence that it refers to. Running tests and
extracting fingerprints is the gate's work, publishing the files the ship node's; here are only their shapes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from specwright import canonical_json
from specwright.domain.answers import StruckTest
from specwright.domain.ids import ModuleId, ModuleRefText
from specwright.domain.record import Record, SemVer, Sha256, Text, Timestamp

__all__ = [
    "EXECUTION_LOG",
    "Environment",
    "ExecutedTest",
    "ExecutionLog",
    "ExecutionSummary",
    "GateCheck",
    "LogDigest",
    "ShipEvidence",
    "StruckTest",
    "TestOutcome",
    "TreeHashes",
    "Verification",
    "evidence_ref",
    "tree_sha256",
]

EXECUTION_LOG = "tests/execution_log.json"
"""Where a version's evidence lies, below its directory (F§11.3)."""

Count = Annotated[int, Field(ge=0)]


class TestOutcome(StrEnum):
    """Binary; there is no skip (F§11.3)."""

    __test__ = False  # the name is the field's; pytest must not collect it
    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"


def tree_sha256(files: Mapping[str, bytes]) -> str:
    """One hash for a tree of files, independent of their order.

    It is the SHA-256 of the RFC 8785 bytes of `{path: SHA-256 of the file's bytes, in hex}`.

    Args:
        files: Bytes by posix path relative to the tree's root.
    """
    return canonical_json.digest({path: canonical_json.sha256(data) for path, data in files.items()})


def evidence_ref(module_id: str, version: str) -> str:
    """The path of a version's execution log below `state_store/` (F§11.3)."""
    return f"modules/{module_id}/{version}/{EXECUTION_LOG}"


class ExecutedTest(Record):
    """One test that ran."""

    name: Annotated[str, Field(min_length=1)]
    result: TestOutcome
    duration_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


class ExecutionSummary(Record):
    """The counts of a run."""

    total: Annotated[int, Field(ge=1)]
    passed: Count
    failed: Count

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.passed + self.failed != self.total:
            raise ValueError(f"{self.passed} passed and {self.failed} failed are not {self.total} in total")
        return self


class ExecutionLog(Record):
    """A run of a module's tests by the factory (F§11.3)."""

    module_id: ModuleId
    module_version: SemVer
    executed_at: Timestamp
    tests: Annotated[list[ExecutedTest], Field(min_length=1)]
    summary: ExecutionSummary

    @classmethod
    def of(cls, module_id: str, module_version: str, executed_at: str, tests: Iterable[ExecutedTest]) -> Self:
        """The log of a run, with its tests counted.

        Raises:
            ValueError: no test ran, or two tests share a name.
        """
        ran = list(tests)
        passed = sum(test.result is TestOutcome.PASS for test in ran)
        # validated as a whole, so that every fault is told at once
        return cls.model_validate(
            {
                "module_id": module_id,
                "module_version": module_version,
                "executed_at": executed_at,
                "tests": ran,
                "summary": {"total": len(ran), "passed": passed, "failed": len(ran) - passed},
            }
        )

    @model_validator(mode="after")
    def _counts_its_tests(self) -> Self:
        names = [test.name for test in self.tests]
        if twice := sorted(name for name, count in Counter(names).items() if count > 1):
            raise ValueError(f"test names are unique; more than once: {', '.join(twice)}")
        passed = sum(test.result is TestOutcome.PASS for test in self.tests)
        counted = (len(names), passed, len(names) - passed)
        if counted != (self.summary.total, self.summary.passed, self.summary.failed):
            raise ValueError(f"the summary does not count its tests: {counted[0]} ran, {counted[1]} passed")
        return self

    @property
    def blocks_ship(self) -> bool:
        """Whether a single test failed (F§11.3, zero tolerance)."""
        return self.summary.failed > 0

    def to_json(self) -> dict[str, Any]:
        """The log as JSON values; an unmeasured duration is left out rather than null."""
        return self.model_dump(mode="json", exclude_none=True)


class Verification(Record):
    """What the gate found, in one line."""

    result: TestOutcome
    interface_fingerprint: Sha256
    evidence_ref: str


class Environment(Record):
    """Where it was verified, so that it can be verified again."""

    repo_revision: Text
    dependency_lock_ref: Text
    runner_id: Text


class TreeHashes(Record):
    """`tree_sha256` of the two sealed trees (D20).

    The execution log lies in `tests/` but is written after them: it is not part of their tree and has its own
    hash in the evidence.
    """

    implementation: Sha256
    tests: Sha256

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Self:
        """The hashes of a version's files.

        Args:
            files: Bytes by posix path below the version's directory; files outside the two trees are ignored.
        """
        sealed = {path: data for path, data in files.items() if path != EXECUTION_LOG}
        return cls(
            implementation=tree_sha256(_below("implementation/", sealed)),
            tests=tree_sha256(_below("tests/", sealed)),
        )


def _below(prefix: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path.removeprefix(prefix): data for path, data in files.items() if path.startswith(prefix)}


class GateCheck(Record):
    """One stage of the ship gate and how it ended (DESIGN §8)."""

    name: Text
    result: TestOutcome
    detail: str = ""


class LogDigest(Record):
    """The execution log in short: its counts, and the SHA-256 of its stored bytes."""

    summary: ExecutionSummary
    sha256: Sha256

    @classmethod
    def of(cls, log: ExecutionLog) -> Self:
        """The digest of a log as `to_bytes` stores it."""
        return cls(summary=log.summary, sha256=canonical_json.sha256(log.to_bytes()))


class ShipEvidence(Record):
    """`ship.json` (F§11.2, extended by D20). Its presence seals the version."""

    module_id: ModuleId
    module_version: SemVer
    ship_id: Annotated[str, Field(pattern=r"^SHIP-[0-9a-f]{8}$")]
    verified_at: Timestamp
    verification: Verification
    environment: Environment
    dependency_fingerprints: dict[ModuleRefText, Sha256]
    tree_sha256: TreeHashes
    gate: Annotated[list[GateCheck], Field(min_length=1)]
    struck_tests: list[StruckTest]
    journal_ref: Text
    execution_log: LogDigest

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        expected = evidence_ref(self.module_id, self.module_version)
        if self.verification.evidence_ref != expected:
            raise ValueError(f"evidence_ref is the version's own execution log, {expected}")
        if self.verification.result is TestOutcome.PASS:
            if self.execution_log.summary.failed:
                raise ValueError("a failed test forbids the result PASS")
            if failed := [check.name for check in self.gate if check.result is TestOutcome.FAIL]:
                raise ValueError(f"a failed gate check forbids the result PASS: {', '.join(failed)}")
        return self

    @property
    def ref(self) -> str:
        """`MM-...@x.y.z`."""
        return f"{self.module_id}@{self.module_version}"
