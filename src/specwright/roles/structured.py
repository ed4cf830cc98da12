"""One structured answer without tools: the Arbiter's (D17).

The provider is asked for its native structured output; what comes back is validated here all the same, because an
answer can be None without an error, sit in a code fence, or break a rule that no schema can state.
"""

import json
from contextvars import Context
from typing import Any, TypeVar, cast

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from specwright.roles.salvage import visible_text
from specwright.roles.submission import Submission

__all__ = ["structured_answer"]

T = TypeVar("T")


def structured_answer(
    model: BaseChatModel, schema: dict[str, Any], prompt: str, message: str, submission: Submission[T]
) -> T:
    """Ask until an answer is accepted.

    Raises:
        AnswerError: the attempts are spent.
    """
    asked = model.with_structured_output(schema, include_raw=True)
    # the schema stands in the prompt as well: servers that speak a provider's protocol often pass over formats
    told = f"{prompt}\nThe JSON Schema of your answer:\n\n{json.dumps(schema)}\n"
    messages: list[BaseMessage] = [SystemMessage(told), HumanMessage(message)]
    while submission.accepted is None:
        submission.ensure_open()
        answer = cast(dict[str, Any], Context().run(asked.invoke, messages))
        raw = cast(AIMessage, answer["raw"])
        text = visible_text(raw.content)
        if raw.tool_calls:
            verdict = submission.offer(raw.tool_calls[0]["args"])
            text = text or str(raw.tool_calls[0]["args"])
        else:
            text = text or _unread_call(raw)
            verdict = submission.offer_text(text)
        # some providers refuse a message that says nothing
        messages = [*messages, AIMessage(text or "(no answer)"), HumanMessage(verdict)]
    return submission.accepted


def _unread_call(raw: AIMessage) -> str:
    """The arguments of a call that the provider's client could not read."""
    return str(raw.invalid_tool_calls[0]["args"] or "") if raw.invalid_tool_calls else ""
