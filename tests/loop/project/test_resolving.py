"""A person's answers to escalations, by the project graph itself (F§17.2, F§17.3, D7, D8, D22, D24, D33)."""

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import ValidationError

from specwright.application.escalation import offers
from specwright.application.escalation.halted import open_escalations
from specwright.domain.escalation import Action, HumanResolution, ResolutionRecord, actions_for
from specwright.errors import CorruptionError, InputError, RefusedError
from specwright.graphs.checkpoints import JsonSerializer
from specwright.graphs.graphs import project_graph
from testkit.domain.product_specs import spec_of_graph
from testkit.loop.project_workbench import (
    GRAPH,
    THREAD,
    ProjectWorkbench,
    halt_first,
    halt_stub,
    order_of,
    seal_stub,
)
from testkit.loop.role_answers import plan, planned

AMEND = {
    "amended_acceptance_criteria": ["Returns nothing", "Raises nothing"],
    "amendment_rationale": "It was too much",
}
WHY = {"rationale": "Nobody needs it"}


def part(name, *depends_on, **more):
    """A part of a split task."""
    return {
        "name": name,
        "description": f"Does the {name} of it.",
        "acceptance_criteria": ["Returns a number", "Raises ValueError for none"],
        "depends_on": list(depends_on),
        **more,
    }


PAYLOADS: dict[Action, dict[str, object]] = {
    Action.RETRY: {},
    Action.AMEND_SPEC: AMEND,
    Action.SPLIT_TASK: {"new_tasks": [part("Half"), part("Other half")]},
    Action.REVISE_PLAN: {"revised_micro_plan": plan(planned("double"))},
    Action.PROVIDE_FIX: {
        "fix_description": "Corrected",
        "fix_artifacts": {"implementation/__init__.py": ""},
    },
    Action.ABANDON_TASK: WHY,
    Action.ATTEST_SHIPPED: {"module_ref": "MM-00000000@1.0.0", **WHY},
    Action.APPROVE_OVERRIDE: WHY,
}
"""An answer of each kind to a task that does not go on."""


def halted(directory: Path, graph=([], [0]), work=halt_stub) -> ProjectWorkbench:
    """A project that waits because its first task halted."""
    bench = ProjectWorkbench(directory, work=work)
    bench.approve(spec_of_graph(graph))
    bench.run()
    return bench


def answer(action: str, payload, escalation="") -> dict[str, object]:
    return {"action": action, "payload": payload, "escalation_id": escalation}


def statuses(bench: ProjectWorkbench) -> list[str]:
    return [entry.status.value for entry in bench.state.tasks.values()]


def wires(bench: ProjectWorkbench, after: int) -> list[tuple[str, str]]:
    """Type and stream of what was appended since."""
    found = [entry.wire for entry in bench.log.entries(after)]
    return [(wire["type"], wire["stream"]["stream_id"]) for wire in found]


def test_amending_runs_the_task_again_from_the_start(tmp_path: Path):
    """F-17.2-05, F-17.3-04, D-33-03: PENDING as the next attempt, caused by the failure; the file keeps the old criteria;
    then it is dispatched."""
    with halted(tmp_path) as bench:
        before = len(list(bench.log.entries()))
        escalation = bench.waiting()["escalation"]
        bench.work = seal_stub
        assert bench.run(answer=answer("AMEND_SPEC", AMEND)) == "COMPLETE"
        told = list(bench.log.entries(before))
        assert [entry.wire["type"] for entry in told][:6] == [
            "review.recorded",
            "task.failed",
            "task.created",
            "task.available",
            "task.claimed",
            "task.started",
        ]
        decision, failed, created = (entry.wire for entry in told[:3])
        assert (decision["payload"]["subject"], decision["sender"]) == (
            "escalation.resolved",
            "human:operator",
        )
        assert failed["stream"]["causation_id"] == decision["wire_id"]
        assert created["stream"]["causation_id"] == failed["wire_id"]
        assert created["stream"]["stream_id"] == "task:TSK-001:attempt:2"
        first = next(iter(bench.projection.definitions.values()))
        text = bench.folder.read(f"project/{first.path}").decode()
        assert "- Returns nothing" in text
        history = text.partition("## Amendment History")[2]
        assert escalation in history
        assert "Returns the column names in order" in history
        kept = ResolutionRecord.from_bytes(bench.store.read(f"resolutions/{escalation}.json"), escalation)
        assert (kept.action, kept.resolved_by) == (Action.AMEND_SPEC, "human:operator")


def test_splitting_replaces_the_task_by_complete_ones(tmp_path: Path):
    """F-17.2-06, F-17.2-07, F-17.2-08, F-17.2-09, D-07-01: ABANDONED, superseded; the parts take what they leave out
    from the whole, wait for each other by name, and whoever waited for the whole waits for both."""
    with halted(tmp_path) as bench:
        bench.work = seal_stub
        parts = [part("Second half", "First half"), part("First half", subtasks=["Look", "Take"])]
        assert bench.run(answer=answer("SPLIT_TASK", {"new_tasks": parts})) == "COMPLETE"
        first, _, *added = bench.state.tasks.values()
        assert first.status == "ABANDONED"
        assert first.superseded_by == [t for t, e in bench.state.tasks.items() if e in added]
        assert [entry.spec_task_id for entry in added] == ["TSK-003", "TSK-004"]
        assert [entry.declaration_order for entry in added] == [2, 3]
        assert order_of(bench, "shipped") == ["TSK-004", "TSK-003", "TSK-002"]
        second = bench.projection.definitions[first.superseded_by[0]]
        assert second.subtasks == ["Read the first row", "Refuse a file without one"]
        file = bench.folder.read(f"project/{second.path}").decode()
        assert "## Error Cases\n- ValueError if the file is empty" in file
        made = [e.wire for e in bench.log.entries() if e.wire["stream"].get("parent_task_id")]
        assert {wire["stream"]["parent_task_id"] for wire in made} == {"TSK-001"}


def test_a_part_can_be_split_again(tmp_path: Path):
    """F-17.2-06: ids and orders go on from all tasks that there ever were, abandoned ones included."""
    with halted(tmp_path, graph=([],)) as bench:
        bench.run(answer=answer("SPLIT_TASK", {"new_tasks": [part("Half"), part("Other half")]}))
        bench.run(answer=answer("SPLIT_TASK", {"new_tasks": [part("Half"), part("Quarter", "TSK-003")]}))
        assert [entry.spec_task_id for entry in bench.state.tasks.values()][-2:] == ["TSK-004", "TSK-005"]
        assert [entry.declaration_order for entry in bench.state.tasks.values()] == [0, 1, 2, 3, 4]
        ids = list(bench.state.tasks)
        assert len(set(ids)) == 5
        assert [int(task_id[-3:]) for task_id in ids] == [1, 2, 3, 4, 5]
        paths = [definition.path for definition in bench.projection.definitions.values()]
        assert len(set(paths)) == 5
    with ProjectWorkbench(tmp_path) as again:
        assert [e.status for e in again.state.tasks.values()].count("ABANDONED") == 2


def test_a_stall_is_answered_one_task_after_the_other(tmp_path: Path):
    """F-17.2-14, D-08-03: one drops the dependency and runs, one is given up; the actions that need a halt are refused."""
    with halted(tmp_path, GRAPH, halt_first) as bench:
        bench.run(answer=answer("ABANDON_TASK", WHY))
        second, third = bench.waiting()["escalations"]
        taken: list[Action] = []
        for action, payload in PAYLOADS.items():
            with suppress(RefusedError):
                offers.check(bench.factory, HumanResolution.model_validate(answer(action, payload, second)))
                taken.append(action)
        assert taken == [Action.AMEND_SPEC, Action.SPLIT_TASK, Action.ABANDON_TASK]
        dropped = {**AMEND, "drop_depends_on": ["TSK-001"]}
        bench.run(answer=answer("AMEND_SPEC", dropped, second))
        assert bench.waiting()["escalations"] == [third]
        assert order_of(bench, "shipped") == ["TSK-005", "TSK-002", "TSK-004"]
        assert bench.run(answer=answer("ABANDON_TASK", WHY, third)) == "COMPLETE"
        assert statuses(bench) == ["ABANDONED", "SHIPPED", "ABANDONED", "SHIPPED", "SHIPPED"]


def test_a_part_that_was_given_up_can_be_dropped(tmp_path: Path):
    """D-08-03: whoever waits for a split task waits for its parts; without one of them it waits for the others, also after
    the log is read anew."""

    def work(factory, task):
        return (halt_stub if task.entry.spec_task_id in {"TSK-001", "TSK-004"} else seal_stub)(factory, task)

    with halted(tmp_path, work=work) as bench:
        bench.run(answer=answer("SPLIT_TASK", {"new_tasks": [part("Good half"), part("Bad half")]}))
        bench.run(answer=answer("ABANDON_TASK", WHY))
        told = bench.waiting()["artifact"]
        (bad,) = told["details"]["abandoned"]
        assert bench.run(answer=answer("AMEND_SPEC", {**AMEND, "drop_depends_on": [bad]})) == "COMPLETE"
        _, second, good, _ = bench.state.tasks
        assert bench.state.tasks[second].depends_on == [good]
        assert statuses(bench) == ["ABANDONED", "SHIPPED", "SHIPPED", "ABANDONED"]
    with ProjectWorkbench(tmp_path) as again:
        assert again.state.tasks[second].depends_on == [good]


def test_an_answer_that_does_not_suit_the_halt_is_refused(tmp_path: Path):
    """F-17.2-03, D-22-01, D-08-03, F-4.2-06, D-22-02: a halt while planning left nothing to ship or to fix, a task that was
    not waited for cannot be dropped, an unsealed module not be named; it says what is possible, and nothing is written."""
    by_hand = (Action.APPROVE_OVERRIDE, Action.PROVIDE_FIX)
    for cause in ("planning", "contracts", "plan", "exception", "journal"):
        assert not {*by_hand} & {*actions_for(cause)}, cause
    with halted(tmp_path, work=halt_first) as bench:
        before = bench.state
        for action in by_hand:
            assert bench.run(answer=answer(action, PAYLOADS[action])) is None
            assert "does not suit" in bench.waiting()["refused"]
            assert "AMEND_SPEC" in bench.waiting()["refused"]
        unknown = {"module_ref": "MM-00000000@1.0.0", "rationale": "It does the same"}
        with pytest.raises(RefusedError, match="does not suit"):
            offers.check(bench.factory, HumanResolution.model_validate(answer("ATTEST_SHIPPED", unknown)))
        with pytest.raises(ValidationError, match="rationale"):
            HumanResolution.model_validate(answer("ATTEST_SHIPPED", {"module_ref": "MM-00000000@1.0.0"}))
        dropped = answer("AMEND_SPEC", {**AMEND, "drop_depends_on": ["TSK-002"]})
        with pytest.raises(InputError, match="does not depend on"):
            offers.check(bench.factory, HumanResolution.model_validate(dropped))
        assert bench.state == before
        assert bench.store.names("resolutions") == []


def test_an_answer_is_one_action_with_its_payload():
    """F-17.2-01, F-17.3-05: free text alone, an unknown action, an incomplete or too rich payload is no answer."""
    payloads: list[tuple[str, dict[str, object]]] = [
        ("GIVE_UP", {}),
        ("ABANDON_TASK", {}),
        ("ABANDON_TASK", {"rationale": "TBD"}),
        ("ABANDON_TASK", {"rationale": "why", "more": 1}),
        ("AMEND_SPEC", {"amended_acceptance_criteria": [], "amendment_rationale": "x y"}),
        ("SPLIT_TASK", {"new_tasks": []}),
        ("SPLIT_TASK", {"new_tasks": [{"name": "a", "description": "b"}]}),
        ("REVISE_PLAN", {"revised_micro_plan": []}),
        ("PROVIDE_FIX", {"fix_description": "it", "fix_artifacts": {}}),
        ("ATTEST_SHIPPED", {"module_ref": "slugify", "rationale": "it"}),
    ]
    answers = [{"action": action, "payload": payload} for action, payload in payloads]
    for given in ("give it up", {"action": "ABANDON_TASK"}, *answers):
        with pytest.raises(ValidationError):
            HumanResolution.model_validate(given)


def test_parts_that_wait_in_a_circle_or_share_a_name_are_refused(tmp_path: Path):
    """F-17.2-06: the message says which; nothing is written."""
    bad = [
        ([part("A", "B"), part("B", "A")], "cycle"),
        ([part("A"), part("A")], "two parts"),
        ([part("A", "TSK-009")], "no task TSK-009"),
        ([part("A", "TSK-001")], "which it replaces"),
        ([part("A", "TSK-002")], "cycle"),
    ]
    with halted(tmp_path) as bench:
        files = sorted(tmp_path.rglob("*"))
        for parts, told in bad:
            given = HumanResolution.model_validate(answer("SPLIT_TASK", {"new_tasks": parts}))
            with pytest.raises((InputError, RefusedError), match=told):
                offers.check(bench.factory, given)
        assert sorted(tmp_path.rglob("*")) == files


def test_an_answer_is_taken_once(tmp_path: Path):
    """D-29-01, F-17.3-04: the node that runs again after a crash appends nothing; another answer comes too late. D-S9-11: an
    escalation whose file is gone is a damage and no mistake, and it says what to restore."""
    with halted(tmp_path) as bench:
        escalation = bench.waiting()["escalation"]
        file = tmp_path / "state_store/escalations" / f"{escalation}.json"
        file.rename(file.with_suffix(".gone"))
        with pytest.raises(CorruptionError, match="is missing"):
            bench.factory.escalations.escalation(escalation)
        file.with_suffix(".gone").rename(file)
        given = HumanResolution.model_validate(answer("AMEND_SPEC", AMEND, escalation))
        offers.resolve(bench.factory, given)
        before = wires(bench, 0)
        offers.resolve(bench.factory, given)
        assert wires(bench, 0) == before
        late = HumanResolution.model_validate(answer("ABANDON_TASK", WHY, escalation))
        with pytest.raises(RefusedError, match="already answered: AMEND_SPEC"):
            offers.check(bench.factory, late)
        with pytest.raises(InputError, match="no escalation ESC-00000000"):
            offers.check(bench.factory, late.model_copy(update={"escalation_id": "ESC-00000000"}))


@pytest.mark.parametrize(("below_the_outer_graph", "as_model"), [(False, False), (True, False), (True, True)])
def test_the_document_s_own_way_of_resuming_works(
    tmp_path: Path, below_the_outer_graph: bool, as_model: bool
):
    """F-17.3-02, D-24-01, D-24-02: `update_state(config, {"resolution": ...}, as_node="update_state_machine")`, with
    the project loop as the root, and by the subgraph's own config below an outer graph; as JSON or as the model."""
    given: Any = answer("ABANDON_TASK", WHY)
    if as_model:
        given = HumanResolution.model_validate(given)
    with ProjectWorkbench(tmp_path, halt_first) as bench:
        bench.approve(spec_of_graph([[], []]))
        with closing(sqlite3.connect(tmp_path / ".specwright" / "own.db", check_same_thread=False)) as db:
            saver = SqliteSaver(db, serde=JsonSerializer())
            if below_the_outer_graph:
                root = bench.root(saver)
            else:
                root = project_graph(bench.factory, bench.stub()).copy(update={"checkpointer": saver})
            root.invoke({"schema_version": 1}, THREAD, durability="sync")
            assert statuses(bench) == ["HALTED", "PENDING"]
            where = THREAD
            if below_the_outer_graph:
                where = root.get_state(THREAD, subgraphs=True).tasks[0].state.config
            root.update_state(where, {"resolution": given}, as_node="update_state_machine")
            root.invoke(None, THREAD, durability="sync")
        assert statuses(bench) == ["ABANDONED", "SHIPPED"]
        assert open_escalations(bench.factory) == []


def test_abandoning_leaves_those_behind_it_blocked_each_with_a_question(tmp_path: Path):
    """F-17.2-13, D-08-01, D-08-02: the free task still ships; then each dependent asks for itself. A review Wire references
    the record of the answer by its hash; a new process reads it from there (D-33-02, D-29-05)."""
    with halted(tmp_path, GRAPH, halt_first) as bench:
        escalation = bench.waiting()["escalation"]
        assert bench.run(answer=answer("ABANDON_TASK", WHY)) is None
        assert statuses(bench) == ["ABANDONED", "BLOCKED", "BLOCKED", "BLOCKED", "SHIPPED"]
        assert len(bench.waiting()["escalations"]) == 2
    with ProjectWorkbench(tmp_path) as again:
        record = again.projection.resolutions[escalation]
        assert record.payload == WHY
        assert json.loads(again.store.read(f"resolutions/{escalation}.json")) == record.to_json()


def test_an_answer_that_a_crash_kept_from_the_log_is_the_one_that_counts(tmp_path: Path):
    """D-09-01, F-17.2-01: once recorded, another answer is refused by name; the run goes on with the first."""
    with halted(tmp_path) as bench:
        escalation = bench.waiting()["escalation"]
        record = ResolutionRecord(
            escalation_id=escalation,
            task_id=next(iter(bench.state.tasks)),
            action=Action.AMEND_SPEC,
            payload=AMEND,
            resolved_by="human:operator",
            resolved_at=bench.journal.scope(f"resolution/{escalation}").now(),
        )
        bench.store.publish(f"resolutions/{escalation}.json", record.to_bytes())
        late = HumanResolution.model_validate(answer("ABANDON_TASK", WHY, escalation))
        with pytest.raises(RefusedError, match="already answered: AMEND_SPEC"):
            offers.check(bench.factory, late)
        bench.work = seal_stub
        for file in (tmp_path / ".specwright").glob("checkpoints.db*"):
            file.unlink()
        assert bench.run() == "COMPLETE"


def test_a_stalled_task_that_keeps_its_dependency_is_not_available(tmp_path: Path):
    """D-33-02, D-08-03: its criteria change, and it waits on; nothing says that it could run."""
    with halted(tmp_path, GRAPH, halt_first) as bench:
        bench.run(answer=answer("ABANDON_TASK", WHY))
        second = bench.waiting()["escalations"][0]
        before = len(list(bench.log.entries()))
        bench.run(answer=answer("AMEND_SPEC", AMEND, second))
        told = [kind for kind, _ in wires(bench, before)]
        assert "task.available" not in told
        assert statuses(bench)[1] == "BLOCKED"
        asked = [entry.escalation_ref for entry in bench.state.tasks.values()][1]
        assert asked not in (None, second)
