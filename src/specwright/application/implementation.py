"""The implementation of one module as the deliverable of a debate (D10, F§9)."""

from collections.abc import Sequence
from typing import NamedTuple

from specwright.application.briefs import (
    DependencyView,
    amend_message,
    proposer_message,
)
from specwright.application.context_packs import (
    Given,
    dependencies,
    directory,
    heard,
    index_statuses,
    previous,
    rows,
    surface_of,
    task_ref,
)
from specwright.application.deliverable import Submitted
from specwright.application.factory import Factory
from specwright.application.judging import as_failures, judge
from specwright.application.planning import shipped_contract, shipped_view
from specwright.application.project_stage import Task
from specwright.application.records import (
    Invocation,
    artifact_body,
    artifact_ref,
    artifacts,
    contribute,
    create_artifact,
    open_invocation,
)
from specwright.domain.amendments import applied_problems
from specwright.domain.answers import Amendment, AmendmentsAnswer, Failure, ProposerAnswer
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import Adjudication
from specwright.domain.ids import ArtifactType, ModuleRef
from specwright.domain.obligations import read_claims
from specwright.domain.provenance import ContributionType, Permission
from specwright.domain.ship import ShipEvidence
from specwright.ports.gate import Candidate, GateVerdict, SealedModule
from specwright.ports.journal import Scope
from specwright.ports.roles import Assignment, Files, Place, Role

__all__ = ["Implementation"]

WRITABLE = ("implementation/", "tests/", "examples.md")


class _Desk(NamedTuple):
    """One invocation of the Proposer, opened."""

    scope: Scope
    place: Place
    invocation: Invocation
    pack: Files


class Implementation:
    """A module whose implementation is debated.

    Args:
        contract: Locked.
        contract_id: Its `CTR-...`.
        siblings: The other modules of its plan.
    """

    def __init__(
        self,
        factory: Factory,
        task: Task,
        contract: MicroModuleContract,
        contract_id: str,
        siblings: Sequence[str] = (),
    ) -> None:
        self._factory = factory
        self.task = task
        self.subject = contract.name
        self._contract = contract
        self._contract_id = contract_id
        self._siblings = siblings
        self._observed: tuple[str, ...] = ()

    def submit(
        self, round_number: int, failures: Sequence[Failure], before: str
    ) -> tuple[Submitted, Invocation]:
        """The Proposer implements, or corrects; code looks at the draft before it becomes a proposal (D18)."""
        workspace: Files = {"implementation/__init__.py": self._factory.gate.stub(self._contract)}
        if before:
            workspace = self.files(before)
        desk = self._open(f"round-{round_number}", workspace, before)
        names = [view.contract.name for view in self.dependencies("")]
        assignment = Assignment(
            desk.place,
            proposer_message(self._contract, workspace["implementation/__init__.py"], failures, names),
            desk.pack,
            WRITABLE,
        )
        draft = self._factory.roles.propose(assignment, lambda answer, files: self._preflight(desk, files))
        return self._store(desk, draft.answer, draft.files, before), desk.invocation

    def contracts(self, target: str) -> list[MicroModuleContract]:
        """The module's own."""
        return [self._contract]

    def dependencies(self, target: str) -> list[DependencyView]:
        """What the module calls, sealed by now."""
        return [shipped_view(self._factory, ref) for ref in self._dependency_refs()]

    def amend(
        self, target: str, round_number: int, decided: Adjudication
    ) -> tuple[Submitted, AmendmentsAnswer]:
        """The Proposer applies the amendments to the approved files."""
        desk = self._open(f"amended-{round_number}", self.files(target), target)
        assignment = Assignment(
            desk.place,
            amend_message(self._contract, decided.amendments),
            desk.pack,
            WRITABLE,
        )
        draft = self._factory.roles.amend(
            assignment,
            lambda answer, files: [
                *_unaccounted(answer, decided.amendments),
                *(
                    self._amended(desk, target, files, decided)
                    if all(a.applied for a in answer.applied)
                    else ()
                ),
            ],
        )
        claimed = ProposerAnswer(claim=draft.answer.claim, acceptance_checks=draft.answer.acceptance_checks)
        return self._store(desk, claimed, draft.files, target), draft.answer

    def unapplied(self, before: str, after: str, decided: Adjudication) -> list[str]:
        """What the files contradict."""
        return applied_problems(decided.amendments, self.files(before), self.files(after))

    def verify(self, target: str) -> list[Failure]:
        """The ship gate's own run; nothing ships without it (DESIGN §1, rule 2)."""
        return as_failures(self.verdict(target))

    def verdict(self, target: str) -> GateVerdict:
        """The ship gate's verdict on a version, observed once."""
        scope = self._factory.journal.scope(f"{self.task.run}/{self.subject}/gate/{target}")
        return judge(self._factory, scope, self._candidate(self.files(target)), thorough=True)

    def artifacts(self, target: str) -> list[str]:
        """The implementation."""
        return [target]

    def files(self, target: str) -> Files:
        """The module's files in one version."""
        return artifact_body(self._factory, self.task.folder, target)

    def mark_shipped(self, target: str) -> None:
        """Approved and sealed: the evidence in the store is held against the locked contract (F§8.4)."""
        path = "modules/{}/{}/ship.json".format(*ModuleRef.parse(self._contract.ref))
        artifacts(self._factory).shipped(
            self.task.folder,
            target,
            evidence=ShipEvidence.from_bytes(self._factory.store.read(path), path),
            locked_fingerprint=self._contract.interface_fingerprint,
        )

    def _dependency_refs(self) -> list[str]:
        return [dependency.ref for dependency in self._contract.dependencies]

    def _candidate(self, files: Files) -> Candidate:
        root = self._factory.store.location
        sealed = tuple(
            SealedModule(
                shipped_contract(self._factory, ref), root / "modules" / "/".join(ModuleRef.parse(ref))
            )
            for ref in self._closure()
        )
        return Candidate(self._contract, files, sealed)

    def _closure(self) -> list[str]:
        """The dependencies and theirs, each once."""
        found: list[str] = []
        waiting = self._dependency_refs()
        while waiting:
            ref = waiting.pop(0)
            if ref not in found:
                found.append(ref)
                waiting += [d.ref for d in shipped_contract(self._factory, ref).dependencies]
        return found

    def _preflight(self, desk: _Desk, files: Files) -> list[str]:
        verdict = judge(self._factory, desk.scope, self._candidate(files), thorough=False)
        self._observed = _observations(verdict)
        return [f"{failure.invariant}: {failure.evidence}" for failure in as_failures(verdict)]

    def _amended(self, desk: _Desk, before: str, files: Files, decided: Adjudication) -> list[str]:
        """What is wrong with files whose amendments are all said to be applied."""
        return [
            *applied_problems(decided.amendments, self.files(before), files),
            *self._preflight(desk, files),
        ]

    def _open(self, stage: str, workspace: Files, before: str) -> _Desk:
        entry = self.task.entry
        place = Place(entry.spec_task_id, entry.attempt, self.subject, stage, Role.PROPOSER)
        scope = self._factory.journal.scope(f"{place.run_id}/desk")
        given = self._given(scope, stage, workspace, before)
        excluded = [(ref, "no dependency of this module") for ref in self._others()]
        invocation = open_invocation(
            self._factory, scope, place, self.task.task_id, self.task.folder, rows(given), excluded
        )
        return _Desk(scope, place, invocation, directory(given))

    def _given(self, scope: Scope, stage: str, workspace: Files, before: str) -> list[Given]:
        """The Proposer's column of the role table (F§9.7)."""
        task_file = self._factory.folder.read(self.task.path)
        refs = self._dependency_refs()
        surfaces = {ref: surface_of(self._factory, ref) for ref in refs}
        contract = {"contract.json": self._contract.to_bytes()}
        given = [
            Given(task_ref(self._factory, self.task), Permission.FULL, "the task", {"task.md": task_file}),
            Given(
                self._contract_ref(), Permission.FULL, "the contract to implement", {**contract, **workspace}
            ),
            *dependencies(refs, surfaces, index_statuses(self._factory, scope, refs)),
        ]
        if before:
            given += previous(self._factory, self.task, before, workspace)
            given += heard(self._factory, self.task, before, amending=stage.startswith("amended"))
        return given

    def _contract_ref(self) -> str:
        return artifact_ref(self._factory, self.task.folder, self._contract_id)

    def _others(self) -> list[str]:
        """The other modules of its plan, and those of finished tasks, that it does not call; fixed by the task's
        own start."""
        state = self._factory.projection.state
        refs = {ref for entry in state.tasks.values() for ref in entry.module_refs} if state else set[str]()
        own = {self._contract.ref, *self._dependency_refs()}
        return sorted({*refs, *self._siblings} - own)

    def _store(self, desk: _Desk, answer: ProposerAnswer, files: Files, before: str) -> Submitted:
        inputs = [(self._contract_ref(), "the contract that it implements")]
        target = create_artifact(
            self._factory,
            desk.scope,
            desk.invocation,
            ArtifactType.IMPLEMENTATION,
            files,
            inputs,
            revises=before,
        )
        ref = artifact_ref(self._factory, self.task.folder, target)
        contribute(self._factory, desk.scope, desk.invocation, ContributionType.IMPLEMENTATION, ref)
        claims = read_claims(files.get("tests/obligations.json", b"{}"))
        return Submitted(
            target=target,
            claim=answer.claim,
            acceptance_checks=list(answer.acceptance_checks),
            test_inventory={name: list(pointers) for name, pointers in claims.items()},
            examples=files.get("examples.md", b"").decode(errors="replace"),
            preflight=list(self._observed),
        )


def _observations(verdict: GateVerdict) -> tuple[str, ...]:
    """What code saw of a draft, for those who may not see it: test names with their parameters, never source."""
    passed = [test.name for test in verdict.tests if test.result == "PASS"]
    return (
        f"the interface extracted from the source is the locked contract, {verdict.actual_fingerprint}",
        "every obligation of the contract has a passing test, every example gives what it says",
        f"{len(passed)} of {len(verdict.tests)} tests passed: {', '.join(passed)}",
    )


def _unaccounted(answer: AmendmentsAnswer, amendments: Sequence[Amendment]) -> list[str]:
    """Every amendment has exactly one record."""
    indices = sorted(record.amendment_index for record in answer.applied)
    wanted = list(range(len(amendments)))
    return [] if indices == wanted else [f"applied: one record for each index of {wanted}, got {indices}"]
