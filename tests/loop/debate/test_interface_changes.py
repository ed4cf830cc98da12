"""An approved interface change, from the debate of its contract to the next attempt of the task that raised it (F§13.5
to F§13.7, D26)."""

import ast
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.findings import Finding
from ship_gate.verdict import ENTRY_FILE
from specwright.application.change import product_modules, settle_consumers
from specwright.application.interface_change import approved, decide, exceptions
from specwright.domain.artifacts import ArtifactStatus
from specwright.domain.escalation import Action
from specwright.domain.interface_change import DecisionRequest
from specwright.domain.modules.code_index import IndexStatus
from specwright.domain.modules.release import (
    check_release_set,
    code_index_check,
    dependency_check,
    deprecation_check,
    fingerprint_check,
    release_module,
)
from specwright.graphs.graphs import exception_graph, resolve_exceptions
from testkit.loop.exceptions import RAISE, STEP, Said, Story, asked
from testkit.loop.late_faults import falsifying
from testkit.loop.role_answers import Turn, failing, plan, planned, rejecting

USERS: tuple[list[int], ...] = ([], [0], [0])
"""The first task ships what the others use."""

LATE = "TSK-003.1/six/round-1/proposer"
"""Raises when the second task has shipped."""


def user_plans() -> dict[str, Any]:
    """Both other tasks use the first one's module."""
    return {
        "TSK-001": plan(planned("double")),
        "TSK-002": plan(planned("triple", "double")),
        "TSK-003": plan(planned("six", "double")),
    }


def raising(**changes: Any) -> Said:
    """A turn that raises an exception against `double`."""
    return lambda story, place, ordinal: Turn(None, calls=((RAISE, asked("double", **changes)),))


def halted(directory: Path, turns: dict[str, Said] | None = None, **changes: Any) -> Story:
    """The three tasks, with the third halted by its exception."""
    story = Story(directory, {LATE: raising(**changes), **(turns or {})}, plans=user_plans())
    story.bench.begin(USERS)
    assert story.bench.status(2) == "HALTED"
    return story


def approve(story: Story) -> None:
    """Approve the one exception, without carrying it out yet."""
    decide(
        story.bench.factory,
        DecisionRequest.model_validate(
            {"exception_id": story.record()["exception_id"], "decision": "APPROVE_CHANGE"}
        ),
    )


def resolved(story: Story) -> Story:
    """Approve the exception, carry it out, and run on."""
    approve(story)
    resolve_exceptions(story.bench.factory)
    story.bench.run()
    return story


def change_of(story: Story) -> str:
    """How the places of the change begin."""
    return f"TSK-001.{story.record()['exception_id']}-1"


def statuses(story: Story, name: str) -> dict[str, IndexStatus]:
    """The versions of a module in the Code Index."""
    return {entry.version: entry.status for entry in story.bench.index.entries() if entry.name == name}


def contract(story: Story, ref: str) -> MicroModuleContract:
    """The contract of a sealed version."""
    return story.bench.factory.modules.contract(ref)


def test_a_compatible_change_from_raise_to_re_dispatch(directory: Path):
    """F-13-16, F-7-04, F-7-05, F-7-08, D-26-05: a minor version; the old one stays as it was; the next attempt uses the
    new. A shipped consumer is judged again as a patch: same interface, same files, no model call and no exception of its
    own (F-15-12, F-8-06, F-8-14, F-17.1-04)."""
    story = halted(directory)
    old, consumer, asked_before = story.ref("double"), story.ref("triple"), len(story.heard.places)
    raised = story.bench.escalation
    assert raised.recommended_resolution is Action.REVISE_PLAN
    assert (
        f"`specwright exceptions approve {raised.details['exception_id']}`"
        in raised.minimal_decision_required
    )
    modules = story.bench.factory.modules
    before = modules.tree(old)
    resolved(story)
    new = story.ref("double")
    assert new == f"{old.partition('@')[0]}@1.1.0"
    assert contract(story, new).inputs[-1].to_json() == STEP
    assert statuses(story, "double") == {"1.0.0": IndexStatus.SUPERSEDED, "1.1.0": IndexStatus.SHIPPED}
    assert modules.tree(old) == before
    entry = story.bench.index.get(*old.split("@"))
    assert entry
    assert entry.superseded_by == new
    sealed = story.bench.factory.artifacts.sealed_as(old)
    assert sealed
    later = story.bench.factory.artifacts.sealed_as(new)
    assert later
    assert not {sealed.artifact_id, sealed.implemented} & {later.artifact_id, later.implemented}
    for name in (sealed.artifact_id, sealed.implemented):
        folder = story.bench.factory.artifacts.folder_of(name)
        made = story.bench.factory.artifacts.envelope(folder, name)
        assert (made.status, made.outputs[-1].ref) == (ArtifactStatus.DEPRECATED, new)
    for first, name in ((sealed.artifact_id, later.artifact_id), (sealed.implemented, later.implemented)):
        found = story.bench.factory.artifacts.folder_of(name)
        made = story.bench.factory.artifacts.envelope(found, name)
        line = {one.artifact_id: one.version for one in story.bench.factory.artifacts.lineage(made)}
        assert line[first] < line[name]
    assert [story.bench.status(n) for n in range(3)] == ["SHIPPED"] * 3
    assert [d.ref for d in contract(story, story.ref("six")).dependencies] == [new]
    assert "TSK-003.2/six/round-1/proposer" in story.heard.places

    patched = story.ref("triple")
    assert patched.endswith("@1.0.1")
    assert [d.ref for d in contract(story, patched).dependencies] == [new]
    assert contract(story, patched).interface_fingerprint == contract(story, consumer).interface_fingerprint
    was, now = modules.files(consumer), modules.files(patched)
    assert ast.unparse(_undocumented(now.pop(ENTRY_FILE))) == ast.unparse(_undocumented(was.pop(ENTRY_FILE)))
    assert now == was
    assert statuses(story, "triple") == {"1.0.0": IndexStatus.SUPERSEDED, "1.0.1": IndexStatus.SHIPPED}
    assert not [place for place in story.heard.places[asked_before:] if "/triple/" in place]
    assert gate_failures(story) == []
    assert [task.module_ref for task in story.bench.state.tasks.values()] == [
        story.ref(name) for name in ("double", "triple", "six")
    ]


def _undocumented(source: bytes) -> ast.Module:
    """A module without the docstring of its function, which the gate writes from the contract."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            del node.body[0]
    return tree


def test_the_change_is_debated_and_made_like_any_module(directory: Path):
    """F-13-13, F-13-15, F-13-17, D-26-04: contract debate, then implementation debate and gate, then the index."""
    story = halted(directory)
    seen: list[tuple[str, int]] = []
    approve(story)
    known = approved(story.bench.factory)
    assert known
    graph = exception_graph(story.bench.factory, known)
    nodes = ("validate_ice", "assess_impact", "propose_change", "debate_round", "check_resolved", "finalize")
    assert set(nodes) <= set(graph.get_graph().nodes)
    add = story.bench.index.add

    def adding(entry: Any) -> None:
        seen.append((entry.ref, len(story.heard.places)))
        add(entry)

    story.bench.index.add = adding
    begun = len(story.heard.places)
    resolve_exceptions(story.bench.factory)
    label = change_of(story)
    made = story.heard.places[begun:]
    assert made == [
        f"{label}/contracts/round-1/challenger",
        f"{label}/contracts/round-1/arbiter",
        f"{label}/double/round-1/proposer",
        f"{label}/double/round-1/challenger",
        f"{label}/double/round-1/arbiter",
    ]
    assert {asked for ref, asked in seen if ref.endswith("@1.1.0")} == {len(story.heard.places)}
    said = next(text for place, _, text in story.heard.requests if place == made[0])
    parts = (
        "A step other than one cannot be asked for.",
        "Evidence: Criterion 2 asks for every third number.",
        f"Code computed {story.ref('double').partition('@')[0]}@1.1.0 and this difference: ",
        "added inputs.step",
        "/inputs/1 step: int",
        story.ref("triple").partition("@")[0],
    )
    assert [part for part in parts if part not in said] == []


def test_nobody_is_asked_before_a_person_says_so(directory: Path):
    """F-13-12: a run that goes on while the exception waits asks nobody."""
    story = halted(directory)
    asked_before = list(story.heard.places)
    resolve_exceptions(story.bench.factory)
    story.bench.run()
    assert story.heard.places == asked_before


def saying(answer: dict[str, Any]) -> Said:
    """The same turn whenever it is asked."""
    return lambda story, place, ordinal: Turn(answer)


UNTESTABLE = failing("The statement /inputs/1/constraints/0 is not testable.")


def test_three_rounds_without_agreement_go_back_to_the_person(directory: Path):
    """F-13-14, F-13-18: the task stays halted, the transcript lies beside the escalation, and it can be decided again."""
    refused: dict[str, Said] = {}
    story = halted(directory, refused)
    label = change_of(story)
    story.turns.update({f"{label}/contracts/round-{n}/challenger": saying(UNTESTABLE) for n in (1, 2, 3)})
    story.turns[f"{label}/contracts/round-3/arbiter"] = saying(rejecting())
    story.turns.update({f"{label}/plan/round-{n}/planner": saying(plan(stepped())) for n in (2, 3)})
    old = story.ref("double")
    resolved(story)
    counted = Counter(place for place in story.heard.places if place.startswith(f"{label}/contracts"))
    assert counted == {
        **{f"{label}/contracts/round-{n}/challenger": 1 for n in (1, 2, 3)},
        f"{label}/contracts/round-3/arbiter": 1,
    }
    (known,) = exceptions(story.bench.factory)
    assert known.status == "NOT_AGREED"
    assert story.bench.status(2) == "HALTED"
    assert story.ref("double") == old
    (path,) = (story.bench.base / "escalations").glob("*.transcript-1.json")
    assert len(story.bench.read(path)["challenges"]) == 3
    assert "no revision is left" in known.outcomes[-1].reason


def stepped() -> dict[str, Any]:
    """The module with the input that was asked for."""
    module = planned("double")
    return {**module, "inputs": [*module["inputs"], STEP]}


def test_a_breaking_change_without_other_users_is_the_next_major_version(directory: Path):
    """F-7-05, F-13-16: the task that raised it is its only user."""
    required = {**STEP, "constraints": ["is not zero"]}
    first = "TSK-002.1/triple/round-1/proposer"
    turns = {first: raising(proposed_delta={"added_inputs": [required]}, compatibility="UNKNOWN")}
    story = Story(directory, turns, plans=user_plans())
    story.bench.begin(([], [0], [1]))
    resolved(story)
    assert story.ref("double").endswith("@2.0.0")
    assert [d.ref for d in contract(story, story.ref("triple")).dependencies] == [story.ref("double")]


REQUIRED = {
    "proposed_delta": {"added_inputs": [{**STEP, "constraints": ["is not zero"]}]},
    "compatibility": "BREAKING",
}
"""Every caller has to be changed."""


class Refusing:
    """The gate of a story, which one version does not pass.

    Args:
        gate: The story's.
        ref: How the reference ends.
    """

    def __init__(self, gate: Any, ref: str) -> None:
        self._gate, self.ref = gate, ref

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gate, name)

    def judge(self, candidate: Any, thorough: bool = True) -> Any:
        """The gate's verdict, turned round for that version."""
        verdict = self._gate.judge(candidate, thorough=thorough)
        if not candidate.contract.ref.endswith(self.ref):
            return verdict
        finding = Finding("fuzz.raises", "implementation/__init__.py", "it lets OverflowError through")
        return verdict._replace(passed=False, findings=(finding,))


def breaking(directory: Path, waits_for: Any = USERS) -> Story:
    """The third task has found that every caller must give one input more; the second one calls the module already, and its
    files do not pass the gate with that."""
    story = Story(directory, {LATE: raising(**REQUIRED)}, plans=user_plans())
    story.plans["TSK-004"] = plan(planned("triple", "double"))
    story.bench.begin(waits_for)
    story.bench.factory = replace(story.bench.factory, gate=Refusing(story.bench.factory.gate, "@1.0.1"))
    return story


def test_a_breaking_change_costs_no_debate_of_those_whom_it_does_not_break(directory: Path):
    """D-26-05: the gate says who breaks, not the version's number; what passes it is sealed as a patch, and no task is
    added."""
    story = breaking(directory)
    cast(Refusing, story.bench.factory.gate).ref = "none"
    begun = len(story.heard.places)
    resolved(story)
    assert {place.partition(".")[0] for place in story.heard.places[begun:]} == {"TSK-001", "TSK-003"}
    assert story.ref("double").endswith("@2.0.0")
    assert statuses(story, "triple") == {"1.0.0": IndexStatus.SUPERSEDED, "1.0.1": IndexStatus.SHIPPED}
    assert contract(story, story.ref("triple")).dependencies[0].ref == story.ref("double")
    assert gate_failures(story) == []


def gate_failures(story: Story) -> list[tuple[str, str]]:
    """What the gates of a release say of what the tasks have now: the gate, and the modules."""
    factory = story.bench.factory
    index = {entry.ref: entry for entry in factory.index.entries()}
    modules = [
        release_module(factory.modules.contract(ref), factory.modules.evidence(ref), index)
        for ref in product_modules(factory)
    ]
    check_release_set(modules)
    gates = (dependency_check, fingerprint_check, deprecation_check, code_index_check)
    return [(str(failure.code), failure.where) for gate in gates for failure in gate(modules)]


def test_a_breaking_change_migrates_those_who_use_the_module(directory: Path):
    """F-13-16, F-7-05, D-26-06: the old consumer stays as it was until then, the gates of the release name it, and after it
    has moved they pass. Its migration is a task of its own, whose parent is the shipped one: the next number, with the old
    plan to begin from; what changed is in its description (F-15-12)."""
    story = breaking(directory)
    bench = story.bench
    old, consumer = story.ref("double"), story.ref("triple")
    before = bench.factory.modules.tree(consumer)
    approve(story)
    resolve_exceptions(bench.factory)
    new = story.ref("double")
    assert new.endswith("@2.0.0")
    assert statuses(story, "double") == {"1.0.0": IndexStatus.SUPERSEDED, "2.0.0": IndexStatus.SHIPPED}
    assert contract(story, consumer).dependencies[0].ref == old
    assert ("dependency_check", f"{consumer}, {old}, {new}") in gate_failures(story)
    assert ("deprecation_check", f"{consumer}, {old}") in gate_failures(story)
    settle_consumers(bench.factory)
    (created,) = [w for w in bench.wires() if w["stream"]["stream_id"] == "task:TSK-004:attempt:1"][:1]
    assert (created["type"], created["stream"]["parent_task_id"]) == ("task.created", "TSK-002")
    whole, migration = (bench.projection.definitions[t] for t in [*bench.state.tasks][1::2])
    assert migration.name == f"Migrate: {whole.name}"
    assert f"double, {old} is {new} now" in migration.description
    assert (bench.directory / "project" / migration.path).is_file()
    cast(Refusing, bench.factory.gate).ref = "none"
    bench.run()
    assert [bench.status(n) for n in range(4)] == ["SHIPPED"] * 4
    assert [entry.module_ref for entry in bench.state.tasks.values()] == [
        story.ref(name) for name in ("double", "triple", "six", "triple")
    ]
    assert {contract(story, story.ref(name)).dependencies[0].ref for name in ("triple", "six")} == {new}
    assert statuses(story, "triple") == {"1.0.0": IndexStatus.SUPERSEDED, "1.0.1": IndexStatus.SHIPPED}
    assert bench.factory.modules.tree(consumer) == before
    assert gate_failures(story) == []


def test_what_is_built_on_a_consumer_waits_for_its_migration(directory: Path):
    """D-26-06: the halted task depends on the migrated one, and runs again after it."""
    story = breaking(directory, ([], [0], [0, 1]))
    begun = len(story.heard.places)
    approve(story)
    resolve_exceptions(story.bench.factory)
    settle_consumers(story.bench.factory)
    cast(Refusing, story.bench.factory.gate).ref = "none"
    story.bench.run()
    tasks = [place.partition(".")[0] for place in story.heard.places[begun:]]
    assert list(dict.fromkeys(tasks)) == ["TSK-001", "TSK-004", "TSK-003"]
    assert gate_failures(story) == []


def test_a_consumer_that_does_not_pass_the_gate_with_it_is_migrated(directory: Path):
    """D-26-05: compatible by its contract, and one that uses it breaks all the same."""
    story = halted(directory)
    story.plans["TSK-004"] = plan(planned("triple", "double"))
    bench = story.bench
    refusing = Refusing(bench.factory.gate, "@1.0.1")
    bench.factory = replace(bench.factory, gate=refusing)
    approve(story)
    resolve_exceptions(bench.factory)
    settle_consumers(bench.factory)
    assert bench.status(3) == "PENDING"
    refusing.ref = "none"
    bench.run()
    assert [bench.status(n) for n in range(4)] == ["SHIPPED"] * 4
    assert contract(story, story.ref("triple")).dependencies[0].ref == story.ref("double")
    assert gate_failures(story) == []


WITHSTOOD = ("test_three_is_nine", "", "def test_three_is_nine():\n    assert triple(3) == 9\n")


@pytest.mark.parametrize("withstands", [True, False])
def test_the_falsifying_tests_of_a_consumer_are_run_again(directory: Path, withstands: bool):
    """D-26-05: those that its version passed in its debate are at its re-gate, too; one that fails now is a reason to
    migrate."""
    challenged = {"TSK-002.1/triple/round-1/challenger": saying(falsifying(WITHSTOOD))}
    story = halted(directory, challenged)
    story.plans["TSK-004"] = plan(planned("triple", "double"))
    bench = story.bench
    falsify, tried = bench.factory.gate.falsify, list[str]()

    def falsified(candidate: Any, tests: Any) -> Any:
        tried.extend(f"{candidate.contract.ref} {test.name}" for test in tests)
        return tuple(trial._replace(passed=withstands) for trial in falsify(candidate, tests))

    bench.factory.gate.falsify = falsified
    approve(story)
    resolve_exceptions(bench.factory)
    settle_consumers(bench.factory)
    identity = story.ref("triple").partition("@")[0]
    assert tried == [f"{identity}@1.0.1 test_three_is_nine"]
    assert len(bench.state.tasks) == (3 if withstands else 4)
    assert story.ref("triple") == f"{identity}@{'1.0.1' if withstands else '1.0.0'}"
