"""`specwright hedera`: a project's log on a topic, and the topic read back (D47)."""

import itertools
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_wire import envelope
from specwright.bootstrap.stores import LOG, RUNTIME
from testkit.cli.commands import specwright
from wire_testkit.damage import open_log, stored
from wire_testkit.ledger import OPERATOR, TOPIC, Ledger, serving
from wire_testkit.story import HAPPY_PATH, Story


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """A network whose first calls fail, and the operator's keys in the environment."""
    with serving(Ledger(iter(["unheard", "busy"]))) as served:
        monkeypatch.setenv("OPERATOR_KEY_OF_MINE", served.operator_key.to_string_der())
        monkeypatch.setenv("HEDERA_SUBMIT_KEY", served.submit_key.to_string_der())
        yield served


@pytest.fixture
def project(tmp_path: Path, ledger: Ledger) -> Path:
    """A project with a log and its settings."""
    log = open_log(tmp_path / RUNTIME / LOG)
    log.append(Story().wires(*HAPPY_PATH))
    log.close()
    (tmp_path / "specwright.toml").write_text(
        f'[hedera]\ntopic = "{TOPIC}"\nnetwork = "{ledger.network}"\nmirror_node = "{ledger.mirror_url}"\n'
        f'operator = "{OPERATOR}"\noperator_key = "OPERATOR_KEY_OF_MINE"\n'
    )
    return tmp_path


def test_a_log_is_submitted_and_read_back(project: Path, ledger: Ledger):
    """Once, in order, and the second time there is nothing to do (D-47-05)."""
    told = specwright("hedera", "submit", project)
    assert (told.code, told.out) == (0, "6 Wires submitted; 6 of 6 are on the topic.\n"), told
    assert specwright("hedera", "submit", project, "--json").document == {
        "schema": "hedera-submitted",
        "version": 1,
        "submitted": 0,
        "placed": 6,
        "log_end": 6,
    }
    assert ledger.bodies() == [row[4] for row in stored(project / RUNTIME / LOG)]

    assert specwright("hedera", "read", project).out == "6 messages, chain intact; 6 are Wires of this log.\n"
    document = specwright("hedera", "read", project, "--json").document
    assert [row["hcs"]["sequence_number"] for row in document["messages"]] == [1, 2, 3, 4, 5, 6]
    assert {row["hcs"]["topic_id"] for row in document["messages"]} == {TOPIC}
    (task,) = document["reduction"]["tasks"].values()
    assert (document["placed"], task["task_state"]) == (6, "completed")


def test_what_others_say_on_the_topic_is_listed_and_fails(project: Path, ledger: Ledger):
    """A message that is no Wire is rejected with its place; exit 1 as with `agent-wire reduce` (D-47-06)."""
    specwright("hedera", "submit", project)
    ledger.say(b"hello")

    told = specwright("hedera", "read", project)
    assert told.code == 1
    assert "rejected 7  wire.not_json" in told.out


def test_the_topic_of_another_project_is_refused(project: Path, ledger: Ledger):
    """Before anything is submitted; what is no Wire says nothing of a project (D-47-05)."""
    (wire, *_) = [json.loads(row[4]) for row in stored(project / RUNTIME / LOG)]
    wire["stream"]["context_id"] = "project:another"
    ledger.say(envelope.encode(wire))
    specwright("hedera", "submit", project).refuses("of another project, project:another", code=1)
    assert len(ledger.bodies()) == 1
    ledger.messages.clear()
    ledger.say(b"hello")
    assert specwright("hedera", "submit", project).code == 0


@pytest.mark.parametrize("moved", [0, 1], ids=["at other times", "in another order"])
def test_a_topic_that_is_not_what_was_submitted_is_refused(project: Path, ledger: Ledger, moved: int):
    """Another topic that agrees with itself is not the one on which the receipts placed the Wires (D-47-05)."""
    specwright("hedera", "submit", project)
    bodies = ledger.bodies()
    ledger.messages.clear()
    for body in [*bodies[moved:], *bodies[:moved]]:
        ledger.say(body, (0, 0, 1001))

    specwright("hedera", "read", project).refuses("message 1 is not Wire 1 of the log", code=1)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (f'topic = "{TOPIC}"', "", "no topic is set"),
        ("operator_key = ", 'submit_key = "NOTHING"\noperator_key = "UNSET_KEY" #', "UNSET_KEY"),
        (f'operator = "{OPERATOR}"', "", "no account is set"),
        ("mirror_node = ", "mirror_node = 'ftp://x' #", "not the URL of a mirror node"),
        (f'topic = "{TOPIC}"', 'topic = "notes"', "'notes' is not a valid topic id"),
    ],
)
def test_settings_that_are_missing_or_wrong_are_told(project: Path, old: str, new: str, words: str):
    """What is wrong and what to set (D-S9-04)."""
    settings = project / "specwright.toml"
    settings.write_text(settings.read_text().replace(old, new))

    specwright("hedera", "submit", project).refuses(words)


def test_a_refusal_is_told_and_the_next_call_goes_on(project: Path):
    """Without the submit key nothing is taken; with it everything (D-S9-04, D-47-05)."""
    settings = project / "specwright.toml"
    settings.write_text(settings.read_text().replace("topic = ", 'submit_key = "NOTHING"\ntopic = '))
    specwright("hedera", "submit", project).refuses("INVALID_SIGNATURE", "keys", code=1)
    settings.write_text(settings.read_text().replace('submit_key = "NOTHING"\n', ""))

    assert json.loads(specwright("hedera", "submit", project, "--json").out)["placed"] == 6


@pytest.mark.slow
def test_processes_that_are_killed_leave_every_wire_once_and_in_order(project: Path, ledger: Ledger):
    """SIGKILL wherever it strikes, five times, with slow and lost answers (D-47-05, D-S4-03)."""
    log = open_log(project / RUNTIME / LOG)
    for number in range(2, 5):
        log.append(Story(1000 * number).wires(*HAPPY_PATH, stream_id=f"task:TSK-{number:03d}:attempt:1"))
    log.close()
    draw = random.Random(7)
    ledger.faults = (draw.choice(["slow", "slow", "ok", "unheard"]) for _ in itertools.count())
    command = [sys.executable, "-m", "specwright.cli", "hedera", "submit", str(project)]

    for _ in range(5):
        until = ledger.calls + draw.randint(1, 4)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while ledger.calls < until and process.poll() is None:
            time.sleep(draw.random() / 100)
        process.kill()
        process.wait()

    assert specwright("hedera", "submit", project).code == 0
    assert ledger.bodies() == [row[4] for row in stored(project / RUNTIME / LOG)]
    assert (
        specwright("hedera", "read", project).out == "24 messages, chain intact; 24 are Wires of this log.\n"
    )
