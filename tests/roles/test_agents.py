"""How the agents of the roles are made, how they end, and what bounds them (D17, DESIGN §6)."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import langchain.agents
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from specwright.domain.answers import (
    AmendmentsAnswer,
    ModuleChallenge,
    ModuleRuling,
    PlanAnswer,
    ProposerAnswer,
)
from specwright.domain.spec.product_spec import ProductSpecDraft
from specwright.errors import AnswerError
from specwright.ports import Assignment, Place, Role
from specwright.roles.agent import agent
from specwright.roles.agent.submission import Submission, parser
from specwright.roles.agent.workspace import Workspace
from specwright.storage.context_pack import ContextPackBackend
from testkit.loop import debate_workbench
from testkit.loop.debate_workbench import modelled, script
from testkit.loop.role_answers import Turn
from testkit.model.fake_model import FakeModel, OrderedReplies, calls
from testkit.roles.damage import ANSWERS
from testkit.roles.overheard import Run
from testkit.roles.roles_workbench import RolesWorkbench
from testkit.sampling import spread

AGENTS = ("researcher", "planner", "proposer", "amender", "challenger", "arbiter")
LOOK = ("look_around", {"where": "everywhere"})
"""No tool that anybody has: the model is told so, and calls it again."""

Check = Callable[..., Sequence[str]]

KINDS = {
    "researcher": ProductSpecDraft,
    "planner": PlanAnswer,
    "proposer": ProposerAnswer,
    "amender": AmendmentsAnswer,
    "challenger": ModuleChallenge,
    "arbiter": ModuleRuling,
}
"""What each role is asked for."""


def ask(bench: RolesWorkbench, role: str, check: Check = lambda *_: ()) -> Any:
    """One invocation of a role."""
    named = Role.PROPOSER if role == "amender" else Role(role)
    stage, writable = "amended" if role == "amender" else "round-1", ("implementation/", "notes/")
    place = Place("TSK-001", 1, "shout", stage, named)
    given: Assignment[Any] = Assignment(place, KINDS[role], "Do your work.", writable=writable)
    if role == "researcher":
        return bench.roles.research(given, [], [check]).spec
    return bench.roles.ask(given, check).answer


def terminal(role: str, *, sound: bool = True) -> tuple[str, dict[str, Any]]:
    """The call by which a role hands in its answer, or one that is none."""
    answer = ANSWERS[role].answer if sound else {"nothing": "of what was asked for"}
    return ANSWERS[role].tool, {"spec": answer} if role == "researcher" else answer


def without_title(spec: Any, *_: Any) -> list[str]:
    """What is wrong with an unsound spec; the answers of the others are held against their schemas."""
    return ["title: is missing"] if isinstance(spec, dict) and "title" not in spec else []


def asked(directory: Path, role: str, *answers: AIMessage) -> OrderedReplies:
    """A role follows its replies to its answer."""
    replies = OrderedReplies(*answers)
    with RolesWorkbench(directory, replies) as bench:
        said = ask(bench, role, without_title)
    assert (said if isinstance(said, dict) else said.to_json()) == ANSWERS[role].answer
    return replies


@pytest.mark.parametrize("role", AGENTS)
def test_a_terminal_tool_ends_its_agent_once_it_succeeds(tmp_path: Path, role: str):
    """Alone, first or last among parallel calls: the model is not asked again (D-S6-07)."""
    done = terminal(role)
    for number, turn in enumerate(([done], [done, LOOK, LOOK], [LOOK, done], [done, done])):
        assert len(asked(tmp_path / str(number), role, calls(*turn)).requests) == 1


@pytest.mark.parametrize("role", AGENTS)
def test_a_terminal_tool_that_fails_does_not_end_its_agent(tmp_path: Path, role: str):
    """Alone or beside another call; what was wrong is told, and the next good answer counts (D-S6-07)."""
    bad = terminal(role, sound=False)
    replies = asked(tmp_path, role, calls(bad), calls(LOOK, bad), calls(terminal(role)))

    assert len(replies.requests) == 3
    for again in replies.requests[1:]:
        assert sum(told.startswith("Not accepted.") for told in again.tool_results) == 1


@pytest.mark.parametrize("role", AGENTS)
def test_an_agent_that_does_not_end_is_ended(tmp_path: Path, role: str):
    """After so many calls, or after three mistakes in a row: a tool that nobody has costs three calls and not the whole
    limit; nothing it said counts (D-S6-06, D-S6-13, D-S1-02)."""
    endless: dict[int, tuple[dict[str, int], str]] = {
        2: ({"calls_per_role": 2}, "did not finish within 2 model calls"),
        3: ({}, r"no call that works in 3 turns in a row.*look_around"),
    }
    for times, (limit, said) in endless.items():
        replies = OrderedReplies(calls(LOOK), forever=True)
        with RolesWorkbench(tmp_path / str(times), replies, **limit) as bench:
            with pytest.raises(AnswerError, match=said) as caught:
                ask(bench, role)
            assert len(replies.requests) == times
            assert not limit or "calls_per_role" in caught.value.remedy
            assert not list(bench.runtime.glob("work/*"))


def test_the_same_call_with_the_same_result_ends_the_role_after_five_turns(tmp_path: Path):
    """It works each time, and nothing new can come of it; a call that works once begins the count of mistakes anew
    (D-S6-13)."""
    write = ("write_file", {"file_path": "/notes/a.md", "content": "A note."})
    done = calls(terminal("proposer"))
    asked(tmp_path / "anew", "proposer", calls(LOOK), calls(LOOK), calls(LOOK, write), calls(LOOK), done)
    assert len(asked(tmp_path / "4", "proposer", *[calls(write)] * 4, done).requests) == 5
    replies = OrderedReplies(*[calls(write)] * 5, done)
    same = "the same calls with the same results in 5 turns in a row"
    with RolesWorkbench(tmp_path / "5", replies) as bench, pytest.raises(AnswerError, match=same):
        ask(bench, "proposer")
    assert len(replies.requests) == 5


def test_a_call_that_broke_off_is_said_to_have_done_nothing(tmp_path: Path):
    """D-S6-13: a file whose call was cut is not there, and the role hears of it instead of "you did not submit"."""
    cut = AIMessage(
        "",
        invalid_tool_calls=[
            {
                "type": "invalid_tool_call",
                "id": "call-0",
                "name": "write_file",
                "args": '{"file_path": "/no',
                "error": "",
            }
        ],
    )
    replies = asked(tmp_path, "proposer", cut, calls(terminal("proposer")))
    (told,) = replies.requests[1].tool_results
    assert told.startswith("Nothing was done: the arguments of this call are no whole JSON")
    assert len(replies.requests) == 2


def test_a_module_whose_role_gives_no_answer_halts_and_does_not_ship(tmp_path: Path):
    """What an agent said on its way there is no verdict: a person is asked, the other module ships (D-S6-06)."""
    forever = {"double/round-1/proposer": [Turn(None, calls=(LOOK,))]}
    roles = modelled(script(forever))
    with debate_workbench.DebateWorkbench(tmp_path, script(), roles=roles) as bench:
        assert bench.begin() == "HALTED"
        assert sorted(bench.sealed()) == ["halve"]
        assert "no call that works in 3 turns in a row" in str(bench.escalation.to_json())
        assert bench.trace.count("double/round-1/proposer") == 3


@pytest.mark.parametrize(
    "turn",
    spread(
        [
            pytest.param(Turn(None, calls=(LOOK,)), id="calls"),
            pytest.param(Turn("I would rather not say."), id="prose"),
        ],
        fast=2,
    ),
)
def test_a_challenger_that_gives_no_usable_answer_costs_no_revision(tmp_path: Path, turn: Turn):
    """D-S6-14: no verdict is made up for it; the escalation names it, and quotes it or what it did."""
    roles = modelled(script({"double/round-1/challenger": [turn]}))
    with debate_workbench.DebateWorkbench(tmp_path, script(), roles=roles) as bench:
        assert bench.begin() == "HALTED"
        assert sorted(bench.sealed()) == ["halve"]
        said = str(bench.escalation.to_json())
        assert "TSK-001.1/double/round-1/challenger" in said
        assert "look_around" in said or "I would rather not say." in said
        assert bench.trace.count("double/round-1/challenger") == 3
        assert not [place for place in bench.trace if place.startswith("double/round-2")]


def test_one_call_below_the_limit_is_enough(tmp_path: Path):
    """The bound is the bound: the answer may come with the last call (D-S6-06)."""
    replies = OrderedReplies(*[calls(LOOK)] * 2, calls(terminal("challenger")))
    with RolesWorkbench(tmp_path, replies, calls_per_role=3) as bench:
        assert ask(bench, "challenger").to_json() == ANSWERS["challenger"].answer


@pytest.mark.parametrize("role", AGENTS)
def test_every_role_is_an_agent(tmp_path: Path, role: str):
    """It can call its tool after looking around (F-18-01)."""
    replies = OrderedReplies(calls(LOOK), calls(terminal(role)))
    with RolesWorkbench(tmp_path, replies) as bench:
        answer = ask(bench, role)
    assert (answer if isinstance(answer, dict) else answer.to_json()) == ANSWERS[role].answer
    assert [ANSWERS[role].tool in one.tools for one in replies.requests] == [True, True]
    assert len(replies.requests[1].tool_results) == 1


def test_a_file_may_be_changed_as_often_as_a_role_likes_in_a_turn(tmp_path: Path):
    """Its calls run one after the other, each on what the one before has left."""
    edits = [("edit_file", {"file_path": "/notes/a.md", "old_string": n, "new_string": n * 2}) for n in "abc"]
    written = ("write_file", {"file_path": "/notes/b.md", "content": "c"})
    more = ("edit_file", {"file_path": "/notes/b.md", "old_string": "c", "new_string": "d"})
    replies = OrderedReplies(calls(*edits, written, more, terminal("proposer")))
    place = Place("TSK-001", 1, "shout", "round-1", Role.PROPOSER)
    given: Assignment[Any] = Assignment(
        place, ProposerAnswer, "Write.", {"notes/a.md": b"a b c"}, writable=("notes/",)
    )
    with RolesWorkbench(tmp_path, replies) as bench:
        files = bench.roles.ask(given, lambda *_: ()).files
    assert files == {"notes/a.md": b"aa bb cc", "notes/b.md": b"d"}


def test_agents_are_made_by_create_agent_in_one_place(run: Run):
    """The library's function, in one module; in a whole run every role was one (F-18-01)."""
    assert agent.create_agent is langchain.agents.create_agent
    package = Path(agent.__file__).parents[1]
    makers = [p.name for p in package.rglob("*.py") if "create_agent" in p.read_text(encoding="utf-8")]
    assert makers == ["agent.py"]
    assert {one.place.role for one in run.invoked if one.tools} == set(Role)
    assert [one.place.run_id for one in run.invoked if not one.tools] == []


def test_a_call_that_never_got_its_result_is_answered_before_the_agent_goes_on(tmp_path: Path):
    """A provider refuses a conversation with a call that hangs in the air; the agent never sends one (F-18-03)."""
    replies = OrderedReplies(calls(terminal("challenger")))
    given = Assignment(Place("TSK-001", 1, "shout", "round-1", Role.CHALLENGER), ModuleChallenge, "Go on.")
    with RolesWorkbench(tmp_path, replies) as bench:
        model = FakeModel(reply=replies)
        desk = Submission(parser(ModuleChallenge, lambda _: ()), 3, "a role")
        submit = agent.submit_tool(
            "submit_challenge", "Hand it in.", agent.tool_schema(ModuleChallenge), desk
        )
        workspace = Workspace(bench.runtime / "work", given, ContextPackBackend)
        work = agent.Invocation(
            model, "Challenge.", agent.Toolset.NONE, workspace, (), 5, agent.RaisedException()
        )
        cut_off: list[BaseMessage] = [HumanMessage("Go."), calls(LOOK), HumanMessage("Go on.")]
        agent.converse(work, [submit], cut_off, desk)

    assert desk.accepted is not None
    kinds = [message.type for message in replies.requests[0].messages]
    assert kinds == ["system", "human", "ai", "tool", "human"]
    assert "did not complete" in replies.requests[0].messages[3].text
