"""Sealing of a module: write its files, `ship.json` last, then the status, the index entry and the Wire (design: sealing,
wire)."""

from collections.abc import Callable, Mapping, Sequence

from agent_wire import canonical_json
from ship_gate.base.ids import ArtifactType, artifact_id
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.independent_tests import RegressionTest
from ship_gate.verdict import GateVerdict
from specwright.application.announce import Announcement, announce, review
from specwright.application.debate.gate_runs import execution_log
from specwright.application.debate.implementation import Implementation
from specwright.application.deprecation import reports_of
from specwright.application.factory import Factory
from specwright.application.store import layout
from specwright.application.tasks import Task
from specwright.domain.answers import StruckTest
from specwright.domain.debate.records import active_tests
from specwright.domain.modules.code_index import summarise
from specwright.domain.modules.evidence import (
    NOTES,
    ExecutionLog,
    GateCheck,
    LogDigest,
    ShipEvidence,
    StageOutcome,
    TestOutcome,
    TreeHashes,
    Verification,
    evidence_ref,
    tree_sha256,
)
from specwright.errors import CorruptionError, RefusedError
from specwright.ports import RunEvent, Scope

MAX_LINEAGE = 4
"""The limit on references in an `artifact.ready`. If there are more, the last place has their number; the contract lists
all (design: wire)."""


def seal(
    factory: Factory,
    task: Task,
    module: Implementation,
    version_id: str,
    debate_id: str,
    *,
    ready: bool = True,
) -> dict[str, bytes]:
    """Seal a version that passed its debate and gate.

    Args:
        factory: The ports.
        task: The task.
        module: The deliverable.
        version_id: Its version.
        debate_id: Its debate, whose falsifying tests the gate ran.
        ready: Whether to announce the version as an artifact of the task's attempt.

    Returns:
        All files of the sealed version.

    Raises:
        RefusedError: the gate did not pass it; nothing is sealed.
    """
    contract = module.contract
    tried, struck = factory.debates.records(debate_id).falsified()
    active = active_tests(tried, struck, canonical_json.digest(contract.to_json()))
    verdict = module.verdict(version_id, active)
    if not verdict.passed:
        raise RefusedError("the ship gate did not pass this module", where=contract.ref)
    scope = factory.journal.scope(f"{task.run}/{contract.name}/seal/{version_id}", deferred=True)
    tests = module.tests_to_seal(active)
    sealed = seal_files(
        factory, scope, contract, verdict, struck, tests, lambda: module.mark_shipped(version_id)
    )
    events = [review("module.sealed", tree_sha256(sealed), contract.ref, debate_id=debate_id)]
    events += [_ready(task, contract, sealed)] if ready else []
    announce(factory, scope, events)
    if ready:
        count = factory.modules.evidence(contract.ref).execution_log.summary.total
        factory.progress.note(
            RunEvent("sealed", task.entry.spec_task_id, f"{contract.name} {contract.ref}, {count} tests")
        )
    return sealed


def seal_files(
    factory: Factory,
    scope: Scope,
    contract: MicroModuleContract,
    verdict: GateVerdict,
    struck: Sequence[StruckTest],
    tests: Sequence[RegressionTest],
    mark_shipped: Callable[[], None] = lambda: None,
) -> dict[str, bytes]:
    """Publish files that passed the gate as a sealed version, and add it to the index; the caller announces it.

    Args:
        factory: The ports.
        scope: The source of ids and time.
        contract: The contract of the version.
        verdict: The passing verdict.
        struck: The struck falsifying tests.
        tests: The falsifying tests that the version passed.
        mark_shipped: Marks its artifacts as SHIPPED.

    Returns:
        All files of the version.
    """
    log = execution_log(contract, verdict)
    evidence = _evidence(factory, scope, contract, verdict, log, struck)
    reported = "\n".join(report.text for report in reports_of(factory, contract))
    # the announcement binds the whole sealed version, evidence and contract too (design: projection); the noted hashes
    # show which of its files was changed
    sealed = factory.modules.seal(scope, contract, verdict.files, log, evidence, reported, tests)
    mark_shipped()
    factory.index.add(summarise(contract))
    return sealed


def announce_reused(factory: Factory, task: Task, ref: str) -> None:
    """Announce that a task reuses a sealed module unchanged (design: code-index).

    Raises:
        CorruptionError: the sealed files were altered.
    """
    scope = factory.journal.scope(f"{task.run}/reuse/{ref}")
    announce(factory, scope, [reused(factory, task, ref)])


def reused(factory: Factory, task: Task, ref: str) -> Announcement:
    """Check the files of a sealed module, and build the event that a task reuses it.

    Raises:
        CorruptionError: the files were altered, or the log never announced them.
    """
    tree, judged = factory.modules.tree(ref), TreeHashes.of(factory.modules.files(ref))
    announced = factory.projection.announced.get(ref)
    if judged != factory.modules.evidence(ref).tree_sha256 or announced != tree_sha256(tree):
        raise CorruptionError(
            "a sealed module was altered, or the log does not know it",
            where=ref,
            remedy="restore `state_store/` from a copy of the project",
        )
    return _ready(task, factory.modules.contract(ref), tree)


def _ready(task: Task, contract: MicroModuleContract, files: Mapping[str, bytes]) -> Announcement:
    inputs = sorted({d.ref for d in contract.dependencies})
    cut = len(inputs) > MAX_LINEAGE
    payload = {
        "artifact_id": contract.module_id,
        "name": contract.name,
        "media_type": "application/vnd.specwright.module",
        "uri": f"{layout.STATE_STORE}/{layout.module(contract.ref)}",
        "sha256": tree_sha256(files),
        "version": contract.module_version,
        "size_bytes": sum(map(len, files.values())),
        "lineage": {
            "task": task.entry.spec_task_id,
            "attempt": task.entry.attempt,
            "inputs": inputs[: MAX_LINEAGE - 1] if cut else inputs,
            **({"input_count": len(inputs)} if cut else {}),
        },
    }
    return task.event("artifact.ready", payload)


def _evidence(
    factory: Factory,
    scope: Scope,
    contract: MicroModuleContract,
    verdict: GateVerdict,
    log: ExecutionLog,
    struck: Sequence[StruckTest],
) -> ShipEvidence:
    verified_at = scope.now()
    return ShipEvidence(
        module_id=contract.module_id,
        module_version=contract.module_version,
        ship_id=artifact_id(ArtifactType.SHIP_EVIDENCE, scope.hex8()),
        verified_at=verified_at,
        verification=Verification(
            result=TestOutcome.PASS,
            interface_fingerprint=verdict.actual_fingerprint,
            evidence_ref=evidence_ref(contract.module_id, contract.module_version),
        ),
        environment=factory.environment,
        dependency_fingerprints={
            d.ref: factory.modules.contract(d.ref).interface_fingerprint for d in contract.dependencies
        },
        tree_sha256=TreeHashes.of(verdict.files),
        gate=_checks(verdict),
        struck_tests=list(struck),
        journal_ref=f"journal.jsonl#{scope.name}",
        execution_log=LogDigest.of(log),
    )


def _checks(verdict: GateVerdict) -> list[GateCheck]:
    """Return observations and duration of each gate stage, and last the gate's remarks."""
    checks = [
        GateCheck(
            name=stage.name,
            result=StageOutcome(stage.result),
            findings=stage.findings,
            duration_ms=round(stage.duration_ms, 3),
            observed=stage.observed,
        )
        for stage in verdict.stages
    ]
    return [*checks, GateCheck(name=NOTES, result=StageOutcome.PASS, detail="; ".join(verdict.notes))]
