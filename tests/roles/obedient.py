"""One role invocation with a model that does as it is told, through the real agent loop, tools and middleware."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from project.workbench import Workbench
from specwright.application.factory import Factory
from specwright.ports.roles import Place, Role
from specwright.ports.search import WebSearch
from specwright.roles.scripted import ScriptedChatModel
from specwright.roles.search import NoSearch
from specwright.roles.team import Bounds, ModelRoles
from specwright.storage.guarded_backend import ContextPackBackend

__all__ = ["SUMMARY", "Asked", "Bench", "ObedientChatModel", "Orders", "calls"]

SUMMARY = "Many notes were written; the spec is still to be emitted."


def calls(*made: tuple[str, dict[str, Any]]) -> AIMessage:
    """An answer that calls tools."""
    given: list[Any] = [
        {"name": name, "args": args, "id": f"{name}-{number}"} for number, (name, args) in enumerate(made)
    ]
    return AIMessage(content="", tool_calls=given)


class Asked(NamedTuple):
    """A request."""

    messages: list[BaseMessage]
    tools: dict[str, dict[str, Any]]

    @property
    def told(self) -> list[str]:
        """The results of the tools that the last answer called, as the model reads them."""
        found: list[str] = []
        for message in reversed(self.messages):
            if not isinstance(message, ToolMessage):
                break
            found.insert(0, message.text)
        return found


class Orders:
    """What a model says, in this order; it has nothing more to say, unless it repeats its last answer for ever.

    A request without tools is one for a summary.
    """

    def __init__(self, *answers: AIMessage, forever: bool = False) -> None:
        self._left = list(answers)
        self._forever = forever
        self.asked: list[Asked] = []
        self.summaries = 0

    def next(self, messages: list[BaseMessage], tools: Sequence[dict[str, Any]]) -> AIMessage:
        """Its next answer."""
        if not tools:
            self.summaries += 1
            return AIMessage(SUMMARY)
        self.asked.append(Asked(messages, {tool["function"]["name"]: tool["function"] for tool in tools}))
        answer = self._left[0] if self._forever and len(self._left) == 1 else self._left.pop(0)
        # ids differ from answer to answer, as they do with a provider
        named: Any = [{**call, "id": f"{len(self.asked)}-{call['id']}"} for call in answer.tool_calls]
        return answer.model_copy(update={"tool_calls": named})


class ObedientChatModel(ScriptedChatModel):
    """Follows its orders."""

    orders: Any

    @property
    def _llm_type(self) -> str:
        return "obedient"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        answer = self.orders.next(messages, kwargs.get("tools") or [])
        return ChatResult(generations=[ChatGeneration(message=answer)])


class _Source:
    scripted = True

    def __init__(self, orders: Orders, window: int) -> None:
        self._orders, self._window = orders, window

    def model(self, place: Place) -> ObedientChatModel:
        """The one of every invocation."""
        profile: Any = {"max_input_tokens": self._window} if self._window else None
        return ObedientChatModel(orders=self._orders, profile=profile)


class Bench(Workbench):
    """A project whose roles are the real ones over an obedient model.

    Args:
        directory: The project.
        orders: What every role says.
        calls_per_role: As the setting has it.
        search: What `web_search` asks.
        window: How many tokens the model says that it takes; 0 says nothing.
    """

    def __init__(
        self,
        directory: Path,
        orders: Orders,
        *,
        calls_per_role: int = 60,
        search: WebSearch | None = None,
        window: int = 0,
    ) -> None:
        super().__init__(directory)
        sources = dict.fromkeys(Role, _Source(orders, window))
        self.roles = ModelRoles(
            sources,
            self.journal,
            self.factory.index,
            search or NoSearch(),
            self.runtime / "work",
            self.notes,
            ContextPackBackend,
            Bounds(calls_per_role),
        )
        self.factory: Factory = replace(
            self.factory, roles=self.roles, spec_text="# Table keeper\n\nIt keeps tables.\n"
        )
