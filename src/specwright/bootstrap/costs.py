"""What a project asked of models, from its journal: by role, task, module, round or kind of content (design: costs)."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from specwright.bootstrap.reading import RUNTIME
from specwright.errors import CorruptionError
from specwright.journal.records import JournalRecord, read_records
from specwright.ports.journal import tokens_of

Division = Literal["role", "task", "module", "round", "content"]
"""How costs are divided."""


class Cost(NamedTuple):
    """A sum over model answers, each counted once.

    Args:
        requests: How many.
        characters: Of the requests; 0 where an older journal does not say.
        input_tokens: As the provider counts them; 0 if it does not.
        output_tokens: The same.
    """

    requests: int = 0
    characters: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def plus(self, other: "Cost") -> "Cost":
        """The sum of both."""
        return Cost(*(a + b for a, b in zip(self, other, strict=True)))


def costs(directory: Path, by: Division) -> dict[str, Cost]:
    """The costs of a project, the largest part first.

    By content, a part's requests are those that hold it, and its tokens are its share of theirs by characters.

    Raises:
        CorruptionError: the journal is damaged.
    """
    sums: dict[str, Cost] = {}
    journal = directory / RUNTIME / "journal.jsonl"
    for record in read_records(journal, "model") if journal.exists() else ():
        try:
            parts = _parts(record, by)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CorruptionError(
                "the journal has an answer that is none of a model",
                where=f"{journal}, {record.place.scope} {record.place.ordinal}",
                remedy="restore the file from a copy; `specwright verify` lists the damage",
            ) from error
        for part, cost in parts.items():
            sums[part] = sums.get(part, Cost()).plus(cost)
    return dict(sorted(sums.items(), key=lambda item: (-item[1].input_tokens, -item[1].characters)))


def total_cost(directory: Path) -> Cost:
    """The sum over a project."""
    whole = Cost()
    for cost in costs(directory, "role").values():
        whole = whole.plus(cost)
    return whole


def _parts(record: JournalRecord, by: Division) -> dict[str, Cost]:
    answer = cast(Mapping[str, Any], record.answer)
    tokens_in, tokens_out = tokens_of(record.answer)
    content: Counter[str] = Counter(answer.get("asked") or {})
    if by == "content":
        share = tokens_in / max(1, content.total())
        parts = {kind: Cost(1, size, round(size * share)) for kind, size in content.items()}
        return {**parts, "answers": Cost(1, 0, 0, tokens_out)}
    return {_place(by, record.place.scope): Cost(1, content.total(), tokens_in, tokens_out)}


def _place(by: Division, scope: str) -> str:
    """The part that an invocation, `TSK-003.1/split_evenly/round-1/proposer`, belongs to."""
    run, *middle, role = scope.split("/")
    task = run.partition(".")[0]
    subject, stage = (*middle, "", "")[:2]
    parts = {"role": role, "task": task, "module": f"{task} {subject}", "round": f"{task} {subject} {stage}"}
    return parts[by].strip()
