"""A model call: journalled, counted, and marked for the provider's cache (design: journal, models).

The journal is a mixin over `_generate`: it keeps the provider's class, and with it the model's profile and the usage
figures. An answer is journalled and fsynced before anyone sees it.

OpenAI and most others cache the beginning of a request by themselves. Anthropic asks for a mark, and charges for what it
puts there; so only what the next request of the role will begin with is marked: tools and system prompt.
"""

import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple, cast

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    SystemMessage,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import run_in_executor

from agent_wire.canonical_json import JsonValue
from specwright.errors import SpecwrightErrors
from specwright.ports import RoleDone, Scope, provider_of, read_as_model_answer, usage_of
from specwright.roles.models.provider_call import (
    answer_in,
    openai_usage,
    repair_anthropic,
    repair_openai,
    translated,
)
from specwright.roles.models.spending import counted

_ASKS_FOR_A_MARK = "anthropic-chat"
"""The kind of model, as LangChain names it."""


def marked_for_caching(messages: list[BaseMessage], kind: str) -> list[BaseMessage]:
    """A request as it is sent to a kind of model: the tools come before the system prompt, so a mark behind it is for both.

    Args:
        messages: The request.
        kind: Of the model, as LangChain names it.
    """
    first = messages[0] if messages else None
    if kind != _ASKS_FOR_A_MARK or not isinstance(first, SystemMessage):
        return messages
    block = {"type": "text", "text": first.text, "cache_control": {"type": "ephemeral"}}
    return [first.model_copy(update={"content": [block]}), *messages[1:]]


def content_of(messages: list[BaseMessage], options: dict[str, Any]) -> dict[str, int]:
    """The characters of a request by kind of content, the largest first.

    Args:
        messages: The conversation.
        options: What the provider is given besides: tools.
    """
    sizes: Counter[str] = Counter()
    for message in messages:
        if isinstance(message, SystemMessage):
            sizes["system prompt"] += len(_text(message))
        elif isinstance(message, AIMessage):
            calls = [[call["name"], call["args"]] for call in message.tool_calls]
            sizes["own earlier turns"] += len(_text(message)) + len(json.dumps(calls))
        elif isinstance(message, ToolMessage):
            sizes["tool results"] += len(_text(message))
        else:
            sizes["request"] += len(_text(message))
    if tools := options.get("tools"):
        sizes["tool definitions"] += len(json.dumps(tools, default=str, ensure_ascii=False))
    return {kind: size for kind, size in sizes.most_common() if size}


def _text(message: BaseMessage) -> str:
    content = cast(Any, message.content)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


_SCOPE, _METER, _ASK, _ACCOUNT = (f"_specwright_{name}" for name in ("scope", "meter", "ask", "account"))

Ask = Callable[[Callable[[], ChatResult], int], ChatResult]
"""How a provider is asked, given the size of the request in bytes: within which time, how often (`provider_call`)."""


class Account(NamedTuple):
    """Where the answers of an invocation are bought, and what pays for them (design: models).

    Args:
        model: As the journal names it.
        price: What an answer costs now, in US dollars; None if that is not known.
        reserve: Called with the size of a request, in bytes, before it is sent.
        settle: Called with its answer once that is journalled, or with None.
    """

    model: str
    price: Callable[[JsonValue], Decimal | None]
    reserve: Callable[[int], None]
    settle: Callable[[JsonValue], None]


def journalled(
    model: BaseChatModel, scope: Scope, meter: "Meter", ask: Ask | None = None, account: Account | None = None
) -> BaseChatModel:
    """A copy of a model whose answers are counted, recorded in, and replayed from, a scope of the journal."""
    copy = model.model_copy(update={"disable_streaming": True, "cache": False})
    copy.__class__ = _journalled_class(type(model))
    once: Ask = lambda live, size: live()  # noqa: E731 - the annotation gives its parameters their types
    # not a field: the model's own schema, profile and identity stay as the provider made them
    vars(copy).update({_SCOPE: scope, _METER: meter, _ASK: ask or once, _ACCOUNT: account})
    return copy


@lru_cache
def _journalled_class(base: type[BaseChatModel]) -> type[BaseChatModel]:
    return type(
        f"Journalled{base.__name__}", (_Journalled, _RepairedReplies, base), {"__module__": base.__module__}
    )


class _RepairedReplies:
    """Repairs replies before the clients of OpenAI and Anthropic read them; those of others have none of these methods."""

    def _create_chat_result(self, response: Any, generation_info: Any = None) -> ChatResult:
        below: Any = super()
        return below._create_chat_result(_repaired(response, repair_openai), generation_info)

    def _format_output(self, data: Any, **kwargs: Any) -> ChatResult:
        below: Any = super()
        return below._format_output(_repaired(data, repair_anthropic), **kwargs)


def _repaired(reply: Any, repair: Callable[[dict[str, Any]], None]) -> Any:
    """A reply as the client constructs it of the repaired JSON; what is no record stays as it is, and is refused there."""
    if not hasattr(reply, "model_dump"):
        return reply
    document: dict[str, Any] = reply.model_dump(warnings=False)
    repair(document)
    return cast(Any, type(reply)).construct(**document)


class _Journalled:
    """Answers from the journal, else from the class below."""

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        live = False
        account: Account | None = self.__dict__[_ACCOUNT]

        def ask() -> JsonValue:
            nonlocal live
            asked = content_of(messages, kwargs)
            size = sum(asked.values()) + _bytes_beyond_characters(messages, kwargs)
            if account is not None:
                account.reserve(size)
            live = True
            below = cast(Any, super(_Journalled, self))
            asking: Ask = self.__dict__[_ASK]
            sent = marked_for_caching(messages, below._llm_type)
            try:
                message = _readable(asking(lambda: below._generate(sent, stop, None, **kwargs), size))
            except SpecwrightErrors:
                raise
            except Exception as error:  # whatever a provider's client raises becomes one message
                if (given := answer_in(error)) is None:
                    raise translated(error, account.model if account else "") from error
                message = cast(JsonValue, message_to_dict(given))
            answer: dict[str, JsonValue] = {"message": message, "asked": cast(JsonValue, asked)}
            if account is None:
                return answer
            usd = account.price(answer)
            # prices change, with the hour at some providers; what was paid does not
            return {**answer, "model": account.model, "usd": None if usd is None else str(usd)}

        identity = request_of(messages, kwargs)
        scope: Scope = self.__dict__[_SCOPE]
        meter: Meter = self.__dict__[_METER]
        answer: JsonValue = None
        try:
            answer = scope.recall("model", identity, ask)
        finally:
            if live and account is not None:
                account.settle(answer)
        with read_as_model_answer(f"{scope.name}, model {answers_so_far(messages)}"):
            result = _from_json(answer)
            meter.count(answer, live=live)
        return result

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return await run_in_executor(None, self._generate, messages, stop, None, **kwargs)


def _bytes_beyond_characters(messages: list[BaseMessage], options: dict[str, Any]) -> int:
    """By how much a request in UTF-8 is longer than its characters: scripts beyond ASCII take more tokens a character."""
    text = json.dumps(request_of(messages, options), ensure_ascii=False)
    return len(text.encode(errors="replace")) - len(text)


def answers_so_far(messages: list[BaseMessage]) -> int:
    """How often the model has answered in a conversation: the ordinal of its next answer."""
    return sum(isinstance(message, AIMessage) for message in messages)


def request_of(messages: list[BaseMessage], options: dict[str, Any]) -> JsonValue:
    """What identifies a request: its messages and tools, free of any provider's wire form.

    The model's name is no part of it, so that a run may go on with another model after a crash.
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


def _message_of(result: ChatResult) -> BaseMessage:
    """The answer, with why it ended. Some servers give no choice at all: that is an empty answer, and it was paid."""
    if result.generations:
        message = result.generations[0].message
        ended = (result.generations[0].generation_info or {}).get("finish_reason")
        ended = ended or (result.llm_output or {}).get("stop_reason")
        if ended and isinstance(message, AIMessage):
            message.response_metadata.setdefault("finish_reason", ended)
        return message
    return AIMessage("", usage_metadata=openai_usage((result.llm_output or {}).get("token_usage")))


def _readable(result: ChatResult) -> JsonValue:
    """The answer as it is journalled, if it can be read back: no later run would get past one that cannot.

    Raises:
        ValueError, TypeError: it cannot.
    """
    answer = _encodable(cast(JsonValue, message_to_dict(_message_of(result))))
    read = _from_json({"message": answer}).generations[0].message
    if not isinstance(read, AIMessage) or not all(isinstance(call["id"], str) for call in read.tool_calls):
        raise TypeError("a call of a tool has no id")
    usage_of({"message": answer})
    return answer


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


class Meter:
    """Counts the answers of a model in one invocation."""

    def __init__(self) -> None:
        self._calls = 0
        self._live = 0
        self._tokens = {True: [0, 0], False: [0, 0]}

    def count(self, answer: JsonValue, *, live: bool) -> None:
        """Count an answer."""
        self._calls += 1
        self._live += live
        usage = counted(answer) if provider_of(answer) else usage_of(answer)
        for i, tokens in enumerate(usage[:2]):
            self._tokens[live][i] += tokens

    def total(self, run_id: str) -> RoleDone:
        """The sum: the tokens of the calls made now, or of the journalled answers if there was none."""
        kept = self._calls - self._live
        tokens = self._tokens[self._live > 0]
        return RoleDone(run_id, self._calls, *tokens, replayed=self._calls == kept > 0, kept=kept)
