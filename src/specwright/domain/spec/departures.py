"""Where a spec departs from SPEC.md: what is not built, what is built otherwise, and what was decided where SPEC.md leaves a
case open (design: outside, decisions).

The researcher names what is not built, or not shown, as it says with its sentence, and code checks that it stands there.
What it passed over is looked for by the words that such a sentence has, as a warning for the person who approves. Each task
has a list of its own decisions; a sketch may say one too, in a line that begins with `Decided:`. The number of a decision is
its place in the whole spec, and is good for the draft that shows it.
"""

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple, cast

from specwright.domain.base.markdown_text import inline, printable
from specwright.domain.interfaces.records import OutsideScope
from specwright.domain.spec.completeness import Deficiency, Severity
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft
from specwright.domain.spec.statements import Statement, holds, same_words, statements, values_in

_SHORTEST = 8
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_PART = re.compile(r"[a-z0-9.]{2,}")
_MARK = re.compile(r"^Decided:\s*")
_NARROWS = "out of scope:"
_NUMBERS = r"#?\d{1,4}(?:\s*(?:,|and|,\s*and)\s*#?\d{1,4})*"
_NAMED = re.compile(rf"\bdecisions?\s+({_NUMBERS})", re.IGNORECASE)


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


_UNITS = r"(?:milliseconds?|seconds?|minutes?|hours?|days?|nights?|mornings?|weeks?|mondays?)"


class OutsideKind(Enum):
    """A kind of thing that is not built, or cannot be shown: what it is called, in the researcher's request as well, and the
    words by which a sentence asks for it."""

    CONCURRENCY = (
        "several things at a time, by one program or by two",
        r"concurren\w+|in parallel|parallel(?:ly|i[sz]\w+)?|multi-?thread\w*|multi-?process\w*|threads?|thread pools?|"
        r"worker (?:pool|process)\w*|background threads?|simultaneous\w*|race conditions?|all (?:cores|CPUs)|"
        r"at (?:the same|one) (?:time|moment)|\w+ workers",
    )
    SERVICE = (
        "a program that keeps running or works by itself",
        r"daemon\w*|cron\w*|schedul(?:er|es?|ed|ing)|background (?:service|process|job|task|worker)s?|"
        r"in the background|long[- ]running|(?:keeps?|stays?|remains?) (?:running|resident|connected|open)|"
        r"runs? (?:forever|continuously|all the time|as a service|around the clock|all day|permanently)|24/7|polls?|"
        r"polling|web ?sockets?|push notifications?|systemd|live updates?|"
        r"watch(?:es)? (?:the|a|for) (?:folders?|director(?:y|ies)|changes?|new files?)|"
        r"(?:as soon as|whenever) a (?:file|note|mail|message)\b.* (?:changes|appears|arrives|comes)|"
        rf"every (?:\w+ )?{_UNITS}|each {_UNITS} at",
    )
    WINDOWS = (
        "a graphical interface",
        r"GUIs?|graphical\w*|desktop (?:app\w*|window|program)|mobile apps?|(?:phone|iOS|Android|iPhone) apps?|tkinter|"
        r"PyQt\w*|Qt|Electron|buttons?|drag\w*[- ](?:and|&)[- ]drop\w*|drag \w+ (?:on|in)to|click\w*|mouse|dialogs?|"
        r"pop-?ups?|(?:main|own|new|opens? an?|in a) window|menu bar|(?:system )?tray(?: icons?)?|touch ?screens?|"
        r"dashboards?|web (?:UI|app|application|interface|front-?end|dashboard|form)s?|"
        r"HTML (?:page|form|interface)s?|check ?box(?:es)?|sliders?|dark mode",
    )

    @property
    def what(self) -> str:
        """What it is called."""
        return self.value[0]

    def is_asked_by(self, sentence: str) -> bool:
        """Whether a sentence speaks of it, and does not say that it is not wanted."""
        words = re.finditer(rf"(?<![\w-])(?:{self.value[1]})(?![\w-])", sentence, re.IGNORECASE)
        return any(not _EXCEPT.search(sentence[: found.start()]) for found in words)


_EXCEPT = re.compile(
    r"(?:\b(?:no|not|never|without|nor|cannot|at most|no more than)\b|n't\b)[^;.]{0,30}$", re.IGNORECASE
)
"""What stands before words that say what is not wanted, or how often at most."""

_NOT_WANTED = re.compile(
    r"\b(?:out of scope|not|no|non-goals?|later|limits?|leaves? out|excluded)\b", re.IGNORECASE
)


def passed_over(asked: str, outside: Sequence[OutsideScope]) -> list[Deficiency]:
    """A warning for each sentence that asks for what is not built, or cannot be shown, and that `outside` does not quote.

    Args:
        asked: What was asked for.
        outside: What the spec says of it.
    """
    sentences = statements(asked)
    headings = {one.section: one.text for one in sentences if one.line == one.section}
    wanted = [one for one in sentences if not _NOT_WANTED.search(headings.get(one.section, ""))]
    return [
        _warning(kind, one)
        for one in wanted
        for kind in OutsideKind
        if kind.is_asked_by(one.text) and not any(same_words(one.text, scope.quote) for scope in outside)
    ]


def _warning(kind: OutsideKind, sentence: Statement) -> Deficiency:
    message = (
        f"this asks for {kind.what}, which is not built or cannot be shown, and nothing in `outside` says what becomes "
        f"of it: {sentence.text}"
    )
    return Deficiency(
        path="", field=f"SPEC.md line {sentence.line}", severity=Severity.WARNING, message=message
    )


def unmentioned(asked: str, spec: ProductSpec | ProductSpecDraft) -> list[Deficiency]:
    """A warning for each sentence with a number, a quoted text or code of which the spec says nothing anywhere: it may have
    been forgotten.

    Args:
        asked: What was asked for.
        spec: What was made of it.
    """
    spec_text = _without_commas("\n".join(_texts(spec.to_json())))
    found: list[Deficiency] = []
    for sentence in statements(asked):
        values = [
            value for value in dict.fromkeys(values_in(sentence.text)) if not _has_parts(spec_text, value)
        ]
        if values:
            message = f"{', '.join(values)} stands nowhere in the spec: {sentence.text}"
            found.append(
                Deficiency(
                    path="", field=f"SPEC.md line {sentence.line}", severity=Severity.WARNING, message=message
                )
            )
    return found


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for one in cast("dict[str, Any]", value).values():
                yield from _texts(one)
        case list():
            for one in cast("list[Any]", value):
                yield from _texts(one)
        case _:
            yield str(value)


def _without_commas(text: str) -> str:
    """In small letters, and numbers without the commas of their thousands."""
    return _THOUSANDS.sub("", text).casefold()


def _has_parts(text: str, value: str) -> bool:
    """Whether each word and number of a value stands in a text."""
    parts = [part.strip(".") for part in _PART.findall(_without_commas(value))]
    return all(re.search(rf"(?<![a-z0-9]){re.escape(part)}(?![a-z0-9])", text) for part in parts if part)


class Decision(NamedTuple):
    """A decision, once.

    Args:
        number: From 1, in the order of the tasks.
        text: What was decided.
        tasks: Where it applies: the ids and names of its tasks.
    """

    number: int
    text: str
    tasks: tuple[tuple[str, str], ...]

    @property
    def place(self) -> str:
        """Where it applies, `TSK-002 Split a bill`; of several tasks their ids."""
        if len(self.tasks) == 1:
            return " ".join(map(printable, self.tasks[0]))
        return ", ".join(name for name, _ in self.tasks)

    @property
    def left_out(self) -> str:
        """What it leaves out of an open word of SPEC.md, `Out of scope: links in quotes.`; empty if it is none of that
        kind (design: scope-limits)."""
        narrows = self.text.casefold().startswith(_NARROWS)
        return self.text[len(_NARROWS) :].strip() if narrows else ""

    def to_json(self) -> dict[str, Any]:
        """It for a program."""
        return {"number": self.number, "text": self.text, "tasks": [name for name, _ in self.tasks]}


def decisions_of(spec: ProductSpec | ProductSpecDraft) -> list[Decision]:
    """Every decision of a spec, each once."""
    texts: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for task in spec.tasks():
        for one in task.decided:
            text = " ".join(_MARK.sub("", one.strip()).split())
            texts.setdefault(text.rstrip(".").casefold(), (text, []))[1].append((task.task_id, task.name))
    return [
        Decision(number, text, tuple(dict.fromkeys(tasks)))
        for number, (text, tasks) in enumerate(texts.values(), start=1)
    ]


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
    told = f"{count[0].upper()}{count[1:]} An amendment that names a number has it decided otherwise."
    return "\n\n".join(("## Decisions", told, "\n".join(lines)))


def named_decisions(words: str, decisions: Sequence[Decision]) -> str:
    """What each decision says that a person's words name by its number, since the next draft counts anew; empty if they
    name none.

    Args:
        words: `Decision 3: half to even.`
        decisions: Of the draft that the words are about.
    """
    numbers = set(_numbers(words))
    quoted = [
        f'- Decision {one.number}, of {one.place}: "{one.text}"' for one in decisions if one.number in numbers
    ]
    return "\n".join(("The decisions named here:", *quoted)) if quoted else ""


def _numbers(words: str) -> Iterator[int]:
    for found in _NAMED.finditer(words):
        yield from map(int, re.findall(r"\d+", found[1]))
