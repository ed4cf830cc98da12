"""Where a spec departs from SPEC.md: what is not built, what is built otherwise, and what was decided where SPEC.md leaves a
case open (design: outside, decisions).

The researcher names what is not built, or not shown, as it says with its sentence, and code checks that it stands there.
Each task has a list of its own decisions. The number of a decision is its place in the whole spec, and is good for the draft
that shows it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ship_gate.base.markdown_text import inline, printable
from ship_gate.base.record import Record
from ship_gate.base.text import holds, one_line
from specwright.domain.interfaces.records import OutsideScope
from specwright.domain.spec.product_spec import ProductSpecDraft

_SHORTEST = 8
_NARROWS = "out of scope:"


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

    @property
    def left_out(self) -> str:
        """What it leaves out of an open word of SPEC.md, `Out of scope: links in quotes.`; empty if it is none of that
        kind (design: scope-limits)."""
        narrows = self.text.casefold().startswith(_NARROWS)
        return self.text[len(_NARROWS) :].strip() if narrows else ""


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
    return (
        ", ".join(tasks)
        if len(tasks) > 1
        else " ".join(printable(part) for one in tasks.items() for part in one)
    )


class Departures(NamedTuple):
    """The departures of one kind, as a chapter of `spec.md` and at the approval gate.

    Args:
        heading: Of the chapter.
        sentence: How many there are.
        lines: Each on a line.
        body: All of them in Markdown.
        hint: What a person can do about them.
        numbered: Whether each line begins with the number by which a person names it.
    """

    heading: str
    sentence: str
    lines: Sequence[str]
    body: str
    hint: str = ""
    numbered: bool = False

    @property
    def chapter(self) -> str:
        """In Markdown."""
        return f"## {self.heading}\n\n{self.sentence[0].upper()}{self.sentence[1:]}{self.hint}\n\n{self.body}"


def departures(outside: Sequence[OutsideScope], decisions: Sequence[Decision]) -> list[Departures]:
    """The departures of each kind that there are, in the order in which they are read."""
    missing = [one for one in outside if not one.instead]
    otherwise = [one for one in outside if one.instead]
    narrowed = [one for one in decisions if one.left_out]
    is_one, are = len(narrowed) == 1, "is" if len(otherwise) == 1 else "are"
    kinds = "one kind of input is" if is_one else f"{len(narrowed)} kinds of input are"
    cases = "one case" if len(decisions) == 1 else f"{len(decisions)} cases"
    found = [
        Departures(
            "Not built", f"{_things(missing)} cannot be built, and will be missing.", *_quoted(missing)
        ),
        Departures(
            "Built otherwise", f"{_things(otherwise)} {are} built in part, or otherwise.", *_quoted(otherwise)
        ),
        Departures(
            "Built in part",
            f"{kinds} out of scope: what comes out of {'it' if is_one else 'them'} is an error or any value.",
            [f"{one.left_out} ({one.place})" for one in narrowed],
            "\n".join(f"- {inline(one.left_out)} (decision {one.number}, {one.place})" for one in narrowed),
        ),
        Departures(
            "Decisions",
            f"{cases} that SPEC.md leaves open {'is' if len(decisions) == 1 else 'are'} decided as follows.",
            [f"{one.number}  {one.text} ({one.place})" for one in decisions],
            "\n".join(f"{one.number}. {inline(one.text)} ({one.place})" for one in decisions),
            " `specwright amend --decision N TEXT` has one decided otherwise.",
            numbered=True,
        ),
    ]
    return [one for one in found if one.lines]


def _things(scopes: Sequence[OutsideScope]) -> str:
    return f"{'one thing' if len(scopes) == 1 else f'{len(scopes)} things'} that SPEC.md asks for"


def _quoted(scopes: Sequence[OutsideScope]) -> tuple[list[str], str]:
    """Each sentence, why it is not built so, and what is built of it: on a line, and in Markdown."""
    lines, blocks = list[str](), list[str]()
    for one in scopes:
        built = f" Built: {one.instead}" if one.instead else ""
        lines.append(f'"{one_line(one.quote)}": {one.why}{built}')
        blocks += [f"> {printable(one.quote)}", inline(one.why)]
        blocks += [f"Built: {inline(one.instead)}"] if one.instead else []
    return lines, "\n\n".join(blocks)
