"""The records of one debate: one directory per round, and the last round also at F§7's path (D15)."""

from specwright import canonical_json
from specwright.application.briefs import Trail
from specwright.domain.answers import AmendmentsAnswer, Failure
from specwright.domain.debate import Adjudication, Challenge, Proposal
from specwright.domain.record import Record
from specwright.ports.store import StateStore

__all__ = ["DebateRecords"]


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

    def write_amendments(self, number: int, before: str, after: str, answer: AmendmentsAnswer) -> None:
        """Record what became of the amendments."""
        data = {"before": before, "after": after, "answer": answer.to_json()}
        self._store.publish(f"{self._base}/round-{number}/amendments.json", canonical_json.pretty(data))

    def write_gate(self, number: int, target: str, failures: list[Failure]) -> None:
        """Record what the gate found at the end of a round."""
        data = {"target": target, "failures": [failure.to_json() for failure in failures]}
        self._store.publish(f"{self._base}/round-{number}/gate-{target}.json", canonical_json.pretty(data))

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

    def gate_failures(self, number: int, target: str) -> list[Failure]:
        """What the gate found."""
        data = canonical_json.loads(self._store.read(f"{self._base}/round-{number}/gate-{target}.json"))
        return [Failure.model_validate(failure) for failure in data["failures"]]

    def trail(self) -> Trail:
        """All rounds so far."""
        rounds = sorted(
            (name for name in self._store.names(self._base) if name.startswith("round-")),
            key=lambda name: int(name.removeprefix("round-")),
        )
        proposals: list[Proposal] = []
        challenges: list[Challenge] = []
        adjudications: list[Adjudication] = []
        for name in rounds:
            base = f"{self._base}/{name}"
            if self._store.exists(f"{base}/proposal.json"):
                proposals.append(Proposal.from_bytes(self._store.read(f"{base}/proposal.json"), base))
            if self._store.exists(f"{base}/challenge.json"):
                challenges.append(Challenge.from_bytes(self._store.read(f"{base}/challenge.json"), base))
            if self._store.exists(f"{base}/adjudication.json"):
                adjudications.append(
                    Adjudication.from_bytes(self._store.read(f"{base}/adjudication.json"), base)
                )
        return Trail(proposals, challenges, adjudications)

    def _write(self, number: int, name: str, record: Record) -> None:
        data = record.to_bytes()
        self._store.publish(f"{self._base}/round-{number}/{name}.json", data)
        self._store.replace(f"{self._base}/{name}.json", data)
