"""The schemas of ship evidence (design: sealing, ship-gate), and the files of a person's fix (design: escalation).

`ship.json` seals a version; `tests/execution_log.json` is the evidence that it refers to.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from agent_wire import canonical_json
from ship_gate.base.ids import ModuleId, ModuleRefText
from ship_gate.base.record import Record, SemVer, Sha256, Text, Timestamp
from specwright.domain.answers import StruckTest

EXECUTION_LOG = "tests/execution_log.json"
"""The path of the execution log below a version's directory (design: ship-gate)."""

NOTES = "notes"
"""The name under which the evidence lists the gate's remarks, beside its stages."""

Count = Annotated[int, Field(ge=0)]


class TestOutcome(StrEnum):
    """The outcome of a test; there is no skip (design: ship-gate)."""

    __test__ = False  # pytest must not collect it
    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"


def tree_sha256(files: Mapping[str, bytes]) -> str:
    """Return one hash for a tree of files, independent of their order.

    It is the SHA-256 of the RFC 8785 bytes of `{path: SHA-256 of the file's bytes, in hex}`.

    Args:
        files: Bytes by POSIX path relative to the tree's root.
    """
    return canonical_json.digest({path: canonical_json.sha256(data) for path, data in files.items()})


def evidence_ref(module_id: str, version: str) -> str:
    """Return the path of a version's execution log below `state_store/` (design: ship-gate)."""
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
    """A run of a module's tests by the factory (design: ship-gate)."""

    module_id: ModuleId
    module_version: SemVer
    executed_at: Timestamp
    tests: Annotated[list[ExecutedTest], Field(min_length=1)]
    summary: ExecutionSummary

    @classmethod
    def of(cls, module_id: str, module_version: str, executed_at: str, tests: Iterable[ExecutedTest]) -> Self:
        """Build the log of a run, with its counts.

        Raises:
            ValueError: no test ran, or two tests share a name.
        """
        ran = list(tests)
        passed = sum(test.result is TestOutcome.PASS for test in ran)
        # validated as a whole, so that all problems are reported together
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

    def to_json(self) -> dict[str, Any]:
        """Return the log as JSON values, without durations that were not measured."""
        return self.model_dump(mode="json", exclude_none=True)


class Verification(Record):
    """The result of the gate."""

    result: TestOutcome
    interface_fingerprint: Sha256
    evidence_ref: str


class Environment(Record):
    """The environment of the gate run, so that it can be repeated."""

    repo_revision: Text
    dependency_lock_ref: Text
    runner_id: Text


class TreeHashes(Record):
    """`tree_sha256` of the two sealed trees (design: sealing).

    The execution log is in `tests/` but is written after them. It is not part of their tree and has its own hash in the
    evidence.
    """

    implementation: Sha256
    tests: Sha256

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Self:
        """Hash a version's files.

        Args:
            files: Bytes by POSIX path below the version's directory; files outside the two trees are ignored.
        """
        sealed = {path: data for path, data in files.items() if path != EXECUTION_LOG}
        return cls(
            implementation=tree_sha256(_below("implementation/", sealed)),
            tests=tree_sha256(_below("tests/", sealed)),
        )


def _below(prefix: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path.removeprefix(prefix): data for path, data in files.items() if path.startswith(prefix)}


class StageOutcome(StrEnum):
    """The outcome of a gate stage; SKIPPED by the settings, NOT_RUN because an earlier stage failed."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"
    SKIPPED = "SKIPPED"
    NOT_RUN = "NOT_RUN"


class GateCheck(Record):
    """A stage of the ship gate with its observations (design: ship-gate)."""

    name: Text
    result: StageOutcome
    findings: Count = 0
    detail: str = ""
    duration_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    observed: dict[str, Count] = Field(default_factory=dict)


class LogDigest(Record):
    """The counts of an execution log, and the SHA-256 of its stored bytes."""

    summary: ExecutionSummary
    sha256: Sha256

    @classmethod
    def of(cls, log: ExecutionLog) -> Self:
        """Build the digest of a log as `to_bytes` stores it."""
        return cls(summary=log.summary, sha256=canonical_json.sha256(log.to_bytes()))


class ShipEvidence(Record):
    """`ship.json` (design: sealing). Its presence seals the version."""

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
            if failed := [check.name for check in self.gate if check.result is StageOutcome.FAIL]:
                raise ValueError(f"a failed gate check forbids the result PASS: {', '.join(failed)}")
        return self

    @property
    def ref(self) -> str:
        """`MM-...@x.y.z`."""
        return f"{self.module_id}@{self.module_version}"


class ResealedModule(Record):
    """A version that was sealed without a debate: a consumer, judged again with a later version of a dependency
    (design: change).

    Args:
        module_ref: The version.
        replaces: The version with the same files, apart from the references to dependencies.
        sha256: The hash of all its files.
        reason: The reason, in one sentence.
    """

    module_ref: ModuleRefText
    replaces: ModuleRefText
    sha256: Annotated[Sha256, Field(description="Of its sealed files.")]
    reason: Text


WRITABLE = ("implementation/", "tests/", "examples.md")
"""The files of a module that a Proposer or a person writes (design: module-directory)."""

_PATH = re.compile(r"(implementation|tests)(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){1,8}|examples\.md")
"""Relative paths of a few plain names: no `..`, backslashes, control characters or hidden files."""


def is_module_file(path: str) -> bool:
    """Whether a module may have a file at this path."""
    return _PATH.fullmatch(path) is not None and not path.endswith(".") and path != EXECUTION_LOG


def file_problems(fix: Mapping[str, str]) -> Iterator[str]:
    """Report files that a fix may not contain: invalid paths, texts that are not valid UTF-8."""
    for path, text in fix.items():
        if path == EXECUTION_LOG:
            yield f"{path!r} is written by the ship gate"
        elif not is_module_file(path):
            yield f"{path!r} is not a file of a module: those are below implementation/ or tests/, or examples.md"
        else:
            try:
                text.encode()
            except UnicodeEncodeError:
                yield f"{path!r}: its text cannot be written as UTF-8"


def overlaid(
    base: Mapping[str, bytes], fix: Mapping[str, str], removed: Collection[str] = ()
) -> tuple[dict[str, bytes], list[str]]:
    """Apply a fix to a module's files. Return the files, and the paths that would be both a file and a directory."""
    kept = {path: data for path, data in base.items() if path not in removed}
    files = {**kept, **{path: text.encode() for path, text in fix.items()}}
    folders = {"/".join(path.split("/")[:depth]) for path in files for depth in range(1, path.count("/") + 1)}
    clashing = [f"{path!r} would be a file and a directory" for path in sorted(files.keys() & folders)]
    return files, clashing
