"""The provenance of a module: evidence, gate, debates round by round, contract, plan, reuse report, context packs, task,
spec (design: provenance, debate).

Debates are found by the module's contract, so this also works for a module that halted or is still debated. Only the store
is read.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from ship_gate.base.ids import ArtifactType
from ship_gate.base.record import Record
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.factory import ProjectView
from specwright.application.store import layout
from specwright.domain.answers import AmendmentsAnswer, Failure
from specwright.domain.artifacts import ArtifactEnvelope, ContextPack, Contribution, Purpose
from specwright.domain.base.document import Document
from specwright.domain.debate.records import Adjudication, Challenge, Proposal
from specwright.domain.escalation import OPERATOR, Action, ResolutionRecord
from specwright.domain.modules.evidence import ShipEvidence
from specwright.domain.modules.release import PersonDecision
from specwright.domain.plan import MicroPlan, ReuseSearchReport
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.errors import CorruptionError


class GateOutcome(Record):
    """The ship gate's result for a version; no failures mean that it passed."""

    target: str
    failures: list[Failure]


class Round(Record):
    """One round of a debate.

    Args:
        number: The number of the round, from 1.
        proposal: The proposal.
        challenge: The challenge.
        adjudication: The ruling, if there is one.
        amended: The Proposer's account of the ruling's amendments.
        gate: The ship gate's results for the versions that reached it.
        overruled: The person who overruled the Arbiter, and the time; empty if there is none.
    """

    number: int
    proposal: Proposal
    challenge: Challenge | None
    adjudication: Adjudication | None
    amended: AmendmentsAnswer | None
    gate: list[GateOutcome]
    overruled: str = ""


class DebateRounds(Record):
    """A debate, named by its first proposal (design: debate).

    Args:
        debate_id: The id of the first proposal.
        over: `contracts`, or the reference of the implemented module.
        rounds: The rounds, in order.
    """

    debate_id: str
    over: str
    rounds: list[Round]


class ModuleDebates(Document, schema="debates"):
    """The debates over a module.

    Args:
        module_ref: The reference in its newest contract.
        name: The module's name.
        purpose: The module's purpose.
        standing: `sealed`, `halted` or `unfinished`.
        contract_debates: The debates over its plans, oldest first.
        implementation_debates: The debates over its implementations, oldest first.
    """

    module_ref: str
    name: str
    purpose: str
    standing: Literal["sealed", "halted", "unfinished"]
    contract_debates: list[DebateRounds]
    implementation_debates: list[DebateRounds]


class Planned(NamedTuple):
    """A contract artifact and its contract."""

    envelope: ArtifactEnvelope
    contract: MicroModuleContract


class Artifacts:
    """The artifacts of a project by id; their folders are looked up once.

    Args:
        view: The project.
    """

    def __init__(self, view: ProjectView) -> None:
        self.view, self._artifacts = view, view.artifacts
        self._folders = view.artifacts.folders()

    def of(self, kind: ArtifactType) -> list[str]:
        """Return the ids of a type."""
        return [name for name in self._folders if name.startswith(f"{kind.prefix}-")]

    def envelope(self, name: str) -> ArtifactEnvelope:
        """Return an envelope.

        Raises:
            CorruptionError: the artifact is missing.
        """
        if name not in self._folders:
            raise CorruptionError("a link of the trail is missing", where=name)
        return self._artifacts.envelope(self._folders[name], name)

    def file(self, name: str, path: str) -> bytes:
        """Return a file of an artifact.

        Raises:
            CorruptionError: the file is missing.
        """
        body = self._artifacts.body(self._folders[name], name) if name in self._folders else {}
        if path not in body:
            raise CorruptionError("a link of the trail is missing", where=f"{name}/{path}")
        return body[path]


def planned_modules(view: ProjectView) -> list[Planned]:
    """Return every contract that was ever proposed, oldest first; those of one plan by name."""
    known = Artifacts(view)
    found = [
        Planned(
            known.envelope(name),
            MicroModuleContract.from_bytes(known.file(name, "contract.json"), f"{name}/contract.json"),
        )
        for name in known.of(ArtifactType.CONTRACT)
    ]
    return sorted(found, key=lambda one: (one.envelope.created_at, one.contract.name))


def debates_of(view: ProjectView, planned: list[Planned]) -> ModuleDebates:
    """Return the debates over a module.

    Args:
        view: The project.
        planned: Its contracts, oldest first; not empty.
    """
    refs = {one.envelope.ref: one.contract.ref for one in planned}
    plans = {
        given.ref for one in planned for given in one.envelope.inputs if given.purpose != Purpose.REVISES
    }
    known = Artifacts(view)
    contracts: list[tuple[str, DebateRounds]] = []
    implementation: list[tuple[str, DebateRounds]] = []
    for debate_id in view.debates.ids():
        proposals = view.debates.records(debate_id).history(challenges=0, adjudications=0).proposals
        for target in (known.envelope(one.target_artifact_id) for one in proposals):
            if target.ref in plans:
                contracts.append((target.created_at, debate_rounds(known, debate_id, "contracts")))
                break
            if of := next((refs[given.ref] for given in target.inputs if given.ref in refs), None):
                implementation.append((target.created_at, debate_rounds(known, debate_id, of)))
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
    """Return the debates that proposals opened, for the trail of an escalation (design: escalation)."""
    known, opened = Artifacts(view), set(view.debates.ids())
    contracts = {one.envelope.ref: one.contract for one in planned_modules(view)}
    found: list[DebateRounds] = []
    for proposal in proposals:
        if proposal.proposal_id in opened:
            target = known.envelope(proposal.target_artifact_id)
            names = [contracts[given.ref] for given in target.inputs if given.ref in contracts]
            over = f"{names[0].name}  {names[0].ref}" if names else "contracts"
            found.append(debate_rounds(known, proposal.proposal_id, over))
    return found


def debate_rounds(known: Artifacts, debate_id: str, over: str) -> DebateRounds:
    """Return a debate with its rounds."""
    return DebateRounds(debate_id=debate_id, over=over, rounds=list(_rounds(known, debate_id)))


def _rounds(known: Artifacts, debate_id: str) -> Iterator[Round]:
    records = known.view.debates.records(debate_id)
    proposal = records.one(Proposal, 1)
    for number in records.rounds():
        proposal = records.find(Proposal, number) or proposal
        ruling = records.find(Adjudication, number)
        made = known.envelope(ruling.adjudication_id) if ruling else None
        yield Round(
            number=number,
            proposal=proposal,
            challenge=records.find(Challenge, number),
            adjudication=ruling,
            amended=records.amended(number),
            gate=[
                GateOutcome(target=name, failures=records.gate(number, name).failures)
                for name in records.judged(number)
            ],
            overruled=f"{OPERATOR}, {made.created_at}" if made and made.created_by.role == OPERATOR else "",
        )


def person_decisions(view: ProjectView, task_ids: Collection[str], module: str = "") -> list[PersonDecision]:
    """Return the decisions of persons about tasks, oldest first, without RETRY answers that correct nothing.

    Args:
        view: The project.
        task_ids: The `T-...` ids, including the parts of a split task.
        module: The name of a module, to return only decisions about it.
    """
    found = [one for one in view.projection.resolutions.values() if one.task_id in task_ids]
    return [
        PersonDecision(
            action=one.action,
            decided_by=one.resolved_by,
            decided_at=one.resolved_at,
            rationale=one.rationale,
            stated_in=layout.resolution(one.escalation_id),
        )
        for one in sorted(found, key=lambda one: one.resolved_at)
        if (one.action is not Action.RETRY or one.payload.get("corrections"))
        and (not module or module in (_modules_of(view, one) or [module]))
    ]


def _modules_of(view: ProjectView, answer: ResolutionRecord) -> list[str]:
    """Return the names of the modules that an answer is about; empty if it is about the whole task."""
    if named := answer.payload.get("module"):
        return [named]
    return [*view.escalations.escalation(answer.escalation_id).failed]


def decisions_of_module(view: ProjectView, ref: str) -> list[PersonDecision]:
    """Return the decisions of persons about a sealed module."""
    tasks = view.projection.state.tasks if view.projection.state else {}
    owners = [task_id for task_id, entry in tasks.items() if ref in entry.module_refs]
    return person_decisions(view, owners, view.modules.contract(ref).name)


def _outcome(view: ProjectView, contract: MicroModuleContract) -> Literal["sealed", "halted", "unfinished"]:
    if view.modules.is_sealed(contract.ref):
        return "sealed"
    return "halted" if view.drafts.exists(contract.module_id) else "unfinished"


def _in_order(debates: list[tuple[str, DebateRounds]]) -> list[DebateRounds]:
    return [one for _, one in sorted(debates, key=lambda pair: pair[0])]


class InvocationWithPack(Record):
    """A role invocation: its contribution and its context pack."""

    contribution: Contribution
    context_pack: ContextPack


class DebatedImplementation(Record):
    """The versions of an implementation, the sealed one first, and their debate."""

    versions: list[ArtifactEnvelope]
    debate_id: str
    rounds: list[Round]


class LockedContract(ArtifactEnvelope):
    """The artifact of a contract, with the contract."""

    body: MicroModuleContract


class DebatedPlan(ArtifactEnvelope):
    """The artifact of a plan, with the plan and the debate over its contracts."""

    body: MicroPlan
    debate_id: str
    rounds: list[Round]


class SpecOfTrail(Record):
    """The approved spec in one line, and its hash."""

    spec: str
    definition_sha256: str


class Trail(Document, schema="trail"):
    """The chain from a sealed module back to its spec.

    Args:
        reuse: The reuse report that led to the module.
        invocations: Every role invocation on the way, in order of time.
        exceptions: The interface change exceptions that led to this version: its own, or those of its dependencies.
        decided: The decisions of persons when its task halted.
        names: The names of the sealed modules in the context packs, by reference.
    """

    evidence: ShipEvidence
    implementation: DebatedImplementation
    contract: LockedContract
    plan: DebatedPlan
    reuse: ReuseSearchReport
    invocations: list[InvocationWithPack]
    exceptions: list[str]
    decided: list[PersonDecision]
    task: TaskDefinition
    spec: SpecOfTrail
    names: dict[str, str]


class Provenance:
    """Follows the chain from a sealed module back to its spec.

    Args:
        view: The project.
    """

    def __init__(self, view: ProjectView) -> None:
        self._view, self._artifacts, self._debates = view, Artifacts(view), view.debates.by_version()

    def trail(self, module_ref: str) -> Trail:
        """Return the chain of a module, `MM-...@x.y.z`.

        Raises:
            CorruptionError: a link of the chain is missing; the message names it.
        """
        view, projection = self._view, self._view.projection
        surface = view.modules.surface(module_ref)
        versions = self._versions(self._sealed_as(projection.debated_as(module_ref)))
        debate = self._debate(versions)
        locked = self._artifacts.envelope(self._input(versions[0], ArtifactType.CONTRACT))
        planned = self._artifacts.envelope(self._input(locked, ArtifactType.MICRO_PLAN))
        plans = self._versions(planned)
        contract_debate = self._debate(plans)
        plan = MicroPlan.from_bytes(self._artifacts.file(planned.artifact_id, "plan.json"), planned.ref)
        report = self._input(locked, ArtifactType.REUSE_SEARCH_REPORT)
        task_id = plan.parent_task_ref.partition("@")[0]
        definition, spec = projection.definitions.get(task_id), projection.spec
        if definition is None or spec is None:
            raise CorruptionError("a link of the trail is missing", where=task_id)
        invocations = self._invocations([*versions, *plans], [*debate.rounds, *contract_debate.rounds])
        packs = [one.context_pack for one in invocations]
        refs = {row.ref for one in packs for row in (*one.included_refs, *one.excluded_refs)}
        return Trail(
            evidence=ShipEvidence.from_bytes(surface["ship.json"], module_ref),
            implementation=DebatedImplementation(
                versions=versions, debate_id=debate.debate_id, rounds=debate.rounds
            ),
            contract=LockedContract(
                **dict(locked), body=MicroModuleContract.from_bytes(surface["contract.json"], module_ref)
            ),
            plan=DebatedPlan(
                **dict(planned),
                body=plan,
                debate_id=contract_debate.debate_id,
                rounds=contract_debate.rounds,
            ),
            reuse=ReuseSearchReport.from_bytes(self._artifacts.file(report, "report.json"), report),
            invocations=invocations,
            exceptions=list(dict.fromkeys(self._exceptions(module_ref, task_id))),
            decided=decisions_of_module(view, module_ref),
            task=definition,
            spec=SpecOfTrail(
                spec=f"{spec.spec_id}@{spec.spec_version} {spec.title}",
                definition_sha256=projection.spec_sha256,
            ),
            names={
                ref: view.modules.contract(ref).name
                for ref in sorted(refs)
                if ref.startswith("MM-") and view.store.exists(layout.module_contract(ref))
            },
        )

    def _exceptions(self, module_ref: str, task_id: str = "") -> Iterator[str]:
        projection, contract = self._view.projection, self._view.modules.contract(module_ref)
        called = {dependency.ref for dependency in contract.dependencies}
        if (name := projection.changed_by.get(module_ref)) is not None:
            yield name
        elif (sealed := projection.resealed.get(module_ref)) is not None:
            before = self._view.modules.contract(sealed.replaces).dependencies
            called -= {dependency.ref for dependency in before}
        elif task_id not in projection.migrations:
            return
        for ref in sorted(called):
            yield from self._exceptions(ref)

    def _sealed_as(self, module_ref: str) -> ArtifactEnvelope:
        if found := self._view.artifacts.sealed_as(module_ref):
            return found
        raise CorruptionError("no artifact was sealed as this module", where=module_ref)

    def _input(self, envelope: ArtifactEnvelope, kind: ArtifactType) -> str:
        for given in envelope.inputs:
            if given.ref.startswith(f"{kind.prefix}-") and given.purpose != Purpose.REVISES:
                return given.ref.partition("@")[0]
        raise CorruptionError(
            f"{envelope.artifact_id} names no {kind} among its inputs", where="docs/design.md#provenance"
        )

    def _versions(self, newest: ArtifactEnvelope) -> list[ArtifactEnvelope]:
        found = [newest]
        while before := found[-1].revised:
            found.append(self._artifacts.envelope(before))
        return found

    def _debate(self, versions: Sequence[ArtifactEnvelope]) -> DebateRounds:
        for envelope in versions:
            if envelope.artifact_id in self._debates:
                return debate_rounds(self._artifacts, self._debates[envelope.artifact_id], "")
        raise CorruptionError("no debate was held over this artifact", where=versions[0].artifact_id)

    def _invocations(
        self, versions: Sequence[ArtifactEnvelope], rounds: Sequence[Round]
    ) -> list[InvocationWithPack]:
        """Return all contributions on the way, each with its context pack."""
        names = {envelope.artifact_id for envelope in versions}
        names |= {r.challenge.challenge_id for r in rounds if r.challenge}
        names |= {r.adjudication.adjudication_id for r in rounds if r.adjudication}
        invocations = self._view.invocations
        found = [
            InvocationWithPack(contribution=one, context_pack=invocations.pack(one.context_pack_ref))
            for one in invocations.contributions()
            if one.artifact_ref.partition("@")[0] in names
        ]
        return sorted(found, key=lambda one: one.contribution.created_at)
