"""Answers that were given about a task before it was dispatched, in a request of a task before it (design:
tasks-together).

Each is kept in the journal, under the run of the task that it is about, with its basis: what the role was shown that may be
otherwise by then. Nothing is stored and nothing is announced before the task takes it.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar, cast

from specwright.application import scopes
from specwright.application.factory import Factory
from specwright.application.tasks import Task
from specwright.canonical_json import JsonValue
from specwright.domain.base.record import Record
from specwright.errors import AnswerError
from specwright.ports.roles import SharedAnswer

R = TypeVar("R", bound=Record)


class AdvanceStep(StrEnum):
    """What may be answered about a task in advance."""

    PLAN = "plan"
    CHALLENGE = "challenge"
    RULING = "ruling"
    DRAFTS = "drafts"


class AdvanceAnswer(NamedTuple):
    """What a request about several tasks was answered about one of them.

    Args:
        basis: What the answer rests on; it counts only where that is still the same.
        answer: As JSON; None if it did not fit its schema.
        problems: What is wrong with it then.
        raw: As it was given.
    """

    basis: JsonValue
    answer: JsonValue
    problems: Sequence[str]
    raw: str

    def take(
        self, schema: type[R], basis: JsonValue, check: Callable[[R], Sequence[str]]
    ) -> tuple[R | None, Sequence[str]]:
        """The answer, if it holds and is accepted; else what is wrong with it: nothing, if it is only out of date."""
        if self.answer is None:
            return None, self.problems
        if self.basis != basis:
            return None, ()
        answer = schema.model_validate(self.answer)
        problems = check(answer)
        return (None, problems) if problems else (answer, ())

    def read(self, schema: type[R]) -> R | None:
        """The answer, whether it holds or not."""
        return None if self.answer is None else schema.model_validate(self.answer)


class OfferedAnswer(NamedTuple):
    """What was answered about a task, and what an answer that counts rests on now."""

    answer: AdvanceAnswer
    basis: JsonValue


def advance_answer(factory: Factory, task: Task, step: AdvanceStep, module: str = "") -> AdvanceAnswer | None:
    """What was answered about a task, or about a module of it, in advance, if anything was."""
    kept = factory.journal.recorded(scopes.advance_answer(task.run, step, module), "tool")
    return None if kept is None else AdvanceAnswer(**cast(dict[str, Any], kept))


def keep(
    factory: Factory, task: Task, step: AdvanceStep, answer: AdvanceAnswer, module: str = ""
) -> AdvanceAnswer:
    """Keep an answer for its task, or for a module of it, once."""
    scope = factory.journal.scope(scopes.advance_answer(task.run, step, module))
    record: JsonValue = {**answer._asdict(), "problems": list(answer.problems)}
    return AdvanceAnswer(
        **cast(dict[str, Any], scope.recall("tool", {"tool": "advance_answer"}, lambda: record))
    )


def part_of(shared: SharedAnswer[Any] | AnswerError, name: str, basis: JsonValue = None) -> AdvanceAnswer:
    """The part of an answer that is about one task; of an answer that could not be read every part is refused."""
    if isinstance(shared, AnswerError):
        return AdvanceAnswer(
            basis, None, ("it held no answer that could be read",), "\n".join(shared.raw_answers)
        )
    answer: Record | None = shared.answers.get(name)
    problems = shared.problems.get(name, ())
    return AdvanceAnswer(
        basis, None if answer is None else answer.to_json(), problems, shared.raw.get(name, "")
    )


@contextmanager
def after_refusal(offered: OfferedAnswer | None, refused: Sequence[str]) -> Generator[None]:
    """Report an answer that was refused in advance with those that were refused after it."""
    try:
        yield
    except AnswerError as error:
        if offered is not None and refused:
            error.raw_answers = (offered.answer.raw, *error.raw_answers)
        raise
