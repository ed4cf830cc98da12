"""`specwright escalations`: what waits for a person, and how to answer it within a minute (F§17, DESIGN §9)."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from specwright.domain.escalation import Action, HumanResolution, actions_for
from testkit.cli.commands import everything, filled_in, specwright

WIDTH = 100


@pytest.fixture
def here(halted_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The halted project, as the working directory: what is printed then names no directory."""
    monkeypatch.chdir(halted_once)
    return halted_once


@pytest.fixture
def waits(halted_once: Path) -> dict[str, Any]:
    """The escalation that waits."""
    (path,) = (halted_once / "state_store/escalations").iterdir()
    return json.loads(path.read_text())


def test_the_list_says_what_waits_since_when_why_and_what_to_type(here: Path, waits: dict[str, Any]) -> None:
    """Id, task, time, cause, decision, recommendation and the command, on one screen (F-17.1-01, F-17.1-04)."""
    told = specwright("escalations")
    assert told.code == 0
    lines = told.out.splitlines()
    assert len(lines) <= 12
    assert lines[0] == f"{waits['escalation_id']}  TSK-001  Initials"
    page = " ".join(told.out.split())
    for words in (
        waits["created_at"],
        "modules could not be shipped: shout",
        waits["minimal_decision_required"],
        "The Arbiter on shout: Nothing of what was asked for was shown.",
        "The gate passes the last draft of shout",
        "APPROVE_OVERRIDE: overrule the debate",
        f"specwright resolve {waits['escalation_id']} APPROVE_OVERRIDE --rationale",
    ):
        assert words in page


def five_survivors(waits: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The record, as if two findings of the gate had told of the same survivors."""
    faults = [
        "`and` to `or` in `len(letters) > 40 and letters.startswith('Q')`",
        "`>` to `>=` in `len(letters) > 40`",
        *("`40` to `41`", "`'Q'` to `'QX'`", "`return letters[:40]` to `return None`"),
    ]
    listed = "\n".join(f"  implementation/__init__.py:2{n}: {fault}" for n, fault in enumerate(faults))
    notice = "the tests notice {} of {} small faults put into {}, and 80% are due; write tests:\n" + listed
    weak, again = notice.format(10, 15, "the module"), notice.format(1, 6, "_joined")
    codes = f"strength.weak: {weak}; strength.function: {again}"
    reason = f"shout gave no acceptable answer in 4 attempts: {codes}"
    told = {"shout ships": reason, "strength.weak at tests": weak, "strength.function at _joined": again}
    details = {**waits["details"], "failed": {"shout": reason}}
    failed = [{"invariant": name, "evidence": evidence} for name, evidence in told.items()]
    return {**waits, "details": details, "failed_invariants": failed, **changes}


def shown(here: Path, record: dict[str, Any], *options: str) -> str:
    """The page of a record that is put beside the others."""
    path = here / "state_store/escalations/ESC-00000001.json"
    path.write_text(json.dumps({**record, "escalation_id": "ESC-00000001"}))
    try:
        return specwright("escalations", "ESC-00000001", *options).out
    finally:
        path.unlink()


def test_five_surviving_mutants_are_listed_once_in_columns(
    here: Path, waits: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-17.1-02, D-S9-01: on a screen of 80 columns and 40 lines, whatever repeats the list."""
    monkeypatch.setenv("COLUMNS", "80")
    page = shown(here, five_survivors(waits))
    lines = page.splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines if "specwright" not in line) <= 80
    assert "        21  `>` to `>=` in `len(letters) > 40`" in lines
    for fault in ("`>` to `>=`", "`40` to `41`", "`'Q'` to `'QX'`", "`return letters[:40]` to"):
        assert page.count(fault) == 1
    assert "5 of those above" in page


def test_of_many_failures_the_smallest_counterexample_comes_first(here: Path, waits: dict[str, Any]) -> None:
    """F-17.1-02, D-S9-01: the others are counted, with the file that has them."""
    tests = [
        {
            "invariant": f"/outputs/0: the falsifying test test_{n} passes",
            "evidence": "x = 1\n" * n + "expected 1",
        }
        for n in (7, 30, 3, 5)
    ]
    page = shown(here, {**five_survivors(waits), "failed_invariants": tests})
    assert "test_3 passes" in page
    assert not [n for n in (5, 7, 30) if f"test_{n} passes" in page]
    assert "and 3 more failures in state_store/escalations/ESC-00000001.json" in page
    long = shown(here, {**five_survivors(waits), "failed_invariants": tests[1:2]})
    assert long.count("x = 1") == 8
    assert "and 23 more lines in state_store/escalations/ESC-00000001.json" in long


def test_everything_that_was_said_stands_behind_full(here: Path, waits: dict[str, Any]) -> None:
    """Faults, the three groups of modules, the whole debate, after the page of the decision (F-17.1-02)."""
    told = specwright("escalations", waits["escalation_id"], "--full")
    page = " ".join(told.out.split())
    for words in (
        "failed shout: the Arbiter rejected it and no revision is left",
        "abandoned none",
        f"shipped initials {waits['details']['shipped']['initials']}",
        "Round 3: FAIL, REJECT",
        "In round 3 the name of 3 words",
        waits["task_ref"],
    ):
        assert words in page, words
    assert [line for line in told.out.splitlines() if len(line) > WIDTH] == []
    assert page.startswith(" ".join(specwright("escalations", waits["escalation_id"]).out.split()))


def test_every_payload_shown_is_a_valid_answer_once_it_is_filled_in(
    here: Path, waits: dict[str, Any]
) -> None:
    """The words alone are missing; as it is printed it is refused as a placeholder (F-17.2-01)."""
    shown = specwright("escalations", waits["escalation_id"], "--json").document["actions"]
    assert set(shown) == set(actions_for("modules"))
    assert shown.pop("RETRY") == {}
    for action, payload in shown.items():
        assert HumanResolution(action=Action(action), payload=filled_in(payload))
        with pytest.raises(ValueError, match="placeholder"):
            HumanResolution(action=Action(action), payload=payload)


def test_a_program_gets_the_record_and_the_command(here: Path, waits: dict[str, Any]) -> None:
    """The stored record with what it takes to answer it, in a list and alone (D-S9-03)."""
    (listed,) = specwright("escalations", "--json").document["escalations"]
    alone = specwright("escalations", waits["escalation_id"], "--json").document
    assert {"schema": "escalation", "version": 1, **listed} == alone
    assert {key: alone[key] for key in waits} == waits
    assert shlex.split(alone["command"])[1:4] == ["resolve", waits["escalation_id"], "APPROVE_OVERRIDE"]


def test_looking_changes_nothing(here: Path, waits: dict[str, Any]) -> None:
    """Not a byte of the project; an unknown id and a word too many are refused (D-S9-01, D-S9-04)."""
    before = everything(here)
    specwright("escalations")
    specwright("escalations", waits["escalation_id"])
    specwright("escalations", "ESC-00000000").refuses("ESC-00000000", "lists those that wait")
    specwright("escalations", "ESC-00000000", "a", "b").refuses("one word too many")
    specwright("escalations", "ESC-00000000/../../x").refuses("no escalation")
    assert everything(here) == before


def test_where_nothing_waits_it_says_so(released_once: Path) -> None:
    """A finished project asks nothing; a program gets an empty list (D-S9-01)."""
    told = specwright("escalations", released_once)
    assert (told.code, told.out) == (0, "")
    assert "Nothing waits" in told.err
    assert specwright("escalations", released_once, "--json").document["escalations"] == []


def test_raw_answers_are_kept_and_shown(here: Path, waits: dict[str, Any]) -> None:
    """What a model answered in vain stands behind --full, each once, long ones cut with their file named (D-11-05)."""
    long = "\n".join(f"line {number}" for number in range(100))
    details = {"cause": "planning", "raw_answers": [long, "{", long]}
    page = shown(here, {**waits, "details": details, "recommended_resolution": "REVISE_PLAN"}, "--full")
    assert "Raw answer, given 2 times" in page
    assert "line 39" in page
    assert "line 40" not in page
    assert "60 more lines in state_store/escalations/ESC-00000001.json" in page
