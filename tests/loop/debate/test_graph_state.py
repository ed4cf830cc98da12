"""What the graphs remember, and what their checkpoints hold (DESIGN §5, F§15.5, F§19.1)."""

import json
import types
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, cast, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from langgraph.types import interrupt
from pydantic import BaseModel

from specwright.application.loop_state import DebateState, EngineeringState
from specwright.graphs.graphs import OuterState, ProjectGraphState
from specwright.ports import Answered, Assignment, Role
from testkit.checkpoints import Invocation, invocations, sizes
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.project_workbench import ProjectWorkbench, chain_spec
from testkit.loop.role_answers import Turn, plan, planned
from testkit.memory_tree import in_memory
from testkit.model.script import ScriptedRoles
from testkit.sampling import nightly, slow

STATES = (OuterState, ProjectGraphState, EngineeringState, DebateState)
PRIMITIVES = {str, int, bool, float, type(None)}
AFTER_EACH_OTHER: tuple[list[int], ...] = ([], [0])


def odd(hint: Any) -> Iterator[Any]:
    """The parts of a type that are no JSON."""
    if is_typeddict(hint):
        for part in get_type_hints(hint).values():
            yield from odd(part)
    elif get_origin(hint) in (list, dict, types.UnionType):
        for part in get_args(hint):
            yield from odd(part)
    elif hint not in PRIMITIVES and hint is not Any:
        yield hint


def unlike_json(value: Any) -> Iterator[Any]:
    """The parts of a value that JSON would change."""
    if type(value) is dict:
        members = cast(dict[Any, Any], value)
        yield from (key for key in members if type(key) is not str)
        value = [*members.values()]
    if type(value) is list:
        for part in cast(list[Any], value):
            yield from unlike_json(part)
    elif type(value) not in PRIMITIVES:
        yield value


MODELS = {
    "ship_gate.contract.contract": ("MicroModuleContract",),
    "specwright.domain.artifacts": ("ArtifactEnvelope", "ContextPack"),
    "specwright.domain.debate.records": ("Proposal", "Challenge", "Adjudication"),
    "specwright.domain.escalation": ("EscalationArtifact",),
    "specwright.domain.interface_change": ("InterfaceChangeException",),
    "specwright.domain.modules.code_index": ("CodeIndexEntry",),
    "specwright.domain.modules.evidence": ("ShipEvidence",),
    "specwright.domain.plan": ("MicroPlan", "ReuseSearchReport"),
}


def test_the_document_s_models_have_its_names():
    """Twelve models, which refuse unknown fields and their own change; `DebateState` is a typed dict (F-18-04, ADR 0101)."""
    models = [getattr(import_module(module), name) for module, names in MODELS.items() for name in names]
    assert len(models) == 12
    for model in models:
        assert issubclass(model, BaseModel), model
        assert (model.model_config.get("extra"), model.model_config.get("frozen")) == ("forbid", True), model


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_a_graph_s_state_is_a_typed_dict_of_json_primitives(state: Any):
    """Texts, numbers, lists and objects of them, with the version of its schema (D-S5-02)."""
    assert is_typeddict(state)
    assert get_type_hints(state)["schema_version"] is int
    assert list(odd(state)) == []


@pytest.fixture
def done(directory: Path) -> list[Invocation]:
    """Two tasks in a row, each with a contract debate and two modules."""
    second = plan(planned("treble"), planned("quarter"), task_facing="treble")
    with DebateWorkbench(directory, script({"TSK-002/plan/round-1/planner": [Turn(second)]})) as bench:
        assert bench.begin(AFTER_EACH_OTHER) == "SHIPPED"
        assert bench.status(1) == "SHIPPED"
    return invocations(directory)


def of(graph: str, done: list[Invocation]) -> list[Invocation]:
    """The runs of a graph."""
    return [one for one in done if one.graph == graph]


def test_two_tasks_in_a_row_share_no_state(done: list[Invocation]):
    """Each run of a subgraph begins with what its wrapper gives it, and has its own checkpoints (D-S5-01)."""
    first, second = of("engineering", done)
    assert first.namespace != second.namespace
    assert [sorted(one.begins_with) for one in (first, second)] == [["schema_version", "task_id"]] * 2
    assert first.begins_with["task_id"] != second.begins_with["task_id"]
    debates = of("debate", done)
    assert len(debates) == len({one.namespace for one in debates}) == 6
    for debate in debates:
        assert not {"debate_id", "version_id", "round", "verdict", "decision"} & debate.begins_with.keys()
    kept = second.kept[-1].state
    assert not set(first.kept[-1].state["debates"].values()) & set(kept["debates"].values())


def test_every_node_of_every_graph_leaves_a_checkpoint_of_its_own(done: list[Invocation]):
    """Between two checkpoints exactly one node ran, in whichever graph (F-15-14, F-19-01); an exception is carried out from
    the log, without checkpoints (ADR 0101)."""
    assert {one.graph for one in done} == {"outer", "project_loop", "engineering", "debate"}
    for one in done:
        assert [len(nodes) for nodes in one.ran] == [1] * len(one.ran), one.graph
    debated = [node for (node,) in of("debate", done)[0].ran]
    assert debated == ["propose", "challenge", "route", "adjudicate", "ship"]
    engineered = [node for (node,) in of("engineering", done)[0].ran]
    assert engineered[:3] == ["micro_plan", "debate", "select_module"]
    assert engineered[-1] == "finish"


def test_what_the_checkpoints_hold_is_json(done: list[Invocation]):
    """Read back as it was written: no class of ours, no text of a debate (D-S5-02)."""
    states = [kept.state for one in done for kept in one.kept if kept.state]
    assert len(states) > 50
    for state in states:
        assert list(unlike_json(state)) == []
        assert state["schema_version"] == 1
        assert json.loads(json.dumps(state)) == state
    said = json.dumps(states)
    for prose in ("What was asked for is there", "is the number twice", "def double"):
        assert prose not in said


@pytest.mark.parametrize("many", [slow(150), nightly(1000, timeout=600)])
def test_a_checkpoint_is_no_larger_after_a_thousand_tasks_than_after_ten(tmp_path: Path, many: int):
    """All checkpoints together grow with the number of tasks, and a single one does not (D-S5-02)."""
    whole: dict[int, list[int]] = {}
    for count in (10, many):
        project = tmp_path / str(count)
        with ProjectWorkbench(project, wrap=in_memory) as bench:
            bench.approve(chain_spec(count))
            assert bench.run() == "COMPLETE"
        whole[count] = sizes(project)
    assert sum(whole[many]) < many / 10 * 1.1 * sum(whole[10])
    assert max(whole[many]) < 1.1 * max(whole[10])


class Interrupting(ScriptedRoles):
    """A Challenger who asks a person first, in the innermost graph."""

    def ask(self, assignment: Assignment[Any], check: Any) -> Answered[Any]:
        """Ask, then answer as the script says."""
        if assignment.place.subject == "double" and assignment.place.role is Role.CHALLENGER:
            self._trace.append(f"a person said {interrupt({'kind': 'question'})}")
        return super().ask(assignment, check)


def test_an_interrupt_in_the_innermost_graph_reaches_the_root_and_is_answered_there(directory: Path):
    """No wrapper swallows it; the debate goes on where it was, and its proposal is not made again (D-S5-04, F-15-14)."""
    with DebateWorkbench(
        directory, script(), roles=lambda bench: Interrupting(script().answer, bench.trace)
    ) as bench:
        assert bench.begin() == "IN_PROGRESS"
        assert bench.waiting() == {"kind": "question"}
        before = list(bench.trace)
        assert before[-1] == "double/preflight"
        assert bench.run(answer="yes") == "COMPLETE"
        assert bench.trace[len(before)] == "a person said yes"
        assert bench.trace.count("double/round-1/proposer") == 1
        assert bench.unapproved() == []


def test_a_halt_in_the_innermost_graph_reaches_the_one_above_and_goes_no_further(directory: Path):
    """The engineering graph takes it as a halt, finishes with it, and the project loop asks a person (D-S5-04)."""
    speechless = {"double/round-1/challenger": [Turn({"verdict": "MAYBE"})]}
    refused = {"double/round-1/proposer": [Turn("I cannot.")]}
    with DebateWorkbench(directory, script(refused | speechless)) as bench:
        assert bench.begin() == "HALTED"
        assert bench.waiting()["kind"] == "escalation"  # type: ignore[index]
        assert sorted(bench.sealed()) == ["halve"]
    (engineering,) = of("engineering", invocations(directory))
    ran = [node for (node,) in engineering.ran]
    assert ran.count("module_halted") == 1
    assert ran[ran.index("module_halted") - 1] == "debate"
    assert engineering.kept[-1].state["failed"].keys() == {"double"}
