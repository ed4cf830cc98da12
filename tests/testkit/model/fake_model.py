"""The one fake model of the tests: a function from a request to an answer.

A `Reply` is given the place of an invocation, the conversation and the offered tools, and returns the next message. This
module serves it as a chat model; `testkit.endpoint` serves it over HTTP. Replies come from a script
(`testkit.model.script`), from a playbook, or are given in order.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from specwright.ports import Place, Role
from specwright.roles.models.journalled_model import answers_so_far
from specwright.roles.models.playbook import Playbook, ScriptedChatModel

__all__ = [
    "NOWHERE",
    "SUMMARY",
    "FakeModel",
    "FakeSource",
    "OrderedReplies",
    "PlaybookReplies",
    "Reply",
    "Request",
    "calls",
]

NOWHERE = Place("TSK-001", 1, "", "", Role.PROPOSER)
"""For models that are used outside of a run."""

SUMMARY = "Many notes were written; the spec is still to be emitted."


class Reply(Protocol):
    """Answers requests."""

    def __call__(
        self, place: Place, messages: list[BaseMessage], tools: Sequence[dict[str, Any]]
    ) -> AIMessage:
        """The next message of a conversation."""
        ...


_FORMS = dict[Any, dict[str, Any]]()


def _form(tool: BaseTool) -> dict[str, Any]:
    """A tool in the OpenAI form, found again by all that it is made of."""
    made_of = (type(tool), tool.name, tool.description, tool.args_schema)
    if not isinstance(tool.args_schema, type):
        return convert_to_openai_tool(tool)
    if made_of not in _FORMS:
        _FORMS[made_of] = convert_to_openai_tool(tool)
    return _FORMS[made_of]


class FakeModel(ScriptedChatModel):
    """A chat model that answers with a `Reply`."""

    reply: Any
    place: Place = NOWHERE

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
        """Bind tools in the OpenAI form, which is made once: an agent binds them anew for each request."""
        return self.bind(tools=[_form(tool) for tool in tools], **kwargs)

    @property
    def _llm_type(self) -> str:
        return "fake"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        message: AIMessage = self.reply(self.place, messages, kwargs.get("tools") or [])
        usage: Any = message.usage_metadata or {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
        return ChatResult(
            generations=[ChatGeneration(message=message.model_copy(update={"usage_metadata": usage}))]
        )


class FakeSource:
    """The port `ModelSource` over a `Reply`.

    Args:
        reply: Answers every invocation.
        window: How many tokens the model claims to take; 0 claims nothing.
    """

    scripted = True

    def __init__(self, reply: Reply, window: int = 0) -> None:
        self._reply = reply
        self._profile: Any = {"max_input_tokens": window} if window else None

    def model(self, place: Place) -> FakeModel:
        """The model of an invocation."""
        return FakeModel(reply=self._reply, place=place, profile=self._profile)


def calls(*made: tuple[str, dict[str, Any]], text: str = "", ordinal: int | None = None) -> AIMessage:
    """An answer that calls tools.

    Args:
        made: Names and arguments.
        text: What it says beside them.
        ordinal: Of the answer in its conversation, for ids like those of the playbook.
    """
    tool_calls: list[Any] = [
        {"name": name, "args": args, "id": f"{name}-{n}" if ordinal is None else f"call-{ordinal}-{n}"}
        for n, (name, args) in enumerate(made)
    ]
    return AIMessage(content=text, tool_calls=tool_calls)


class Request(NamedTuple):
    """A request that a model received."""

    messages: list[BaseMessage]
    tools: dict[str, dict[str, Any]]

    @property
    def tool_results(self) -> list[str]:
        """The results of the tools that the last answer called, as the model reads them."""
        results: list[str] = []
        for message in reversed(self.messages):
            if not isinstance(message, ToolMessage):
                break
            results.insert(0, message.text)
        return results


class OrderedReplies:
    """Gives answers in a fixed order, whatever is asked; a request without tools is one for a summary.

    Args:
        answers: The answers.
        forever: Whether the last one is repeated.
    """

    def __init__(self, *answers: AIMessage, forever: bool = False) -> None:
        self._left = list(answers)
        self._forever = forever
        self.requests: list[Request] = []
        self.summaries = 0

    def __call__(
        self, place: Place, messages: list[BaseMessage], tools: Sequence[dict[str, Any]]
    ) -> AIMessage:
        """The next answer."""
        if not tools:
            self.summaries += 1
            return AIMessage(SUMMARY)
        self.requests.append(
            Request(messages, {tool["function"]["name"]: tool["function"] for tool in tools})
        )
        answer = self._left[0] if self._forever and len(self._left) == 1 else self._left.pop(0)
        # ids differ from answer to answer, as they do with a provider
        renamed: Any = [{**call, "id": f"{len(self.requests)}-{call['id']}"} for call in answer.tool_calls]
        return answer.model_copy(update={"tool_calls": renamed})


class PlaybookReplies:
    """Answers from a playbook; where it has no further answer it repeats the last one."""

    def __init__(self, playbook: Playbook) -> None:
        self._playbook = playbook

    def __call__(
        self, place: Place, messages: list[BaseMessage], tools: Sequence[dict[str, Any]] = ()
    ) -> AIMessage:
        """The answer for this place and ordinal."""
        model = self._playbook.model(place)
        last = len(model.turns) - 1
        answered = min(answers_so_far(messages), last)
        return model.invoke([HumanMessage("Go on."), *[AIMessage("")] * answered])


Observer = Callable[[Place, list[BaseMessage], Sequence[dict[str, Any]]], None]
"""Called with every request: place, conversation, tools."""


def observed(reply: Reply, observer: Observer) -> Reply:
    """The same replies; the observer sees every request first."""

    def observe(place: Place, messages: list[BaseMessage], tools: Sequence[dict[str, Any]]) -> AIMessage:
        observer(place, messages, tools)
        return reply(place, messages, tools)

    return observe
