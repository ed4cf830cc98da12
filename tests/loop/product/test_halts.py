"""A task that cannot be shipped halts, asks a person, and takes nothing else down with it (F§10.3, F§17.1, D11, D25).

The pair of modules is spoilt in its playbook, one fault at a time; what is not spoilt ships. The second task waits.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from testkit.killing import EFFECTS, Job, Kill
from testkit.loop.halted_products import SHOUT, halted
from testkit.loop.products import NAMEPLATE_SPEC, failing, pair, rejecting, rewrite
from testkit.stores import differences, journal_of
from testkit.workshop import KILLED, Workshop

CONTRACTS = "TSK-001/contracts"


@pytest.fixture
def playbook(tmp_path: Path) -> Path:
    """The pair's playbook, to be spoilt."""
    return pair(tmp_path / "playbook")


@pytest.mark.nightly
def test_three_fails_and_a_rejection_halt_the_module_and_ship_the_other(
    workshop: Workshop, playbook: Path, tmp_path: Path
):
    """Three proposals, never a fourth; a draft aside, the rest shipped (F-9.3-01, F-9.3-04, D-25-01, D-20-02)."""
    failing(playbook / SHOUT, 3)
    rejecting(playbook / SHOUT / "round-3")
    found = halted(workshop, tmp_path / "project", "--model", f"playbook:{playbook}")

    assert found.shipped == ["initials"]
    assert [name for name in found.asked if "/shout/" in name] == [
        f"TSK-001.1/shout/{name}"
        for number in (1, 2, 3)
        for name in (f"round-{number}/proposer", f"round-{number}/challenger")
    ] + ["TSK-001.1/shout/round-3/arbiter"]
    trail = found.escalation.debate_trail
    rounds = [
        r
        for r in trail.proposals
        if r.test_inventory and "test_every_letter_is_a_capital" in r.test_inventory
    ]
    assert len(rounds) == 3
    assert [challenge.verdict for challenge in trail.challenges].count("FAIL") == 3  # pyright: ignore
    assert found.escalation.details["failed"].keys() == {"shout"}
    assert found.escalation.details["shipped"].keys() == {"initials"}
    (aside,) = (found.project / "state_store").glob("drafts/*/*/*/contract.json")
    assert json.loads(aside.read_text())["name"] == "shout"
    again = workshop.command("run", found.project)
    assert again.code == 3
    assert found.escalation.escalation_id in again.out


def test_contracts_that_are_rejected_halt_the_task_before_any_implementation(
    workshop: Workshop, playbook: Path, tmp_path: Path
):
    """The planner revises twice, then nobody implements anything (D-11-01, F-10-10)."""
    failing(playbook / CONTRACTS, 3)
    rejecting(playbook / CONTRACTS / "round-3")
    plan = (playbook / "TSK-001/planner.json").read_text()
    for number in (2, 3):
        (playbook / f"TSK-001/planner-{number}.json").write_text(plan)
    found = halted(workshop, tmp_path / "project", "--model", f"playbook:{playbook}")

    assert found.shipped == []
    assert not any("/proposer" in name for name in found.asked)
    assert found.escalation.details["cause"] == "contracts"
    assert len(found.escalation.debate_trail.proposals) == 3


def spoilt(playbook: Path, project: Path, trace: Path) -> Job:
    """A run in which `shout` is rejected in the first round and fails in two more."""
    failing(playbook / SHOUT, 3)
    rewrite(playbook / SHOUT / "round-1/challenger.json", **_passing(playbook))
    rejecting(playbook / SHOUT / "round-1", "The proposal says nothing of names with digits in them.")
    rejecting(playbook / SHOUT / "round-3")
    return Job(str(project), str(NAMEPLATE_SPEC), f"playbook:{playbook}", trace=str(trace))


def _passing(playbook: Path) -> dict[str, Any]:
    said = json.loads((playbook / SHOUT / "round-1/challenger.json").read_text())
    said["rubric_assessments"][5]["assessment"] = "MET"
    return {**said, "verdict": "PASS", "failures": []}


@pytest.mark.nightly
def test_a_rejection_within_the_budget_goes_back_to_the_proposer_even_after_a_crash(
    workshop: Workshop, playbook: Path, tmp_path: Path
):
    """The version is a DRAFT again; killed right behind that, the run comes to the same end (F-9.3-05, D-S4-07)."""
    job = spoilt(playbook, tmp_path / "whole", tmp_path / "trace")
    assert workshop.drive(job).code == 3
    effects = json.loads((tmp_path / "trace").read_text())
    envelopes = [i for i, e in enumerate(effects) if "/IMPL-" in e and e.endswith("envelope.json")]
    first = [i for i in envelopes if effects[i] == effects[envelopes[0]]]
    assert len(first) >= 4  # DRAFT, CHALLENGED, ADJUDICATED, and DRAFT again

    counted = [i for i, effect in enumerate(effects) if effect.split()[0] == "file"]
    again = job._replace(
        directory=str(tmp_path / "again"),
        kill=Kill(("file",), counted.index(first[3]) + 1),
        draws=str(journal_of(tmp_path / "whole")),
    )
    assert workshop.drive(again).code == KILLED
    finished = workshop.drive(again._replace(kill=Kill()))
    assert finished.code == 3, finished.err
    assert differences(tmp_path / "again", tmp_path / "whole") == []


@pytest.mark.nightly
def test_a_halt_that_is_killed_again_and_again_is_one_halt(
    workshop: Workshop, playbook: Path, tmp_path: Path
):
    """One escalation, one draft aside, one Wire, the same bytes (D-S4-03, F-17.3-01, D-20-02)."""
    job = spoilt(playbook, tmp_path / "whole", tmp_path / "trace")
    assert workshop.drive(job).code == 3
    effects = [e for e in json.loads((tmp_path / "trace").read_text()) if e.split()[0] in EFFECTS[:4]]
    begin = next(i for i, effect in enumerate(effects) if effect.startswith("file drafts/"))

    again = job._replace(directory=str(tmp_path / "again"), draws=str(journal_of(tmp_path / "whole")))
    finished, kills = workshop.drive(again._replace(kill=Kill(EFFECTS[:4], begin))), 0
    while finished.code == KILLED:
        kills += 1
        finished = workshop.drive(again._replace(kill=Kill(EFFECTS[:4], 1)))
    assert finished.code == 3, finished.err
    assert kills == len(effects) - begin + 1
    assert differences(tmp_path / "again", tmp_path / "whole") == []
