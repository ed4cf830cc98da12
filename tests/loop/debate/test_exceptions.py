"""An interface change exception is raised: who may, against what, and what then stands where (F§13.2 to F§13.6)."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from specwright.domain.interface_change import InterfaceChangeException
from specwright.ports import Role
from specwright.roles.agent.agent import RaisedException
from specwright.roles.agent.tools import STORE_TOOLS, raise_tool
from testkit.loop.exceptions import CHAIN, RAISE, STEP, Story, asked, raising
from testkit.loop.role_answers import PASSING, Turn, claimed, draft

PROPOSER, CHALLENGER = "TSK-002.1/triple/round-1/proposer", "TSK-002.1/triple/round-1/challenger"
IN_CONTRACTS = "TSK-002.1/contracts/round-1/challenger"


def raised(directory: Path, where: str = PROPOSER, **changes: Any) -> Story:
    """The three tasks, until the second one halts."""
    story = Story(directory, {where: raising(**changes)})
    story.bench.begin(CHAIN)
    return story


@pytest.mark.parametrize("where", [PROPOSER, CHALLENGER, IN_CONTRACTS])
def test_the_record_names_its_raiser_and_its_task_halts(directory: Path, where: str):
    """F-13-06, F-13-08, F-13-10, F-13-11: Proposer and Challenger, in the debate of a module or of contracts; nobody is
    asked after that. The escalation carries everything that a person needs, a Wire binds the record, which is never written
    again."""
    story = raised(directory, where)
    bench, record = story.bench, story.record()
    assert record["raised_by"]["run_id"] == where
    assert record["raised_by"]["role"] == where.rpartition("/")[2]
    assert record["raised_by"]["artifact_ref"].partition("-")[0] in {"CTR", "IMPL", "MP"}
    assert record["target_module"] == story.ref("double")
    assert [bench.status(n) for n in range(3)] == ["SHIPPED", "HALTED", "BLOCKED"]
    assert story.heard.places[-1] == where
    assert (bench.waiting() or {})["escalation"] == bench.escalation.escalation_id
    details = bench.escalation.details
    assert details["cause"] == "exception"
    assert {name: details[name] for name in record} == record
    assert details["proposed_contract_delta"]["added_inputs"] == [STEP]
    (wire,) = [one for one in bench.reviews() if one["subject"] == "exception.raised"]
    assert wire["reference"] == record["exception_id"]
    stored = bench.store.definition(wire["definition_sha256"])
    assert InterfaceChangeException.from_bytes(stored, "here").to_json() == record
    with pytest.raises(Exception, match="published"):
        bench.store.publish(f"exceptions/{record['exception_id']}.json", b"{}")


def test_nothing_that_is_called_beside_it_is_done(directory: Path):
    """F-13-10: a submission in the same turn does not count, and no file is written."""
    files = {"file_path": "/examples.md", "content": "too late"}
    more = (("write_file", files), ("submit_proposal", claimed()))
    story = Story(directory, {PROPOSER: raising(more)})
    story.bench.begin(CHAIN)
    assert story.bench.status(1) == "HALTED"
    assert "triple" not in story.bench.records()


def test_only_those_who_use_a_shipped_module_have_the_tool(directory: Path):
    """F-13-01: the Arbiter and the planner never; Proposer and Challenger where something shipped could be meant."""
    story = Story(directory, {}, agents=True)
    story.bench.begin(CHAIN)
    offered = {place for place, tools, _ in story.heard.requests if RAISE in tools}
    users = ("TSK-002.1/triple", "TSK-003.1/six")
    assert offered == {
        *(f"{user}/round-1/{role}" for user in users for role in ("proposer", "challenger")),
        "TSK-002.1/contracts/round-1/challenger",
        "TSK-003.1/contracts/round-1/challenger",
    }
    assert [role for role in Role if RAISE in STORE_TOOLS[role]] == [Role.PROPOSER, Role.CHALLENGER]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"target_module": "MM-00000000@1.0.0"},
            "is no shipped dependency of what you work on; those are MM-",
        ),
        ({"evidence": []}, "evidence: List should have at least 1 item"),
        ({"compatibility": "BREAKING"}, "this change is BACKWARD_COMPATIBLE, not BREAKING"),
    ],
)
def test_an_invalid_one_is_answered_and_the_role_goes_on(directory: Path, changes: dict[str, Any], says: str):
    """F-13-02, F-13-07: the errors come back, nothing is written, and the role may submit its work."""

    def turns(story: Story, place: Any, ordinal: int) -> Turn:
        if ordinal == 0:
            return Turn(None, calls=((RAISE, {**asked(story.ref("double")), **changes}),))
        return Turn(claimed(), draft("triple"))

    story = Story(directory, {PROPOSER: turns})
    story.bench.begin(CHAIN)
    refusal = next(
        text for place, _, text in story.heard.requests if place == PROPOSER and "Not raised" in text
    )
    assert says in refusal
    assert [story.bench.status(n) for n in range(3)] == ["SHIPPED"] * 3
    assert not (story.bench.base / "exceptions").exists()


def test_evidence_that_quotes_the_source_is_answered_and_the_role_goes_on(directory: Path):
    """F-9.7-07: judges of the contract debate are shown the exception, and so never a line of its Proposer's."""

    def turns(story: Story, place: Any, ordinal: int) -> Turn:
        said = ["All that the module can do is `return number * 2` by these inputs."]
        raise_it = ((RAISE, asked(story.ref("double"), evidence=said)),)
        return (Turn(None, draft("triple")), Turn(None, calls=raise_it), Turn(claimed()))[ordinal]

    story = Story(directory, {PROPOSER: turns})
    story.bench.begin(CHAIN)
    told = [text for place, _, text in story.heard.requests if place == PROPOSER and "Not raised" in text]
    assert ["evidence: it holds line " in text for text in told] == [True]
    assert [story.bench.status(n) for n in range(3)] == ["SHIPPED"] * 3
    assert not (story.bench.base / "exceptions").exists()


def test_ones_own_module_is_not_meant(directory: Path):
    """F-13-02, F-13-03: against the module that is being judged it is refused, with where such a fault belongs."""

    def turns(story: Story, place: Any, ordinal: int) -> Turn:
        if ordinal:
            return Turn(PASSING)
        contracts = [
            story.bench.read(path) for path in story.bench.base.glob("artifacts/*/CTR-*/1.0.0/body/*.json")
        ]
        own = next(contract["module_id"] for contract in contracts if contract["name"] == "triple")
        return Turn(None, calls=((RAISE, asked(f"{own}@1.0.0")),))

    story = Story(directory, {CHALLENGER: turns})
    story.bench.begin(CHAIN)
    refusal = next(
        text for place, _, text in story.heard.requests if place == CHALLENGER and "Not raised" in text
    )
    assert "What is wrong with your own contract is said in your answer" in refusal
    assert story.bench.status(2) == "SHIPPED"


def test_what_the_tool_answers_and_who_it_says_raised_it(directory: Path):
    """F-13-05, F-13-06, F-13-09: id, status, and that the task has halted; the type is an argument, the raiser is none."""

    class Accepting:
        upstream = ("MM-0000000a@1.0.0",)

        def raise_exception(self, draws: Any, raw: Any, files: Any) -> str:
            return "ICE-0000000a"

    note = RaisedException()
    tool = raise_tool(cast(Any, Accepting()), Story(directory, {}).bench.journal, PROPOSER, note, dict)
    answer = json.loads(tool.invoke(asked("MM-0000000a@1.0.0")))
    assert answer == {"exception_id": "ICE-0000000a", "status": "RAISED", "task_halted": True}
    assert note.name == "ICE-0000000a"
    assert (
        set(cast(Any, tool.args_schema)["properties"])
        == set(asked(""))
        == set(cast(Any, tool.args_schema)["required"])
    )


def test_a_crash_between_record_and_halt_is_finished_by_the_next_run(directory: Path):
    """F-13-08: the journal answers the role again; the same id, one Wire, one escalation."""
    story = Story(directory, {PROPOSER: raising()})
    append = story.bench.log.append

    def cut(wires: list[Any]) -> None:
        if any(wire["payload"].get("subject") == "exception.raised" for wire in wires):
            raise KeyboardInterrupt
        append(wires)

    story.bench.log.append = cut  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(KeyboardInterrupt):
        story.bench.begin(CHAIN)
    name = story.record()["exception_id"]
    story.bench.close()
    again = Story(directory, {})
    again.bench.run()
    assert again.record()["exception_id"] == name
    assert again.bench.status(1) == "HALTED"
    assert again.heard.places == []
