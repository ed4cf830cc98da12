"""Answers as weak models write them (DESIGN §6, D11): the answer itself, one question more, or a clean failure.

Every way of damage meets the real answer of every role. What is accepted equals the answer, so that no repair changes
what was meant; what cannot be read in one way alone is asked for once more, with the fault by name.
"""

import contextlib
import copy
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ship_gate.base.record import Record, validation_messages
from specwright.domain.spec.product_spec import ProductSpecDraft
from specwright.errors import AnswerError
from specwright.roles.agent.json_text import LenientError, objects_in, parse_object
from specwright.roles.agent.submission import Submission, parser
from specwright.roles.agent.tools import emitted
from testkit.roles.damage import ANSWERS, AS_ARGUMENTS, AS_TEXT, REPAIRED, Answered

ATTEMPTS = 3


class NoFiles:
    """A workspace that nothing is read from."""

    def read(self, path: str) -> bytes:
        """No file."""
        raise AssertionError(path)


def desk(answered: Answered) -> Submission[Any]:
    """Where a role hands in its answer, as in production but for the checks that follow the schema."""
    if answered.schema is ProductSpecDraft:
        return Submission(emitted(NoFiles(), _schema_faults), ATTEMPTS, "the researcher")  # type: ignore[arg-type]
    return Submission(parser(answered.schema, lambda _: ()), ATTEMPTS, "a role")


def _schema_faults(spec: Any) -> list[str]:
    try:
        ProductSpecDraft.model_validate(spec)
    except ValidationError as error:
        return validation_messages(error)
    return []


def accepted(submission: Submission[Any]) -> Any:
    """The accepted answer as JSON values."""
    answer = submission.accepted
    return answer.to_json() if isinstance(answer, Record) else answer


def offered(role: str, way: str) -> tuple[Submission[Any], str]:
    """A damaged answer, handed in; with what the role is told."""
    answered = ANSWERS[role]
    submission = desk(answered)
    if way in AS_TEXT:
        return submission, submission.offer_text(AS_TEXT[way][0](answered))
    return submission, submission.offer(AS_ARGUMENTS[way][0](answered.answer))


WAYS = [*AS_TEXT, *AS_ARGUMENTS]


def test_a_damaged_answer_is_the_answer_or_is_asked_for_by_its_fault() -> None:
    """Of every role; never another answer than the one that was meant; half and more without a call, the others by one
    question more (D-S6-04)."""
    repaired = 0
    for way, role in itertools.product(WAYS, ANSWERS):
        wanted, answer = (AS_TEXT.get(way) or AS_ARGUMENTS[way])[1], ANSWERS[role].answer
        submission, told = offered(role, way)
        spec = role == "researcher" and way.endswith(
            ("field too many", "another spelling")
        )  # it loses no field
        if wanted == REPAIRED and not spec:
            repaired += 1
            assert (told, accepted(submission)) == ("Accepted.", answer), (way, role)
            continue
        assert submission.accepted is None, (way, role)
        assert told.startswith("Not accepted. Correct exactly this, then submit again:\n- "), (way, role)
        assert len(told.splitlines()[1]) > len("- x")
        submission.offer(answer)
        assert accepted(submission) == answer, (way, role)
    assert 2 * repaired >= len(WAYS) * len(ANSWERS) >= 100


def test_what_never_becomes_an_answer_fails_with_everything_that_was_said() -> None:
    """Three attempts, three raw answers kept, the faults by name (D-11-05, D-S6-04)."""
    said = ["", "I cannot.", '{"half": ']
    for answered in ANSWERS.values():
        submission = desk(answered)
        for text in said:
            submission.ensure_open()
            submission.offer_text(text)
        with pytest.raises(AnswerError, match="no acceptable answer in 3 attempts") as caught:
            submission.ensure_open()
        assert list(caught.value.raw_answers) == said


def change(role: str, edit: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """A role's answer with an edit."""
    answer = copy.deepcopy(ANSWERS[role].answer)
    edit(answer)
    return answer


TYPES: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "a number as text": ("amender", lambda a: a["applied"][0].update(amendment_index="0")),
    "a truth value as text": ("amender", lambda a: a["applied"][0].update(applied="true")),
    "a list as text": ("arbiter", lambda a: a.update(amendments=json.dumps(a["amendments"]))),
    "an object as text": ("arbiter", lambda a: a["amendments"].insert(0, json.dumps(a["amendments"].pop(0)))),
    "a choice in another spelling": ("arbiter", lambda a: a.update(decision="approve with amendments")),
    "a verdict in small letters": ("challenger", lambda a: a.update(verdict=a["verdict"].lower())),
    "an assessment in words": (
        "challenger",
        lambda a: [
            r.update(assessment=r["assessment"].replace("_", " ").title()) for r in a["rubric_assessments"]
        ],
    ),
    "null for what may be left out": ("challenger", lambda a: a.update(falsifying_tests=None)),
    "null for an empty list": ("arbiter", lambda a: a.update(struck_tests=None)),
    "an object for a list of one": ("planner", lambda a: a.update(modules=a["modules"][0])),
}


def test_a_wrong_type_with_one_meaning_is_corrected() -> None:
    """The value that was meant, in the type that was asked for (D-S6-04)."""
    for kind, (role, edit) in TYPES.items():
        submission = desk(ANSWERS[role])
        assert submission.offer(change(role, edit)) == "Accepted.", kind
        assert accepted(submission) == ANSWERS[role].answer, kind


DOUBTFUL: dict[str, tuple[str, Callable[[dict[str, Any]], Any], str]] = {
    "a sentence with a comma for a list": (
        "proposer",
        lambda a: a.update(acceptance_checks="it adds up, and it never loses a cent"),
        "acceptance_checks",
    ),
    "a misspelt list beside what it leaves empty": (
        "challenger",
        lambda a: (a.pop("falsifying_tests"), a.update(falsifying=[{"name": "test_x"}])),
        "falsifying",
    ),
    "a choice that is none": ("arbiter", lambda a: a.update(decision="MAYBE"), "decision"),
    "a truth value for a text": (
        "challenger",
        lambda a: a["failures"][0].update(invariant=True),
        "failures.0.invariant",
    ),
}


def test_what_may_mean_two_things_is_asked_for() -> None:
    """The field is named, nothing is guessed (D-S6-04)."""
    for kind, (role, edit, named) in DOUBTFUL.items():
        submission = desk(ANSWERS[role])
        assert f"- {named}" in submission.offer(change(role, edit)), kind
        assert submission.accepted is None, kind


def test_a_text_that_ends_inside_a_list_is_never_a_shorter_list() -> None:
    """At whatever place an answer breaks off, it is the whole answer or none (D-S6-04)."""
    answered = ANSWERS["challenger"]
    text = json.dumps(answered.answer)
    for end in range(len(text)):
        submission = desk(answered)
        submission.offer_text(text[:end])
        assert accepted(submission) in (None, answered.answer), text[:end][-60:]


def test_arguments_that_the_client_could_not_read_are_read_as_text() -> None:
    """The fault is told by its place (D-S6-04)."""
    answered = ANSWERS["challenger"]
    text = json.dumps(answered.answer)
    assert desk(answered).offer_text(text[:-1] + ",}") == "Accepted."
    told = desk(answered).offer_text(text[:300])
    assert "breaks off, in line 1 after" in told


READ: dict[str, Any] = {
    '{"a": 1, "b": null': None,
    '{"a": 1 2}': None,
    '{"a": [,]}': None,
    '{"a": yes}': None,
    r"""{'a': '\xe9\'s', 'b': "\d+"}""": {"a": "é's", "b": r"\d+"},
    '{"a": "zero\u200bwidth"}': {"a": "zero\u200bwidth"},
    "{'a': 'it's', b: .5}": None,
    '{"a": "<think>", "b": "</think>"}': {"a": "<think>", "b": "</think>"},
}


def test_what_is_read_is_read_in_one_way() -> None:
    """A text that ends early is none, a quote inside a string is a doubt; what strings hold stays (D-S6-04)."""
    found = {text: objects_in(text).objects for text in READ}
    assert {text: objects[0] if objects else None for text, objects in found.items()} == READ


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON, max_size=5), st.booleans())
def test_every_json_text_has_the_value_that_json_gives_it(value: dict[str, Any], ascii_only: bool) -> None:
    """What is read beyond JSON takes nothing from JSON (D-S6-04)."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_object(text, 0) == (json.loads(text), len(text))


@given(st.text(alphabet="{}[]\",:'\\ab1 \n<think>/u", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    """Any text holds objects or it does not; nothing else is raised (D-S6-04)."""
    for found in objects_in(text).objects:
        assert isinstance(found, dict)
    if text.startswith("{"):
        with contextlib.suppress(LenientError):
            parse_object(text, 0)
