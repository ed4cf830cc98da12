"""The debates over a module, round by round, as their records tell them (F§9, D10, D15).

Works for a module that shipped, that halted, or that is still debated: what was debated is found by its contract,
which every planned module has. Read from the store alone; nothing is asked and nothing written.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from specwright.application.debate.records import DebateRecords
from specwright.application.debate.trail import Trail
from specwright.application.factory import Reading
from specwright.application.stores.artifact_store import REVISES, ArtifactStoreService
from specwright.domain.answers import AmendmentsAnswer, Failure
from specwright.domain.artifact import ArtifactEnvelope
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import Adjudication, Challenge, Proposal
from specwright.domain.ids import ArtifactType
from specwright.ports.store import StateStore

__all__ = ["Held", "ModuleDebates", "Round", "debates_of", "debates_over", "held", "planned_modules"]


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


class Held(NamedTuple):
    """A debate, named by its first proposal (D15).

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
    contracts: tuple[Held, ...]
    implementation: tuple[Held, ...]

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


def planned_modules(view: Reading) -> list[Planned]:
    """Every contract that was ever proposed, the oldest first."""
    artifacts = ArtifactStoreService(view.store)
    found: list[Planned] = []
    for name, folder in _folders(view.store, ArtifactType.CONTRACT).items():
        data = artifacts.body(folder, name)["contract.json"]
        found.append(
            Planned(
                artifacts.envelope(folder, name),
                MicroModuleContract.from_bytes(data, f"{name}/contract.json"),
            )
        )
    return sorted(found, key=lambda one: one.envelope.created_at)


def debates_of(view: Reading, planned: list[Planned]) -> ModuleDebates:
    """The debates over one module.

    Args:
        planned: Its contracts, the oldest first; not empty.
    """
    refs = {one.envelope.ref: one.contract.ref for one in planned}
    plans = {given.ref for one in planned for given in one.envelope.inputs if given.purpose != REVISES}
    about = _Deliverables(view.store)
    contracts: list[tuple[str, Held]] = []
    implementation: list[tuple[str, Held]] = []
    for debate_id in view.store.names("debates"):
        for target in about.versions(debate_id):
            if target.ref in plans:
                contracts.append((target.created_at, held(view.store, debate_id, "contracts")))
                break
            if of := next((refs[given.ref] for given in target.inputs if given.ref in refs), None):
                implementation.append((target.created_at, held(view.store, debate_id, of)))
                break
    newest = planned[-1].contract
    return ModuleDebates(
        newest, _standing(view.store, newest), _in_order(contracts), _in_order(implementation)
    )


def debates_over(view: Reading, proposals: list[Proposal]) -> list[Held]:
    """The debates that some proposals opened, each titled by what it is about; an escalation names them so (F§17.1)."""
    about, opened = _Deliverables(view.store), set(view.store.names("debates"))
    contracts = {one.envelope.ref: one.contract for one in planned_modules(view)}
    found: list[Held] = []
    for proposal in proposals:
        if proposal.proposal_id in opened:
            target = about.envelope(proposal.target_artifact_id)
            names = [contracts[given.ref] for given in target.inputs if given.ref in contracts]
            over = f"{names[0].name}  {names[0].ref}" if names else "contracts"
            found.append(held(view.store, proposal.proposal_id, over))
    return found


def held(store: StateStore, debate_id: str, over: str) -> Held:
    """A debate with its rounds."""
    return Held(debate_id, over, tuple(_rounds(store, debate_id)))


class _Deliverables:
    """What is debated: implementations and plans, by their ids."""

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._artifacts = ArtifactStoreService(store)
        self._folders = {
            **_folders(store, ArtifactType.IMPLEMENTATION),
            **_folders(store, ArtifactType.MICRO_PLAN),
        }

    def envelope(self, name: str) -> ArtifactEnvelope:
        return self._artifacts.envelope(self._folders[name], name)

    def versions(self, debate_id: str) -> Iterator[ArtifactEnvelope]:
        """The deliverable of each round of a debate."""
        for proposal in DebateRecords(self._store, debate_id).trail(challenges=0, adjudications=0).proposals:
            yield self.envelope(proposal.target_artifact_id)


def _folders(store: StateStore, kind: ArtifactType) -> dict[str, str]:
    return {
        name: folder
        for folder in store.names("artifacts")
        for name in store.names(f"artifacts/{folder}")
        if name.startswith(f"{kind.prefix}-")
    }


def _rounds(store: StateStore, debate_id: str) -> Iterator[Round]:
    records = DebateRecords(store, debate_id)
    before = Trail()
    for number in records.rounds():
        upto = records.trail(number, number, number)
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


def _standing(store: StateStore, contract: MicroModuleContract) -> str:
    if store.exists(f"modules/{contract.ref.replace('@', '/')}/ship.json"):
        return "sealed"
    return "halted" if store.names(f"drafts/{contract.module_id}") else "unfinished"


def _in_order(debates: list[tuple[str, Held]]) -> tuple[Held, ...]:
    return tuple(one for _, one in sorted(debates, key=lambda pair: pair[0]))
