"""The records of debates: one directory per round, and the newest record of each kind beside them (design: debate,
store-layout)."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from specwright import canonical_json
from specwright.application.store import layout
from specwright.domain.answers.answers import AmendmentsAnswer, Failure, StruckTest
from specwright.domain.base.record import Record
from specwright.domain.debate.debate import Adjudication, Challenge, Proposal
from specwright.domain.debate.falsifying import TriedTest
from specwright.ports.store import StateStore

ALL = 1_000_000

_KINDS: dict[str, type[Record]] = {"proposal": Proposal, "challenge": Challenge, "adjudication": Adjudication}


class GateResult(NamedTuple):
    """What the gate says of a version at the end of a round.

    Args:
        failures: What keeps it from shipping.
        observed: What was seen, for the escalation: fingerprints, their difference, the execution log (design: sealing).
        passed: What was judged and held, if nothing keeps it from shipping: the evidence behind the Wire.
    """

    failures: list[Failure]
    observed: dict[str, Any]
    passed: Mapping[str, Any] = MappingProxyType({})


class Cause(NamedTuple):
    """Why there is a round that no challenge and no ruling of its debate asked for (design: debate).

    Args:
        round: Its number.
        reason: Who refused what, in a sentence.
        failures: What it has to correct.
        told_by: The records that they come from, with what is shown of each.
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


class DebateRecords:
    """The records of one debate. A round's records are written once."""

    def __init__(self, store: StateStore, debate_id: str) -> None:
        self._store = store
        self._debate_id = debate_id

    def write(self, number: int, record: Proposal | Challenge | Adjudication) -> None:
        """Write a round's proposal, which opens it, or its challenge or adjudication."""
        kind, data = type(record).__name__.lower(), record.to_bytes()
        self._store.publish(self._path(number, kind), data)
        self._store.replace(layout.latest_record(self._debate_id, kind), data)

    def write_amendments(
        self, number: int, before: str, after: str, answer: AmendmentsAnswer
    ) -> dict[str, bytes]:
        """Record what became of the amendments; returns the record by its path."""
        record = canonical_json.pretty({"before": before, "after": after, "answer": answer.to_json()})
        path = self._path(number, "amendments")
        self._store.publish(path, record)
        return {path: record}

    def write_gate(self, number: int, version_id: str, result: GateResult) -> bytes:
        """Record what the gate found at the end of a round; returns the record."""
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

    def proposal(self, number: int) -> Proposal:
        """What was proposed in a round."""
        path = self._path(number, "proposal")
        return Proposal.from_bytes(self._store.read(path), path)

    def has_ruling(self, number: int) -> bool:
        """Whether a round was ruled on."""
        return self._store.exists(self._path(number, "adjudication"))

    def challenge(self, number: int) -> Challenge:
        """The verdict of a round."""
        path = self._path(number, "challenge")
        return Challenge.from_bytes(self._store.read(path), path)

    def adjudication(self, number: int) -> Adjudication:
        """The ruling of a round."""
        path = self._path(number, "adjudication")
        return Adjudication.from_bytes(self._store.read(path), path)

    def amendments(self, number: int) -> tuple[str, str, AmendmentsAnswer]:
        """The version before and after amendments, and the Proposer's word on each."""
        data = canonical_json.loads(self._store.read(self._path(number, "amendments")))
        return data["before"], data["after"], AmendmentsAnswer.model_validate(data["answer"])

    def gate(self, number: int, version_id: str) -> GateResult:
        """What the gate found."""
        data = canonical_json.loads(self._store.read(layout.gate_record(self._debate_id, number, version_id)))
        failures = [Failure.model_validate(failure) for failure in data["failures"]]
        return GateResult(failures, data.get("observed", {}), data.get("passed", {}))

    def last_gate(self) -> dict[str, Any]:
        """What the gate saw of the newest version that reached it, for the escalation; empty if none did."""
        for number in reversed(self.rounds()):
            if reached := self.judged(number):
                return self.gate(number, reached[-1]).observed
        return {}

    def last_failures(self) -> list[Failure]:
        """What is still wrong at the end of the last round: by the gate if a version reached it, else by the challenge."""
        number = self.rounds()[-1]
        if reached := self.judged(number):
            return self.gate(number, reached[-1]).failures
        if not self._store.exists(self._path(number, "challenge")):
            return []
        struck = self.adjudication(number).struck_tests if self.has_ruling(number) else []
        return self.challenge(number).without(struck)

    def rounds(self) -> list[int]:
        """The numbers of the rounds; one that a person overruled is followed by one with that ruling alone."""
        names = (n for n in self._store.names(layout.debate(self._debate_id)) if n.startswith("round-"))
        return sorted(int(name.removeprefix("round-")) for name in names)

    def falsified(self, upto: int = ALL) -> tuple[list[TriedTest], list[StruckTest]]:
        """The falsifying tests that were tried in so many rounds, and those of them that were struck (design:
        falsifying-tests)."""
        history = self.history(challenges=upto, adjudications=upto)
        tried = [one for challenge in history.challenges for one in challenge.falsifying_tests]
        return tried, [one for ruling in history.adjudications for one in ruling.struck_tests]

    def amended(self, number: int) -> AmendmentsAnswer | None:
        """The Proposer's word on the amendments of a round, if there were any."""
        return self.amendments(number)[2] if self._store.exists(self._path(number, "amendments")) else None

    def judged(self, number: int) -> list[str]:
        """The versions of a round that reached the gate."""
        names = self._store.names(layout.debate_round(self._debate_id, number))
        return [n.removeprefix("gate-").removesuffix(".json") for n in names if n.startswith("gate-")]

    def history(self, proposals: int = ALL, challenges: int = ALL, adjudications: int = ALL) -> DebateHistory:
        """The debate as it was at some point: the records of so many rounds.

        A step that runs again after a crash must not see what came after it, so every step says how much it saw.
        """
        upto = {"proposal": proposals, "challenge": challenges, "adjudication": adjudications}
        return DebateHistory(*(self._read_all(name, upto[name]) for name in upto))

    def _path(self, number: int, kind: str) -> str:
        return layout.round_record(self._debate_id, number, kind)

    def _read_all(self, kind: str, upto: int) -> list[Any]:
        paths = [self._path(number, kind) for number in self.rounds() if number <= upto]
        return [_KINDS[kind].from_bytes(self._store.read(p), p) for p in paths if self._store.exists(p)]


class DebateStore:
    """`debates/`."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def ids(self) -> list[str]:
        """Every debate, by the id of its first proposal."""
        return self._store.names(layout.DEBATES)

    def records(self, debate_id: str) -> DebateRecords:
        """The records of one debate."""
        return DebateRecords(self._store, debate_id)
