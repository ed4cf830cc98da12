"""An agent that makes fixed calls of the real file tools: what a hostile model could try."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from deepagents.backends.protocol import BackendProtocol
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool

from specwright.ports import Place
from specwright.roles.models.journalled_model import answers_so_far
from testkit.model.fake_model import FakeModel, calls

__all__ = ["AnsweredAttempt", "Attempt", "attempted", "determined"]


class Attempt(NamedTuple):
    """A tool call."""

    tool: str
    arguments: dict[str, Any]


class AnsweredAttempt(NamedTuple):
    """A tool call and its result."""

    attempt: Attempt
    answer: str


def determined(attempts: Sequence[Attempt]) -> FakeModel:
    """A model that makes one call after the other, whatever the results are."""

    def reply(place: Place, messages: list[BaseMessage], tools: Sequence[Any]) -> AIMessage:
        ordinal = answers_so_far(messages)
        if ordinal >= len(attempts):
            return AIMessage("done")
        return calls(attempts[ordinal], ordinal=ordinal)

    return FakeModel(reply=reply)


def attempted(
    backend: BackendProtocol,
    attempts: list[Attempt],
    *,
    asynchronous: bool,
    evict: int | None = None,
    tools: Sequence[BaseTool] = (),
) -> list[AnsweredAttempt]:
    """Let agents make every call, through `create_agent` and the FilesystemMiddleware; a new one after some calls.

    Args:
        asynchronous: By `ainvoke`.
        evict: Tokens of a tool result above which it is offloaded; None leaves it in the conversation.
        tools: Beside the file tools.
    """
    answered: list[AnsweredAttempt] = []
    for start in range(0, len(attempts), 40):
        answered += _conversation(backend, attempts[start : start + 40], asynchronous, evict, tools)
    return answered


def _conversation(
    backend: BackendProtocol,
    attempts: list[Attempt],
    asynchronous: bool,
    evict: int | None,
    tools: Sequence[BaseTool],
) -> list[AnsweredAttempt]:
    files = FilesystemMiddleware(backend=backend, tool_token_limit_before_evict=evict)
    agent: Any = create_agent(determined(attempts), list(tools), middleware=[files])
    config = {"recursion_limit": 10 * len(attempts) + 20}
    inputs = {"messages": [("user", "Go.")]}
    state = asyncio.run(agent.ainvoke(inputs, config)) if asynchronous else agent.invoke(inputs, config)
    answers = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    return [
        AnsweredAttempt(attempt, message.text) for attempt, message in zip(attempts, answers, strict=True)
    ]
