"""Asks a model to draft what an adopted function lacks: one structured answer, and at most one correction (design:
adoption, models)."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel

from specwright.canonical_json import JsonValue
from specwright.domain.adoption.drafted_answer import DraftAnswer
from specwright.roles.agent.agent import answer_schema, structured_answer
from specwright.roles.answers.submission import Submission, parser
from specwright.roles.models.journalled_model import Meter, journalled
from specwright.roles.team import prompt

ATTEMPTS = 2


def draft_answer(
    model: BaseChatModel,
    who: str,
    message: str,
    check: Callable[[DraftAnswer], Sequence[str]],
    ask: Callable[[Callable[[], Any], int], Any],
    count: Callable[[JsonValue], None],
) -> DraftAnswer:
    """The answer of a model.

    Args:
        model: Of a provider, or a scripted one.
        who: The invocation, for messages.
        message: What is told of the function.
        check: What is wrong with an answer.
        ask: Asks the provider, given the size of the request in bytes.
        count: Told of each answer.

    Raises:
        AnswerError: no usable answer in two attempts.
        SpecwrightError: what `ask` raises, or the provider refuses.
    """
    counted = journalled(model, _LiveAnswers(who, count), Meter(), ask)
    submission = Submission(parser(DraftAnswer, check), ATTEMPTS, who)
    schema = {**answer_schema(DraftAnswer), "title": "DraftAnswer", "description": "What was missing."}
    return structured_answer(counted, schema, prompt("drafter"), message, submission)


class _LiveAnswers:
    """A scope of no journal: what is asked is asked now, and counted."""

    def __init__(self, name: str, count: Callable[[JsonValue], None]) -> None:
        self._name = name
        self._count = count

    @property
    def name(self) -> str:
        """The invocation."""
        return self._name

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """What `live` answers now."""
        answer = live()
        self._count(answer)
        return answer
