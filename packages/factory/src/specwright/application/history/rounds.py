"""The debates over a module, round by round, as their records tell them (design: debate).

Works for a module that shipped, that halted, or that is still debated: what was debated is found by its contract,
which every planned module has. Read from the store alone; nothing is asked and nothing written.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ship_gate.base.ids import ArtifactType
from ship_gate.base.record import Record
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.factory import ProjectView
from specwright.domain.answers.answers import AmendmentsAnswer, Failure
from specwright.domain.artifacts import ArtifactEnvelope, Purpose
from specwright.domain.debate.debate import Adjudication, Challenge, Proposal


class GateOutcome(Record):
    """What the ship gate found of a version that reached it; no failures are a pass."""

    target: str
    failures: list[Failure]


class Round(Record):
    """One round of a debate.

    Args:
        number: From 1.
        proposal: What is claimed.
        challenge: What the Challenger says to it.
        adjudication: The ruling, where one was asked for.
        amended: What the Proposer says became of the ruling's amendments.
        gate: What the ship gate found of the versions that reached it.
    """

    number: int
    proposal: Proposal
    challenge: Challenge | None
    adjudication: Adjudication | None
    amended: AmendmentsAnswer | None
    gate: list[GateOutcome]


class DebateRounds(Record):
    """A debate, named by its first proposal (design: debate).

    Args:
        debate_id: Of the first proposal.
        over: `contracts`, or the reference of the module whose implementation it is about.
        rounds: In order.
    """

    debate_id: str
    over: str
    rounds: list[Round]


class ModuleDebates(Record):
    """What was said about a module.

    Args:
        module_ref: Of its newest contract, as are name and purpose.
        name: The module's.
        purpose: The module's.
        standing: `sealed`, `halted` or `unfinished`.
        contract_debates: The debates over the plans that it was part of, the first one first.
        implementation_debates: The debates over its implementations, the first one first.
    """

    module_ref: str
    name: str
    purpose: str
    standing: str
    contract_debates: list[DebateRounds]
    implementation_debates: list[DebateRounds]


class Planned(NamedTuple):
    """A contract artifact and the contract in it."""

    envelope: ArtifactEnvelope
    contract: MicroModuleContract


def planned_modules(view: ProjectView) -> list[Planned]:
    """Every contract that was ever proposed, the oldest first; those of one plan by name."""
    found: list[Planned] = []
    for name, folder in _folders(view, ArtifactType.CONTRACT).items():
        data = view.artifacts.body(folder, name)["contract.json"]
        found.append(
            Planned(
                view.artifacts.envelope(folder, name),
                MicroModuleContract.from_bytes(data, f"{name}/contract.json"),
            )
        )
    return sorted(found, key=lambda one: (one.envelope.created_at, one.contract.name))


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
    return ModuleDebates(
        module_ref=newest.ref,
        name=newest.name,
        purpose=newest.purpose,
        standing=_outcome(view, newest),
        contract_debates=_in_order(contracts),
        implementation_debates=_in_order(implementation),
    )


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
    return DebateRounds(debate_id=debate_id, over=over, rounds=list(_rounds(view, debate_id)))


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
    proposal = records.proposal(1)
    for number in records.rounds():
        proposal = records.find(Proposal, number) or proposal
        yield Round(
            number=number,
            proposal=proposal,
            challenge=records.find(Challenge, number),
            adjudication=records.find(Adjudication, number),
            amended=records.amended(number),
            gate=[
                GateOutcome(target=name, failures=records.gate(number, name).failures)
                for name in records.judged(number)
            ],
        )


def _outcome(view: ProjectView, contract: MicroModuleContract) -> str:
    if view.modules.is_sealed(contract.ref):
        return "sealed"
    return "halted" if view.drafts.exists(contract.module_id) else "unfinished"


def _in_order(debates: list[tuple[str, DebateRounds]]) -> list[DebateRounds]:
    return [one for _, one in sorted(debates, key=lambda pair: pair[0])]
