"""The parties of a debate: who is asked, what they are given, and how their word becomes a record (F§9.2, F§9.7)."""

from collections.abc import Sequence

from specwright.application.debate.briefs import DependencyView, arbiter_message, challenge_message
from specwright.application.debate.deliverable import CONTRACTS, Deliverable, Submitted
from specwright.application.debate.falsification import Falsification
from specwright.application.debate.trail import Trail
from specwright.application.factory import Factory
from specwright.application.stores.artifact_store import artifacts
from specwright.application.stores.context_packs import index_statuses, task_ref
from specwright.application.stores.packed_store import PackedStore
from specwright.application.stores.records import Invocation, contribute, open_invocation
from specwright.domain.amendments import aim_problems, target_problems
from specwright.domain.answers import ChallengerAnswer, Failure, FaultOf
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import Adjudication, Challenge, Proposal, adjudication, challenge
from specwright.domain.ids import ArtifactType, artifact_id
from specwright.domain.provenance import ContributionType, Permission
from specwright.domain.record import Record
from specwright.domain.rulings import ruling_problems
from specwright.errors import AnswerError
from specwright.ports.journal import Scope
from specwright.ports.roles import Assignment, Place, Role

__all__ = ["Parties"]

FULL = Permission.FULL


class Parties:
    """Proposer, Challenger and Arbiter of one debate."""

    def __init__(self, factory: Factory, deliverable: Deliverable) -> None:
        self._factory = factory
        self._deliverable = deliverable
        self._task = deliverable.task

    def proposal(self, submitted: Submitted, by: Invocation, number: int) -> Proposal:
        """What was submitted, as the proposal of a round."""
        scope = self._factory.journal.scope(f"{self._place(number, Role.PROPOSER).run_id}/proposal")
        record = Proposal(
            proposal_id=artifact_id(ArtifactType.PROPOSAL, scope.hex8()),
            target_artifact_id=submitted["target"],
            claim=submitted["claim"],
            deliverable_ref=artifacts(self._factory).ref(self._task.folder, submitted["target"]),
            acceptance_checks=submitted["acceptance_checks"],
            test_inventory=submitted["test_inventory"],
            examples=submitted["examples"],
            preflight=submitted["preflight"],
        )
        about = [(record.deliverable_ref, "the deliverable that it is about")]
        self._keep(scope, by, ArtifactType.PROPOSAL, record.proposal_id, record, about)
        return record

    def challenge(self, target: str, number: int, trail: Trail) -> Challenge:
        """The Challenger's verdict. One that never complies is a mild review, and counts as FAIL (F§9.5)."""
        place = self._place(number, Role.CHALLENGER)
        contracts = self._deliverable.contracts(target)
        dependencies = self._deliverable.dependencies(target)
        criteria = self._task.definition.acceptance_criteria
        statuses = index_statuses(
            self._factory,
            self._factory.journal.scope(f"{place.run_id}/index"),
            [view.contract.ref for view in dependencies],
        )
        dependencies = [view.known_as(statuses.get(view.contract.ref)) for view in dependencies]
        by = self._open(place, contracts, dependencies, trail)
        store = PackedStore(self._factory, by, judged=contracts, contracts_only=True)
        proposal = trail.proposals[-1]
        message = challenge_message(
            self._deliverable.subject, proposal, contracts, dependencies, criteria, trail
        )
        examined = Falsification(
            self._deliverable,
            target,
            proposal,
            [tried for earlier in trail.challenges for tried in earlier.falsifying_tests],
            self._factory.journal.scope(f"{place.run_id}/tests"),
        )
        assignment = Assignment(place, message, {"proposal.json": proposal.to_bytes()}, store=store)
        answer = self._challenged(assignment, examined)
        scope = self._factory.journal.scope(f"{place.run_id}/record")
        name = artifact_id(ArtifactType.CHALLENGE, scope.hex8())
        if self._deliverable.subject == CONTRACTS:
            answer = answer.model_copy(update={"failures": [_own(failure) for failure in answer.failures]})
        record = challenge(answer, name, target, examined.tried)
        about = self._about(target, "what it challenges", proposal)
        self._keep(scope, by, ArtifactType.CHALLENGE, record.challenge_id, record, about)
        contribute(self._factory, scope, by, ContributionType.CHALLENGE, _ref(record))
        return record

    def adjudicate(self, target: str, number: int, trail: Trail, *, left: int) -> Adjudication:
        """The Arbiter's ruling on the last challenge, with so many revisions left."""
        place = self._place(number, Role.ARBITER)
        contracts = self._deliverable.contracts(target)
        by = self._open(place, contracts, self._deliverable.dependencies(target), trail)
        task_file = self._factory.folder.read(self._task.path).decode()
        message = arbiter_message(task_file, contracts, trail, left)
        judged = trail.challenges[-1]
        listed, by_name = self._deliverable.files(target), {c.name: c for c in contracts}
        answer = self._factory.roles.arbitrate(
            Assignment(place, message, {}),
            lambda given: [
                *ruling_problems(given, judged, contracts, left),
                *(
                    target_problems(given.amendments, contracts=self._deliverable.subject == CONTRACTS)
                    or aim_problems(given.amendments, listed, by_name)
                ),
            ],
        )
        scope = self._factory.journal.scope(f"{place.run_id}/record")
        record = adjudication(answer, artifact_id(ArtifactType.ADJUDICATION, scope.hex8()), target)
        self.rule(scope, by, record, trail)
        return record

    def rule(self, scope: Scope, by: Invocation, record: Adjudication, trail: Trail) -> None:
        """Keep a ruling on the last challenge: the Arbiter's, or a person's."""
        target = record.target_artifact_id
        about = self._about(target, "what it decides on", trail.proposals[-1], trail.challenges[-1])
        self._keep(scope, by, ArtifactType.ADJUDICATION, record.adjudication_id, record, about)
        contribute(self._factory, scope, by, ContributionType.ADJUDICATION, _ref(record))

    def _challenged(self, assignment: Assignment, examined: Falsification) -> ChallengerAnswer:
        try:
            return self._factory.roles.challenge(assignment, examined.problems)
        except AnswerError as error:
            return examined.instead(error)

    def _keep(
        self,
        scope: Scope,
        by: Invocation,
        kind: ArtifactType,
        name: str,
        record: Record,
        inputs: Sequence[tuple[str, str]],
    ) -> None:
        body = {f"{kind.lower()}.json": record.to_bytes()}
        artifacts(self._factory).create(scope, by, kind, body, inputs=inputs, name=name)

    def _about(self, target: str, why: str, *heard: Proposal | Challenge) -> list[tuple[str, str]]:
        """The artifacts whose status a record moves, and the records that it answers."""
        names = self._deliverable.artifacts(target)
        about = [(artifacts(self._factory).ref(self._task.folder, name), why) for name in names]
        return [*about, *((_ref(record), "what it answers") for record in heard)]

    def _open(
        self,
        place: Place,
        contracts: Sequence[MicroModuleContract],
        dependencies: Sequence[DependencyView],
        trail: Trail,
    ) -> Invocation:
        included = [(_ref(record), FULL, "the debate so far") for record in trail.proposals]
        included += [(_ref(record), FULL, "the debate so far") for record in trail.challenges]
        included += [(c.ref, FULL, "the contract in question") for c in contracts]
        told = [by for cause in trail.causes for by in cause.told_by]
        included += [(ref, Permission.SUMMARY_ONLY, what) for ref, what in told]
        excluded = self._sources(trail)
        task = task_ref(self._factory, self._task)
        if place.role is Role.ARBITER:
            included += [(_ref(record), FULL, "the debate so far") for record in trail.adjudications]
            included.append((task, FULL, "the task file, for grounding"))
            excluded += [(d.contract.ref, "dependencies are no business of this role") for d in dependencies]
        else:
            for view in dependencies:
                status = f"its index status: {view.status}"
                included.append((view.contract.ref, Permission.CONTRACT_ONLY, "a dependency"))
                included.append((view.contract.ref, Permission.METADATA_ONLY, status))
            extract = "its acceptance criteria, as an extract (D12)"
            included.append((task, Permission.SUMMARY_ONLY, extract))
            excluded += [
                (_ref(record), "rulings are not shown to this role") for record in trail.adjudications
            ]
        scope = self._factory.journal.scope(f"{place.run_id}/pack")
        return open_invocation(
            self._factory, scope, place, self._task.task_id, self._task.folder, included, excluded
        )

    def _sources(self, trail: Trail) -> list[tuple[str, str]]:
        """Every version of the deliverable: its source is seen by its own Proposer alone."""
        refs = sorted({proposal.deliverable_ref for proposal in trail.proposals})
        hidden = "the planner's answer" if self._deliverable.subject == CONTRACTS else "implementation source"
        return [(ref, f"{hidden} is never shown to this role") for ref in refs]

    def _place(self, number: int, role: Role) -> Place:
        return self._task.place(self._deliverable.subject, f"round-{number}", role)


def _own(failure: Failure) -> Failure:
    """In a contract debate the plan and its contracts are the deliverable: what is wrong with them is its own."""
    return failure.model_copy(update={"fault": FaultOf.MODULE})


def _ref(record: Proposal | Challenge | Adjudication) -> str:
    """A debate record is not revised: it is always the first version of its id."""
    names = {"proposal_id", "challenge_id", "adjudication_id"} & type(record).model_fields.keys()
    return f"{getattr(record, names.pop())}@1.0.0"
