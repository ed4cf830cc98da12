"""The records of debates by round; drafts; escalations, exceptions and their answers (design: debate, escalation,
store-layout)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType
from ship_gate.base.record import Record
from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.store import layout
from specwright.application.store.artifacts import ArtifactStore, note_hashes, publish_noted
from specwright.domain.answers import AmendmentsAnswer, Failure, StruckTest
from specwright.domain.artifacts import FIRST_VERSION, Purpose
from specwright.domain.debate.records import Adjudication, Challenge, Proposal, TriedTest
from specwright.domain.escalation import DebateTrail, EscalationArtifact, ResolutionRecord
from specwright.domain.interface_change import ExceptionDecision, InterfaceChangeException
from specwright.domain.modules.evidence import is_module_file
from specwright.errors import AnswerError, CorruptionError, InputError
from specwright.ports import Files, Scope, StateStore

ALL = 1_000_000

_Kind = TypeVar("_Kind", Proposal, Challenge, Adjudication)


class GateResult(NamedTuple):
    """The gate's result for a version at the end of a round.

    Args:
        failures: The failures; empty if the version may ship.
        observed: Details for the escalation: fingerprints, their difference, the execution log (design: sealing).
        passed: Details of a version that passed, the evidence behind the Wire.
    """

    failures: list[Failure]
    observed: dict[str, Any]
    passed: Mapping[str, Any] = MappingProxyType({})


class Cause(NamedTuple):
    """The reason for a round that was started from outside the debate (design: debate).

    Args:
        round: The number of the round.
        reason: The reason, in a sentence.
        failures: The failures to correct.
        told_by: The records that state them, with a note on the visible part.
    """

    round: int
    reason: str
    failures: Sequence[Failure]
    told_by: Sequence[tuple[str, str]] = ()


class DebateHistory(NamedTuple):
    """A debate so far, by round."""

    proposals: Sequence[Proposal] = ()
    challenges: Sequence[Challenge] = ()
    adjudications: Sequence[Adjudication] = ()
    causes: Sequence[Cause] = ()


def debate_trail(debates: Sequence[DebateHistory | DebateTrail]) -> DebateTrail:
    """Merge debates into a trail with distinct records."""
    return DebateTrail(
        proposals=list({p.proposal_id: p for one in debates for p in one.proposals}.values()),
        challenges=list({c.challenge_id: c for one in debates for c in one.challenges}.values()),
        adjudications=list({a.adjudication_id: a for one in debates for a in one.adjudications}.values()),
    )


class DebateRecords:
    """The records of one debate, by round.

    Proposals, challenges and adjudications are artifacts; the envelope of the first proposal lists the later ones.
    `debates/` has a copy of the newest of each kind, the gate's results, and the records of applied amendments.
    """

    def __init__(self, store: StateStore, debate_id: str) -> None:
        self._store = store
        self._artifacts = ArtifactStore(store)
        self._debate_id = debate_id

    def write(self, number: int, record: Proposal | Challenge | Adjudication) -> None:
        """Add a stored record to a round; a proposal opens the round."""
        name, known = record.ref.partition("@")[0], list(self.listed())
        if (number, name) not in known:  # else added before a crash
            purpose = Purpose.IN_ROUND if number == known[-1][0] else Purpose.OPENS_ROUND
            self._artifacts.debated(self._folder, self._debate_id, name, purpose)
        latest = layout.latest_record(self._debate_id, type(record).__name__.lower())
        self._store.replace(latest, record.to_bytes())

    def write_amendments(self, number: int, before: str, after: str, answer: AmendmentsAnswer) -> bytes:
        """Store the record of applied amendments and return it."""
        record = canonical_json.pretty({"before": before, "after": after, "answer": answer.to_json()})
        self._store.publish(layout.amendments(self._debate_id, number), record)
        return record

    def write_gate(self, number: int, version_id: str, result: GateResult) -> bytes:
        """Store the gate's result at the end of a round and return the record."""
        failures = [failure.to_json() for failure in result.failures]
        data = {
            "target": version_id,
            "failures": failures,
            "observed": result.observed,
            "passed": dict(result.passed),
        }
        record = canonical_json.pretty(data)
        self._store.publish(layout.gate_record(self._debate_id, number, version_id), record)
        return record

    def has_ruling(self, number: int) -> bool:
        """Whether a round has a ruling."""
        return number in self._names(Adjudication)

    def one(self, kind: type[_Kind], number: int) -> _Kind:
        """Return a round's proposal, challenge or adjudication.

        Raises:
            CorruptionError: there is none.
        """
        record = self.find(kind, number)
        if record is None:
            what = f"the {kind.__name__.lower()} of round {number} is missing"
            raise CorruptionError(what, where=layout.debate(self._debate_id))
        return record

    def find(self, kind: type[_Kind], number: int) -> _Kind | None:
        """Return a round's proposal, challenge or adjudication, or None."""
        name = self._names(kind).get(number)
        return self._read(kind, name) if name else None

    def last_path(self, kind: type[Proposal | Challenge]) -> str:
        """Return the path of the newest record of a kind; empty if there is none."""
        names = self._names(kind)
        return self._path(kind, names[max(names)]) if names else ""

    def amendments(self, number: int) -> tuple[str, str, AmendmentsAnswer]:
        """Return the versions before and after amendments, and the Proposer's account of them."""
        data = canonical_json.loads(self._store.read(layout.amendments(self._debate_id, number)))
        return data["before"], data["after"], AmendmentsAnswer.model_validate(data["answer"])

    def gate(self, number: int, version_id: str) -> GateResult:
        """Return the gate's result for a version."""
        data = canonical_json.loads(self._store.read(layout.gate_record(self._debate_id, number, version_id)))
        failures = [Failure.model_validate(failure) for failure in data["failures"]]
        return GateResult(failures, data.get("observed", {}), data.get("passed", {}))

    def last_gate(self) -> dict[str, Any]:
        """Return the gate's details for the newest version that reached it, for the escalation; empty if none did."""
        for number in reversed(self.rounds()):
            if reached := self.judged(number):
                return self.gate(number, reached[-1]).observed
        return {}

    def last_failures(self) -> list[Failure]:
        """Return the failures at the end of the last round: those of the gate if it ran, else those of the challenge."""
        number = self.rounds()[-1]
        if reached := self.judged(number):
            return self.gate(number, reached[-1]).failures
        challenge, ruling = self.find(Challenge, number), self.find(Adjudication, number)
        return challenge.without(ruling.struck_tests if ruling else []) if challenge else []

    def rounds(self) -> list[int]:
        """Return the numbers of the rounds. A person's override is a separate round with only a ruling."""
        return sorted({number for number, _ in self.listed()})

    def falsified(self, upto: int = ALL) -> tuple[list[TriedTest], list[StruckTest]]:
        """Return the falsifying tests of the first `upto` rounds, and those that were struck (design: falsifying-tests)."""
        history = self.history(challenges=upto, adjudications=upto)
        tried = [one for challenge in history.challenges for one in challenge.falsifying_tests]
        return tried, [one for ruling in history.adjudications for one in ruling.struck_tests]

    def amended(self, number: int) -> AmendmentsAnswer | None:
        """Return the Proposer's account of a round's amendments, or None."""
        written = self._store.exists(layout.amendments(self._debate_id, number))
        return self.amendments(number)[2] if written else None

    def judged(self, number: int) -> list[str]:
        """Return the versions of a round that reached the gate."""
        names, start = self._store.names(layout.debate(self._debate_id)), f"gate-{number}-"
        return [n.removeprefix(start).removesuffix(".json") for n in names if n.startswith(start)]

    def history(self, proposals: int = ALL, challenges: int = ALL, adjudications: int = ALL) -> DebateHistory:
        """Return the debate at some point, given by the number of records of each kind.

        A step that runs again after a crash must not see later records, so every step passes these numbers.
        """
        return DebateHistory(
            self._read_all(Proposal, proposals),
            self._read_all(Challenge, challenges),
            self._read_all(Adjudication, adjudications),
        )

    def _read_all(self, kind: type[_Kind], upto: int) -> list[_Kind]:
        names = self._names(kind)
        return [self._read(kind, names[number]) for number in sorted(names) if number <= upto]

    def _read(self, kind: type[_Kind], name: str) -> _Kind:
        path = self._path(kind, name)
        return kind.from_bytes(self._store.read(path), path)

    def _path(self, kind: type[Record], name: str) -> str:
        return f"{layout.body(self._folder, name, FIRST_VERSION)}/{kind.__name__.lower()}.json"

    def _names(self, kind: type[Record]) -> dict[int, str]:
        """Return the id of the record of a kind, by round."""
        prefix = f"{ArtifactType(kind.__name__.upper()).prefix}-"
        return {number: name for number, name in self.listed() if name.startswith(prefix)}

    def listed(self) -> Iterator[tuple[int, str]]:
        """Yield the records with the number of their round."""
        number = 1
        yield number, self._debate_id
        for output in self._artifacts.envelope(self._folder, self._debate_id).outputs:
            number += output.purpose == Purpose.OPENS_ROUND
            yield number, output.ref.partition("@")[0]

    @cached_property
    def _folder(self) -> str:
        return self._artifacts.folder_of(self._debate_id)


class DebateStore:
    """`debates/`."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def ids(self) -> list[str]:
        """Return the ids of all debates; each is that of the first proposal."""
        return self._store.names(layout.DEBATES)

    def records(self, debate_id: str) -> DebateRecords:
        """Return the records of a debate."""
        return DebateRecords(self._store, debate_id)

    def of(self, folder: str, spec_task_id: str) -> list[DebateRecords]:
        """Return the debates of a task, oldest first, including those of earlier attempts and plans. Other tasks may share
        its folder."""
        artifacts, known = ArtifactStore(self._store), {*self.ids()}
        names = [name for name in self._store.names(f"{layout.ARTIFACTS}/{folder}") if name in known]
        made = sorted((artifacts.envelope(folder, name) for name in names), key=lambda one: one.created_at)
        own = [one for one in made if one.created_by.run_id.startswith(f"{spec_task_id}.")]
        return [self.records(one.artifact_id) for one in own]

    def by_version(self) -> dict[str, str]:
        """Return the debate of each plan and implementation that was proposed or reached the gate."""
        found: dict[str, str] = {}
        for debate_id in self.ids():
            records = self.records(debate_id)
            proposed = [
                one.target_artifact_id for one in records.history(challenges=0, adjudications=0).proposals
            ]
            judged = [name for number in records.rounds() for name in records.judged(number)]
            found |= dict.fromkeys((*proposed, *judged), debate_id)
        return found


_ESCALATION = "escalation.json"


def _refused(name: str) -> str:
    return f"unproposed-{name}"


class DraftStore:
    """`drafts/`."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def exists(self, module_id: str) -> bool:
        """Whether a module has drafts that did not ship."""
        return bool(self._store.names(layout.drafts_of(module_id)))

    def add_halted(
        self,
        scope: Scope,
        contract: MicroModuleContract,
        version_id: str,
        files: Files,
        note: Mapping[str, JsonValue],
        suffix: str = "",
    ) -> None:
        """Store the version with which a module halted, with the reason and the gate's result.

        A version may halt again after a person's answer; `suffix` distinguishes the notes of its halts.
        """
        about: dict[str, JsonValue] = {
            "module_id": contract.module_id,
            "module_version": contract.module_version,
        }
        noted = {f"escalation{suffix}.json": canonical_json.pretty({**about, **note})}
        self._add(scope, contract, version_id, {**files, **noted})

    def add_refused(
        self,
        scope: Scope,
        contract: MicroModuleContract,
        name: str,
        files: Files,
        error: AnswerError,
        observed: GateResult,
    ) -> None:
        """Store the last files that a Proposer submitted within its attempts, with their problems and the gate's result.

        They never became a proposal, so no artifact has them. Without files nothing is stored.
        """
        if not files:
            return
        findings: dict[str, JsonValue] = {"reason": error.what, "problems": list(error.problems)}
        failures = [failure.to_json() for failure in observed.failures]
        escalation = {"reason": error.what, **observed.observed, "failures": failures}
        modules_own = {path: data for path, data in files.items() if is_module_file(path)}
        noted = {
            "findings.json": canonical_json.pretty(findings),
            _ESCALATION: canonical_json.pretty(escalation),
        }
        self._add(scope, contract, _refused(name), {**modules_own, **noted})

    def refused(self, ref: str, name: str) -> GateResult | None:
        """Return the gate's result for a finally refused draft, by run and stage; None if there is none."""
        path = f"{layout.draft(ref, _refused(name))}/{_ESCALATION}"
        if not self._store.exists(path):
            return None
        noted = canonical_json.loads(self._store.read(path))
        failures = [Failure.model_validate(failure) for failure in noted.pop("failures")]
        del noted["reason"]
        return GateResult(failures, noted)

    def files(self, ref: str, name: str) -> dict[str, bytes] | None:
        """Return the module's files in a finally refused draft; None if there is none."""
        path = layout.draft(ref, _refused(name))
        if not self._store.names(path):
            return None
        return {file: data for file, data in self._store.tree(path).items() if is_module_file(file)}

    def _add(
        self, scope: Scope, contract: MicroModuleContract, name: str, files: Mapping[str, bytes]
    ) -> None:
        written = {layout.CONTRACT: contract.to_bytes(), **files}
        directory = layout.draft(contract.ref, name)
        note_hashes(scope, {f"{directory}/{path}": data for path, data in written.items()})
        self._store.publish_tree(directory, written)


_Record = TypeVar("_Record", bound=Record)


class EscalationStore:
    """`escalations/` and `resolutions/`, by the ids of the escalations; `exceptions/`, by the ids of the exceptions.

    Args:
        store: The state store.
        is_waiting: Whether, by the log, a task waits for an escalation.
    """

    def __init__(self, store: StateStore, is_waiting: Callable[[str], bool]) -> None:
        self._store = store
        self._is_waiting = is_waiting

    def exists(self, escalation_id: str) -> bool:
        """Whether an escalation was written."""
        return self._store.exists(layout.escalation(escalation_id))

    def ids(self) -> list[str]:
        """Return the ids of all escalations, without the transcripts beside them."""
        names = self._store.names(layout.ESCALATIONS)
        return [stem for name in names for stem, _, rest in [name.partition(".")] if rest == "json"]

    def escalation(self, escalation_id: str) -> EscalationArtifact:
        """Return an escalation.

        Raises:
            InputError: there is no such escalation.
            CorruptionError: its file is missing.
        """
        path = layout.escalation(escalation_id)
        if not self._store.exists(path):
            if self._is_waiting(escalation_id):
                raise CorruptionError(
                    f"the file of escalation {escalation_id} is missing",
                    where=f"{layout.STATE_STORE}/{path}",
                    remedy="restore `state_store/` from a copy of the project",
                )
            raise InputError(
                f"there is no escalation {escalation_id}",
                remedy=f"{did_you_mean(escalation_id, self.ids())}`specwright escalations` lists those that wait",
            )
        return EscalationArtifact.from_bytes(self._store.read(path), path)

    def add(self, escalation: EscalationArtifact) -> str:
        """Write an escalation, and return the hash by which a Wire refers to it."""
        data = escalation.to_bytes()
        self._store.publish(layout.escalation(escalation.escalation_id), data)
        return self._store.define(data)

    def resolution(self, escalation_id: str) -> ResolutionRecord | None:
        """Return a person's answer, or None."""
        return self._stored(layout.resolution(escalation_id), ResolutionRecord)

    def resolve(self, record: ResolutionRecord) -> None:
        """Write a person's answer."""
        self._store.publish(layout.resolution(record.escalation_id), record.to_bytes())

    def add_exception(self, scope: Scope, record: InterfaceChangeException) -> None:
        """Write an exception, which never changes. Until its task halts, only the journal binds it."""
        publish_noted(scope, self._store, {layout.exception(record.exception_id): record.to_bytes()})

    def exception(self, exception_id: str) -> InterfaceChangeException:
        """Return an exception.

        Raises:
            InputError: there is no such exception.
        """
        record = self._stored(layout.exception(exception_id), InterfaceChangeException)
        if record is None:
            raise InputError(
                f"there is no interface change exception {exception_id}",
                remedy="`specwright exceptions list` lists them",
            )
        return record

    def decision(self, exception_id: str, number: int) -> ExceptionDecision | None:
        """Return a person's decision by its number, or None."""
        return self._stored(layout.exception_decision(exception_id, number), ExceptionDecision)

    def decide(self, record: ExceptionDecision) -> None:
        """Write a person's decision."""
        path = layout.exception_decision(record.exception_id, record.number)
        self._store.publish(path, record.to_bytes())

    def transcript(self, scope: Scope, escalation_id: str, number: int, trail: DebateTrail) -> None:
        """Write the debate of an approved change that ended without agreement."""
        publish_noted(scope, self._store, {layout.transcript(escalation_id, number): trail.to_bytes()})

    def _stored(self, path: str, record: type[_Record]) -> _Record | None:
        return record.from_bytes(self._store.read(path), path) if self._store.exists(path) else None
