"""The records of one debate: one directory per round, and the last round also at F§7's path (D15)."""

from typing import Any

from specwright import canonical_json
from specwright.application.debate.deliverable import Judged
from specwright.application.debate.trail import Trail
from specwright.domain.answers import AmendmentsAnswer, Failure, StruckTest
from specwright.domain.debate import Adjudication, Challenge, Proposal
from specwright.domain.falsifying import TriedTest
from specwright.domain.record import Record
from specwright.ports.store import StateStore

__all__ = ["DebateRecords"]

ALL = 1_000_000

_KINDS: dict[str, type[Record]] = {"proposal": Proposal, "challenge": Challenge, "adjudication": Adjudication}


class DebateRecords:
    """`debates/{id of the first proposal}/`. A round's records are written once."""

    def __init__(self, store: StateStore, debate_id: str) -> None:
        self._store = store
        self._base = f"debates/{debate_id}"

    def write_proposal(self, number: int, record: Proposal) -> None:
        """Open a round."""
        self._write(number, "proposal", record)

    def write_challenge(self, number: int, record: Challenge) -> None:
        """Record the Challenger's verdict."""
        self._write(number, "challenge", record)

    def write_adjudication(self, number: int, record: Adjudication) -> None:
        """Record the Arbiter's ruling."""
        self._write(number, "adjudication", record)

    def write_amendments(
        self, number: int, before: str, after: str, answer: AmendmentsAnswer
    ) -> dict[str, bytes]:
        """Record what became of the amendments; returns the record by its path."""
        data = {"before": before, "after": after, "answer": answer.to_json()}
        path = f"{self._base}/round-{number}/amendments.json"
        record = canonical_json.pretty(data)
        self._store.publish(path, record)
        return {path: record}

    def write_gate(self, number: int, target: str, judged: Judged) -> bytes:
        """Record what the gate found at the end of a round; returns the record."""
        failures = [failure.to_json() for failure in judged.failures]
        data = {"target": target, "failures": failures, "observed": judged.observed}
        record = canonical_json.pretty(data)
        self._store.publish(f"{self._base}/round-{number}/gate-{target}.json", record)
        return record

    def challenge(self, number: int) -> Challenge:
        """The verdict of a round."""
        path = f"{self._base}/round-{number}/challenge.json"
        return Challenge.from_bytes(self._store.read(path), path)

    def adjudication(self, number: int) -> Adjudication:
        """The ruling of a round."""
        path = f"{self._base}/round-{number}/adjudication.json"
        return Adjudication.from_bytes(self._store.read(path), path)

    def amendments(self, number: int) -> tuple[str, str, AmendmentsAnswer]:
        """The deliverable before and after amendments, and the Proposer's word on each."""
        data = canonical_json.loads(self._store.read(f"{self._base}/round-{number}/amendments.json"))
        return data["before"], data["after"], AmendmentsAnswer.model_validate(data["answer"])

    def gate(self, number: int, target: str) -> Judged:
        """What the gate found."""
        data = canonical_json.loads(self._store.read(f"{self._base}/round-{number}/gate-{target}.json"))
        failures = [Failure.model_validate(failure) for failure in data["failures"]]
        return Judged(failures, data.get("observed", {}))

    def gate_failures(self, number: int, target: str) -> list[Failure]:
        """What the gate found wrong."""
        return self.gate(number, target).failures

    def last_gate(self) -> dict[str, Any]:
        """What the gate saw of the newest version that reached it, as the escalation tells it; empty if none did."""
        for number in reversed(self.rounds()):
            if reached := self.judged(number):
                return self.gate(number, reached[-1]).observed
        return {}

    def rounds(self) -> list[int]:
        """The numbers of the rounds; one that a person overruled is followed by one with that ruling alone."""
        names = (n for n in self._store.names(self._base) if n.startswith("round-"))
        return sorted(int(name.removeprefix("round-")) for name in names)

    def falsified(self, upto: int = ALL) -> tuple[list[TriedTest], list[StruckTest]]:
        """The falsifying tests that were tried in so many rounds, and those of them that were struck (D13)."""
        trail = self.trail(challenges=upto, adjudications=upto)
        tried = [one for challenge in trail.challenges for one in challenge.falsifying_tests]
        return tried, [one for ruling in trail.adjudications for one in ruling.struck_tests]

    def amended(self, number: int) -> AmendmentsAnswer | None:
        """The Proposer's word on the amendments of a round, if there were any."""
        asked = self._store.exists(f"{self._base}/round-{number}/amendments.json")
        return self.amendments(number)[2] if asked else None

    def judged(self, number: int) -> list[str]:
        """The deliverables of a round that reached the gate."""
        names = self._store.names(f"{self._base}/round-{number}")
        return [n.removeprefix("gate-").removesuffix(".json") for n in names if n.startswith("gate-")]

    def trail(self, proposals: int = ALL, challenges: int = ALL, adjudications: int = ALL) -> Trail:
        """The debate as it was at some point: the records of so many rounds.

        A step that runs again after a crash must not see what came after it, so every step says how much it saw.
        """
        upto = {"proposal": proposals, "challenge": challenges, "adjudication": adjudications}
        return Trail(*(self._read_all(name, upto[name]) for name in upto))

    def _read_all(self, name: str, upto: int) -> list[Any]:
        paths = [f"{self._base}/round-{number}/{name}.json" for number in self.rounds() if number <= upto]
        return [_KINDS[name].from_bytes(self._store.read(p), p) for p in paths if self._store.exists(p)]

    def _write(self, number: int, name: str, record: Record) -> None:
        data = record.to_bytes()
        self._store.publish(f"{self._base}/round-{number}/{name}.json", data)
        self._store.replace(f"{self._base}/{name}.json", data)
