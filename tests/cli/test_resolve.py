"""`specwright resolve`: a person answers, and the run goes on (F§17.2, DESIGN §9)."""

import json
import shutil
from pathlib import Path

import pytest

from testkit.cli.commands import SMALL, specwright
from testkit.loop.products import failing, rejecting

AMEND = {
    "amended_acceptance_criteria": ["Returns the initials", "Raises ValueError for an empty name"],
    "amendment_rationale": "It was not said what an empty name gives",
}


@pytest.fixture(scope="module")
def halted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose contracts are rejected in the end, with its playbook; copied, never used."""
    directory = tmp_path_factory.mktemp("halted")
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
    return directory


@pytest.fixture
def halted(halted_once: Path, tmp_path: Path) -> Path:
    """That project, and a challenger who would be content by now."""
    copy = Path(shutil.copytree(halted_once, tmp_path / "halted"))
    task = copy / "playbook/TSK-001"
    shutil.rmtree(task / "contracts")
    (task / "sound").rename(task / "contracts")
    options = copy / "project/.specwright/run.json"
    options.write_text(options.read_text().replace(str(halted_once), str(copy)))
    return copy / "project"


def waiting(directory: Path) -> str:
    """The escalation that waits."""
    return specwright("escalations", directory, "--json").document[0]["escalation_id"]


@pytest.mark.slow
def test_an_amended_task_runs_again_and_the_product_is_released(halted: Path, tmp_path: Path):
    """F-17.2-05, D-33-03: from the halt to the wheel with one command, whose payload is a file."""
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps(AMEND))
    told = specwright("resolve", waiting(halted), "AMEND_SPEC", halted, "--payload", payload)
    assert told.code == 0, told
    assert list((halted / "state_store/releases").rglob("*.whl"))
    assert specwright("verify", halted).code == 0


def test_giving_up_the_only_task_leaves_nothing_to_release(halted: Path):
    """F-17.2-13: it says so instead of releasing an empty package; a reason in a sentence is enough."""
    told = specwright("resolve", waiting(halted), "ABANDON_TASK", halted, "--rationale", "Nobody needs it")
    told.refuses("no task shipped a module", "SPEC.md", code=1)
    again = specwright("escalations", halted, "--json").document
    assert again == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ESC-00000000", "ABANDON_TASK", "--rationale", "why not"], ["no escalation ESC-00000000"]),
        (["{}", "GIVE_UP"], ["no action 'GIVE_UP'", "ABANDON_TASK"]),
        (["{}", "ABANDON_TASK"], ["`rationale` is missing", "--rationale"]),
        (["{}", "AMEND_SPEC", "--payload", "nowhere.json"], ["cannot be read", "nowhere.json"]),
        (["{}", "AMEND_SPEC", "--payload", "list.json"], ["no JSON object"]),
        (["{}", "AMEND_SPEC", "--payload", "broken.json"], ["no JSON"]),
    ],
)
def test_an_answer_that_is_none_is_refused_with_nothing_written(
    halted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: list[str]
):
    """F-17.2-01: what is wrong and what to do; the escalation still waits."""
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text("[]")
    Path("broken.json").write_text("{")
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


def test_where_no_run_has_begun_there_is_nothing_to_answer(tmp_path: Path):
    """F-17.2-01: it says what to type."""
    specwright("resolve", "ESC-00000000", "ABANDON_TASK", tmp_path, "--rationale", "x y").refuses("run")
