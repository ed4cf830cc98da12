"""Changes of contracts that a Challenger proposes to the letter, and an Arbiter takes over by number (design:
exact-changes)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ship_gate.contract.contract import MicroModuleContract
from specwright.domain.answers.answers import Amendment, ArbiterAnswer, Decision, Failure
from specwright.domain.debate.amendments import target_problems, unreachable_targets
from specwright.domain.debate.debate import Challenge


class OfferedChange(NamedTuple):
    """A change that an Arbiter may take over.

    Args:
        amendment: The change.
        about: The failure that it corrects.
    """

    amendment: Amendment
    about: Failure


def changes_of(failures: Sequence[Failure]) -> list[Amendment]:
    """The exact changes of failures, each once."""
    found: list[Amendment] = []
    for change in (change for failure in failures for change in failure.exact_changes):
        if change not in found:
            found.append(change)
    return found


def offered_changes(
    failures: Sequence[Failure], contracts: Mapping[str, MicroModuleContract]
) -> list[OfferedChange]:
    """What the failures of the last challenge propose, without changes that cannot be made in the contracts as they are.

    Args:
        failures: Of the challenge.
        contracts: As they are judged, by name.
    """
    offers: dict[str, OfferedChange] = {}
    for failure in failures:
        for change in failure.exact_changes:
            if not target_problems([change], contracts=True) + unreachable_targets([change], {}, contracts):
                offers.setdefault(str(change.to_json()), OfferedChange(change, failure))
    return list(offers.values())


def accepted_problems(answer: ArbiterAnswer, offers: Sequence[OfferedChange]) -> Iterator[str]:
    """Numbers that no offered change has."""
    for number in answer.accepted_changes:
        if number > len(offers):
            known = f"1 to {len(offers)}" if offers else "there are none"
            yield f"accepted_changes: no exact change has the number {number}; {known}"


def taken_over(answer: ArbiterAnswer, offers: Sequence[OfferedChange]) -> ArbiterAnswer:
    """A ruling with what it accepts among its amendments; numbers without a change are left out."""
    accepted = [offers[n - 1].amendment for n in dict.fromkeys(answer.accepted_changes) if n <= len(offers)]
    amendments = [*accepted, *(one for one in answer.amendments if one not in accepted)]
    return answer.model_copy(update={"amendments": amendments})


def unmended(answer: ArbiterAnswer, challenge: Challenge) -> list[Failure]:
    """The failures of a challenge for which a ruling, as `taken_over` makes it, changes less than they ask for."""
    targets = {one.target for one in answer.amendments}
    return [one for one in challenge.failures if any(c.target not in targets for c in one.exact_changes)]


def may_amend(answer: ArbiterAnswer, challenge: Challenge) -> bool:
    """Whether a ruling may mend what a FAIL found instead of sending it back."""
    mends = challenge.mendable and answer.decision is Decision.APPROVE_WITH_AMENDMENTS
    return mends and not unmended(answer, challenge)
