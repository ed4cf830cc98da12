"""A plan of which a module fails: what is given up, what is still made, and what outlives it (F§3.4, F§10.2, D20, D25)."""

from pathlib import Path
from typing import Any

import pytest

from specwright.application.announce import announce, task_event
from specwright.application.loop_state import EngineeringState
from specwright.application.stages.engineering import Engineering
from specwright.errors import RefusedError
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.halts import HALTS, sealed_bytes
from testkit.loop.role_answers import PROSE, Turn, claimed, draft, failing, plan, planned, rejecting
from testkit.loop.scripted_gate import AT_PREFLIGHT
from testkit.sampling import spread

FIVE = plan(
    planned("first"),
    planned("second", "first"),
    planned("third", "second"),
    planned("fourth", "third"),
    planned("fifth", "first"),
    task_facing="fourth",
)
REJECTED = {
    **{f"second/round-{n}/challenger": [failing(f"Round {n} shows nothing of it.")] for n in (1, 2, 3)},
    "second/round-3/arbiter": [rejecting()],
}


def test_the_second_of_five_modules_fails(directory: Path):
    """F-3.4-03, F-3.4-04, F-3.4-05, F-10-11: what needs it is never attempted, what does not is made, and the escalation
    names all three groups."""
    with DebateWorkbench(directory, script(REJECTED, FIVE)) as bench:
        assert bench.begin(([], [0], [])) == "HALTED"
        assert [bench.status(n) for n in range(3)] == ["HALTED", "BLOCKED", "PENDING"]
        attempted = dict.fromkeys(call.split("/")[0] for call in bench.trace)
        assert list(attempted) == ["plan", "contracts", "first", "second", "fifth"]
        assert sorted(bench.sealed()) == ["fifth", "first"]
        assert bench.unapproved() == []
        details = bench.escalation.details
        refs = {name: f"{path.parent.name}@{path.name}" for name, path in bench.sealed().items()}
        assert details["cause"] == "modules"
        assert set(details["failed"]) == {"second"}
        assert details["abandoned"] == ["fourth", "third"]
        assert details["shipped"] == refs
        context = bench.escalation.resolution_context
        assert all(name in context for name in ("second", "third", "fourth", "first", "fifth"))
        assert "second" in bench.escalation.minimal_decision_required
        ships, why = bench.escalation.failed_invariants
        assert ships.invariant == "second ships"
        assert why.evidence == "Round 3 shows nothing of it."
        assert not list(bench.base.glob("drafts/*/*/*/ship.json"))


def again(bench: DebateWorkbench) -> None:
    """A person lets the first task run again: its next attempt (D33)."""
    definition = next(iter(bench.projection.definitions.values()))
    sha256 = bench.store.define(definition.to_bytes())
    events = [
        task_event("task.failed", "TSK-001", 1, {"failure": {"kind": "halted", "retryable": True}}),
        task_event("task.created", "TSK-001", 2, {"definition_sha256": sha256}),
        task_event("task.available", "TSK-001", 2, {}),
    ]
    announce(bench.factory, bench.journal.scope("again"), events)
    for file in bench.runtime.glob("checkpoints.db*"):
        file.unlink()


def reused(bench: DebateWorkbench, name: str) -> dict[str, Any]:
    path = bench.sealed()[name]
    report = {
        "query": name,
        "conclusion": "REUSE_EXISTING",
        "justification": "The attempt before made it.",
        "reuse_ref": f"{path.parent.name}@{path.name}",
    }
    return planned(name, reuse=report)


def test_what_was_shipped_outlives_the_halt_and_the_next_attempt(directory: Path):
    """F-3.4-06, D-20-01, D-25-01: the same bytes, sealed and indexed; the next attempt makes only the rest."""
    with DebateWorkbench(directory, script(REJECTED, FIVE)) as bench:
        bench.begin()
        before = sealed_bytes(bench)
    with DebateWorkbench(directory, script()) as bench:
        assert sealed_bytes(bench) == before
        again(bench)
        second = plan(
            reused(bench, "first"),
            planned("second", "first"),
            planned("third", "second"),
            planned("fourth", "third"),
            reused(bench, "fifth"),
            task_facing="fourth",
        )
        bench.follow(script(planning=second))
        bench.run()
        assert bench.status() == "SHIPPED"
        assert dict.fromkeys(call.split("/")[0] for call in bench.trace).keys() == {
            "plan",
            "contracts",
            "second",
            "third",
            "fourth",
        }
        after = sealed_bytes(bench)
        assert {name: after[name] for name in before} == before
        assert sorted(after) == ["fifth", "first", "fourth", "second", "third"]
        assert len(next(iter(bench.state.tasks.values())).module_refs) == 5
        assert [note.task for note in bench.notes.of("shipped")] == ["TSK-001"]


def test_all_that_fail_are_named_with_what_they_said(directory: Path):
    """F-3.4-05, D-11-05, F-17.1-02: a later failure does not push an earlier one's raw answers out of the escalation."""
    three = plan(planned("one"), planned("two"), planned("three"))
    answers = {
        "one/round-1/arbiter": [PROSE, PROSE, PROSE],
        "two/round-1/proposer": [Turn(claimed(), draft("two", AT_PREFLIGHT))],
        **{f"three/round-{n}/arbiter": [rejecting()] for n in (1, 2, 3)},
    }
    with DebateWorkbench(directory, script(answers, three)) as bench:
        assert bench.begin() == "HALTED"
        found = bench.escalation
        assert list(found.details["failed"]) == ["one", "two", "three"]
        assert found.details["raw_answers"][:3] == [PROSE] * 3
        assert len(found.details["raw_answers"]) == 3 + 4
        assert any("expected 4, got 5" in error for error in found.details["errors"])
        assert len(found.debate_trail.proposals) == 1 + 1 + 3
        assert bench.sealed() == {}
        assert bench.unapproved() == []


@pytest.mark.parametrize(
    "answers", spread([pytest.param(said, id=name) for name, said in HALTS.items()], fast=3)
)
@pytest.mark.parametrize("order", [("double", "halve"), ("halve", "double")], ids=["first", "last"])
def test_a_halted_module_cannot_reach_the_ship_node(
    directory: Path, answers: dict[str, list[Any]], order: tuple[str, str]
):
    """D-25-01, F-3.4-08: PARENT's goto is added to no edge of the parent, first or last in the plan, whatever halted it."""
    with DebateWorkbench(directory, script(answers, plan(*map(planned, order)))) as bench:
        assert bench.begin() == "HALTED"
        assert set(bench.sealed()) == {"halve"}
        assert [note.text.split()[0] for note in bench.notes.of("sealed")] == ["halve"]
        assert {path.name for path in bench.base.glob("modules/*")} == {bench.sealed()["halve"].parent.name}
        assert bench.unapproved() == []
        ready = [w["payload"]["name"] for w in bench.wires() if w["type"] == "artifact.ready"]
        assert ready == ["halve"]


def test_the_ship_node_itself_refuses_what_the_gate_did_not_pass(directory: Path):
    """D-25-01, F-6-03: should a halted module come there all the same, nothing is sealed."""
    with DebateWorkbench(directory, script(HALTS["gate"])) as bench:
        bench.begin()
        state: EngineeringState = {
            "task_id": next(iter(bench.state.tasks)),
            "plan_id": bench.record("contracts", 1, "proposal")["target_artifact_id"],
            "deliverable": "double",
            "version_id": bench.record("double", 3, "proposal")["target_artifact_id"],
            "debates": {"double": bench.debate("double").name},
        }
        with pytest.raises(RefusedError, match="the ship gate did not pass this module"):
            Engineering(bench.factory, state, lambda begins: begins).ship(state)
        assert set(bench.sealed()) == {"halve"}
        assert bench.unapproved() == []


@pytest.mark.parametrize("file", ["contract.json", "implementation/__init__.py"])
def test_a_changed_module_is_not_attested_and_another_answer_is_taken(directory: Path, file: str):
    """D-22-02, F-4.2-06: the version is compared with what the log announced before anything of the answer is stored."""
    with DebateWorkbench(directory, script(HALTS["gate"])) as bench:
        bench.begin()
        (sealed,) = bench.sealed().values()
        ref = f"{sealed.parent.name}@{sealed.name}"
        (sealed / file).write_text((sealed / file).read_text().replace("number", "numeral", 1))
        attested = {"module_ref": ref, "rationale": "It does the same."}
        bench.run(answer={"action": "ATTEST_SHIPPED", "payload": attested})
        assert "a sealed module was altered" in bench.waiting()["refused"]
        assert bench.store.names("resolutions") == []
        given_up = {"action": "ABANDON_TASK", "payload": {"rationale": "Nobody needs it"}}
        assert bench.run(answer=given_up) == "COMPLETE"
