"""The implementation of one module as the deliverable of a debate (D10, F§9)."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from specwright.application.debate.briefs import DependencyView, amend_message, proposer_message
from specwright.application.debate.deliverable import Judged, Remarks, Submitted
from specwright.application.debate.judging import (
    as_failures,
    candidate,
    falsify,
    judge,
    observations,
    refused,
    withstood,
)
from specwright.application.debate.proposer_desk import Desk, Work, implements, made_to, open_desk
from specwright.application.factory import Factory
from specwright.application.planning import shipped_view
from specwright.application.project_stage import Task
from specwright.application.refused_drafts import keep_refused
from specwright.application.stores.artifact_store import artifacts
from specwright.application.stores.records import Invocation, contribute
from specwright.domain.amendments import applied_problems, lost_problems
from specwright.domain.answers import Amendment, AmendmentsAnswer, FalsifyingTest
from specwright.domain.contract import MicroModuleContract
from specwright.domain.contract_changes import contract_changes
from specwright.domain.debate import Adjudication
from specwright.domain.falsifying import TriedTest
from specwright.domain.fix_files import WRITABLE
from specwright.domain.ids import ArtifactType, ModuleRef
from specwright.domain.obligations import read_claims
from specwright.domain.provenance import ContributionType
from specwright.domain.ship import ShipEvidence
from specwright.errors import AnswerError
from specwright.ports.gate import Candidate, GateVerdict, Trial
from specwright.ports.journal import Scope
from specwright.ports.roles import Assignment, Files

__all__ = ["Implementation"]


ENTRY = "implementation/__init__.py"


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
        self._examined: Files = {}

    def submit(self, round_number: int, remarks: Remarks, before: str) -> tuple[Submitted, Invocation]:
        """The Proposer implements, or corrects; code looks at the draft before it becomes a proposal (D18)."""
        workspace = self.files(before) if before else self.stub()
        told_by, changes = list(remarks.told_by), list[str]()
        if before and (earlier := made_to(self._factory, self.task, before, self._contract_ref())):
            entry = self._factory.gate.documented(workspace[ENTRY], self._contract)
            workspace = {**workspace, ENTRY: entry}
            told_by.append((earlier.ref, "what has changed in it"))
            changes = contract_changes(earlier.contract, self._contract)
        desk = self._open(f"round-{round_number}", workspace, before, told_by)
        names = [view.contract.name for view in self.dependencies("")]
        message = proposer_message(
            self._contract,
            workspace[ENTRY],
            remarks.failures,
            names,
            self._factory.packages,
            self.task.definition.acceptance_criteria,
            changes,
        )
        assignment = Assignment(desk.place, message, desk.pack, WRITABLE, desk.store)
        with self._kept(f"round-{round_number}"):
            draft = self._factory.roles.propose(
                assignment, lambda answer, files: self._preflight(desk.scope, files, remarks.standing)
            )
        answer = draft.answer
        return self._submitted(
            desk, answer.claim, answer.acceptance_checks, draft.files, before
        ), desk.invocation

    def stub(self) -> Files:
        """What an implementation begins with."""
        return {ENTRY: self._factory.gate.stub(self._contract)}

    def take(
        self,
        scope: Scope,
        by: Invocation,
        claim: str,
        files: Files,
        before: str,
        standing: Sequence[TriedTest],
    ) -> Submitted:
        """What a person made of the module, looked at like any draft before it becomes a proposal (F§17.2, D18).

        Args:
            scope: Of its observations and draws.
            by: The person's part in the run.
            claim: What it does and why.
            files: All of the module.
            before: The version that it replaces; empty if there is none.
            standing: Falsifying tests that it must pass.

        Raises:
            AnswerError: the preflight found faults; nothing was stored.
        """
        if found := self._preflight(scope, files, standing):
            raise AnswerError("the fix fails the preflight", problems=tuple(found))
        checks = list(self._contract.error_cases)
        return self._stored(scope, by, claim, checks, files, before)

    def contracts(self, target: str) -> list[MicroModuleContract]:
        """The module's own."""
        return [self._contract]

    def dependencies(self, target: str) -> list[DependencyView]:
        """What the module calls, sealed by now."""
        return [shipped_view(self._factory, ref) for ref in self._dependency_refs()]

    def falsify(self, target: str, tests: Sequence[FalsifyingTest], scope: Scope) -> Sequence[Trial]:
        """Run the Challenger's tests on the proposed files (D13)."""
        return falsify(self._factory, scope, self._candidate_of(self.files(target)), tests)

    def amend(
        self, target: str, round_number: int, decided: Adjudication, standing: Sequence[TriedTest]
    ) -> tuple[Submitted, AmendmentsAnswer]:
        """The Proposer applies the amendments to the approved files."""
        desk = self._open(f"amended-{round_number}", self.files(target), target)
        assignment = Assignment(
            desk.place,
            amend_message(self._contract, decided.amendments),
            desk.pack,
            WRITABLE,
            desk.store,
        )
        with self._kept(f"amended-{round_number}"):
            draft = self._factory.roles.amend(
                assignment,
                lambda answer, files: [
                    *_unaccounted(answer, decided.amendments),
                    *(
                        self._amended(desk, target, files, decided, standing)
                        if all(a.applied for a in answer.applied)
                        else ()
                    ),
                ],
            )
        answer = draft.answer
        return self._submitted(desk, answer.claim, answer.acceptance_checks, draft.files, target), answer

    def unapplied(self, before: str, after: str, decided: Adjudication) -> list[str]:
        """What the files contradict."""
        return applied_problems(decided.amendments, self.files(before), self.files(after))

    def verify(self, target: str, standing: Sequence[TriedTest]) -> Judged:
        """The ship gate's own run; nothing ships without it (DESIGN §1, rule 2)."""
        verdict = self.verdict(target, standing)
        failures = as_failures(verdict)
        return Judged(
            failures,
            refused(self._contract, self._gate_scope(target, "/refused"), verdict) if failures else {},
        )

    def verdict(self, target: str, standing: Sequence[TriedTest] = ()) -> GateVerdict:
        """The ship gate's verdict on a version, observed once.

        Args:
            target: The version.
            standing: Falsifying tests of its debate, which must pass as well (D13).
        """
        scope, candidate = self._gate_scope(target), self._candidate_of(self.files(target))
        verdict = judge(self._factory, scope, candidate, thorough=True)
        return withstood(self._factory, scope, candidate, verdict, standing)

    def _gate_scope(self, target: str, what: str = "") -> Scope:
        return self._factory.journal.scope(f"{self.task.run}/{self.subject}/gate/{target}{what}")

    def artifacts(self, target: str) -> list[str]:
        """The implementation."""
        return [target]

    def files(self, target: str) -> Files:
        """The module's files in one version."""
        return artifacts(self._factory).body(self.task.folder, target)

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

    def _candidate_of(self, files: Files) -> Candidate:
        return candidate(self._factory, self._contract, files)

    def _preflight(self, scope: Scope, files: Files, standing: Sequence[TriedTest]) -> list[str]:
        self._examined, candidate = files, self._candidate_of(files)
        verdict = judge(self._factory, scope, candidate, thorough=False)
        verdict = withstood(self._factory, scope, candidate, verdict, standing)
        self._observed = observations(verdict, standing)
        return [f"{failure.invariant}: {failure.evidence}" for failure in as_failures(verdict)]

    @contextmanager
    def _kept(self, stage: str) -> Generator[None]:
        """Keep what the Proposer submitted last if nothing of it is taken (D20)."""
        try:
            yield
        except AnswerError as error:
            keep_refused(self._factory, self.task, self._contract, stage, self._examined, error)
            raise

    def _amended(
        self,
        desk: Desk,
        before: str,
        files: Files,
        decided: Adjudication,
        standing: Sequence[TriedTest],
    ) -> list[str]:
        """What is wrong with files whose amendments are all said to be applied."""
        return [
            *applied_problems(decided.amendments, self.files(before), files),
            *lost_problems(decided.amendments, self.files(before), files),
            *self._preflight(desk.scope, files, standing),
        ]

    def _open(
        self, stage: str, workspace: Files, before: str, told_by: Sequence[tuple[str, str]] = ()
    ) -> Desk:
        work = Work(self.task, self._contract, self._contract_ref(), self._siblings)
        return open_desk(self._factory, work, stage, workspace, before, told_by)

    def _contract_ref(self) -> str:
        return artifacts(self._factory).ref(self.task.folder, self._contract_id)

    def _submitted(
        self, desk: Desk, claim: str, checks: Sequence[str], files: Files, before: str
    ) -> Submitted:
        return self._stored(desk.scope, desk.invocation, claim, checks, files, before)

    def _stored(
        self, scope: Scope, by: Invocation, claim: str, checks: Sequence[str], files: Files, before: str
    ) -> Submitted:
        target = artifacts(self._factory).create(
            scope,
            by,
            ArtifactType.IMPLEMENTATION,
            files,
            inputs=implements(self._contract_ref()),
            revises=before,
        )
        ref = artifacts(self._factory).ref(self.task.folder, target)
        contribute(self._factory, scope, by, ContributionType.IMPLEMENTATION, ref)
        claims = read_claims(files.get("tests/obligations.json", b"{}"))
        return Submitted(
            target=target,
            claim=claim,
            acceptance_checks=list(checks),
            test_inventory={name: list(pointers) for name, pointers in claims.items()},
            examples=files.get("examples.md", b"").decode(errors="replace"),
            preflight=list(self._observed),
        )


def _unaccounted(answer: AmendmentsAnswer, amendments: Sequence[Amendment]) -> list[str]:
    """Every amendment has exactly one record."""
    indices = sorted(record.amendment_index for record in answer.applied)
    wanted = list(range(len(amendments)))
    return [] if indices == wanted else [f"applied: one record for each index of {wanted}, got {indices}"]
