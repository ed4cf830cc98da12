"""The journal under every model call, as a mixin over `_generate` (DESIGN §4, ADR 0002).

A mixin keeps the provider's class, and with it json_schema output, the model's profile and the usage figures, in
agents and in structured calls alike. The answer is journalled and fsynced before anyone sees it.
"""

from functools import lru_cache
from typing import Any, cast

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import run_in_executor

from specwright.canonical_json import JsonValue
from specwright.errors import SpecwrightError
from specwright.ports.journal import Scope
from specwright.roles.provider_errors import translated

__all__ = ["answers_so_far", "journalled", "request_of"]

_SCOPE = "_specwright_scope"


def journalled(model: BaseChatModel, scope: Scope) -> BaseChatModel:
    """A copy of a model whose answers are recorded in, and replayed from, a scope of the journal."""
    copy = model.model_copy(update={"disable_streaming": True, "cache": False})
    copy.__class__ = _journalled_class(type(model))
    # not a field: the model's own schema, profile and identity stay as the provider made them
    vars(copy)[_SCOPE] = scope
    return copy


@lru_cache
def _journalled_class(base: type[BaseChatModel]) -> type[BaseChatModel]:
    return type(f"Journalled{base.__name__}", (_Journalled, base), {"__module__": base.__module__})


class _Journalled:
    """Answers from the journal, else from the class below."""

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        def ask() -> JsonValue:
            below = cast(Any, super(_Journalled, self))
            try:
                result: ChatResult = below._generate(messages, stop, None, **kwargs)
            except SpecwrightError:
                raise
            except Exception as error:  # whatever a provider's client raises becomes one message
                raise translated(error) from error
            return _to_json(result)

        scope: Scope = self.__dict__[_SCOPE]
        return _from_json(scope.recall("model", request_of(messages, kwargs), ask))

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return await run_in_executor(None, self._generate, messages, stop, None, **kwargs)


def answers_so_far(messages: list[BaseMessage]) -> int:
    """How often the model has answered in a conversation: the ordinal of its next answer."""
    return sum(isinstance(message, AIMessage) for message in messages)


def request_of(messages: list[BaseMessage], options: dict[str, Any]) -> JsonValue:
    """What identifies a request: its messages and tools, free of any provider's wire form.

    The model's name is no part of it, so that a run may go on with another model after a crash; nor is a response
    format, which stands in the messages too (`structured`).
    """
    return {
        "messages": [_message(message) for message in messages],
        "tools": [_tool(tool) for tool in cast(list[Any], options.get("tools") or [])],
    }


def _message(message: BaseMessage) -> JsonValue:
    fields: dict[str, Any] = {"role": message.type, "content": message.content}
    if isinstance(message, AIMessage):
        fields["tool_calls"] = [
            {"name": call["name"], "args": call["args"], "id": call["id"]} for call in message.tool_calls
        ]
    if answered := getattr(message, "tool_call_id", None):
        fields["answers"] = answered
    return cast(JsonValue, fields)


def _tool(tool: Any) -> JsonValue:
    if not isinstance(tool, dict):
        return str(tool)
    wire = cast(dict[str, Any], tool)
    described = cast(dict[str, Any], wire.get("function", wire))
    return {
        "name": described.get("name"),
        "description": described.get("description"),
        "parameters": described.get("parameters", described.get("input_schema")),
    }


def _to_json(result: ChatResult) -> JsonValue:
    return {"message": _encodable(cast(JsonValue, message_to_dict(result.generations[0].message)))}


def _encodable(value: JsonValue) -> JsonValue:
    """The same with U+FFFD for halves of characters, which no file and no further request can carry."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {cast(str, _encodable(key)): _encodable(item) for key, item in value.items()}
    return value


def _from_json(answer: JsonValue) -> ChatResult:
    (message,) = messages_from_dict([cast(dict[str, Any], cast(dict[str, Any], answer)["message"])])
    return ChatResult(generations=[ChatGeneration(message=message)])
