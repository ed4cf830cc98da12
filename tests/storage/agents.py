"""An agent that does as it is told, over the real file tools: what a model that wants out could try."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from deepagents.backends.protocol import BackendProtocol
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool

from specwright.roles.recording import answers_so_far
from specwright.roles.scripted import ScriptedChatModel

__all__ = ["Attempt", "Told", "attempted"]


class Attempt(NamedTuple):
    """A tool call."""

    tool: str
    arguments: dict[str, Any]


class Told(NamedTuple):
    """A tool call and what the agent was told."""

    attempt: Attempt
    answer: str


class Determined(ScriptedChatModel):
    """Makes one call after the other, whatever it is told."""

    attempts: list[Attempt]

    @property
    def _llm_type(self) -> str:
        return "determined"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        done = answers_so_far(messages)
        calls: list[Any] = []
        if done < len(self.attempts):
            tool, arguments = self.attempts[done]
            calls = [{"name": tool, "args": arguments, "id": f"call-{done}", "type": "tool_call"}]
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(content="" if calls else "done", tool_calls=calls))]
        )


def attempted(
    backend: BackendProtocol,
    attempts: list[Attempt],
    *,
    asynchronous: bool,
    evict: int | None = None,
    tools: Sequence[BaseTool] = (),
) -> list[Told]:
    """Let agents make every call, through `create_agent` and the FilesystemMiddleware; a new one after some calls.

    Args:
        asynchronous: By `ainvoke`.
        evict: Tokens of a tool result above which it is offloaded; None leaves it in the conversation.
        tools: Beside the file tools.
    """
    told: list[Told] = []
    for start in range(0, len(attempts), 40):
        told += _conversation(backend, attempts[start : start + 40], asynchronous, evict, tools)
    return told


def _conversation(
    backend: BackendProtocol,
    attempts: list[Attempt],
    asynchronous: bool,
    evict: int | None,
    tools: Sequence[BaseTool],
) -> list[Told]:
    files = FilesystemMiddleware(backend=backend, tool_token_limit_before_evict=evict)
    agent: Any = create_agent(Determined(attempts=attempts), list(tools), middleware=[files])
    config = {"recursion_limit": 10 * len(attempts) + 20}
    given = {"messages": [("user", "Go.")]}
    state = asyncio.run(agent.ainvoke(given, config)) if asynchronous else agent.invoke(given, config)
    answers = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    return [Told(attempt, message.text) for attempt, message in zip(attempts, answers, strict=True)]
