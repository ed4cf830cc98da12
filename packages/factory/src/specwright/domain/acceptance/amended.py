"""What a change of a task's criteria leaves of its approved examples and properties (design: escalation,
executable-spec)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ship_gate.base.text import did_you_mean
from specwright.domain.acceptance.records import AcceptanceItem, TaskAcceptance
from specwright.errors import InputError


def amended_acceptance(
    acceptance: TaskAcceptance | None,
    before: Sequence[str],
    after: Sequence[str],
    struck: Collection[str] = (),
) -> TaskAcceptance | None:
    """The acceptance of a task whose criteria are others now; what shows a criterion follows it to its new number.

    A criterion keeps what shows it if its text is still there, or, among as many as before, if one stands in its place.

    Args:
        acceptance: Of the task.
        before: The criteria.
        after: Those that replace them.
        struck: Titles of examples and properties that hold no more.

    Raises:
        InputError: there is no such title, or what shows a criterion that is gone was not struck.
    """
    _check_titles(acceptance, struck)
    if acceptance is None:
        return None
    numbers = _numbers(before, after)

    def renumbered(items: Sequence[Any]) -> list[Any]:
        return [
            one.model_copy(update={"criteria": _left(one, numbers)})
            for one in items
            if one.title not in struck
        ]

    return acceptance.model_copy(
        update={
            "examples": renumbered(acceptance.examples),
            "properties": renumbered(acceptance.properties),
            "unexecutable": [
                one.model_copy(update={"criterion": numbers[one.criterion]})
                for one in acceptance.unexecutable
                if one.criterion in numbers
            ],
        }
    )


def _check_titles(acceptance: TaskAcceptance | None, struck: Collection[str]) -> None:
    titles = [one.title for one in acceptance.items] if acceptance else []
    if unknown := next((title for title in struck if title not in titles), None):
        raise InputError(
            f"no approved example or property has the title {unknown!r}",
            where="payload.strike_examples",
            remedy=f"{did_you_mean(unknown, titles)}the task has {', '.join(map(repr, titles)) or 'none'}",
        )


def _left(item: AcceptanceItem, numbers: Mapping[int, int]) -> list[int]:
    """The criteria that an example or a property still shows, by their new numbers."""
    left = [numbers[number] for number in item.criteria if number in numbers]
    if not left:
        raise InputError(
            f"the approved {item.title!r} shows a criterion that is gone",
            where="payload.amended_acceptance_criteria",
            remedy=f"keep that criterion, or name {item.title!r} in `strike_examples`",
        )
    return left


def _numbers(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Where each criterion stands now, by its number; those that are gone are left out."""
    found = {old: after.index(text) + 1 for old, text in enumerate(before, 1) if text in after}
    if len(before) == len(after):
        found |= {
            old: old for old in range(1, len(before) + 1) if old not in found and old not in found.values()
        }
    return found
