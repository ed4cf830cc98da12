"""Sealing a module: evidence first, then `ship.json`, then the index, then the Wire (F§11.2, D20, D33)."""

from collections.abc import Mapping, Sequence

from specwright.application.announcing import Announcement, announce, task_event
from specwright.application.debate.implementation import Implementation
from specwright.application.debate.judging import execution_log
from specwright.application.factory import Factory, Reading
from specwright.application.planning import shipped_contract
from specwright.application.project_stage import Task
from specwright.domain.answers import StruckTest
from specwright.domain.code_index import summarise
from specwright.domain.contract import MicroModuleContract
from specwright.domain.falsifying import TriedTest
from specwright.domain.ids import ArtifactType, ModuleRef, artifact_id
from specwright.domain.ship import (
    EXECUTION_LOG,
    ExecutionLog,
    GateCheck,
    LogDigest,
    ShipEvidence,
    TestOutcome,
    TreeHashes,
    Verification,
    evidence_ref,
    tree_sha256,
)
from specwright.errors import CorruptionError, RefusedError
from specwright.ports.gate import GateVerdict
from specwright.ports.journal import Scope
from specwright.ports.progress import Step

__all__ = ["announce_reused", "evidence_of", "reused", "seal", "sealed_files"]

MAX_LINEAGE = 4
"""References that an `artifact.ready` carries; the contract lists all (D33)."""


def seal(
    factory: Factory,
    task: Task,
    module: Implementation,
    target: str,
    standing: Sequence[TriedTest] = (),
    struck: Sequence[StruckTest] = (),
) -> str:
    """Seal a version whose debate and gate are passed.

    Args:
        factory: The ports.
        task: The task that makes it.
        module: The deliverable.
        target: Its version.
        standing: The falsifying tests of its debate that count; the gate ran them.
        struck: Those that the Arbiter took out (D13).

    Returns:
        `MM-...@x.y.z`.

    Raises:
        RefusedError: the gate did not pass it; nothing is sealed.
    """
    verdict = module.verdict(target, standing)
    contract = module.contracts(target)[0]
    if not verdict.passed:
        raise RefusedError("the ship gate did not pass this module", where=contract.ref)
    scope = factory.journal.scope(f"{task.run}/{contract.name}/seal/{target}")
    base = "modules/{}/{}".format(*ModuleRef.parse(contract.ref))
    log = execution_log(contract, scope.now(), verdict)
    evidence = _evidence(factory, scope, contract, verdict, log, struck)
    factory.store.publish(f"{base}/contract.json", contract.to_bytes())
    factory.store.publish_tree(base, verdict.files)
    factory.store.publish(f"{base}/tests/execution_log.json", log.to_bytes())
    factory.store.publish(f"{base}/ship.json", evidence.to_bytes())  # from here it is sealed
    module.mark_shipped(target)
    factory.index.add(summarise(contract))
    # the announcement binds the whole sealed version, evidence and contract too (D29)
    ready = _ready(task, contract, factory.store.tree(base))
    announce(factory, scope, factory.projection.project_id, [ready])
    tests = log.summary.total
    factory.progress.note(
        Step("sealed", task.entry.spec_task_id, f"{contract.name} {contract.ref}, {tests} tests")
    )
    return contract.ref


def evidence_of(factory: Reading, ref: str) -> ShipEvidence:
    """The ship evidence of a sealed version."""
    path = "modules/{}/{}/ship.json".format(*ModuleRef.parse(ref))
    return ShipEvidence.from_bytes(factory.store.read(path), path)


def announce_reused(factory: Factory, task: Task, ref: str) -> None:
    """Say that a task builds on a sealed module as it is (F§14.3).

    Raises:
        CorruptionError: the sealed files were altered.
    """
    scope = factory.journal.scope(f"{task.run}/reuse/{ref}")
    announce(factory, scope, factory.projection.project_id, [reused(factory, task, ref)])


def reused(factory: Factory, task: Task, ref: str) -> Announcement:
    """The Wire that says so, once the module's files are seen to be the sealed ones.

    Raises:
        CorruptionError: they were altered.
    """
    files = sealed_files(factory, ref)
    if TreeHashes.of(files) != evidence_of(factory, ref).tree_sha256:
        raise CorruptionError(
            "a sealed module was altered",
            where=ref,
            remedy="restore `state_store/` from a copy of the project",
        )
    whole = factory.store.tree("modules/{}/{}".format(*ModuleRef.parse(ref)))
    return _ready(task, shipped_contract(factory, ref), whole)


def sealed_files(factory: Reading, ref: str) -> dict[str, bytes]:
    """What was sealed: implementation, tests and examples."""
    files = factory.store.tree("modules/{}/{}".format(*ModuleRef.parse(ref)))
    return {path: data for path, data in files.items() if path not in _BESIDE}


_STAGES = (
    "static",
    "surface",
    "fingerprint",
    "obligations",
    "tests",
    "examples",
    "strength",
    "fuzz",
    "falsifying",
    "notes",
)
"""What the gate looked at; the last carries its remarks, such as how many mutants died."""

_BESIDE = {"contract.json", "ship.json", EXECUTION_LOG}


def _ready(task: Task, contract: MicroModuleContract, files: Mapping[str, bytes]) -> Announcement:
    payload = {
        "artifact_id": contract.module_id,
        "name": contract.name,
        "media_type": "application/vnd.specwright.module",
        "uri": "state_store/modules/{}/{}".format(*ModuleRef.parse(contract.ref)),
        "sha256": tree_sha256(files),
        "version": contract.module_version,
        "size_bytes": sum(map(len, files.values())),
        "lineage": {
            "task": task.entry.spec_task_id,
            "attempt": task.entry.attempt,
            "inputs": sorted({d.ref for d in contract.dependencies})[:MAX_LINEAGE],
        },
    }
    return task_event("artifact.ready", task.entry.spec_task_id, task.entry.attempt, payload)


def _evidence(
    factory: Factory,
    scope: Scope,
    contract: MicroModuleContract,
    verdict: GateVerdict,
    log: ExecutionLog,
    struck: Sequence[StruckTest],
) -> ShipEvidence:
    return ShipEvidence(
        module_id=contract.module_id,
        module_version=contract.module_version,
        ship_id=artifact_id(ArtifactType.SHIP_EVIDENCE, scope.hex8()),
        verified_at=scope.now(),
        verification=Verification(
            result=TestOutcome.PASS,
            interface_fingerprint=verdict.actual_fingerprint,
            evidence_ref=evidence_ref(contract.module_id, contract.module_version),
        ),
        environment=factory.environment,
        dependency_fingerprints={
            d.ref: shipped_contract(factory, d.ref).interface_fingerprint for d in contract.dependencies
        },
        tree_sha256=TreeHashes.of(verdict.files),
        gate=[
            GateCheck(
                name=name, result=TestOutcome.PASS, detail="; ".join(verdict.notes) if name == "notes" else ""
            )
            for name in _STAGES
        ],
        struck_tests=list(struck),
        journal_ref=f"journal.jsonl#{scope.name}",
        execution_log=LogDigest.of(log),
    )
