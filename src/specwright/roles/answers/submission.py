"""A role's final answer: offered by a tool call or as text, corrected in its types, checked, accepted once, within a
bounded number of attempts (design: debate, models)."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

from pydantic import ValidationError

from specwright.domain.base.record import Record, validation_messages
from specwright.errors import AnswerError
from specwright.ports.roles import SharedAnswer
from specwright.roles.answers.json_text import ObjectsFound, objects_in, within
from specwright.roles.answers.mending import mended
from specwright.roles.models.failures import AnswerFault

T = TypeVar("T")
R = TypeVar("R", bound=Record)

UNREADABLE = "_unreadable"
"""The argument that holds the arguments of a call as text, where they could not be read as JSON."""

_STRONGER = "a stronger model, or a clearer SPEC.md, may help"


SHARED, MODULE = "modules", "module"
"""The fields of an answer about several modules: its parts, and the module of a part."""


class UnacceptableError(Exception):
    """The problems of an answer, one argument each. A class of its own, so that a defect of this program is never
    reported to a role as a problem of its answer."""


class Form(NamedTuple, Generic[T]):
    """What an answer must be.

    Args:
        read: Makes the answer from a JSON object, or raises UnacceptableError.
        check: What is wrong with an answer that could be read; it may cost time.
        fields: Its fields: if an object has all of them, its last brace may be missing. None: it may not.
    """

    read: Callable[[dict[str, Any]], T]
    check: Callable[[T], Sequence[str]]
    fields: frozenset[str] | None = None


def parser(schema: type[R], check: Callable[[R], Sequence[str]]) -> Form[R]:
    """Validate by a schema, then by a check."""

    def read(raw: dict[str, Any]) -> R:
        try:
            return mended(schema, raw)
        except ValidationError as error:
            raise UnacceptableError(*validation_messages(error)) from error

    return Form(read, check, frozenset(schema.model_fields))


def shared_parser(schema: type[R], names: Sequence[str]) -> Form[SharedAnswer[R]]:
    """Split an answer about several modules, and validate each part by the schema of an answer about one.

    A part that does not fit is a problem of its module alone; an answer without any part is one of all (design:
    shared-requests).
    """

    def read(raw: dict[str, Any]) -> SharedAnswer[R]:
        listed = raw.get(SHARED)
        parts = cast(list[Any], listed) if isinstance(listed, list) else []
        objects = [cast(dict[str, Any], part) for part in parts if isinstance(part, dict)]
        given = {name: [part for part in objects if part.get(MODULE) == name] for name in names}
        if not any(given.values()):
            raise UnacceptableError(f"{SHARED}: one object for each of {', '.join(names)}")
        answers, problems = dict[str, R](), dict[str, Sequence[str]]()
        for name, found in given.items():
            if len(found) != 1:
                problems[name] = (f"{SHARED}: one object for {name}, got {len(found)}",)
                continue
            try:
                answers[name] = mended(schema, {k: v for k, v in found[0].items() if k != MODULE})
            except ValidationError as error:
                problems[name] = tuple(validation_messages(error))
        raw_parts = {name: json.dumps(found, ensure_ascii=False) for name, found in given.items()}
        return SharedAnswer(answers, problems, raw=raw_parts)

    def no_problems(_: SharedAnswer[R]) -> Sequence[str]:
        return ()

    return Form(read, no_problems, frozenset({SHARED}))


def shared_schema(schema: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The schema of an answer about several modules: a list of answers, each with the name of its module."""
    module = {"type": "string", "enum": list(names)}
    part = {
        **schema,
        "properties": {MODULE: module, **schema["properties"]},
        "required": [MODULE, *schema.get("required", [])],
    }
    return {
        "type": "object",
        "properties": {SHARED: {"type": "array", "items": part, "description": "One for each module."}},
        "required": [SHARED],
    }


class Submission(Generic[T]):
    """Validates the answers that a role offers, and holds the one that is accepted.

    Args:
        form: See `Form`.
        attempts: How many offers are read in all.
        who: The invocation, for the message.
    """

    def __init__(self, form: Form[T], attempts: int, who: str) -> None:
        self._form = form
        self._left = attempts
        self._attempts = attempts
        self.who = who
        self._raw: list[str] = []
        self._problems: tuple[str, ...] = ()
        self._fault: AnswerFault | None = None
        self.accepted: T | None = None

    def offer(self, raw: Any) -> str:
        """Read the arguments of a call; returns the response to the role."""
        arguments = cast(dict[str, Any], raw) if isinstance(raw, dict) else None
        self._fault = None
        if arguments is not None and arguments.keys() == {UNREADABLE}:
            return self.offer_text(str(arguments[UNREADABLE]))
        text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, default=str)
        return self._read_offer(text, ObjectsFound((arguments,)) if arguments is not None else ObjectsFound())

    def offer_text(self, text: str, fault: AnswerFault | None = None) -> str:
        """Read an answer that came as text instead of a tool call.

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
                f"{self.who} gave no acceptable answer in {self._attempts} attempts: "
                + "; ".join(self._problems[:5]),
                where=self.who,
                remedy=f"{self._fault.remedy if self._fault else _STRONGER}; begin in a new directory, since "
                "`.specwright/journal.jsonl` keeps these answers",
                raw_answers=tuple(self._raw),
                problems=self._problems,
            )

    def _read_offer(self, text: str, found: ObjectsFound) -> str:
        if self.accepted is not None:
            return "Accepted already; nothing more is needed."
        self._left -= 1
        self._raw.append(text)
        try:
            answer = self._only_answer(found)
            problems = tuple(self._form.check(answer))
        except UnacceptableError as error:
            problems = (self._fault.what,) if self._fault else tuple(str(problem) for problem in error.args)
        else:
            if not problems:
                self.accepted = answer
                return "Accepted."
        self._problems = problems
        lines = "\n".join(f"- {problem}" for problem in problems)
        return f"Not accepted. Correct exactly this, then submit again:\n{lines}"

    def _only_answer(self, found: ObjectsFound) -> T:
        """The one answer among the objects of a text. Two different ones are refused; so is a draft before one that breaks
        off."""
        if found.unclosed is not None and self._form.fields == found.unclosed.keys():
            found = ObjectsFound((*found.objects, found.unclosed))
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
