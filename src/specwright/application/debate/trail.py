"""A debate as its parties read it: records, failures, and why there is a round (F§9.7, D10, D15).

Nothing of it is source: what the gate quotes is left out for those who judge.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from specwright import canonical_json
from specwright.domain.answers import Failure
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import Adjudication, Challenge, Proposal

__all__ = ["Cause", "Trail", "as_block", "as_json", "as_list", "rounds_of", "without_source"]


class Cause(NamedTuple):
    """Why there is a round that no challenge and no ruling of its debate asked for (D10, D11).

    Args:
        round: Its number.
        failures: What it has to correct.
        told_by: The records that they come from, with what is shown of each.
    """

    round: int
    failures: Sequence[Failure]
    told_by: Sequence[tuple[str, str]] = ()


class Trail(NamedTuple):
    """A debate so far, by round."""

    proposals: Sequence[Proposal] = ()
    challenges: Sequence[Challenge] = ()
    adjudications: Sequence[Adjudication] = ()
    causes: Sequence[Cause] = ()


def rounds_of(trail: Trail) -> list[str]:
    """The debate in the order in which it was held."""
    told: list[str] = []
    for number in range(1, len(trail.proposals) + 2):
        told += [_why(cause) for cause in trail.causes if cause.round == number]
        for proposal in trail.proposals[number - 1 : number]:
            about = proposal.target_artifact_id  # a round without a ruling must not take the next one's
            heard = (
                ("proposal", proposal),
                *(("challenge", one) for one in trail.challenges if one.target_artifact_id == about),
                *(("adjudication", one) for one in trail.adjudications if one.target_artifact_id == about),
            )
            told += [as_block(f"Round {number}: {kind}", _told(record), "json") for kind, record in heard]
    return told


def without_source(failure: Failure) -> Failure:
    """What the gate found, for those who never see source: it quotes that in ticks, or from the second line on."""
    return failure.model_copy(update={"evidence": _CODE.sub("...", failure.evidence.partition("\n")[0])})


def _why(cause: Cause) -> str:
    listed = "\n".join(f"- {failure.invariant}: {failure.evidence}" for failure in cause.failures)
    return f"# Why there is a round {cause.round}\n\n{listed}"


_CODE = re.compile(r"`[^`]*`")


def _told(record: Proposal | Challenge | Adjudication) -> str:
    """A record of the debate; of falsifying tests only those that failed are shown, without what binds them."""
    if not isinstance(record, Challenge) or not record.falsifying_tests:
        return as_json(record)
    told = record.to_json()
    told["falsifying_tests"] = [
        {name: value for name, value in tried.to_json().items() if name != "contract_sha256"}
        for tried in record.counterexamples
    ]
    told["falsifying_tests_passed"] = [tried.name for tried in record.falsifying_tests if not tried.failed]
    return canonical_json.pretty(told).decode()


def as_list(failures: Sequence[Failure]) -> str:
    """Failures, numbered."""
    return "\n".join(f"{n}. {f.invariant}\n{_shown(f)}" for n, f in enumerate(failures, start=1))


def _shown(failure: Failure) -> str:
    """Evidence and change, or once what is both: a ruling's rationale, a finding of the gate."""
    evidence = "" if failure.evidence == failure.required_change else f"   Evidence: {failure.evidence}\n"
    return f"{evidence}   Required: {failure.required_change}"


def as_json(record: Proposal | Challenge | Adjudication | MicroModuleContract) -> str:
    """A record, for reading."""
    return canonical_json.pretty(record.to_json()).decode()


def as_block(title: str, text: str, language: str) -> str:
    """A titled text, fenced."""
    return f"# {title}\n\n````{language}\n{text.rstrip()}\n````"
