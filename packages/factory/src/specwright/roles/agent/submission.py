"""A role's final answer: offered by a tool call or as text, corrected in its types, checked, accepted once, within a
bounded number of attempts (design: debate, models)."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar, cast

import jsonpatch
from langchain_core.utils.json_schema import dereference_refs
from pydantic import ValidationError

from ship_gate.base.record import Record, validation_messages
from specwright.errors import AnswerError
from specwright.roles.agent.json_text import LenientError, ObjectsFound, objects_in, parse_object, within

T = TypeVar("T")
R = TypeVar("R", bound=Record)

UNREADABLE = "_unreadable"
"""The argument that holds the arguments of a call as text, where they could not be read as JSON."""

_STRONGER = "a stronger model, or a clearer SPEC.md, may help"


_SEVERAL = re.compile(r"[\n,;•]")

CHANGES = "changes"
"""The field of an answer that only changes the one before."""


_NOT_MADE = f"{CHANGES}: none was made; the next ones change what was there"
_MADE = f"{CHANGES}: they were made; the next ones change what came of them"
_CHANGES_WILL_DO = (
    "changes: you need not write the whole again; hand in this field alone, by the same tool, a JSON Patch (RFC 6902) of "
    'what you have just handed in, as [{{"op": "replace", "path": "{path}", "value": "..."}}]'
)


class UnacceptableError(Exception):
    """The problems of an answer, one argument each. A class of its own, so that a defect of this program is never
    reported to a role as a problem of its answer."""


class Form(NamedTuple, Generic[T]):
    """What an answer must be.

    Args:
        read: Makes the answer from a JSON object, or raises UnacceptableError.
        check: What is wrong with an answer that could be read; it may cost time.
    """

    read: Callable[[dict[str, Any]], T]
    check: Callable[[T], Sequence[str]]


def parser(
    schema: type[R], check: Callable[[R], Sequence[str]], before: str = "", *, changing: str = ""
) -> Form[R]:
    """Validate by a schema, then by a check.

    Args:
        schema: Of the answer.
        check: What is wrong with one.
        before: An answer as JSON text; of one that is corrected the changes may be handed in, as a JSON Patch (RFC 6902).
        changing: A path of the answer, if changes will also do of one that was refused for its form or its content: a
            long one need not be written twice.
    """
    last: dict[str, Any] = json.loads(before) if before else {}
    changes = False
    will_do = [_CHANGES_WILL_DO.format(path=changing)] if changing and not before else []

    def read(raw: dict[str, Any]) -> R:
        nonlocal last, changes
        changes = bool(last and (before or changing)) and raw.keys() == {CHANGES}
        if changes:
            raw = _patched(last, raw[CHANGES])
        try:
            answer = repaired(schema, raw)
        except ValidationError as error:
            left = [_NOT_MADE] if changes else will_do if _is_nearly_whole(raw, schema) else []
            if not changes and left:
                last = raw
            raise UnacceptableError(*validation_messages(error), *left) from error
        last = raw
        return answer

    def problems(answer: R) -> Sequence[str]:
        found = check(answer)
        return [*found, *([_MADE] if changes else will_do)] if found else found

    return Form(read, problems)


def _is_nearly_whole(raw: dict[str, Any], schema: type[Record]) -> bool:
    """Whether an object that does not fit is an answer all the same, and no part of one: it lacks one field at most of those
    that an answer must have."""
    needed = {name for name, field in schema.model_fields.items() if field.is_required()}
    return bool(needed & raw.keys()) and len(needed - raw.keys()) <= 1


def changes_schema() -> dict[str, Any]:
    """The schema of what changes in an answer."""
    operation = {"op": {"enum": ["add", "replace", "remove"]}, "path": {"type": "string"}, "value": {}}
    one = {"type": "object", "properties": operation, "required": ["op", "path"]}
    return {"type": "object", "properties": {CHANGES: {"type": "array", "items": one}}, "required": [CHANGES]}


def _patched(document: Any, changes: Any) -> dict[str, Any]:
    try:
        return cast(dict[str, Any], jsonpatch.apply_patch(document, changes))
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, ValueError) as error:
        why = f"{CHANGES}: not applied, none of them: {error}; the paths are those of the last whole one"
        raise UnacceptableError(why) from error


def repaired(schema: type[R], raw: dict[str, Any]) -> R:
    """An answer; if it does not fit its schema, with its values in the types of the schema where only one reading is
    possible: a JSON text for a list, one item for a list of one, `3` for a text, `pass` for `PASS`, null for an optional
    field, `shipDirective` for `ship_directive`.

    Raises:
        ValidationError: what is wrong with it after that.
    """
    try:
        return schema.model_validate(raw)
    except ValidationError:
        return schema.model_validate(_shaped(raw, _json_schema(schema)))


@cache
def _json_schema(schema: type[Record]) -> dict[str, Any]:
    return dereference_refs(schema.model_json_schema())


def _shaped(value: Any, schema: dict[str, Any]) -> Any:
    forms = _forms(schema)
    if len(forms) > 1:
        forms = [one for one in forms if one.get("type") == _kind(value)]
    if len(forms) != 1:
        return value
    (form,) = forms
    shape = _SHAPES.get(form.get("type", ""))
    return shape(value, form) if shape else value


def _kind(value: object) -> str:
    return "array" if isinstance(value, list) else "object" if isinstance(value, dict) else "string"


def _list(value: Any, form: dict[str, Any]) -> Any:
    items = _as_list(value)
    return value if items is None else [_shaped(item, form.get("items", {})) for item in items]


def _object(value: Any, form: dict[str, Any]) -> Any:
    members = _as_object(value) if isinstance(value, str) else value
    known = _kind(members) == "object" and "properties" in form
    return _members(members, form) if known else value


def _text(value: Any, form: dict[str, Any]) -> Any:
    if type(value) in (int, float):
        return json.dumps(value)
    choices: list[Any] = form.get("enum", []) if type(value) is str else []
    same = [choice for choice in choices if _normalised(choice) == _normalised(value)]
    return same[0] if len(same) == 1 else value


_SHAPES = {"array": _list, "object": _object, "string": _text}


def _forms(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of a schema but null."""
    return [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]


def _members(given: dict[str, Any], form: dict[str, Any]) -> dict[str, Any]:
    """An object's members under their names. An unknown one is dropped if it is empty, or if it is no list and no object
    and every field is there that it could be meant for."""
    fields: dict[str, Any] = form["properties"]
    named = dict(given)
    for name in [name for name in given if name not in fields]:
        same = [field for field in fields.keys() - named.keys() if _normalised(field) == _normalised(name)]
        if len(same) == 1:
            named[same[0]] = named.pop(name)
    several = ("array", "object")
    missing = any(
        all(one.get("type") not in several for one in _forms(fields[name]))
        for name in fields.keys() - named.keys()
    )
    return {
        name: _shaped(value, fields[name]) if name in fields else value
        for name, value in named.items()
        if (name in form.get("required", ()) or value is not None)
        if name in fields or (value not in ("", [], {}) and (missing or _kind(value) in several))
    }


def _as_list(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return cast(list[Any], value)
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, str) or not value.strip():
        return None
    if value.lstrip().startswith("["):
        try:
            return cast(list[Any], json.loads(value))
        except (ValueError, RecursionError):
            return None
    return None if _SEVERAL.search(value.strip()) else [value]


def _as_object(value: str) -> Any:
    text = value.strip()
    try:
        parsed = parse_object(text, 0) if text.startswith("{") else None
    except LenientError:
        return value
    return parsed.value if parsed and parsed.end == len(text) else value


def _normalised(word: Any) -> str:
    return re.sub(r"[\s_-]", "", str(word)).casefold()


EMPTY_ANSWERS = 3
"""Answers without a JSON object that a role may give in all, however many drafts of it are read."""


class Submission(Generic[T]):
    """Validates the answers that a role offers, and holds the one that is accepted.

    Args:
        form: See `Form`.
        attempts: How many offers are read in all.
        who: The invocation, for the message.
        refused: Told of each answer that is not accepted, why, and whether it could be read.
    """

    def __init__(
        self,
        form: Form[T],
        attempts: int,
        who: str,
        refused: Callable[[str, bool], None] = lambda _, __: None,
    ) -> None:
        self._form = form
        self._refused = refused
        self._left = attempts
        self._attempts = attempts
        self.who = who
        self._raw: list[str] = []
        self._problems: tuple[str, ...] = ()
        self._fault: AnswerError | None = None
        self.accepted: T | None = None

    def offer(self, raw: Any) -> str:
        """Read the arguments of a call; returns the response to the role."""
        arguments = cast(dict[str, Any], raw) if isinstance(raw, dict) else None
        self._fault = None
        text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, default=str)
        return self._read_offer(text, ObjectsFound((arguments,)) if arguments is not None else ObjectsFound())

    def offer_text(self, text: str, fault: AnswerError | None = None) -> str:
        """Read an answer that came as text instead of a tool call, or as a call that could not be read.

        Args:
            text: The answer.
            fault: What the provider says of it, if it cut, filtered or refused it.
        """
        self._fault = fault
        return self._read_offer(text, objects_in(text))

    def ensure_open(self) -> None:
        """Stop the role once its attempts are spent.

        Raises:
            AnswerError: no acceptable answer; holds the raw answers.
        """
        if self.accepted is None and self._left <= 0:
            raise AnswerError(
                f"{self.who} gave no acceptable answer in {len(self._raw)} attempts: "
                + "; ".join(self._problems[:5]),
                where=self.who,
                remedy=self._fault.remedy if self._fault else _STRONGER,
                raw_answers=tuple(self._raw),
                problems=self._problems,
            )

    def _read_offer(self, text: str, found: ObjectsFound) -> str:
        if self.accepted is not None:
            return "Accepted already; nothing more is needed."
        self._left -= 1 if found.objects else max(1, self._attempts // EMPTY_ANSWERS)
        self._raw.append(text)
        is_read = False
        try:
            answer, is_read = self._only_answer(found), True
            problems = tuple(self._form.check(answer))
        except UnacceptableError as error:
            problems = (self._fault.what,) if self._fault else tuple(str(problem) for problem in error.args)
        else:
            if not problems:
                self.accepted = answer
                return "Accepted."
        advice = (_NOT_MADE, _MADE, _CHANGES_WILL_DO.partition("{")[0])  # for the role alone
        self._problems = tuple(one for one in problems if not one.startswith(advice))
        self._refused("; ".join(self._problems), is_read)
        lines = "\n".join(f"- {problem}" for problem in problems)
        return f"Not accepted. Correct exactly this, then submit again:\n{lines}"

    def _only_answer(self, found: ObjectsFound) -> T:
        """The one answer among the objects of a text. Two different ones are refused; so is a draft before one that breaks
        off."""
        answers: list[tuple[int, T]] = []
        refusals: list[tuple[Any, ...]] = []
        for number, one in enumerate(found.objects):
            try:
                answer = self._read(within(one))
            except UnacceptableError as error:
                refusals.append(error.args)
                continue
            if answer not in [other for _, other in answers]:
                answers.append((number, answer))
        if len(answers) > 1:
            raise UnacceptableError(f"the answer holds {len(answers)} answers that differ; give one")
        if found.fault and not (answers and answers[0][0] >= found.before_fault):
            raise UnacceptableError(f"the answer is no whole JSON object: {found.fault}")
        if not answers:
            raise UnacceptableError(*min(refusals, key=len, default=("the answer holds no JSON object",)))
        return answers[0][1]

    def _read(self, layers: Iterable[dict[str, Any]]) -> T:
        """The answer in the outermost layer that holds one; else the refusal with the fewest problems."""
        refusals: list[tuple[Any, ...]] = []
        for layer in layers:
            try:
                return self._form.read(layer)
            except UnacceptableError as error:
                refusals.append(error.args)
        raise UnacceptableError(*min(refusals, key=len))
