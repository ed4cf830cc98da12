"""The conversation with a role, an agent with tools, until one answer of it is accepted (design: role-access, models).

An agent runs outside the graph's context and is never checkpointed: after a crash it runs again from its first message,
and the journal answers what was answered (design: journal).
"""

import json
import re
from collections.abc import Callable, Sequence
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
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    ToolCall,
    ToolMessage,
)
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.json_schema import dereference_refs
from langgraph.errors import GraphRecursionError
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command
from pydantic import BaseModel

from specwright.errors import AnswerError, ChangeRaisedError
from specwright.roles.agent.json_text import visible_text
from specwright.roles.agent.submission import UNREADABLE, Submission
from specwright.roles.agent.workspace import Workspace
from specwright.roles.models.provider_call import answer_fault, last_call_is_cut

T = TypeVar("T")

_CITATION = re.compile(r"\s*\(design:\s[^()]*\)")

_LIMITS = ("minLength", "maxLength", "minItems", "maxItems", "pattern")
_LEFT_OUT = frozenset({"title", "description", "default", "additionalProperties", *_LIMITS})
"""Of a tool's schema: the prompt says it, or the check of an answer, which also reads a weak one."""

MISTAKES = 3
"""Turns in a row in which no call works, after which the role is stopped (design: models)."""

REPEATS = 5
"""Turns in a row with the same calls and the same results, after which it is stopped as well: nothing new can come."""

_BROKEN_OFF = (
    "Nothing was done: the arguments of this call are no whole JSON, probably since the output was cut off. "
    "Write less at once; a long file can be written in parts, with write_file and then edit_file."
)

_TODO = "Keep a to-do list for yourself during long work. It is never an answer."

FILE_TOOLS = {
    "read_file": "Read a text file of your directory: `limit` lines from line `offset`, counted from 0.",
    "write_file": "Write a file of your directory, or replace it.",
    "edit_file": "Replace an exact piece of text in a file.",
    "delete": "Delete a file.",
}
"""With what is told of each: a role knows the names of its few files, and the library's own texts are for coders at
large and cost more than the request."""


class _File(BaseModel):
    file_path: str


class _Lines(_File):
    offset: int = 0
    limit: int = 100


class _Content(_File):
    content: str


class _Edit(_File):
    old_string: str
    new_string: str
    replace_all: bool = False


_PLAIN: dict[str, type[BaseModel]] = {
    "read_file": _Lines,
    "write_file": _Content,
    "edit_file": _Edit,
    "delete": _File,
}
"""The arguments of the library's file tools without its words: the names say it, in a directory of few files."""


class Toolset(StrEnum):
    """What an agent can use beside its own tools. A role that has everything in its request gets no file tools: some
    models spent calls on reading again what they had already read."""

    NONE = "none"
    READ = "reading"
    FILES = "files"
    FILES_AND_TODO = "files and to-do"
    """One file that is written again, and a to-do list for long work."""


class RaisedException:
    """The interface change exception that an invocation raised; after that the role does nothing more (design:
    interface-changes)."""

    name = ""


class Invocation(NamedTuple):
    """What one role invocation works with.

    Args:
        model: That answers.
        prompt: Its instructions.
        toolset: What it can use of its directory.
        workspace: Its directory.
        store_tools: For the store and the Code Index.
        call_limit: Its most model calls.
        raised: The exception that it raises, if it does.
    """

    model: BaseChatModel
    prompt: str
    toolset: Toolset
    workspace: Workspace
    store_tools: Sequence[BaseTool]
    call_limit: int
    raised: RaisedException


class _EndsOnSubmission(AgentMiddleware[Any, Any, Any]):
    """Ends the agent once its answer is accepted, and stops it once its attempts are spent.

    A hook, because `return_direct` ends a run on bad arguments and does not when tools are called in parallel. The
    terminal call is put last in its turn: calls run one after the other in their order, and it must see what the
    others of the turn have written.
    """

    def __init__(self, submission: Submission[Any], terminal: str, raised: RaisedException) -> None:
        super().__init__()
        self._submission = submission
        self._terminal = terminal
        self._raised = raised
        self._fault: AnswerError | None = None

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Put the terminal call last; pass on arguments as text where they broke off or could not be read."""
        message = cast(AIMessage, state["messages"][-1])
        self._fault = answer_fault(message)
        calls = [
            *message.tool_calls,
            *(_unread(one, one["args"] or "") for one in message.invalid_tool_calls),
        ]
        if last_call_is_cut(message):
            # without its end, so that nobody takes it for whole
            cut = json.dumps(calls[-1]["args"], ensure_ascii=False)[:-1]
            calls[-1] = _unread(calls[-1], f"{cut} ...")
        ordered = sorted(calls, key=lambda call: call["name"] == self._terminal)
        if ordered == message.tool_calls:
            return None
        return {"messages": [message.model_copy(update={"tool_calls": ordered, "invalid_tool_calls": []})]}

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Say of a call whose arguments broke off that nothing was done; the terminal one reads them as text. Nothing is
        done either once an exception was raised."""
        call = request.tool_call
        if self._raised.name:
            why = f"Nothing was done: {self._raised.name} was raised, and the task has halted."
            return ToolMessage(why, tool_call_id=call["id"] or "", name=call["name"], status="error")
        if call["args"].keys() != {UNREADABLE}:
            # the library refuses a second change of a file in a turn, since its calls may run at once; these do not
            return handler(request.override(state={"messages": [AIMessage("", tool_calls=[call])]}))
        if call["name"] == self._terminal:
            told = self._submission.offer_text(call["args"][UNREADABLE], self._fault)
            return ToolMessage(told, tool_call_id=call["id"] or "", name=call["name"])
        return ToolMessage(_BROKEN_OFF, tool_call_id=call["id"] or "", name=call["name"], status="error")

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """End the run once an answer is accepted or an exception raised; stop it once the attempts are spent, or one
        mistake repeats."""
        if self._raised.name:
            return {"jump_to": "end"}
        self._submission.ensure_open()
        if self._submission.accepted is not None:
            return {"jump_to": "end"}
        turns = _turns(state["messages"])
        if mistake := repeated_mistake(turns):
            raise self._stopped(f"made no call that works in {MISTAKES} turns in a row", mistake)
        if result := repeated_turn(turns):
            raise self._stopped(
                f"made the same calls with the same results in {REPEATS} turns in a row", result
            )
        return None

    def _stopped(self, why: str, result: str) -> AnswerError:
        return AnswerError(
            f"{self._submission.who} {why}; the last one: {result}",
            remedy="a stronger model may help",
            raw_answers=(result,),
        )


class _Turn(NamedTuple):
    """An answer of a model, and the results of its calls."""

    answer: AIMessage
    results: list[ToolMessage]


def _turns(messages: Sequence[BaseMessage]) -> list[_Turn]:
    turns: list[_Turn] = []
    for message in messages:
        if isinstance(message, AIMessage):
            turns.append(_Turn(message, []))
        elif isinstance(message, ToolMessage) and turns:
            turns[-1].results.append(message)
    return turns


def repeated_mistake(turns: Sequence[_Turn]) -> str:
    """The last result, if in each of the last turns no call worked; else nothing."""
    last = turns[-MISTAKES:]
    failed = all(turn.results and all(result.status == "error" for result in turn.results) for turn in last)
    return visible_text(last[-1].results[-1].content) if failed and len(last) == MISTAKES else ""


def repeated_turn(turns: Sequence[_Turn]) -> str:
    """The last result, if each of the last turns was the same; else nothing."""
    last = turns[-REPEATS:]
    if len(last) < REPEATS or not last[-1].results:
        return ""
    same = len({_calls_and_results(turn) for turn in last}) == 1
    return visible_text(last[-1].results[-1].content) if same else ""


def _calls_and_results(turn: _Turn) -> str:
    calls = [[call["name"], call["args"]] for call in turn.answer.tool_calls]
    return json.dumps([calls, [visible_text(result.content) for result in turn.results]], default=str)


def _unread(call: InvalidToolCall | ToolCall, arguments: str) -> ToolCall:
    return ToolCall(name=call["name"] or "", args={UNREADABLE: arguments}, id=call["id"], type="tool_call")


def tool_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """A schema as tools carry it: references resolved, since weak models follow them badly, and nothing that only the
    check of an answer needs."""
    return cast(dict[str, Any], json.loads(_schema_text(schema)))


@cache
def _schema_text(schema: type[BaseModel]) -> str:
    # a text, so that a caller may change its copy; cached, because a plan's schema takes 8 ms
    resolved = dereference_refs(schema.model_json_schema())
    resolved.pop("$defs", None)
    return json.dumps(_for_models(resolved))


def without_citations(text: str) -> str:
    """A text without `(design: debate, amendments)`, which the role cannot look up."""
    return _CITATION.sub("", text)


def _for_models(value: Any, *, named: bool = False) -> Any:
    """A schema without what repeats the prompt or the names: descriptions, titles, and the least length of a text, which
    is checked when the answer comes. The prompt of a role says what each field is for (design: models).

    Args:
        value: A part of the schema.
        named: Whether its keys are names of fields.
    """
    if isinstance(value, list):
        return [_for_models(item) for item in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    schema = cast(dict[str, Any], value)
    if not named and (given := _unless_null(schema)):
        schema = given
    return {
        key: _for_models(item, named=key == "properties" and not named)
        for key, item in schema.items()
        if named or key not in _LEFT_OUT
    }


def _unless_null(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The one alternative to null, if a schema has just one: who has nothing to say leaves the field out."""
    given = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
    return given[0] if len(given) == 1 and "default" in schema else None


def submit_tool(name: str, description: str, schema: dict[str, Any], submission: Submission[Any]) -> BaseTool:
    """The terminal tool. Its arguments are validated by the submission, so that the errors are exact."""

    def submit(**arguments: Any) -> str:
        return submission.offer(arguments)

    return StructuredTool(name=name, description=description, args_schema=schema, func=submit)


def converse(
    work: Invocation, tools: Sequence[BaseTool], messages: list[BaseMessage], submission: Submission[Any]
) -> list[BaseMessage]:
    """Run an agent on a conversation until its answer is accepted; returns the conversation.

    Args:
        work: What the agent is made of.
        tools: All that it has besides those for its files; by the last one it answers.
        messages: The conversation so far.
        submission: Validates the answers, and holds the accepted one.

    Raises:
        AnswerError: attempts or calls are spent.
        ChangeRaisedError: it raised an interface change exception.
    """
    terminal = tools[-1].name
    agent = _agent(work, tools, submission, terminal)
    limits = {
        # super-steps: every hook is one; the call limit binds first
        "recursion_limit": 12 * work.call_limit + 50,
        # the calls of a turn one after the other: two on one file must not race
        "max_concurrency": 1,
    }
    while submission.accepted is None:
        try:
            state = Context().run(agent.invoke, {"messages": messages}, limits)
        except (ModelCallLimitExceededError, GraphRecursionError) as error:
            raise AnswerError(
                f"{submission.who} did not finish within {work.call_limit} model calls",
                remedy="raise `calls_per_role` in specwright.toml, or take a stronger model",
                raw_answers=(visible_text(messages[-1].content),),
            ) from error
        if work.raised.name:
            raise ChangeRaisedError(work.raised.name)
        messages = cast(list[BaseMessage], state["messages"])
        if submission.accepted is None:
            # it stopped without its terminal tool: perhaps the answer is in its text
            answer = cast(AIMessage, messages[-1])
            response = submission.offer_text(visible_text(answer.content), answer_fault(answer))
            submission.ensure_open()
            messages = [*messages, HumanMessage(f"{response}\nAnswer by calling the tool `{terminal}`.")]
    return messages


def _agent(work: Invocation, tools: Sequence[BaseTool], submission: Submission[Any], terminal: str) -> Any:
    backend = work.workspace.backend()
    middleware: list[AgentMiddleware[Any, Any, Any]] = [
        _EndsOnSubmission(submission, terminal, work.raised),
        ModelCallLimitMiddleware(run_limit=work.call_limit, exit_behavior="error"),
        create_summarization_middleware(work.model, backend),
        PatchToolCallsMiddleware(),
    ]
    if work.toolset is not Toolset.NONE:
        unused = {"delete"} if work.toolset is Toolset.FILES_AND_TODO else set[str]()
        used = ["read_file"] if work.toolset is Toolset.READ else FILE_TOOLS
        names = cast(Any, [name for name in used if name not in unused])
        # a request is never moved into a file: a long SPEC.md is what the role works on
        files = FilesystemMiddleware(
            backend=backend,
            tools=names,
            custom_tool_descriptions=FILE_TOOLS,
            human_message_token_limit_before_evict=None,
        )
        for tool in files.tools:
            tool.args_schema = _PLAIN[tool.name]
        middleware.append(files)
    if work.toolset is Toolset.FILES_AND_TODO:
        middleware.append(TodoListMiddleware(system_prompt="", tool_description=_TODO))
    return create_agent(work.model, list(tools), system_prompt=work.prompt, middleware=middleware)
