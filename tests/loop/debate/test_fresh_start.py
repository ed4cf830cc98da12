"""Every role starts fresh: nothing of another invocation reaches it but what its pack and its brief hand over.

F§3.4, F§9.7, F§19.6, D12, DESIGN §4, §7. The real roles over a chat model that keeps a secret in each invocation: in
what it says beside its calls, in an answer that is refused, and, where it has files, in a note among its own state. It
also looks wherever its tools reach. What each role is handed over on purpose is shown cell by cell in
`roles/test_role_table.py`.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import var_child_runnable_config

from specwright.ports import Place, Role
from specwright.roles.models.journalled_model import answers_so_far
from testkit.loop.debate_workbench import IN_MEMORY, DebateWorkbench, modelled, script
from testkit.loop.role_answers import (
    PASSING,
    Turn,
    amended,
    amending,
    approving,
    claimed,
    draft,
    failing,
    rejecting,
)

SAID: dict[str, list[Any]] = {
    "contracts/round-1/challenger": [failing("The contract of double leaves zero open.")],
    "double/round-1/challenger": [failing("No listed test doubles 3.")],
    "double/round-2/challenger": [PASSING],
    "double/round-2/arbiter": [rejecting("The examples leave negative numbers out.")],
    "double/round-3/arbiter": [
        amending(("MODIFY", "file:implementation/__init__.py", "Say in the first line what it is for."))
    ],
    "double/amended-3/proposer": [Turn(amended(""), draft("double", version="Doubles numbers."))],
    **{
        f"double/round-{n}/proposer": [Turn(claimed(), draft("double", version=f"Draft {n}."))]
        for n in (1, 2, 3)
    },
}
LOOKS = (
    ("read_file", {"file_path": "/task.md"}),
    ("read_file", {"file_path": "/note.md"}),
    ("read_file", {"file_path": "/implementation/note.md"}),
    ("read_file", {"file_path": "/.offloaded/note.md"}),
)


def secret(place: Place) -> str:
    return "secret-of-" + place.run_id.replace("/", "-")


class Secretive:
    """Two turns that tell the own secret, then what the script says."""

    def answer(self, place: Place, ordinal: int) -> Turn:
        """A look around with a note, a refused answer, then the sound one."""
        own, sound = secret(place), script(SAID)
        if ordinal == 0 and place.role is Role.PROPOSER:
            note = ("write_file", {"file_path": "/.offloaded/note.md", "content": own})
            return Turn(None, calls=(*LOOKS, note), text=f"I keep in mind: {own}")
        refused = 1 if place.role is Role.PROPOSER else 0
        if ordinal == refused:
            return Turn(f"I am not sure yet, {own}.")
        return sound.answer(place, ordinal - refused - 1)._replace(text=f"As I said: {own}")


class Heard(NamedTuple):
    """One request."""

    place: Place
    ordinal: int
    messages: list[BaseMessage]
    text: str
    state: dict[str, Any]
    directory: dict[str, bytes]


@pytest.fixture(scope="module")
def heard() -> Iterator[list[Heard]]:
    """Every request of a run with a FAIL, a REJECT and amendments in one debate, and a FAIL in the contract debate."""
    requests: list[Heard] = []
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as made:
        directory = Path(made)

        def listen(place: Place, messages: list[BaseMessage], tools: list[Any]) -> None:
            root = directory / ".specwright/work" / place.run_id.replace("/", "--")
            files = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
            text = json.dumps([message.model_dump(mode="json") for message in messages]) + json.dumps(tools)
            requests.append(Heard(place, answers_so_far(messages), messages, text, agent_state(), files))

        with DebateWorkbench(directory, script(), roles=modelled(Secretive(), listen)) as bench:
            assert bench.begin() == "SHIPPED"
            assert not list((directory / ".specwright/work").iterdir())
        yield requests


def agent_state() -> dict[str, Any]:
    """The channels of the agent that asks, but for its messages and what routes it; the Arbiter has no agent."""
    read = var_child_runnable_config.get({}).get("configurable", {}).get("__pregel_read")
    if read is None:
        return {}
    channels = read.args[1]
    held = {name: channel.get() for name, channel in channels.items() if channel.is_available()}
    return {
        name: value
        for name, value in held.items()
        if value and name != "messages" and not name.startswith(("__", "branch:"))
    }


def test_a_role_is_asked_first_with_its_prompt_and_its_brief_alone(heard: list[Heard]):
    """F-6-01, F-6-02, F-9.7-09: a system prompt and one message; no answer, no tool result, none of an earlier round."""
    first = [one for one in heard if one.ordinal == 0]
    assert len(first) == len({one.place for one in heard})
    assert {one.place.role for one in first} == {Role.PLANNER, Role.PROPOSER, Role.CHALLENGER, Role.ARBITER}
    for one in first:
        assert [message.type for message in one.messages] == ["system", "human"], one.place.run_id


def test_no_message_of_another_invocation_reaches_a_role(heard: list[Heard]):
    """F-6-01, F-6-02, F-9.7-09: what it said beside its answer, and what was refused, stay in its own."""
    places = {one.place for one in heard}
    told = 0
    for one in heard:
        for other in places - {one.place}:
            assert secret(other) not in one.text, (one.place.run_id, other.run_id)
        told += secret(one.place) in one.text
    assert told >= len(places)  # its own, it remembers


def test_no_file_of_another_invocation_reaches_a_role(heard: list[Heard]):
    """F-6-02, F-9.7-02, D-S7-01: a directory starts as its pack says; a note that an earlier Proposer wrote is nowhere."""
    for one in (one for one in heard if one.place.role is Role.PROPOSER):
        if one.ordinal == 0:
            owners = {"task.md", "contract.json", "examples.md", "implementation", "tests", "schemas"}
            assert {path.split("/")[0] for path in one.directory} <= owners
            assert not any(b"secret-of-" in data for data in one.directory.values())
        else:
            looked = [str(m.content) for m in one.messages if m.type == "tool"][: len(LOOKS)]
            assert len(looked) == len(LOOKS)
            assert not any("secret-of-" in seen for seen in looked), one.place.run_id
            assert "# Task" in looked[0]
            assert all("not" in seen or "no file" in seen for seen in looked[1:])


def test_no_state_of_another_invocation_reaches_a_role(heard: list[Heard]):
    """F-6-02, D-S7-06: an agent begins with no files, no to-dos and no summary; the note that it then keeps is its own."""
    kept = 0
    for one in heard:
        if one.ordinal == 0:
            assert one.state.keys() <= {"run_model_call_count", "thread_model_call_count"}, one.place.run_id
        assert not any(secret(other.place) in str(one.state) for other in heard if other.place != one.place)
        kept += "note.md" in str(one.state)
    assert kept


def test_a_revision_gets_its_own_files_and_the_failures_and_nothing_else_of_the_debate(heard: list[Heard]):
    """F-9.7-05, F-9.7-06, F-9.7-09: the brief of each round, against what was said in the rounds before."""
    first = {
        one.place.stage: one
        for one in heard
        if one.ordinal == 0 and one.place.role is Role.PROPOSER and one.place.subject == "double"
    }
    assert b"Draft" not in first["round-1"].directory["implementation/__init__.py"]
    assert b"Draft 1." in first["round-2"].directory["implementation/__init__.py"]
    assert b"Draft 2." in first["round-3"].directory["implementation/__init__.py"]
    assert "No listed test doubles 3." in first["round-2"].text
    assert "No listed test doubles 3." not in first["round-3"].text
    assert "The examples leave negative numbers out." in first["round-3"].text
    evidence = PASSING["rubric_assessments"][0]["evidence"]
    assert not any(evidence in one.text for one in first.values())
    assert not any(approving()["rationale"] in one.text for one in first.values())
