"""Drafts of later tasks as they are judged before those are dispatched: examined by the gate, with a proposal that is not
stored (design: one-shot)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from specwright.application import scopes
from specwright.application.debate.case import Case
from specwright.application.debate.deliverable import Version
from specwright.application.debate.implementation import NOT_STORED, Implementation
from specwright.application.factory import Factory
from specwright.application.one_shot.advance_drafts import AdvanceDraft
from specwright.application.store.debates import DebateHistory
from specwright.application.store.invocations import Invocation
from specwright.application.tasks import Task
from specwright.canonical_json import JsonValue, digest
from specwright.domain.answers.answers import ProposerAnswer
from specwright.domain.base.ids import ArtifactType, artifact_id
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.debate import Challenge, Proposal
from specwright.domain.modules.evidence import TreeHashes
from specwright.ports.gate import SealedModule
from specwright.ports.roles import Files, Role

_NO_ID = "00000000"


class DraftModule(Implementation):
    """A module of a later task by its draft.

    Args:
        factory: The ports.
        task: The later task.
        contract: As it was approved in advance.
        planned: The contracts of the other modules that are drafted with it.
        draft: What was written.
    """

    def __init__(
        self,
        factory: Factory,
        task: Task,
        contract: MicroModuleContract,
        planned: Sequence[MicroModuleContract],
        draft: AdvanceDraft,
    ) -> None:
        super().__init__(factory, task, contract, "", planned)
        self.draft = draft

    def files(self, version_id: str) -> Files:
        """Those of the draft."""
        return self.draft.files

    def case(self, factory: Factory, by: Invocation, place: str, known: set[str]) -> Case | None:
        """The debate over the draft before its first verdict; None if it cannot become a proposal as it is.

        Args:
            factory: The ports.
            by: The invocation that was answered.
            place: Where it is judged.
            known: The references of what it may call.
        """
        if self.draft.answer is None or not known.issuperset(self.calls):
            return None
        answer = ProposerAnswer.model_validate(self.draft.answer)
        if answer.contract_at_fault:
            return None
        scope = factory.journal.scope(scopes.implementation(scopes.part(place, self.name)))
        version = self.examine(scope, by, answer, self.draft.files)
        if not isinstance(version, Version):
            return None
        return Case(self, NOT_STORED, 1, DebateHistory([_proposal(version)], []))

    def lay_out(self, directory: Path) -> SealedModule:
        """Write the draft to a directory, for what calls it."""
        folder = directory / self.name
        for path, data in self.draft.files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return SealedModule(self.contract, folder, TreeHashes.of(self.draft.files).implementation)


def _proposal(version: Version) -> Proposal:
    return Proposal(
        proposal_id=artifact_id(ArtifactType.PROPOSAL, _NO_ID),
        target_artifact_id=NOT_STORED,
        claim=version.claim,
        deliverable_ref=f"{NOT_STORED}@1.0.0",
        acceptance_checks=list(version.acceptance_checks),
        test_inventory=dict(version.test_inventory),
        tests=version.tests,
        examples=version.examples,
        preflight=list(version.preflight),
    )


def verdict_basis(
    drafts: JsonValue, draft: AdvanceDraft, role: Role, challenges: Sequence[Challenge] = ()
) -> JsonValue:
    """What a verdict on a draft rests on: what the draft rests on, and the draft; for a ruling the review too.

    Args:
        drafts: The basis of the drafts of its task.
        draft: What was answered about the module.
        role: Who judges.
        challenges: Of the debate so far.
    """
    basis: dict[str, JsonValue] = {"drafts": drafts, "draft": digest(draft.to_json())}
    return {**basis, "challenge": _review(challenges[-1])} if role is Role.ARBITER else basis


def _review(record: Challenge) -> str:
    """A challenge without the ids of records and contracts, which a draft does not have yet."""
    said: Mapping[str, JsonValue] = record.to_json()
    kept = {
        k: v for k, v in said.items() if k not in ("challenge_id", "target_artifact_id", "falsifying_tests")
    }
    tests: JsonValue = [[one.name, one.source, one.result] for one in record.falsifying_tests]
    return digest({**kept, "tests": tests})
