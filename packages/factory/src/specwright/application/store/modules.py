"""Sealed modules, one directory per version (design: sealing, role-access); and the task definitions that the log names
(design: projection)."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agent_wire.canonical_json import JsonValue, digest
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.independent_tests import RegressionTest, RegressionTests
from specwright.application.store import layout
from specwright.application.store.artifacts import note_hashes
from specwright.application.store.layout import definition
from specwright.domain.artifacts import SURFACE
from specwright.domain.debate.repeated_code import runs_of
from specwright.domain.modules.evidence import EXECUTION_LOG, ExecutionLog, ShipEvidence
from specwright.domain.tasks.project_state import TaskEntry
from specwright.domain.tasks.task_file import TaskDefinition, stored_entry
from specwright.errors import CorruptionError, InputErrors
from specwright.ports import Scope, StateStore

_RECORDS = {
    layout.CONTRACT,
    layout.SHIP_EVIDENCE,
    layout.REPORTED_EXAMPLES,
    layout.REGRESSION_TESTS,
    EXECUTION_LOG,
}
"""The files of a sealed version that the factory writes; the gate judges the others."""


class DependencyView(NamedTuple):
    """A sealed module from its callers' point of view: contract, examples and status in the Code Index."""

    contract: MicroModuleContract
    examples: str
    status: str = "SHIPPED"

    def known_as(self, entry: JsonValue) -> "DependencyView":
        """Return the view with the module's status in the Code Index (design: deprecation)."""
        if not isinstance(entry, dict):
            return self
        replacement = f", superseded by {entry['superseded_by']}" if entry["superseded_by"] else ""
        return self._replace(status=f"{entry['status']}{replacement}")


class ModuleStore:
    """Reads and seals modules, by their references `MM-...@x.y.z`."""

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._runs: dict[str, frozenset[int]] = {}

    def refs(self) -> list[str]:
        """Return every sealed version."""
        return [ref for ref in self.begun() if self.is_sealed(ref)]

    def begun(self) -> list[str]:
        """Return every version that has a directory: sealed ones, and one that a crash left incomplete."""
        return [
            f"{module_id}@{version}"
            for module_id in self._store.names(layout.MODULES)
            for version in self._store.names(layout.module_versions(module_id))
        ]

    def is_sealed(self, ref: str) -> bool:
        """Whether a version is sealed; its evidence is written last."""
        return bool(ref.partition("@")[2]) and self._store.exists(layout.ship_evidence(ref))

    def versions(self, module_id: str) -> list[str]:
        """Return the versions of a module that have a directory."""
        return self._store.names(layout.module_versions(module_id))

    def location(self, ref: str) -> Path:
        """Return the directory of a version, for other programs."""
        return self._store.directory(layout.module(ref))

    def contract(self, ref: str) -> MicroModuleContract:
        """Return the contract of a version."""
        path = layout.module_contract(ref)
        return MicroModuleContract.from_bytes(self._store.read(path), path)

    def evidence(self, ref: str) -> ShipEvidence:
        """Return the ship evidence of a version."""
        path = layout.ship_evidence(ref)
        return ShipEvidence.from_bytes(self._store.read(path), path)

    def regression_tests(self, ref: str) -> list[RegressionTest]:
        """Return the falsifying tests that were sealed with a version."""
        path = f"{layout.module(ref)}/{layout.REGRESSION_TESTS}"
        return (
            RegressionTests.from_bytes(self._store.read(path), path).tests if self._store.exists(path) else []
        )

    def examples(self, ref: str) -> str:
        """Return the examples of a version."""
        return self._store.read(f"{layout.module(ref)}/{layout.EXAMPLES}").decode()

    def tree(self, ref: str) -> dict[str, bytes]:
        """Return every file of a version."""
        return self._store.tree(layout.module(ref))

    def files(self, ref: str) -> dict[str, bytes]:
        """Return the files that the gate judged: implementation, tests and examples."""
        return {path: data for path, data in self.tree(ref).items() if path not in _RECORDS}

    def runs(self, ref: str) -> frozenset[int]:
        """Return the code runs of a version, for finding repeated code; cached (design: contract-at-fault)."""
        if ref not in self._runs:
            self._runs[ref] = frozenset(runs_of(self.files(ref)))
        return self._runs[ref]

    def surface(self, ref: str) -> dict[str, bytes]:
        """Return the files of a version that other modules may see (design: role-access).

        Raises:
            CorruptionError: a file is missing or empty, or the contract is not the sealed one.
        """
        base = layout.module(ref)
        paths = {name: f"{base}/{name}" for name in SURFACE}
        files = {name: self._store.read(path) for name, path in paths.items() if self._store.exists(path)}
        remedy = "restore `state_store/` from a copy of the project; no model was asked"
        if missing := [name for name in SURFACE if not files.get(name, b"").strip()]:
            raise CorruptionError(
                f"a context pack is incomplete: {ref} has no {', '.join(missing)}", where=base, remedy=remedy
            )
        if self.contract(ref).interface_fingerprint != self.evidence(ref).verification.interface_fingerprint:
            raise CorruptionError(f"the contract of {ref} is not the sealed one", where=base, remedy=remedy)
        return files

    def view(self, ref: str) -> DependencyView:
        """Return a version from its callers' point of view, after checking its surface."""
        surface = self.surface(ref)
        contract = MicroModuleContract.from_bytes(surface[layout.CONTRACT], ref)
        return DependencyView(contract, surface[layout.EXAMPLES].decode())

    def seal(
        self,
        scope: Scope,
        contract: MicroModuleContract,
        files: Mapping[str, bytes],
        log: ExecutionLog,
        evidence: ShipEvidence,
        reported: str = "",
        tests: Sequence[RegressionTest] = (),
    ) -> dict[str, bytes]:
        """Journal the hashes of a version's files, write them, the evidence last, and return them.

        Args:
            scope: The scope for the hashes.
            contract: The contract.
            files: The files that the gate judged.
            log: The execution log of its tests.
            evidence: The ship evidence.
            reported: The examples of bug reports that it passed; empty if there are none.
            tests: The falsifying tests that it passed.
        """
        sealed = {layout.CONTRACT: contract.to_bytes(), **files, EXECUTION_LOG: log.to_bytes()}
        if tests:
            record = RegressionTests(contract_sha256=digest(contract.to_json()), tests=list(tests))
            sealed[layout.REGRESSION_TESTS] = record.to_bytes()
        if reported:
            sealed[layout.REPORTED_EXAMPLES] = reported.encode()
        sealed[layout.SHIP_EVIDENCE] = evidence.to_bytes()
        base = layout.module(contract.ref)
        note_hashes(scope, {f"{base}/{path}": data for path, data in sealed.items()})
        self._store.publish_tree(base, sealed)
        return sealed


class ProjectDefinitions(Mapping[str, TaskDefinition]):
    """The definitions of tasks, by task id, in the order in which the log first names them.

    A definition is bound by its SHA-256, so its bytes are those that were valid when written. Therefore a project with ten
    thousand tasks reads only the entries at first, and validates a whole definition when it is used.

    Args:
        store: The store of the definitions.
    """

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._stored: dict[str, tuple[str, bytes]] = {}
        self._digests: dict[str, str] = {}
        self._read: dict[str, TaskDefinition] = {}

    def take(self, sha256: str) -> tuple[str, TaskEntry]:
        """Add the definition of a new task, or a later one of a known task.

        Returns:
            The task's id and initial entry.

        Raises:
            CorruptionError: the definition is missing or was altered.
            InputError: the bytes are not the definition of a task.
        """
        data, where = self._store.definition(sha256), definition(sha256)
        task_id, entry = stored_entry(data, where)
        self._stored[task_id] = where, data
        self._digests[task_id] = sha256
        self._read.pop(task_id, None)
        return task_id, entry

    @property
    def digests(self) -> Mapping[str, str]:
        """Return the SHA-256 of each definition, by task id."""
        return dict(self._digests)

    def restore(self, digests: Mapping[str, str]) -> None:
        """Restore earlier definitions; other tasks keep theirs."""
        for task_id, sha256 in digests.items():
            if self._digests[task_id] != sha256:
                self.take(sha256)

    def __getitem__(self, task_id: str) -> TaskDefinition:
        """Return the definition of a task.

        Raises:
            KeyError: there is no such task.
            CorruptionError: the bytes are not the definition of a task.
        """
        if task_id not in self._read:
            where, data = self._stored[task_id]
            try:
                self._read[task_id] = TaskDefinition.from_bytes(data, where)
            except InputErrors as error:
                raise CorruptionError(
                    f"the definition of {task_id} cannot be read: {error.what}",
                    where=error.where,
                    remedy="`specwright verify` says what was altered; restore the project from a copy",
                ) from error
        return self._read[task_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._stored
