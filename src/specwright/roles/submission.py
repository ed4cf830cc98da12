"""A role's final answer: offered by a terminal tool or as text, checked, accepted once, bounded (D11, DESIGN §6)."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from specwright.domain.record import Record, validation_messages
from specwright.errors import AnswerError
from specwright.roles.salvage import first_object

__all__ = ["Submission", "UnacceptableError", "parser"]

T = TypeVar("T")
R = TypeVar("R", bound=Record)

Parse = Callable[[Any], T]
"""Makes the answer from raw JSON, or raises UnacceptableError."""


class UnacceptableError(Exception):
    """What is wrong with an answer, one argument a problem. A class of its own, so that no fault of ours is told to a
    role as its own."""


def parser(schema: type[R], check: Callable[[R], Sequence[str]]) -> Parse[R]:
    """Validate by a schema, then by a check."""

    def parse(raw: Any) -> R:
        try:
            answer = schema.model_validate(raw)
        except ValidationError as error:
            raise UnacceptableError(*validation_messages(error)) from error
        if problems := check(answer):
            raise UnacceptableError(*problems)
        return answer

    return parse


class Submission(Generic[T]):
    """The desk at which a role hands in its answer.

    Args:
        parse: See `Parse`.
        attempts: How many offers are looked at in all.
        who: The invocation, for the message.
    """

    def __init__(self, parse: Parse[T], attempts: int, who: str) -> None:
        self._parse = parse
        self._left = attempts
        self._attempts = attempts
        self._who = who
        self._raw: list[str] = []
        self._problems: tuple[str, ...] = ()
        self.accepted: T | None = None

    def offer(self, raw: Any) -> str:
        """Look at an answer; returns what the role is told."""
        if self.accepted is not None:
            return "Accepted already; nothing more is needed."
        self._left -= 1
        self._raw.append(str(raw))
        try:
            self.accepted = self._parse(raw)
        except UnacceptableError as error:
            self._problems = tuple(str(problem) for problem in error.args)
            return self._refusal()
        return "Accepted."

    def offer_text(self, text: str) -> str:
        """Look at an answer that came as text instead of a tool call."""
        found = first_object(text)
        if found is None:
            self._left -= 1
            self._raw.append(text)
            self._problems = ("the answer holds no JSON object",)
            return self._refusal()
        return self.offer(found)

    def ensure_open(self) -> None:
        """Stop the role once its attempts are spent.

        Raises:
            AnswerError: no acceptable answer; holds the raw answers.
        """
        if self.accepted is None and self._left <= 0:
            raise AnswerError(
                f"{self._who} gave no acceptable answer in {self._attempts} attempts: "
                + "; ".join(self._problems[:5]),
                where=self._who,
                remedy="the raw answers are in the escalation; a stronger model or a smaller task may help",
                raw_answers=tuple(self._raw),
            )

    def _refusal(self) -> str:
        lines = "\n".join(f"- {problem}" for problem in self._problems)
        return f"Not accepted. Correct exactly this, then submit again:\n{lines}"
