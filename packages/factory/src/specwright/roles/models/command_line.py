"""A coding agent's own command line as a model: one prompt in, one answer out (design: models).

For people who have a subscription and no key. The agent works in an empty directory that is removed afterwards, and gets
only those environment variables that it needs to start and to log in. The tools of a role are written into the prompt, and
its calls are read from the answer's text. An answer for which the agent used a tool of its own is an error.
"""

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from ship_gate.base.text import one_line
from specwright.bounded_process import TooMuchOutputError, run_bounded
from specwright.errors import InputError, ModelUnavailableError
from specwright.ports import Place
from specwright.roles.agent.json_text import visible_text
from specwright.roles.models.playbook import ScriptedChatModel
from specwright.secret_values import without_secrets

_ENVIRONMENT = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
_CALLS = "calls"
_SHARE = 0.95
"""Of a call's time: after that the agent is ended, before whoever waits for it gives up."""


class Answer(NamedTuple):
    """What an agent printed.

    Args:
        text: Its answer.
        usage: Tokens in and out; zeros if it counts none.
        deed: What it did beside answering; empty if nothing.
    """

    text: str
    usage: tuple[int, int] = (0, 0)
    deed: str = ""


class Agent(NamedTuple):
    """How a coding agent is called.

    Args:
        line: Of its command, which reads the prompt from standard input, and has no tools; `--model` names a model.
        variables: What it may read of the environment, besides what every program needs, by prefix.
        read: Its answer, from what it printed.
    """

    line: str
    variables: tuple[str, ...]
    read: Callable[[str], Answer]

    @property
    def command(self) -> list[str]:
        """Its program and arguments."""
        return shlex.split(self.line)


def _claude(printed: str) -> Answer:
    whole: Any = json.loads(printed)
    # with the user's setting `verbose` it prints every message of the turn, the result last
    data: dict[str, Any] = cast(list[Any], whole)[-1] if isinstance(whole, list) else whole
    if data.get("is_error") or not isinstance(data.get("result"), str):
        raise ValueError(str(data.get("result")))
    counted = cast(dict[str, Any], data.get("usage") or {})
    read = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    tokens = sum(int(counted.get(name) or 0) for name in read)
    return Answer(str(data["result"]), (tokens, int(counted.get("output_tokens") or 0)))


def _codex(printed: str) -> Answer:
    text, usage, deed = "", (0, 0), ""
    for line in filter(str.strip, printed.splitlines()):
        event: dict[str, Any] = json.loads(line)
        if event["type"] in ("error", "turn.failed"):
            raise ValueError(str(event.get("message") or event.get("error")))
        item: dict[str, Any] = event.get("item") or {}
        if event["type"] == "turn.completed":
            counted = cast(dict[str, Any], event.get("usage") or {})
            usage = int(counted.get("input_tokens") or 0), int(counted.get("output_tokens") or 0)
        elif item.get("type") == "agent_message":
            text = str(item["text"])
        elif item and item.get("type") not in ("reasoning", "todo_list"):
            deed = str(item.get("type"))
    return Answer(text, usage, deed)


AGENTS = {
    "claude": Agent(
        'claude -p --output-format json --tools "" --strict-mcp-config --setting-sources "" --max-turns 1',
        ("ANTHROPIC_", "CLAUDE_"),
        _claude,
    ),
    "codex": Agent(
        "codex exec --json --ephemeral --sandbox read-only -c mcp_servers={} --skip-git-repo-check -",
        ("OPENAI_", "CODEX_"),
        _codex,
    ),
}
"""By the name after `cli:`; a model of the agent may follow, `cli:claude:sonnet`."""


class CommandLineChatModel(ScriptedChatModel):
    """A chat model that a coding agent's command line answers for."""

    name_of_agent: str
    model: str = ""
    seconds: float = 600.0

    @property
    def _llm_type(self) -> str:
        return f"cli-{self.name_of_agent}"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        answer = self._asked(prompt_of(messages, kwargs))
        message = AIMessage(
            content="",
            usage_metadata=UsageMetadata(
                input_tokens=answer.usage[0], output_tokens=answer.usage[1], total_tokens=sum(answer.usage)
            ),
        )
        calls = calls_in(answer.text, len(messages)) if kwargs.get("tools") else []
        if calls:
            message.tool_calls = cast(Any, calls)
        else:
            message.content = answer.text
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _asked(self, prompt: str) -> Answer:
        agent = AGENTS[self.name_of_agent]
        command = [*agent.command, *(["--model", self.model] if self.model else [])]
        try:
            with tempfile.TemporaryDirectory(prefix="specwright-cli-") as empty:
                ended = run_bounded(
                    command,
                    cwd=Path(empty),
                    env=_environment(agent),
                    seconds=self.seconds * _SHARE,
                    given=prompt.encode(errors="replace"),
                )
        except TimeoutError:
            raise ModelUnavailableError(
                "the model did not answer in time",
                where=f"{agent.command[0]} was ended after {self.seconds:g} seconds",
                remedy="raise `timeout_seconds` in specwright.toml, or run again",
            ) from None
        except TooMuchOutputError as error:
            raise _failed(self.name_of_agent, f"it {error}") from error
        except OSError as error:
            raise _failed(self.name_of_agent, str(error)) from error
        printed, said = (text.decode(errors="replace").strip() for text in (ended.stdout, ended.stderr))
        try:
            answer = agent.read(printed)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise _failed(self.name_of_agent, said or str(error)) from error
        if ended.returncode or answer.deed:
            did = f"it used a tool of its own: {answer.deed}" if answer.deed else said
            raise _failed(self.name_of_agent, did or f"exit code {ended.returncode}")
        return answer


class CommandLineSource:
    """The source of `cli:` models.

    Args:
        name: `claude`, `codex`, or one of them with a model, `claude:sonnet`.
        seconds: Of one call.

    Raises:
        InputError: there is no such agent, or it is not installed.
    """

    scripted = False

    def __init__(self, name: str, seconds: float) -> None:
        agent, _, model = name.partition(":")
        if agent not in AGENTS:
            raise InputError(
                f"there is no command line {agent!r}",
                where=f"cli:{name}",
                remedy=f"known are {', '.join(AGENTS)}",
            )
        if shutil.which(AGENTS[agent].command[0]) is None:
            raise InputError(
                f"{agent} is not installed",
                where=f"cli:{name}: no such command on PATH",
                remedy="install it and log in there once; or name another model",
            )
        self._model = CommandLineChatModel(name_of_agent=agent, model=model, seconds=seconds)

    def model(self, place: Place) -> BaseChatModel:
        """The model; it is the same everywhere."""
        return self._model


def prompt_of(messages: list[BaseMessage], options: Mapping[str, Any]) -> str:
    """A conversation as one prompt: its messages under headings, then the tools and how to answer."""
    parts = [f"# {_speaker(message)}\n\n{_spoken(message)}" for message in messages]
    if tools := options.get("tools"):
        described = [tool.get("function", tool) for tool in cast(list[dict[str, Any]], tools)]
        parts.append(
            f"# Tools\n\n{json.dumps(described, ensure_ascii=False)}\n\n# How to answer\n\nYou have no other tools. Answer "
            f'with one JSON object and nothing else: {{"{_CALLS}": [{{"name": "a tool", "args": {{}}}}]}}. The calls run in '
            "this order, and their results come in your next message."
        )
    return "\n\n".join(parts) + "\n"


def calls_in(text: str, turn: int) -> list[dict[str, Any]]:
    """The tool calls that an answer writes as text; none if it is anything else."""
    start, end = text.find("{"), text.rfind("}")
    try:
        data: Any = json.loads(text[start : end + 1])
        calls = cast(list[dict[str, Any]], data[_CALLS])
        return [
            {
                "name": str(call["name"]),
                "args": dict(call["args"]),
                "id": f"cli-{turn}-{n}",
                "type": "tool_call",
            }
            for n, call in enumerate(calls)
        ]
    except (KeyError, TypeError, ValueError):
        return []


def _speaker(message: BaseMessage) -> str:
    if isinstance(message, ToolMessage):
        return f"Result of {message.name or 'your call'}"
    return {"system": "Instructions", "human": "Message", "ai": "Your answer"}.get(message.type, message.type)


def _spoken(message: BaseMessage) -> str:
    text = visible_text(message.content)
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = [{"name": call["name"], "args": call["args"]} for call in message.tool_calls]
        return f"{text}\n{json.dumps({_CALLS: calls}, ensure_ascii=False)}".strip()
    return text


def _environment(agent: Agent) -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name in _ENVIRONMENT or name.startswith(agent.variables)
    }


def _failed(name: str, output: str) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"the command line of {name} gave no answer",
        where=without_secrets(one_line(output))[:300],
        remedy=f"try `{AGENTS[name].command[0]}` by hand: is it logged in, and within its limits? Then run again",
    )
