"""Where a spec departs from SPEC.md: what is not built, what is built otherwise, and what was decided where SPEC.md leaves a
case open (design: product-spec).

The researcher names what is not built, or not shown, as it says with its sentence, and code checks that it stands there.
Each task has a list of its own decisions. The number of a decision is its place in the whole spec, and is good for the draft
that shows it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ship_gate.base.markdown_text import printable
from ship_gate.base.record import Record
from ship_gate.base.text import holds, one_line
from specwright.domain.interfaces.records import OutsideScope
from specwright.domain.spec.product_spec import ProductSpecDraft

_SHORTEST = 8


def outside_problems(outside: Sequence[OutsideScope], text: str) -> list[str]:
    """The entries whose quotation does not stand in a text, or says nothing.

    Args:
        outside: Of a draft.
        text: What was asked for.
    """
    problems: list[str] = []
    for place, one in enumerate(outside):
        if len(one.quote) < _SHORTEST:
            problems.append(f"outside[{place}].quote: {one.quote!r} is no sentence; quote the whole one")
        elif not holds(text, one.quote):
            problems.append(
                f"outside[{place}].quote: {one.quote!r} does not stand in SPEC.md; quote its sentence to the letter"
            )
        elif any(one.quote == earlier.quote for earlier in outside[:place]):
            problems.append(f"outside[{place}].quote: {one.quote!r} is quoted twice; say it in one entry")
    return problems


class Decision(Record):
    """A decision, once.

    Args:
        number: From 1, in the order of the tasks.
        text: What was decided.
        tasks: The ids of the tasks where it applies.
        place: Where it applies, `TSK-002 Split a bill`; of several tasks their ids.
    """

    number: int
    text: str
    tasks: list[str]
    place: str


def decisions_of(spec: ProductSpecDraft) -> list[Decision]:
    """Every decision of a spec, each once."""
    texts: dict[str, tuple[str, dict[str, str]]] = {}
    for task in spec.tasks():
        for one in task.decisions:
            text = " ".join(one.split())
            texts.setdefault(text.rstrip(".").casefold(), (text, {}))[1][task.task_id] = task.name
    return [
        Decision(number=number, text=text, tasks=[*tasks], place=_place(tasks))
        for number, (text, tasks) in enumerate(texts.values(), start=1)
    ]


def _place(tasks: Mapping[str, str]) -> str:
    return ", ".join(tasks) if len(tasks) > 1 else printable(" ".join(*tasks.items()))


class Departures(NamedTuple):
    """The departures of one kind, as a chapter of `spec.md` and at the approval gate.

    Args:
        heading: Of the chapter.
        sentence: How many there are.
        lines: Each on a line.
        hint: What a person can do about them, by the number of a line; empty if nothing, and they have no numbers.
    """

    heading: str
    sentence: str
    lines: Sequence[str]
    hint: str = ""


def departures(outside: Sequence[OutsideScope], decisions: Sequence[Decision]) -> list[Departures]:
    """The departures of each kind that there are, in the order in which they are read."""
    missing = [one for one in outside if not one.instead]
    otherwise = [one for one in outside if one.instead]
    found = [
        Departures(
            "Not built",
            f"SPEC.md asks for this, and it will be missing ({len(missing)} in all).",
            [f'"{one_line(one.quote)}": {one.why}' for one in missing],
        ),
        Departures(
            "Built otherwise",
            f"SPEC.md asks for this, and it will be built in part, or otherwise ({len(otherwise)} in all).",
            [f'"{one_line(one.quote)}": {one.why} Built: {one.instead}' for one in otherwise],
        ),
        Departures(
            "Decisions",
            f"SPEC.md left {len(decisions)} case{'s' if len(decisions) > 1 else ''} open. They will work like this.",
            [f"{one.text} ({one.place})" for one in decisions],
            " `specwright amend --decision N TEXT` changes one.",
        ),
    ]
    return [one for one in found if one.lines]
