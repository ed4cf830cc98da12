"""Where a spec departs from SPEC.md: what is not built, what is built otherwise, and what was decided where SPEC.md leaves a
case open (design: outside, decisions).

The researcher names what is not built, or not shown, as it says with its sentence, and code checks that it stands there.
Each task has a list of its own decisions. The number of a decision is its place in the whole spec, and is good for the draft
that shows it.
"""

from collections.abc import Mapping, Sequence

from ship_gate.base.markdown_text import inline, printable
from ship_gate.base.record import Record
from ship_gate.base.text import holds
from specwright.domain.interfaces.records import OutsideScope
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft

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


def missing(outside: Sequence[OutsideScope]) -> list[OutsideScope]:
    """What is not built at all."""
    return [one for one in outside if not one.instead]


def built_otherwise(outside: Sequence[OutsideScope]) -> list[OutsideScope]:
    """What is built in part, or in another form than SPEC.md says."""
    return [one for one in outside if one.instead]


def missing_count(scopes: Sequence[OutsideScope]) -> str:
    """How much is missing, in a sentence."""
    return f"{_things(scopes)} cannot be built, and will be missing."


def otherwise_count(scopes: Sequence[OutsideScope]) -> str:
    """How much is built otherwise, in a sentence."""
    return f"{_things(scopes)} {'is' if len(scopes) == 1 else 'are'} built in part, or otherwise."


def outside_text(outside: Sequence[OutsideScope]) -> list[str]:
    """The chapters of `spec.md`, which stand first: each sentence, why it is not built so, and what is built of it."""
    parts = (
        ("Not built", missing_count, missing(outside)),
        ("Built otherwise", otherwise_count, built_otherwise(outside)),
    )
    return [_chapter(heading, count(scopes), scopes) for heading, count, scopes in parts if scopes]


def _chapter(heading: str, count: str, scopes: Sequence[OutsideScope]) -> str:
    entries = [
        f"> {printable(one.quote)}\n\n{inline(one.why)}"
        + (f"\n\nBuilt: {inline(one.instead)}" if one.instead else "")
        for one in scopes
    ]
    return "\n\n".join([f"## {heading}", f"{count[0].upper()}{count[1:]}", *entries])


def _things(scopes: Sequence[OutsideScope]) -> str:
    return f"{'one thing' if len(scopes) == 1 else f'{len(scopes)} things'} that SPEC.md asks for"


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


def decisions_of(spec: ProductSpec | ProductSpecDraft) -> list[Decision]:
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


def narrowings(decisions: Sequence[Decision]) -> list[Decision]:
    """Those by which something is built in part."""
    return [one for one in decisions if one.left_out]


def narrowings_count(decisions: Sequence[Decision]) -> str:
    """How many there are, in a sentence."""
    few = len(decisions) == 1
    count = "one kind of input is" if few else f"{len(decisions)} kinds of input are"
    return f"{count} out of scope: what comes out of {'it' if few else 'them'} is an error or any value."


def narrowings_text(decisions: Sequence[Decision]) -> list[str]:
    """The chapter of `spec.md`, if there is anything to say in it."""
    if not (found := narrowings(decisions)):
        return []
    count = narrowings_count(found)
    lines = "\n".join(f"- {inline(one.left_out)} (decision {one.number}, {one.place})" for one in found)
    return ["\n\n".join(("## Built in part", f"{count[0].upper()}{count[1:]}", lines))]


def decisions_count(decisions: Sequence[Decision]) -> str:
    """How many there are, in a sentence."""
    count = "one case" if len(decisions) == 1 else f"{len(decisions)} cases"
    return f"{count} that SPEC.md leaves open {'is' if len(decisions) == 1 else 'are'} decided as follows."


def decisions_text(decisions: Sequence[Decision]) -> str:
    """The chapter of `spec.md`: each decision with where it applies."""
    count = decisions_count(decisions)
    lines = [f"{one.number}. {inline(one.text)} ({one.place})" for one in decisions]
    told = f"{count[0].upper()}{count[1:]} `specwright amend --decision N TEXT` has one decided otherwise."
    return "\n\n".join(("## Decisions", told, "\n".join(lines)))
