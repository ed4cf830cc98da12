"""An agent with tools that ends by handing in one answer (D17, DESIGN §6).

It runs outside the graph's context and is never checkpointed: after a crash it runs again from its first message,
and the journal answers what was answered (DESIGN §4).
"""

import json
import re
from collections.abc import Sequence
from contextvars import Context
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

from deepagents.middleware.filesystem import FilesystemMiddleware
from deepagents.middleware.patch_tool_calls import PatchToolCallsMiddleware
from deepagents.middleware.summarization import create_summarization_middleware
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # generic in untyped parts
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    TodoListMiddleware,
    hook_config,
)
from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, InvalidToolCall, ToolCall
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.json_schema import dereference_refs
from langgraph.errors import GraphRecursionError
from pydantic import BaseModel

from specwright.errors import AnswerError
from specwright.roles.salvage import visible_text
from specwright.roles.submission import UNREADABLE, Submission
from specwright.roles.workspace import Workspace

__all__ = [
    "AgentJob",
    "Hands",
    "continue_conversation",
    "converse",
    "submit_tool",
    "tool_schema",
    "without_citations",
]

T = TypeVar("T")

_CITATION = re.compile(r"\s*\((?:(?=[^()]*(?:§|\bD\d))[^()]*|criterion \d+)\)")

_TODO = "Keep a to-do list for yourself during long work. It is never an answer."

WORKSHOP = ("ls", "read_file", "glob", "grep", "write_file", "edit_file", "delete")


class Hands(StrEnum):
    """What an agent can do beside its own tools. A role that is told everything needs no file tools: readers of the
    same request spent calls on looking at what they had already read."""

    NONE = "none"
    FILES = "files"
    PLANS = "plans"
    """Files, and a to-do list for long work."""


class AgentJob(NamedTuple):
    """What an agent is made of."""

    model: BaseChatModel
    prompt: str
    tools: Sequence[BaseTool]
    workspace: Workspace
    hands: Hands
    call_limit: int


class _EndsOnSubmission(AgentMiddleware[Any, Any, Any]):
    """Ends the agent once its answer is accepted, and stops it once its attempts are spent.

    A hook, because `return_direct` ends a run on bad arguments and does not when tools are called in parallel. The
    terminal call is put last in its turn: calls run one after the other in their order, and it must see what the
    others of the turn have written.
    """

    def __init__(self, submission: Submission[Any], terminal: str) -> None:
        super().__init__()
        self._submission = submission
        self._terminal = terminal

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Put the terminal call last, and hand over what it said where the provider's client could not read it."""
        message = cast(AIMessage, state["messages"][-1])
        unread = [call for call in message.invalid_tool_calls if call["name"] == self._terminal]
        calls = [*message.tool_calls, *map(_as_text, unread)]
        ordered = sorted(calls, key=lambda call: call["name"] == self._terminal)
        if ordered == message.tool_calls:
            return None
        left = [call for call in message.invalid_tool_calls if call not in unread]
        return {"messages": [message.model_copy(update={"tool_calls": ordered, "invalid_tool_calls": left})]}

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Jump to the end, or raise, or go on."""
        self._submission.ensure_open()
        return {"jump_to": "end"} if self._submission.accepted is not None else None


def _as_text(call: InvalidToolCall) -> ToolCall:
    return ToolCall(
        name=call["name"] or "", args={UNREADABLE: call["args"] or ""}, id=call["id"], type="tool_call"
    )


def tool_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """A schema as tools carry it: references resolved, since weak models follow them badly."""
    return cast(dict[str, Any], json.loads(_tool_schema_text(schema)))


@cache
def _tool_schema_text(schema: type[BaseModel]) -> str:
    # a text, since whoever gets the schema may change it; made once, since a plan's takes 8 ms
    resolved = dereference_refs(schema.model_json_schema())
    resolved.pop("$defs", None)
    return json.dumps(_without_citations(resolved))


def without_citations(text: str) -> str:
    """A text without `(F§9.2, D14)` and `(criterion 12)`: nobody in the conversation can look those up."""
    return _CITATION.sub("", text)


def _without_citations(value: Any) -> Any:
    """A schema whose descriptions cite nothing."""
    if isinstance(value, list):
        return [_without_citations(item) for item in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    return {
        key: without_citations(item)
        if key == "description" and isinstance(item, str)
        else _without_citations(item)
        for key, item in cast(dict[str, Any], value).items()
    }


def submit_tool(name: str, description: str, schema: dict[str, Any], submission: Submission[Any]) -> BaseTool:
    """The terminal tool. Its arguments are validated by the submission, so that the errors are exact."""

    def submit(**arguments: Any) -> str:
        return submission.offer(arguments)

    return StructuredTool(name=name, description=description, args_schema=schema, func=submit)


def converse(job: AgentJob, message: str, submission: Submission[T], terminal: str) -> T:
    """Run an agent until its answer is accepted.

    Args:
        job: The agent.
        message: What it is asked.
        submission: Where its answer goes.
        terminal: The name of the tool by which it answers, for the reminder.

    Raises:
        AnswerError: attempts or calls are spent.
    """
    messages: list[BaseMessage] = [HumanMessage(message)]
    continue_conversation(job, messages, submission, terminal)
    assert submission.accepted is not None
    return submission.accepted


def continue_conversation(
    job: AgentJob, messages: list[BaseMessage], submission: Submission[Any], terminal: str
) -> list[BaseMessage]:
    """Run an agent on a conversation until its answer is accepted; returns the conversation."""
    agent = _agent(job, submission, terminal)
    while submission.accepted is None:
        messages = _run(agent, messages, job)
        if submission.accepted is None:
            # it stopped without its terminal tool: perhaps the answer is in its text
            told = submission.offer_text(visible_text(messages[-1].content))
            submission.ensure_open()
            messages = [*messages, HumanMessage(f"{told}\nAnswer by calling the tool `{terminal}`.")]
    return messages


def _agent(job: AgentJob, submission: Submission[Any], terminal: str) -> Any:
    backend = job.workspace.backend()
    middleware: list[AgentMiddleware[Any, Any, Any]] = [
        _EndsOnSubmission(submission, terminal),
        ModelCallLimitMiddleware(run_limit=job.call_limit, exit_behavior="error"),
        create_summarization_middleware(job.model, backend),
        PatchToolCallsMiddleware(),
    ]
    if job.hands is not Hands.NONE:
        middleware.append(FilesystemMiddleware(backend=backend, tools=cast(Any, list(WORKSHOP))))
    if job.hands is Hands.PLANS:
        middleware.append(TodoListMiddleware(system_prompt="", tool_description=_TODO))
    return create_agent(job.model, list(job.tools), system_prompt=job.prompt, middleware=middleware)


def _run(agent: Any, messages: list[BaseMessage], job: AgentJob) -> list[BaseMessage]:
    limits = {
        "recursion_limit": 12 * job.call_limit
        + 50,  # super-steps: every hook is one; the call limit binds first
        "max_concurrency": 1,  # the calls of a turn one after the other: two on one file must not race
    }
    try:
        state = Context().run(agent.invoke, {"messages": messages}, limits)
    except (ModelCallLimitExceededError, GraphRecursionError) as error:
        raise AnswerError(
            f"the role did not finish within {job.call_limit} model calls",
            remedy="raise `calls_per_role` in specwright.toml, or take a stronger model",
            raw_answers=(visible_text(messages[-1].content),),
        ) from error
    return cast(list[BaseMessage], state["messages"])
