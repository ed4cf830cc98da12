"""The base of models that answer without a provider: playbooks and recorded journals."""

from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict

__all__ = ["ScriptedChatModel"]


class ScriptedChatModel(BaseChatModel):
    """Takes tools and schemas as a provider's model does."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
        """Bind tools in the OpenAI form."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Any:
        """Answer with JSON text, which the caller validates."""

        def raw(message: BaseMessage) -> dict[str, Any]:
            return {"raw": message, "parsed": None, "parsing_error": None}

        return self | RunnableLambda(raw)
