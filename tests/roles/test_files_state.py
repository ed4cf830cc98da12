"""The `files` of an agent's state do not reach a subagent (F§19.4).

No role of the factory has subagents, so that there is nobody to leak to; what follows shows that, and that a subagent
given its own state explicitly would see nothing either, while deepagents' own middleware does hand `files` on.
"""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from deepagents.backends import StateBackend
from deepagents.middleware.subagents import _EXCLUDED_STATE_KEYS, SubAgentMiddleware
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda

import specwright.roles
from specwright.ports import Place
from testkit.model.fake_model import FakeModel, calls
from testkit.roles.overheard import Run

FILE = {"/secret.md": {"content": "the parent's own", "encoding": "utf-8"}}


def delegate(place: Place, messages: list[Any], tools: Any) -> AIMessage:
    """Hand one task to a subagent."""
    if isinstance(messages[-1], HumanMessage):
        return calls(("task", {"description": "Look.", "subagent_type": "helper"}))
    return AIMessage("done")


def seen_by_subagent(wrap: Any) -> dict[str, Any]:
    """What state a subagent is started with when its parent holds a file."""
    from deepagents.middleware.filesystem import FilesystemMiddleware

    states: list[dict[str, Any]] = []

    def subagent(state: dict[str, Any]) -> dict[str, Any]:
        states.append(state)
        return {"messages": [AIMessage("seen")]}

    runnable: Runnable[Any, Any] = wrap(RunnableLambda(subagent))
    spec: Any = {"name": "helper", "description": "helps", "runnable": runnable}
    middleware: Any = [
        FilesystemMiddleware(backend=StateBackend()),
        SubAgentMiddleware(backend=StateBackend(), subagents=[spec]),
    ]
    agent: Any = create_agent(FakeModel(reply=delegate), [], middleware=middleware)
    agent.invoke({"messages": [HumanMessage("Go.")], "files": FILE})
    return states[0]


def test_deepagents_itself_hands_files_on():
    """The risk is real: the key is not among those that the middleware leaves out (D-S7-06)."""
    assert "files" not in _EXCLUDED_STATE_KEYS
    assert seen_by_subagent(lambda runnable: runnable)["files"] == FILE


def test_a_subagent_with_its_state_built_explicitly_sees_no_files():
    """The remedy that F§19.4 allows: each invocation gets what it is given, and nothing of its parent (D-S7-06)."""
    explicit = RunnableLambda(lambda state: {"messages": state["messages"]})
    assert set(seen_by_subagent(lambda runnable: explicit | runnable)) == {"messages"}


@pytest.mark.parametrize(
    "path", sorted(Path(str(files(specwright.roles))).rglob("*.py")), ids=lambda path: path.name
)
def test_no_role_is_made_with_subagents(path: Path):
    """Roles do not delegate: no subagent middleware and no deep agent is ever built (D-S7-06, F-6-02)."""
    text = path.read_text()
    assert "SubAgent" not in text
    assert "create_deep_agent" not in text


def test_each_invocation_of_a_run_starts_with_its_own_request_alone(run: Run):
    """No tool to delegate with, and a first request of system prompt and message, nothing older (D-S7-06, F-6-02)."""
    for one in run.invoked:
        assert "task" not in one.tools
        assert '"type": "ai"' not in one.requests[0]
