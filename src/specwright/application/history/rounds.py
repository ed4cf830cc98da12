"""The debates over a module, round by round, as their records tell them (design: debate).

Works for a module that shipped, that halted, or that is still debated: what was debated is found by its contract,
which every planned module has. Read from the store alone; nothing is asked and nothing written.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from specwright.application.factory import ProjectView
from specwright.application.store.debates import DebateHistory
from specwright.domain.answers.answers import AmendmentsAnswer, Failure
from specwright.domain.artifacts.artifact import ArtifactEnvelope, Purpose
from specwright.domain.base.ids import ArtifactType
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.debate import Adjudication, Challenge, Proposal


class Round(NamedTuple):
    """One round of a debate.

    Args:
        number: From 1.
        proposal: What is claimed.
        challenge: What the Challenger says to it.
        adjudication: The ruling, where one was asked for.
        amended: What the Proposer says became of the ruling's amendments.
        gate: What the ship gate found of the deliverables that reached it; an empty list is a pass.
    """

    number: int
    proposal: Proposal
    challenge: Challenge | None
    adjudication: Adjudication | None
    amended: AmendmentsAnswer | None = None
    gate: tuple[tuple[str, tuple[Failure, ...]], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The round as JSON values."""
        return {
            "number": self.number,
            "proposal": self.proposal.to_json(),
            "challenge": self.challenge.to_json() if self.challenge else None,
            "adjudication": self.adjudication.to_json() if self.adjudication else None,
            "amended": self.amended.to_json() if self.amended else None,
            "gate": [
                {"target": target, "failures": [failure.to_json() for failure in failures]}
                for target, failures in self.gate
            ],
        }


class DebateRounds(NamedTuple):
    """A debate, named by its first proposal (design: debate).

    Args:
        debate_id: Of the first proposal.
        over: `contracts`, or the reference of the module whose implementation it is about.
        rounds: In order.
    """

    debate_id: str
    over: str
    rounds: tuple[Round, ...]

    def to_json(self) -> dict[str, Any]:
        """The debate as JSON values."""
        return {
            "debate_id": self.debate_id,
            "over": self.over,
            "rounds": [one.to_json() for one in self.rounds],
        }


class ModuleDebates(NamedTuple):
    """What was said about a module.

    Args:
        contract: The newest one.
        standing: `sealed`, `halted` or `unfinished`.
        contracts: The debates over the plans that it was part of, the first one first.
        implementation: The debates over its implementations, the first one first.
    """

    contract: MicroModuleContract
    standing: str
    contracts: tuple[DebateRounds, ...]
    implementation: tuple[DebateRounds, ...]

    def to_json(self) -> dict[str, Any]:
        """The debates as JSON values."""
        return {
            "module_ref": self.contract.ref,
            "name": self.contract.name,
            "purpose": self.contract.purpose,
            "standing": self.standing,
            "contract_debates": [one.to_json() for one in self.contracts],
            "implementation_debates": [one.to_json() for one in self.implementation],
        }


class Planned(NamedTuple):
    """A contract artifact and the contract in it."""

    envelope: ArtifactEnvelope
    contract: MicroModuleContract


def planned_modules(view: ProjectView) -> list[Planned]:
    """Every contract that was ever proposed, the oldest first."""
    found: list[Planned] = []
    for name, folder in _folders(view, ArtifactType.CONTRACT).items():
        data = view.artifacts.body(folder, name)["contract.json"]
        found.append(
            Planned(
                view.artifacts.envelope(folder, name),
                MicroModuleContract.from_bytes(data, f"{name}/contract.json"),
            )
        )
    return sorted(found, key=lambda one: one.envelope.created_at)


def debates_of(view: ProjectView, planned: list[Planned]) -> ModuleDebates:
    """The debates over one module.

    Args:
        planned: Its contracts, the oldest first; not empty.
    """
    refs = {one.envelope.ref: one.contract.ref for one in planned}
    plans = {
        given.ref for one in planned for given in one.envelope.inputs if given.purpose != Purpose.REVISES
    }
    about = _Deliverables(view)
    contracts: list[tuple[str, DebateRounds]] = []
    implementation: list[tuple[str, DebateRounds]] = []
    for debate_id in view.debates.ids():
        for target in about.versions(debate_id):
            if target.ref in plans:
                contracts.append((target.created_at, debate_rounds(view, debate_id, "contracts")))
                break
            if of := next((refs[given.ref] for given in target.inputs if given.ref in refs), None):
                implementation.append((target.created_at, debate_rounds(view, debate_id, of)))
                break
    newest = planned[-1].contract
    return ModuleDebates(newest, _standing(view, newest), _in_order(contracts), _in_order(implementation))


def debates_over(view: ProjectView, proposals: list[Proposal]) -> list[DebateRounds]:
    """The debates that some proposals opened, each titled by what it is about; an escalation names them so (design:
    escalation)."""
    about, opened = _Deliverables(view), set(view.debates.ids())
    contracts = {one.envelope.ref: one.contract for one in planned_modules(view)}
    found: list[DebateRounds] = []
    for proposal in proposals:
        if proposal.proposal_id in opened:
            target = about.envelope(proposal.target_artifact_id)
            names = [contracts[given.ref] for given in target.inputs if given.ref in contracts]
            over = f"{names[0].name}  {names[0].ref}" if names else "contracts"
            found.append(debate_rounds(view, proposal.proposal_id, over))
    return found


def debate_rounds(view: ProjectView, debate_id: str, over: str) -> DebateRounds:
    """A debate with its rounds."""
    return DebateRounds(debate_id, over, tuple(_rounds(view, debate_id)))


class _Deliverables:
    """What is debated: implementations and plans, by their ids."""

    def __init__(self, view: ProjectView) -> None:
        self._view = view
        self._folders = {
            **_folders(view, ArtifactType.IMPLEMENTATION),
            **_folders(view, ArtifactType.MICRO_PLAN),
        }

    def envelope(self, name: str) -> ArtifactEnvelope:
        return self._view.artifacts.envelope(self._folders[name], name)

    def versions(self, debate_id: str) -> Iterator[ArtifactEnvelope]:
        """The deliverable of each round of a debate."""
        for proposal in (
            self._view.debates.records(debate_id).history(challenges=0, adjudications=0).proposals
        ):
            yield self.envelope(proposal.target_artifact_id)


def _folders(view: ProjectView, kind: ArtifactType) -> dict[str, str]:
    prefix = f"{kind.prefix}-"
    return {name: folder for name, folder in view.artifacts.folders().items() if name.startswith(prefix)}


def _rounds(view: ProjectView, debate_id: str) -> Iterator[Round]:
    records = view.debates.records(debate_id)
    before = DebateHistory()
    for number in records.rounds():
        upto = records.history(number, number, number)
        yield Round(
            number,
            upto.proposals[-1],
            upto.challenges[-1] if len(upto.challenges) > len(before.challenges) else None,
            upto.adjudications[-1] if len(upto.adjudications) > len(before.adjudications) else None,
            records.amended(number),
            tuple(
                (target, tuple(records.gate(number, target).failures)) for target in records.judged(number)
            ),
        )
        before = upto


def _standing(view: ProjectView, contract: MicroModuleContract) -> str:
    if view.modules.is_sealed(contract.ref):
        return "sealed"
    return "halted" if view.drafts.exists(contract.module_id) else "unfinished"


def _in_order(debates: list[tuple[str, DebateRounds]]) -> tuple[DebateRounds, ...]:
    return tuple(one for _, one in sorted(debates, key=lambda pair: pair[0]))
