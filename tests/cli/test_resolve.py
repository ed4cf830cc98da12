"""`specwright resolve`: a person answers, and the run goes on (F§17.2, DESIGN §9)."""

import json
import shutil
from pathlib import Path

import pytest

from testkit.cli.commands import SMALL, specwright
from testkit.cli.projects import with_playbook_of
from testkit.cli.terminal import on_a_terminal
from testkit.loop.products import failing, rejecting
from testkit.shared_fixtures import made_once

AMEND = {
    "amended_acceptance_criteria": ["Returns the initials", "Raises ValueError for an empty name"],
    "amendment_rationale": "It was not said what an empty name gives",
}


@pytest.fixture(scope="session")
def halted_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A project whose contracts are rejected in the end, with its playbook; copied, never used."""

    def make(directory: Path) -> None:
        task = Path(shutil.copytree(SMALL / "playbook", directory / "playbook")) / "TSK-001"
        shutil.copytree(task / "contracts", task / "sound")
        failing(task / "contracts", 3)
        rejecting(task / "contracts/round-3")
        for number in (2, 3):
            shutil.copy(task / "planner.json", task / f"planner-{number}.json")
        told = specwright(
            *("run", directory / "project", "--spec", SMALL / "SPEC.md", "--approve"),
            *("--model", f"playbook:{directory / 'playbook'}"),
        )
        assert told.code == 3, told
        assert "HALTED" in told.out

    return made_once(tmp_path_factory, worker_id, "halted-contracts", make)


@pytest.fixture
def halted(halted_once: Path, tmp_path: Path) -> Path:
    """That project, and a challenger who would be content by now."""
    copy = Path(shutil.copytree(halted_once, tmp_path / "halted"))
    task = copy / "playbook/TSK-001"
    shutil.rmtree(task / "contracts")
    (task / "sound").rename(task / "contracts")
    with_playbook_of(copy)
    return copy / "project"


def waiting(directory: Path) -> str:
    """The escalation that waits."""
    return specwright("escalations", directory, "--json").document["escalations"][0]["escalation_id"]


def test_an_approval_beforehand_answers_no_escalation(halted: Path):
    """`run --approve` passed the gate without a question; where it goes on, the person is asked all the same (D-S9-07)."""
    assert json.loads((halted / "state_store/product/history.json").read_text())["answers"] == []
    escalation = waiting(halted)
    assert specwright("run", halted, "--approve").code == 3
    assert waiting(halted) == escalation


@pytest.mark.slow
def test_an_amended_task_runs_again_and_the_product_is_released(halted: Path, tmp_path: Path):
    """F-17.2-05, D-33-03: from the halt to the wheel with one command, whose payload is a file."""
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps(AMEND))
    told = specwright("resolve", waiting(halted), "AMEND_SPEC", halted, "--payload", payload)
    assert told.code == 0, told
    assert list((halted / "state_store/releases").rglob("*.whl"))
    assert specwright("verify", halted).code == 0


@pytest.mark.slow
def test_a_task_is_tried_again_as_it_is(halted: Path) -> None:
    """F-17.2-01: without a payload; models are asked anew, and what they said before stays on record."""
    told = specwright("resolve", waiting(halted), "RETRY", halted)
    assert told.code == 0, told
    definitions = [path.read_text() for path in halted.glob("project/**/*.md")]
    assert len(definitions) == 1
    assert specwright("verify", halted).code == 0


def test_only_what_can_help_is_offered(halted: Path) -> None:
    """F-17.2-03, D-22-02: nothing is sealed that could be attested, so neither page nor answer take it."""
    escalation = waiting(halted)
    page = specwright("escalations", escalation, halted)
    assert "RETRY             the same inputs again, if answers vary; costs the whole task" in page.out
    assert "ATTEST_SHIPPED" not in page.out
    told = specwright("escalations", escalation, halted, "--draft", "ATTEST_SHIPPED")
    told.refuses("ATTEST_SHIPPED is no answer")
    given = Path(halted.parent / "attest.json")
    given.write_text(json.dumps({"module_ref": "MM-00000000@1.0.0", "rationale": "It does the same"}))
    told = specwright("resolve", escalation, "ATTEST_SHIPPED", halted, "--payload", given)
    told.refuses("ATTEST_SHIPPED does not suit", code=1)


def test_two_criteria_are_the_least(halted: Path, tmp_path: Path) -> None:
    """F-17.2-05, F-3.2.3-01: an amended task is as complete as any; exit 2, nothing written."""
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps({**AMEND, "amended_acceptance_criteria": ["Returns the initials"]}))
    told = specwright("resolve", waiting(halted), "AMEND_SPEC", halted, "--payload", payload)
    told.refuses("amended_acceptance_criteria", "at least 2")


def test_what_fails_after_the_answer_was_taken_is_no_bad_input(halted: Path) -> None:
    """D-S9-02: exit 1, since 2 says that nothing was changed; `run` goes on with the answer."""
    shutil.rmtree(halted.parent / "playbook/TSK-001")
    escalation = waiting(halted)
    told = specwright("resolve", escalation, "RETRY", halted)
    told.refuses("the playbook has no answer", code=1)
    specwright("resolve", escalation, "RETRY", halted).refuses("already answered", code=1)
    # the task was begun, and nobody works on it
    assert "was interrupted; `specwright run` resumes it" in specwright("tasks", halted).out
    assert "is being worked on" not in specwright("tasks", halted, "--json").out
    assert "Begun:" in specwright("status", halted).out
    specwright("approve", halted).refuses("no spec waits", "not finished", code=1)
    specwright("release", halted).refuses("no task has shipped a module yet", "status", code=1)


@pytest.mark.parametrize("typed", ["no\n", "\x04"], ids=["no", "end"])
def test_a_person_is_asked_before_a_task_is_given_up(halted: Path, typed: str) -> None:
    """F-17.2-13: it is final; anything but yes changes nothing, and it waits on (exit 3)."""
    escalation = waiting(halted)
    painted = on_a_terminal(
        *("resolve", escalation, "ABANDON_TASK", halted, "--rationale", "Nobody needs it"),
        typed=(("Type yes: ", typed),),
    )
    assert (painted.code, "TSK-001 is given up for good" in painted.screen) == (3, True)
    assert waiting(halted) == escalation


def test_giving_up_the_only_task_leaves_nothing_to_release(halted: Path):
    """F-17.2-13: it says so instead of releasing an empty package; a reason in a sentence is enough."""
    told = specwright("resolve", waiting(halted), "ABANDON_TASK", halted, "--rationale", "Nobody needs it")
    told.refuses("no task shipped a module", "SPEC.md", code=1)
    again = specwright("escalations", halted, "--json").document["escalations"]
    assert again == []


DRAFT = "--draft AMEND_SPEC` prints what to fill in"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ESC-00000000", "ABANDON_TASK", "--rationale", "why not"], ["no escalation ESC-00000000"]),
        (["{}", "GIVE_UP"], ["GIVE_UP is no answer", "ABANDON_TASK"]),
        (["{}", "ABANDON_TASK"], ["`rationale` is missing", "--rationale"]),
        (["{}", "AMEND_SPEC", "--payload", "nowhere.json"], ["cannot be read", "nowhere.json", DRAFT]),
        (["{}", "AMEND_SPEC", "--payload", "list.json"], ["no JSON object", DRAFT]),
        (["{}", "AMEND_SPEC", "--payload", "broken.json"], ["no JSON", DRAFT]),
        (["{}", "AMEND_SPEC", "--payload", "empty.json"], ["the payload is empty", DRAFT]),
    ],
)
def test_an_answer_that_is_none_is_refused_with_nothing_written(
    halted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: list[str]
):
    """F-17.2-01: what is wrong and what to do; the escalation still waits."""
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text("[]")
    Path("broken.json").write_text("{")
    Path("empty.json").write_text("\n")
    before = sorted(halted.rglob("*.json"))
    escalation = waiting(halted)
    told = specwright("resolve", *(a.format(escalation) for a in arguments[:2]), halted, *arguments[2:])
    told.refuses(*words)
    assert sorted(halted.rglob("*.json")) == before
    assert waiting(halted) == escalation


def test_an_action_that_does_not_suit_is_refused_and_the_suited_ones_are_named(halted: Path):
    """F-17.2-03: there is no module to override."""
    told = specwright("resolve", waiting(halted), "APPROVE_OVERRIDE", halted, "--rationale", "It is fine")
    told.refuses("does not suit", "AMEND_SPEC", code=1)
