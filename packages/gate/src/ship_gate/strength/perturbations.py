"""What the gate changes on the way from the module to a test: which answer, and into what (design: ship-gate).

A change keeps the type of a value, so that a test fails by it because it read the value. Values are changed where they
are decoded (`inside.variants`); what is chosen here is the call, the way, and another answer in its place.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import chain, islice
from typing import Any, NamedTuple

from ship_gate.inside.codec import Codec
from ship_gate.inside.values import Items
from ship_gate.inside.variants.changes import FILE_WAYS, WAYS

_MOST_CALLS = 5
_FEW_CALLS = 2
_MOST_OTHERS = 3
_NOTHING = Codec({}).encode(None)
_EMPTY: tuple[object, ...] = (
    None,
    "",
    b"",
    list[str](),
    (),
    dict[str, str](),
    set[str](),
    frozenset[str](),
    Items([]),
)
NOTHING_MUCH = frozenset(map(Codec({}).encode, _EMPTY))
"""Answers that hold nothing, as they cross."""
_SAME_SHAPE = {"other", "last", "order"}


NO_ANSWER: dict[str, Any] = {
    "error": [["specwright", "NoAnswer"], ["builtins", "BaseException"]],
    "message": "no module is here",
}
"""The reply where nobody answers."""


class Aspect(StrEnum):
    """What of an answer is changed."""

    VALUE = "what the call returned"
    ERROR = "that the call raised an error"
    FILES = "what the call wrote to files"
    REQUESTS = "what the call asked hosts"
    ASKED = "that the call asked hosts"
    NAMES = "which files there are after the call"
    PRINTED = "what the call printed"
    SLEPT = "how long the call slept"
    ARGUMENTS = "that the call left its arguments alone"
    KIND = "that the call returned anything but None"
    RETURN = "that the call came to its end without an error"


class Answer(NamedTuple):
    """A call that a test made, and what came of it.

    Args:
        entry: The entry point.
        arguments: As they crossed.
        errors: The names of an exception's class and bases, if it raised one.
        payload: What it returned, or the exception's arguments, as they crossed.
        printed: What it printed.
        slept: Whether it slept.
        requests: Method, and scheme, host and port, of what it asked.
    """

    entry: str
    arguments: bytes
    errors: tuple[str, ...]
    payload: bytes
    printed: str
    slept: bool = False
    requests: tuple[tuple[str, tuple[str, str, int]], ...] = ()


class Perturbation(NamedTuple):
    """A change of one answer; the same call of a test with the same arguments is changed each time.

    Args:
        aspect: What is changed.
        call: Which of the test's different calls; -1 stands for all that are made outside of a test.
        answer: What came of it.
        reply: What is sent in place of it, or beside it.
        part: Which part of a tuple, if only one.
        strict: Whether only a failed assertion shows that the test noticed; the shape of the value changed too.
    """

    aspect: Aspect
    call: int
    answer: Answer
    reply: dict[str, Any]
    part: int | None = None
    strict: bool = False


def perturbations_of(
    answers: Sequence[Answer],
    others: Sequence[Answer],
    parts: Sequence[int],
    *,
    files: bool,
    whole: bool = False,
    alone: bool = False,
) -> Iterator[Perturbation]:
    """The perturbations to try of a test's answers, those that most tests notice first.

    Args:
        answers: Of the test's different calls, in their order.
        others: Of other tests, which may stand in place of its own.
        parts: Of a tuple, that are perturbed by themselves as well.
        files: Whether the module may write files.
        whole: Whether it matters that a test notices all that can be changed of one answer.
        alone: Whether nothing comes of a call but that it ends, so that an error in its place is all that can be noticed.
    """
    places = [*range(len(answers))]
    calls = [(at, answers[at]) for at in (*places[: _MOST_CALLS - 1], *places[_MOST_CALLS - 1 :][-1:])]
    values = [(at, answer) for at, answer in calls if not answer.errors]
    if whole:
        # of equal parts an order would be no other one
        much = max(values, key=lambda value: _variety(value[1].payload), default=None)
        yield from _of_values([much] if much else [], WAYS, parts, with_all=not parts)
    for at, answer in calls:
        if answer.errors:
            yield from _value_for_error(at, answer, answers, others)
    yield from (Perturbation(Aspect.RETURN, at, answer, NO_ANSWER) for at, answer in values if alone)
    yield from _of_values(values, WAYS[:1], parts)
    for variation in FILE_WAYS if files else ():
        aspect = Aspect.NAMES if variation == "undo" else Aspect.FILES
        yield from (Perturbation(aspect, at, answer, {"files": variation}) for at, answer in calls)
    for how, aspect in (("altered", Aspect.REQUESTS), ("unasked", Aspect.ASKED)):
        yield from (Perturbation(aspect, at, one, {"requests": how}) for at, one in calls if one.requests)
    for text in ("~", ""):
        printed = [(at, answer) for at, answer in calls if answer.printed]
        yield from (Perturbation(Aspect.PRINTED, at, one, {"out": text, "err": text}) for at, one in printed)
    for how in ("longer", "unslept"):
        slept = [(at, answer) for at, answer in calls if answer.slept]
        yield from (Perturbation(Aspect.SLEPT, at, one, {"slept": how}) for at, one in slept)
    # what fewer tests need is tried of fewer calls
    values = values[:_FEW_CALLS]
    yield from _of_values(values, WAYS[1:2], parts)
    yield from _of_others(values, answers, others, parts)
    yield from _of_values(values, ("argument", *WAYS[2:], "none"), parts)
    yield from (
        Perturbation(Aspect.ARGUMENTS, at, answer, {"spoil": True}) for at, answer in calls[:_FEW_CALLS]
    )


def _variety(payload: bytes) -> tuple[int, int]:
    """How much an answer holds, and how many different things."""
    return len(payload), len({*payload.split(b",")})


def _of_values(
    values: Sequence[tuple[int, Answer]],
    variations: Sequence[str],
    parts: Sequence[int],
    *,
    with_all: bool = True,
) -> Iterator[Perturbation]:
    for variation in variations:
        aspect = Aspect.KIND if variation == "none" else Aspect.VALUE
        for at, answer in values:
            for part in (*parts, *([None] if with_all else [])) if answer.payload != _NOTHING else ():
                reply = {"change": variation} if part is None else {"change": variation, "part": part}
                yield Perturbation(aspect, at, answer, reply, part, strict=variation not in _SAME_SHAPE)


def _of_others(
    values: Sequence[tuple[int, Answer]],
    own: Sequence[Answer],
    others: Sequence[Answer],
    parts: Sequence[int],
) -> Iterator[Perturbation]:
    for at, answer in values:
        for other in islice(_other_values(answer, own, others), _MOST_OTHERS):
            for part in (*parts, None):
                rest = {} if part is None else {"part": part, "rest": answer.payload.decode()}
                reply = {"payload": other.payload, **rest}
                yield Perturbation(Aspect.VALUE, at, answer, reply, part, strict=True)


def _value_for_error(
    at: int, answer: Answer, own: Sequence[Answer], others: Sequence[Answer]
) -> Iterator[Perturbation]:
    values = [other.payload for other in islice(_other_values(answer, own, others), 2)]
    for payload in values or [_NOTHING]:
        reply = {"error": None, "message": None, "payload": payload}
        yield Perturbation(Aspect.ERROR, at, answer, reply, strict=payload == _NOTHING)


def _other_values(answer: Answer, own: Sequence[Answer], others: Sequence[Answer]) -> Iterator[Answer]:
    """What the same entry point returned elsewhere, each value once."""
    seen = {answer.payload} if not answer.errors else set[bytes]()
    for other in chain(own, others):
        if other.entry == answer.entry and not other.errors and other.payload not in seen:
            seen.add(other.payload)
            yield other
