"""The mark by which a provider knows what of a request to put into its cache (design: models).

OpenAI and most others cache the beginning of a request by themselves. Anthropic asks for a mark, and charges for what it
puts there; so only what the next request of the role will begin with is marked: tools and system prompt.
"""

from langchain_core.messages import BaseMessage, SystemMessage

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
