"""What a model that is hostile in every answer costs."""

import pytest

from specwright.roles.agent import json_text
from specwright.roles.agent.json_text import objects_in

UNITS = (
    '{"title":',
    '{"a":"b ',
    '{"',
    "{",
    "<think>",
    '<think>{"a":1',
    "{/* ",
    '{"a"://',
    "{'a':'b ",
    '{"a":[',
)


@pytest.mark.parametrize("unit", UNITS)
def test_the_objects_of_an_answer_are_looked_for_a_bounded_number_of_times(
    unit: str, monkeypatch: pytest.MonkeyPatch
):
    """Each try may read to the end: many take the square of the length (hostile-projects, answer-quadratic)."""
    tries: list[int] = []
    parse = json_text.parse_object

    def counted(text: str, start: int) -> json_text.Parsed:
        tries.append(start)
        return parse(text, start)

    monkeypatch.setattr(json_text, "parse_object", counted)
    found = objects_in(unit * (20_000 // len(unit)))
    assert len(tries) <= 500
    assert found.objects == ()


def test_an_object_after_many_other_braces_is_still_found():
    """Code in front of an answer has braces too."""
    assert objects_in("{x} " * 400 + '{"verdict": "PASS"}').objects == ({"verdict": "PASS"},)
