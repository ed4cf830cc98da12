"""How the agents of the roles are made, how they end, and what bounds them (D17, DESIGN §6)."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import langchain.agents
import pytest
from langchain_core.messages import AIMessage, HumanMessage

import engineering.workbench
from engineering.answers import Handed
from engineering.workbench import modelled, script
from roles.damage import ANSWERS
from roles.obedient import Bench, ObedientChatModel, Orders, calls
from roles.overheard import Run
from specwright.domain.answers import ChallengerAnswer
from specwright.errors import AnswerError
from specwright.ports.roles import Assignment, Place, Role
from specwright.roles import agent
from specwright.roles.submission import Submission, parser
from specwright.roles.workspace import Workspace
from specwright.storage.guarded_backend import ContextPackBackend

AGENTS = ("researcher", "planner", "proposer", "amender", "challenger")
LOOK = ("look_around", {"where": "everywhere"})
"""No tool that anybody has: the model is told so, and calls it again."""

Check = Callable[..., Sequence[str]]


def ask(bench: Bench, role: str, check: Check = lambda *_: ()) -> Any:
    """One invocation of a role."""
    named = Role.PROPOSER if role == "amender" else Role(role)
    stage = "amended" if role == "amender" else "round-1"
    given = Assignment(
        Place("TSK-001", 1, "shout", stage, named), "Do your work.", {}, ("implementation/", "notes/")
    )
    match role:
        case "researcher":
            return bench.roles.research(given, [], check).spec
        case "planner":
            return bench.roles.plan(given, check)
        case "proposer":
            return bench.roles.propose(given, check).answer
        case "amender":
            return bench.roles.amend(given, check).answer
        case "challenger":
            return bench.roles.challenge(given, check)
        case _:
            return bench.roles.arbitrate(given, check)


def terminal(role: str, *, sound: bool = True) -> tuple[str, dict[str, Any]]:
    """The call by which a role hands in its answer, or one that is none."""
    answer = ANSWERS[role].answer if sound else {"nothing": "of what was asked for"}
    return ANSWERS[role].tool, {"spec": answer} if role == "researcher" else answer


def without_title(spec: Any, *_: Any) -> list[str]:
    """What is wrong with an unsound spec; the answers of the others are held against their schemas."""
    return ["title: is missing"] if isinstance(spec, dict) and "title" not in spec else []


def asked(directory: Path, role: str, *answers: AIMessage) -> Orders:
    """A role follows its orders to its answer."""
    orders = Orders(*answers)
    with Bench(directory, orders) as bench:
        said = ask(bench, role, without_title)
    assert (said if isinstance(said, dict) else said.to_json()) == ANSWERS[role].answer
    return orders


@pytest.mark.parametrize("role", AGENTS)
def test_a_terminal_tool_ends_its_agent_once_it_succeeds(tmp_path: Path, role: str):
    """Alone, first or last among parallel calls: the model is not asked again (D-S6-07)."""
    done = terminal(role)
    for number, turn in enumerate(([done], [done, LOOK, LOOK], [LOOK, done], [done, done])):
        assert len(asked(tmp_path / str(number), role, calls(*turn)).asked) == 1


@pytest.mark.parametrize("role", AGENTS)
def test_a_terminal_tool_that_fails_does_not_end_its_agent(tmp_path: Path, role: str):
    """Alone or beside another call; what was wrong is told, and the next good answer counts (D-S6-07)."""
    bad = terminal(role, sound=False)
    orders = asked(tmp_path, role, calls(bad), calls(LOOK, bad), calls(terminal(role)))

    assert len(orders.asked) == 3
    for again in orders.asked[1:]:
        assert sum(told.startswith("Not accepted.") for told in again.told) == 1


@pytest.mark.parametrize("role", AGENTS)
def test_an_agent_that_reaches_its_call_limit_ends_in_an_error(tmp_path: Path, role: str):
    """A model that calls tools for ever is stopped after so many calls, and nothing it said counts (D-S6-06)."""
    orders = Orders(calls(LOOK), forever=True)
    with Bench(tmp_path, orders, calls_per_role=5) as bench:
        with pytest.raises(AnswerError, match="did not finish within 5 model calls") as caught:
            ask(bench, role)
        assert len(orders.asked) == 5
        assert "calls_per_role" in caught.value.remedy
        assert not list(bench.runtime.glob("work/*"))


def test_a_module_whose_role_reaches_its_limit_halts_and_does_not_ship(tmp_path: Path):
    """What an agent said on its way to the limit is no verdict: a person is asked, the other module ships (D-S6-06)."""
    forever = {"double/round-1/proposer": [Handed(None, calls=(LOOK,))]}
    roles = modelled(script(forever), lambda *_: None)
    with engineering.workbench.Bench(tmp_path, script(), roles=roles) as bench:
        assert bench.begin() == "HALTED"
        assert sorted(bench.sealed()) == ["halve"]
        assert "did not finish within 60 model calls" in str(bench.escalation.to_json())
        assert bench.trace.count("double/round-1/proposer") == 60


def test_one_call_below_the_limit_is_enough(tmp_path: Path):
    """The bound is the bound: the answer may come with the last call (D-S6-06)."""
    orders = Orders(*[calls(LOOK)] * 4, calls(terminal("challenger")))
    with Bench(tmp_path, orders, calls_per_role=5) as bench:
        assert ask(bench, "challenger").to_json() == ANSWERS["challenger"].answer


@pytest.mark.parametrize("role", [*AGENTS, "arbiter"])
def test_four_roles_are_agents_and_the_arbiter_gives_one_structured_answer(tmp_path: Path, role: str):
    """Whoever is an agent can call its tool after looking around; the Arbiter is asked for JSON without tools (F-18-01)."""
    orders = Orders(calls(LOOK), calls(terminal(role))) if role != "arbiter" else Arbiter()
    with Bench(tmp_path, orders) as bench:
        answer = ask(bench, role)
    assert (answer if isinstance(answer, dict) else answer.to_json()) == ANSWERS[role].answer
    if role == "arbiter":
        assert orders.asked == []
        assert orders.summaries == 1
        return
    assert [ANSWERS[role].tool in one.tools for one in orders.asked] == [True, True]
    assert len(orders.asked[1].told) == 1


class Arbiter(Orders):
    """Gives its ruling as text, whatever it is asked without tools."""

    def next(self, messages: list[Any], tools: Sequence[dict[str, Any]]) -> AIMessage:
        """The ruling."""
        super().next(messages, tools)
        return AIMessage(json.dumps(ANSWERS["arbiter"].answer))


def test_agents_are_made_by_create_agent_in_one_place(run: Run):
    """The library's function, in one module; in a whole run every role but the Arbiter was one (F-18-01)."""
    assert agent.create_agent is langchain.agents.create_agent
    package = Path(agent.__file__).parents[1]
    makers = [p.name for p in package.rglob("*.py") if "create_agent" in p.read_text(encoding="utf-8")]
    assert makers == ["agent.py"]
    with_tools = {one.place.role for one in run.invoked if one.tools}
    assert with_tools == set(Role) - {Role.ARBITER}
    assert {one.place.role for one in run.invoked if not one.tools} == {Role.ARBITER}


def test_a_call_that_never_got_its_result_is_answered_before_the_agent_goes_on(tmp_path: Path):
    """A provider refuses a conversation with a call that hangs in the air; the agent never sends one (F-18-03)."""
    orders = Orders(calls(terminal("challenger")))
    given = Assignment(Place("TSK-001", 1, "shout", "round-1", Role.CHALLENGER), "Go on.", {})
    with Bench(tmp_path, orders) as bench:
        model = ObedientChatModel(orders=orders)
        desk = Submission(parser(ChallengerAnswer, lambda _: ()), 3, "a role")
        submit = agent.submit_tool(
            "submit_challenge", "Hand it in.", agent.tool_schema(ChallengerAnswer), desk
        )
        workspace = Workspace(bench.runtime / "work", given, ContextPackBackend)
        job = agent.AgentJob(model, "Challenge.", [submit], workspace, agent.Hands.NONE, 5)
        cut_off = [HumanMessage("Go."), calls(LOOK), HumanMessage("Go on.")]
        agent.continue_conversation(job, cut_off, desk, "submit_challenge")

    assert desk.accepted is not None
    kinds = [message.type for message in orders.asked[0].messages]
    assert kinds == ["system", "human", "ai", "tool", "human"]
    assert "did not complete" in orders.asked[0].messages[3].text
