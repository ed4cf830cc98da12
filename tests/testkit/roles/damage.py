"""Answers of all roles as weak models spoil them: named ways of damage over the answers of the example product.

A way of damage says what must come of it: `REPAIRED` is accepted as it came, `ASKED` is refused with a message that
names the fault, so that one more answer can put it right, `DOUBTFUL` may be either but nothing else than the answer.
"""

import copy
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ship_gate.base.record import Record
from specwright.domain.answers import (
    AmendmentsAnswer,
    ModuleChallenge,
    ModuleRuling,
    PlanAnswer,
    ProposerAnswer,
)
from specwright.domain.spec.product_spec import ProductSpecDraft
from testkit.paths import TABKEEPER

__all__ = ["ANSWERS", "ASKED", "AS_ARGUMENTS", "AS_TEXT", "REPAIRED", "Answered"]

REPAIRED, ASKED = "repaired", "asked once more"

PLAYBOOK = TABKEEPER / "playbook"


class Answered(NamedTuple):
    """A role's real answer.

    Args:
        schema: Its schema.
        tool: The tool that takes it.
        answer: Its JSON value, every field given.
    """

    schema: type[Record]
    tool: str
    answer: dict[str, Any]


def _read(schema: type[Record], tool: str, path: str, key: str = "") -> Answered:
    raw = json.loads((PLAYBOOK / path).read_text(encoding="utf-8"))
    answer = schema.model_validate(raw[key] if key else raw).to_json()
    for said in {"claim", "rationale"} & answer.keys():
        answer[said] += '\nAnd a second line, it\'s "quoted".'
    return Answered(schema, tool, answer)


ANSWERS = {
    "researcher": _read(ProductSpecDraft, "emit_structured_spec", "researcher/spec.json"),
    "planner": _read(PlanAnswer, "submit_plan", "TSK-003/planner.json", "plan"),
    "proposer": _read(ProposerAnswer, "submit_proposal", "TSK-003/compute_balances/round-1/proposer.json"),
    "amender": _read(AmendmentsAnswer, "submit_amendments", "TSK-005/render_report/amended/proposer.json"),
    "challenger": _read(ModuleChallenge, "submit_challenge", "TSK-002/split_evenly/round-1/challenger.json"),
    "arbiter": _read(ModuleRuling, "submit_ruling", "TSK-005/render_report/round-1/arbiter.json"),
}


def _pretty(answer: Any) -> str:
    return json.dumps(answer, indent=2, ensure_ascii=False)


def _outside_strings(text: str, pattern: str, new: str, count: int = 0) -> str:
    """Replace where no string is: strings are taken out and put back."""
    kept: list[str] = []

    def take(found: re.Match[str]) -> str:
        kept.append(found.group())
        return f"\x00{len(kept) - 1}\x00"

    bare = re.sub(pattern, new, re.sub(r'"(?:[^"\\]|\\.)*"', take, text), count=count)
    return re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found.group(1))], bare)


def _quoted(text: str, opening: str, closing: str) -> str:
    """Every string in other quotes; what the strings hold is written as those quotes ask."""

    def write(found: re.Match[str]) -> str:
        inner = found.group()[1:-1]
        if closing == "'":
            inner = inner.replace('\\"', '"').replace("'", "\\'")
        return f"{opening}{inner}{closing}"

    return re.sub(r'"(?:[^"\\]|\\.)*"', write, text)


def _other(answer: dict[str, Any]) -> dict[str, Any]:
    other = copy.deepcopy(answer)
    key = next(key for key in ("claim", "rationale", "title", "failures") if key in other)
    if isinstance(other[key], str):
        other[key] += " And more."
    else:
        other[key][0]["evidence"] += " And more."
    return other


def _last_list(answer: dict[str, Any]) -> str:
    return [key for key, value in answer.items() if isinstance(value, list) and value][-1]


def _cut_in_a_list(answer: dict[str, Any]) -> str:
    key = _last_list(answer)
    ordered = {**{k: v for k, v in answer.items() if k != key}, key: answer[key]}
    return json.dumps(ordered).rstrip()[:-2]  # the list's bracket and the object's brace


def _without_last(answer: dict[str, Any]) -> dict[str, Any]:
    return dict(list(answer.items())[:-1])


def _twice(answer: dict[str, Any]) -> str:
    key = next(iter(answer))
    return f'{{"{key}": "something else", {json.dumps(answer)[1:]}'


Text = Callable[[Answered], str]

_ESCAPED_BREAK = re.compile(r"(?<!\\)((?:\\\\)*)\\n")
"""A line break as JSON escapes it, and no backslash before an n."""

AS_TEXT: dict[str, tuple[Text, str]] = {
    "as it should be": (lambda a: _pretty(a.answer), REPAIRED),
    "a fence with its language": (lambda a: f"```json\n{_pretty(a.answer)}\n```", REPAIRED),
    "a fence without": (lambda a: f"```\n{_pretty(a.answer)}\n```", REPAIRED),
    "a fence that is never closed": (lambda a: f"```json\n{_pretty(a.answer)}", REPAIRED),
    "prose before and after": (
        lambda a: (
            f"Here it is, as you asked {{roughly}}:\n\n{_pretty(a.answer)}\n\nI hope that {{this}} helps."
        ),
        REPAIRED,
    ),
    "reasoning with a draft in it": (
        lambda a: f"<think>Perhaps {_pretty(_other(a.answer))}? No.</think>\n{_pretty(a.answer)}",
        REPAIRED,
    ),
    "reasoning whose beginning is cut off": (
        lambda a: f"Perhaps {_pretty(_other(a.answer))}?\n</think>\n{_pretty(a.answer)}",
        REPAIRED,
    ),
    "reasoning that never ends": (lambda a: f"<think>{_pretty(a.answer)}", ASKED),
    "the schema first": (
        lambda a: f"Schema: {json.dumps(a.schema.model_json_schema())}\nAnswer: {_pretty(a.answer)}",
        REPAIRED,
    ),
    "the schema alone": (lambda a: json.dumps(a.schema.model_json_schema()), ASKED),
    "another object first": (lambda a: f'{{"step": 1}}\n{_pretty(a.answer)}', REPAIRED),
    "the same twice": (lambda a: f"{_pretty(a.answer)}\n{json.dumps(a.answer)}", REPAIRED),
    "two that differ": (lambda a: f"{_pretty(a.answer)}\nOr rather:\n{_pretty(_other(a.answer))}", ASKED),
    "a draft and one that breaks off": (
        lambda a: f"{_pretty(a.answer)}\nOr rather:\n{_pretty(_other(a.answer))[:-40]}",
        ASKED,
    ),
    "single quotes": (lambda a: _quoted(_pretty(a.answer), "'", "'"), REPAIRED),
    "typographic quotes": (lambda a: _quoted(_pretty(a.answer), "\u201c", "\u201d"), REPAIRED),
    "trailing commas": (
        lambda a: _outside_strings(_pretty(a.answer), r"(?<=[^\[{,\s])(\s*)(?=[}\]])", r",\1"),
        REPAIRED,
    ),
    "comments": (
        lambda a: "// my answer\n" + _outside_strings(_pretty(a.answer), r",\n", ", /* so */ // it is\n"),
        REPAIRED,
    ),
    "literals of Python": (lambda a: repr(a.answer), REPAIRED),
    "bare keys": (
        lambda a: re.sub(r'^(\s*)"(\w+)":', r"\1\2:", _pretty(a.answer), flags=re.MULTILINE),
        REPAIRED,
    ),
    "a mark of byte order": (lambda a: "\ufeff{\u200b" + _pretty(a.answer)[1:] + "\ufeff", REPAIRED),
    "raw line breaks in strings": (lambda a: _ESCAPED_BREAK.sub(r"\1" + "\n", _pretty(a.answer)), REPAIRED),
    "encoded twice": (lambda a: json.dumps(json.dumps(a.answer)), REPAIRED),
    "encoded twice without the quotes": (lambda a: json.dumps(json.dumps(a.answer))[1:-1], REPAIRED),
    "wrapped in answer": (lambda a: json.dumps({"answer": a.answer}), REPAIRED),
    "wrapped in arguments": (lambda a: json.dumps({"arguments": a.answer}), REPAIRED),
    "a call as text": (lambda a: json.dumps({"name": a.tool or "answer", "arguments": a.answer}), REPAIRED),
    "a call as text, its arguments as text": (
        lambda a: f"<tool_call>{json.dumps({'name': a.tool, 'arguments': json.dumps(a.answer)})}</tool_call>",
        REPAIRED,
    ),
    "a list of one": (lambda a: json.dumps([a.answer]), REPAIRED),
    "the last brace missing": (lambda a: _pretty(a.answer).rstrip()[:-1], ASKED),
    "the last brace missing in a fence": (lambda a: f"```json\n{_pretty(a.answer).rstrip()[:-1]}```", ASKED),
    "cut in the middle": (lambda a: _pretty(a.answer)[: len(_pretty(a.answer)) // 2], ASKED),
    "cut after an item of a list": (lambda a: _cut_in_a_list(a.answer), ASKED),
    "cut before its last field": (lambda a: json.dumps(_without_last(a.answer))[:-1], ASKED),
    "a key twice, with different values": (lambda a: _twice(a.answer), ASKED),
    "nothing": (lambda _: "", ASKED),
    "an apology": (lambda _: "I am sorry, I cannot do this.", ASKED),
}
"""What stands in the text of an answer."""


Arguments = Callable[[dict[str, Any]], dict[str, Any]]


def _edit(change: Callable[[dict[str, Any]], Any]) -> Arguments:
    def edited(answer: dict[str, Any]) -> dict[str, Any]:
        other = copy.deepcopy(answer)
        change(other)
        return other

    return edited


def _first_key(answer: dict[str, Any]) -> str:
    return next(iter(answer))


AS_ARGUMENTS: dict[str, tuple[Arguments, str]] = {
    "arguments as they should be": (_edit(lambda _: None), REPAIRED),
    "arguments in arguments": (lambda a: {"arguments": a}, REPAIRED),
    "arguments as text": (lambda a: {"arguments": json.dumps(a)}, REPAIRED),
    "an answer in answer": (lambda a: {"answer": a}, REPAIRED),
    "a field too many": (_edit(lambda a: a.update(confidence=0.9)), REPAIRED),
    "an empty field too many": (_edit(lambda a: a.update(notes="")), REPAIRED),
    "a field too many where one is missing": (
        _edit(lambda a: (a.pop(_first_key(a)), a.update(something="else"))),
        ASKED,
    ),
    "a field missing": (_edit(lambda a: a.pop(_first_key(a))), ASKED),
    "a field in another spelling": (
        _edit(lambda a: a.update({_camel(_named(a)): a.pop(_named(a))})),
        REPAIRED,
    ),
    "a list as text": (_edit(lambda a: a.update({_last_list(a): json.dumps(a[_last_list(a)])})), REPAIRED),
    "null for a required field": (_edit(lambda a: a.update({_first_key(a): None})), ASKED),
    "a number for a required field": (_edit(lambda a: a.update({_last_list(a): 7})), ASKED),
    "an empty object": (lambda _: {}, ASKED),
}
"""What stands in the arguments of a call."""


def _named(answer: dict[str, Any]) -> str:
    """A required field of several words, or of one."""
    several = [key for key in answer if "_" in key and key in _REQUIRED_OF_SEVERAL]
    return several[0] if several else _first_key(answer)


_REQUIRED_OF_SEVERAL = {"acceptance_checks", "rubric_assessments", "ship_directive", "spec_id"}


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest) if rest else name.upper()
