"""Micro planning: the six checks of F§10.1, its three attempts, and what is locked afterwards (F§10, D3, D4, D10, D23)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from agent_wire import canonical_json
from ship_gate.base.record import validation_messages
from ship_gate.contract.rules import normalise, problems
from specwright.domain.answers import PlanAnswer
from specwright.domain.plan import KnownModules, MicroPlan, assign, execution_order, plan_problems
from specwright.errors import CorruptionError, RefusedError
from specwright.ports import Place, Role
from specwright.roles.team import prompt
from testkit.index_entries import entry, retirement
from testkit.loop.debate_workbench import TWO, DebateWorkbench, modelled, script
from testkit.loop.role_answers import Turn, amending, failing, plan, planned
from testkit.sampling import spread

PLANNER = "plan/round-1/planner"


def changed(path: str, value: Any, base: dict[str, Any] = TWO) -> dict[str, Any]:
    """A plan with one field replaced, or left out if the value is ...; the path is that of the error."""
    copy: Any = json.loads(json.dumps(base))
    *way, last = path.split(".")
    place = copy
    for step in way:
        place = place[int(step)] if step.isdigit() else place[step]
    if value is ...:
        del place[last]
    else:
        place[int(last) if last.isdigit() else last] = value
    return copy


def reuse(ref: str) -> dict[str, Any]:
    return {
        "query": "double",
        "conclusion": "REUSE_EXISTING",
        "justification": "It does exactly this.",
        "reuse_ref": ref,
    }


def on(*names: str) -> list[dict[str, str]]:
    return [{"module": name, "why": "It begins with it."} for name in names]


BAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "1_a_field_is_missing": (changed("modules.0.purpose", ...), ["modules.0.purpose", "required"]),
    "1_no_reuse_report": (changed("modules.0.reuse", ...), ["modules.0.reuse", "required"]),
    "1_a_wrong_type": (changed("modules.1.inputs", "a number"), ["modules.1.inputs", "a number"]),
    "1_no_identifier": (changed("modules.0.name", "Double It"), ["modules.0.name", "Double It"]),
    "1_no_module_at_all": (plan(), ["modules", "at least 1"]),
    "1_more_than_twenty_modules": (plan(*(planned(f"double_{n}") for n in range(21))), ["modules", "20"]),
    "2_no_input": (changed("modules.0.inputs", []), ["modules.0.inputs", "at least 1"]),
    "2_no_output": (changed("modules.0.outputs", []), ["modules.0.outputs"]),
    "2_no_error_surface": (changed("modules.0.error_surfaces", []), ["modules.0.error_surfaces"]),
    "2_no_effect": (changed("modules.0.effects", []), ["modules.0.effects"]),
    "2_an_empty_dimension_without_a_reason": (
        changed("modules.0.effects", "none"),
        ["modules.0.effects", "none"],
    ),
    "2_a_placeholder": (
        changed("modules.0.purpose", "TODO: say what it does"),
        ["modules.0.purpose", "TODO"],
    ),
    "2_no_mode": (
        changed("modules.0.modes", {"sync": False, "async": False}),
        ["modules.0.modes", "sync, async or both"],
    ),
    "3_an_unknown_module": (
        changed("modules.0.depends_on", on("treble")),
        ["modules.0.depends_on.0.module: 'treble' is neither a module of this plan nor a shipped one"],
    ),
    "3_a_reference_that_is_nowhere": (
        changed("modules.0.depends_on", on("MM-00000001@1.0.0")),
        ["modules.0.depends_on.0.module: 'MM-00000001@1.0.0' is neither"],
    ),
    "3_a_reuse_that_is_nowhere": (
        changed("modules.0.reuse", reuse("MM-00000001@1.0.0")),
        ["modules.0.reuse.reuse_ref: 'MM-00000001@1.0.0' is not in the Code Index"],
    ),
    "3_a_task_facing_module_that_is_nowhere": (
        changed("task_facing", "treble"),
        ["task_facing: 'treble' is no module of this plan"],
    ),
    "4_one_name_twice": (
        plan(planned("double"), planned("double")),
        ["modules.1.name: 'double' occurs twice in the plan"],
    ),
    "4_the_name_of_the_debate_over_contracts": (
        plan(planned("contracts"), planned("halve"), task_facing="halve"),
        ["modules.0.name: 'contracts' is what the debate over a plan's contracts is called; choose another"],
    ),
    "5_a_cycle": (
        plan(planned("one", "three"), planned("two", "one"), planned("three", "two")),
        ["modules: the dependencies form a cycle: ", "one", "two", "three"],
    ),
    "5_itself": (plan(planned("one", "one")), ["modules: the dependencies form a cycle: one -> one"]),
    "3_a_check_of_a_statement_that_is_nowhere": (
        changed("acceptance_checks", ["1: double /outputs/7"]),
        ["acceptance_checks.0: the contract has no /outputs/7"],
    ),
    "6_a_purpose_that_is_docstring_or_pass": (
        changed("modules.0.purpose", "Doubles."),
        ["modules.0.purpose", "Doubles."],
    ),
    "6_a_type_that_no_caller_can_give": (
        changed("modules.0.inputs.0.type", "Callable"),
        ["modules.double: ", "Callable"],
    ),
    "6_an_effect_on_a_host_without_a_timeout": (
        changed(
            "modules.0.effects",
            [{"type": "CALL", "target": "https://example.org", "description": "Asks a server."}],
        ),
        ["modules.double: ", "effects.0.description", "how long the module waits"],
    ),
}


@pytest.mark.parametrize(
    ("bad", "told"), spread([pytest.param(*case, id=name) for name, case in BAD.items()], fast=8, slow=4)
)
def test_a_plan_that_fails_a_check_is_re_asked_with_the_exact_error(
    directory: Path, bad: dict[str, Any], told: list[str]
):
    """F-10-04, F-10-05, F-10-06, F-10-08, F-10-12, D-04-01, D-21-01, F-14.3-07: field path, description and failing
    value, then a second try; a plan with a module that has no reuse report is refused like any other."""
    with DebateWorkbench(directory, script({PLANNER: [bad, TWO]})) as bench:
        assert bench.begin() == "SHIPPED"
        assert bench.trace.count(PLANNER) == 2
        refusal = bench.roles.refusals[0]
        assert all(words in refusal for words in told), refusal


def test_a_re_asked_planner_has_the_task_and_its_failed_plan_before_it(directory: Path):
    """F-10-08: the same conversation goes on: task file, the plan as it was handed in, and the exact error."""
    bad = plan(planned("double", "treble"))
    heard: list[list[Any]] = []
    played = modelled(script({PLANNER: [bad, TWO]}), lambda place, messages, _: heard.append(messages))
    with DebateWorkbench(directory, script(), roles=played) as bench:
        assert bench.begin() == "SHIPPED"
    (second,) = (messages for messages in heard[:2] if len(messages) > 2)
    assert "Raises ValueError for an empty file" in str(second[1].content)
    assert second[2].tool_calls[0]["args"] == bad
    assert "modules.0.depends_on.0.module: 'treble' is neither" in str(second[3].content)


def test_three_attempts_and_the_task_halts_with_all_that_went_wrong(directory: Path):
    """F-10-08, F-10-09, F-10-10, D-11-04, F-17.1-05: nobody else is asked; task, its file, last raw plan and every error
    are kept."""
    bad = plan(*(planned(f"double_{n}", f"missing_{n}") for n in range(8)))
    with DebateWorkbench(
        directory, script({PLANNER: ["no plan at all", TWO | {"claim": "short"}, bad]})
    ) as bench:
        assert bench.begin() == "HALTED"
        assert bench.trace == [PLANNER] * 3
        found = bench.escalation
        task = next(iter(bench.state.tasks))
        assert (found.task_id, found.task_ref) == (task, found.details["task_file"])
        assert (directory / found.task_ref).is_file()
        assert found.details["cause"] == "planning"
        assert json.loads(found.details["raw_answers"][-1]) == bad
        assert found.details["raw_answers"][0] == "no plan at all"
        wanted = [
            f"modules.{n}.depends_on.0.module: 'missing_{n}' is neither a module of this plan"
            for n in range(8)
        ]
        assert [error.startswith(w) for error, w in zip(found.details["errors"], wanted, strict=True)] == [
            True
        ] * 8
        assert found.recommended_resolution == "REVISE_PLAN"
        assert found.resolution_context == "revise task decomposition, or simplify task scope"
        assert bench.sealed() == {}
        assert bench.records() == {}
        assert bench.envelopes("MP") == []


def test_planning_comes_once_and_before_any_module(directory: Path):
    """F-10-01, F-10-02, F-10-11, D-10-01: one plan, one debate over all contracts, then one debate per module, roots
    first; each begins at 1.0.0 (F-7-03)."""
    three = plan(
        planned("last", "first", "middle"), planned("middle", "first"), planned("first"), planned("apart")
    )
    with DebateWorkbench(directory, script(planning=three)) as bench:
        assert bench.begin() == "SHIPPED"
        asked = [call for call in bench.trace if not call.endswith(("preflight", "gate"))]
        debated = ["contracts", "first", "apart", "middle", "last"]
        assert asked == [
            PLANNER,
            *(f"contracts/round-1/{role}" for role in ("challenger", "arbiter")),
            *(
                f"{name}/round-1/{role}"
                for name in debated[1:]
                for role in ("proposer", "challenger", "arbiter")
            ),
        ]
        assert sorted(bench.records()) == sorted(debated)
        (made,) = bench.envelopes("MP")
        stored = MicroPlan.from_bytes(bench.body(made.artifact_id)["plan.json"], "plan")
        assert [m.name for m in stored.modules] == ["last", "middle", "first", "apart"]
        assert {path.name for path in bench.sealed().values()} == {"1.0.0"}
        assert all(
            m.io_contract.effects == ["none: pure"] and m.reuse_decision == "CREATE_NEW"
            for m in stored.modules
        )
        by_name = {m.name: m for m in stored.modules}
        assert by_name["middle"].depends_on == [by_name["first"].module_id + "@1.0.0"]


SCHEMAS = [
    "Proposal",
    "Challenge",
    "Adjudication",
    "MicroModuleContract",
    "MicroPlan",
    "ShipEvidence",
    "ReuseSearchReport",
]


def test_the_proposer_is_given_seven_schemas(directory: Path):
    """F-3.4-01: by name, as files of its pack, each that of its record."""
    with DebateWorkbench(directory, script()) as bench:
        bench.begin()
        asked = bench.roles.asked_at("double/round-1/proposer")
        given = {path: data for path, data in asked.pack.items() if path.startswith("schemas/")}
        assert given.keys() == {f"schemas/{name}.json" for name in SCHEMAS}
        for name in SCHEMAS:
            assert canonical_json.loads(given[f"schemas/{name}.json"])["title"] == name
        packs = [bench.read(path) for path in bench.base.glob("context_packs/*.json")]
        (pack,) = (one for one in packs if one["created_for"]["run_id"] == asked.place.run_id)
        refs = {row["ref"] for row in pack["included_refs"] if row["ref"].startswith("SCHEMA-")}
        assert refs == {f"SCHEMA-{name}@1.0.0" for name in SCHEMAS}


def test_a_planner_is_shown_what_the_search_before_its_plan_found(directory: Path):
    """F-3.4-02, F-10-03: reference, name and purpose of shipped modules, whether it searches itself or not."""
    assert "search_code_index" in prompt("planner")
    assert "single input to output behaviour in one sentence" in prompt("planner")
    with DebateWorkbench(directory, script()) as bench:
        bench.index.add(entry(7, "Double a number of anything."))
        assert bench.begin() == "SHIPPED"
        message = bench.roles.asked_at("plan/round-1/planner").message
        nearest = message.partition("# Shipped modules nearest to the task\n\n")[2].partition("\n\n")[0]
        assert re.fullmatch(r"MM-00000007@1\.0\.0 `module_7` \(similarity .*\): Double a number .*", nearest)


def test_a_module_that_depends_on_others_is_told_their_contracts(directory: Path):
    """F-10-11, F-9.7-02: it waits for them, and by then they are sealed."""
    with DebateWorkbench(
        directory, script(planning=plan(planned("second", "first"), planned("first")))
    ) as bench:
        bench.begin()
        given = next(a for a in bench.roles.asked if a.place.run_id.endswith("second/round-1/proposer"))
        assert {"dependencies/first/contract.json", "dependencies/first/ship.json"} <= given.pack.keys()
        assert not any("first" in path and "implementation" in path for path in given.pack)


@pytest.mark.parametrize(("named", "facing"), [("one", "one"), (None, "two")])
def test_a_plan_may_have_several_sinks_and_one_of_them_faces_the_task(
    directory: Path, named: str | None, facing: str
):
    """F-10-07: the module that the plan names, else the last sink; all are listed."""
    sinks = plan(planned("root"), planned("one", "root"), planned("two", "root"), task_facing=named)
    with DebateWorkbench(directory, script(planning=sinks)) as bench:
        assert bench.begin() == "SHIPPED"
        entry = next(iter(bench.state.tasks.values()))
        refs = {name: f"{path.parent.name}@{path.name}" for name, path in bench.sealed().items()}
        assert entry.module_ref == refs[facing]
        assert sorted(entry.module_refs) == sorted(refs.values())


def test_a_stored_plan_is_never_rewritten(directory: Path):
    """F-10-13, D-10-04, D-11-02, D-29-05: a revision is another artifact; once locked, plan and contracts refuse every
    write."""
    said = {"contracts/round-1/challenger": [failing("The contract of double leaves zero open.")]}
    with DebateWorkbench(directory, script(said)) as bench:
        assert bench.begin() == "SHIPPED"
        plans = bench.envelopes("MP")
        assert len(plans) == 2
        statuses = {envelope.artifact_id: envelope.status.value for envelope in plans}
        first = bench.record("contracts", 1, "proposal")["target_artifact_id"]
        second = bench.record("contracts", 2, "proposal")["target_artifact_id"]
        assert statuses == {first: "CHALLENGED", second: "SHIPPED"}
        locked = [e for e in bench.envelopes("CTR") if e.status == "SHIPPED"]
        assert {bench.contract(e.artifact_id).name for e in locked} == {"double", "halve"}
        for name in (second, *(e.artifact_id for e in locked)):
            for path in bench.base.glob(f"artifacts/*/{name}/*/body/*"):
                with pytest.raises(RefusedError):
                    bench.store.publish(path.relative_to(bench.base).as_posix(), b"{}")
        (lock,) = [told for told in bench.reviews() if told["subject"] == "plan.locked"]
        assert lock["reference"] == second
        held = canonical_json.loads(bench.store.definition(lock["definition_sha256"]))
        assert held["plan"]["micro_plan_id"] == second


FIRST, SECOND = f"TSK-001/{PLANNER}", f"TSK-002/{PLANNER}"
TRIPLE = plan(planned("triple"))
IN_TURN: Any = ([], [0])


def ref_of(bench: DebateWorkbench, name: str) -> str:
    path = bench.sealed()[name]
    return f"{path.parent.name}@{path.name}"


class Builds:
    """A second planner that names, by its reference, what the first task shipped."""

    def __init__(self, bench: DebateWorkbench, make: Any) -> None:
        self._bench, self._make = bench, make

    def answer(self, place: Place, ordinal: int) -> Turn:
        """As every other script, but for the plan of the second task."""
        sound = script({FIRST: [TRIPLE]}).answer(place, ordinal)
        if place.role is Role.PLANNER and place.task == "TSK-002":
            return Turn(self._make(ref_of(self._bench, "triple")))
        return sound


@pytest.mark.parametrize("by", ["name", "reference"])
def test_a_plan_may_build_on_what_was_shipped_before(directory: Path, by: str):
    """F-10-12, D-04-01: by its name or its reference; the plan holds the reference."""
    with DebateWorkbench(directory, script()) as bench:
        named: Any = {"name": lambda ref: "triple", "reference": lambda ref: ref}[by]  # pyright: ignore
        bench.follow(Builds(bench, lambda ref: plan(planned("double", named(ref)))))  # pyright: ignore
        assert bench.begin(IN_TURN) == "SHIPPED"
        plans = [
            MicroPlan.from_bytes(bench.body(e.artifact_id)["plan.json"], "") for e in bench.envelopes("MP")
        ]
        (second,) = (made for made in plans if made.task_facing == "double")
        assert second.modules[0].depends_on == [ref_of(bench, "triple")]
        assert bench.status(1) == "SHIPPED"


def test_a_plan_that_is_all_reuse_asks_nobody_else(directory: Path):
    """F-14.3-09: the reused module is announced; nothing is debated, built or sealed. It is verified again: an altered one
    is not used. Its name is not used for another (F-10-06, D-21-01)."""
    with DebateWorkbench(directory / "reused", script()) as bench:
        bench.follow(Builds(bench, lambda ref: plan(planned("triple", reuse=reuse(ref)))))  # pyright: ignore
        bench.begin(IN_TURN)
        assert bench.status(1) == "SHIPPED"
        assert bench.trace[-1] == PLANNER
        entries = list(bench.state.tasks.values())
        assert entries[1].module_refs == entries[0].module_refs == [ref_of(bench, "triple")]
    with DebateWorkbench(directory / "altered", script()) as bench:

        def altered(ref: str) -> dict[str, Any]:
            with (bench.sealed()["triple"] / "examples.md").open("a") as file:
                file.write("\n")
            return plan(planned("triple", reuse=reuse(ref)))

        bench.follow(Builds(bench, altered))
        with pytest.raises(CorruptionError, match="altered"):
            bench.begin(IN_TURN)
    answers = {FIRST: [TRIPLE], SECOND: [TRIPLE, plan(planned("halve"))]}
    with DebateWorkbench(directory / "taken", script(answers)) as bench:
        bench.begin(IN_TURN)
        assert bench.status(1) == "SHIPPED"
        assert "modules.0.name: 'triple' is the name of a shipped module" in bench.roles.refusals[0]


def test_what_is_no_longer_shipped_cannot_be_built_on(directory: Path):
    """F-10-12, F-15-13: a deprecated module is no module to plan with; as long as a task has it, a release imports it by its
    name, so that no other module gets that."""
    answers = {
        FIRST: [plan(planned("triple"), planned("halve"))],
        SECOND: [plan(planned("double", "triple")), TRIPLE, plan(planned("double"))],
    }
    with DebateWorkbench(directory, script()) as bench:

        class Retires:
            """A script during which `triple` is retired, once `halve` is made."""

            def answer(self, place: Place, ordinal: int) -> Turn:
                if place.subject == "halve" and place.role is Role.PROPOSER:
                    module, _, version = ref_of(bench, "triple").partition("@")
                    bench.index.retire(retirement(f"{module}@{version}"))
                return script(answers).answer(place, ordinal)

        bench.follow(Retires())
        bench.begin(IN_TURN)
        assert bench.status(1) == "SHIPPED"
        first, second = bench.roles.refusals
        assert "'triple' is neither a module of this plan nor a shipped one" in first
        assert "which is DEPRECATED and still part of the product; choose another name" in second


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the values of a document lie, those in between included."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # pyright: ignore
    return [path] * bool(path) + [leaf for step, inner in below for leaf in leaves(inner, (*path, step))]  # pyright: ignore


HOSTILE = st.sampled_from(
    [
        "",
        " ",
        "TODO",
        "TBD: later",
        "none",
        "none: pure",
        "é",
        "a" * 200,
        "class",
        "double",
        "x\ny",
        "MM-1@1.0.0",
    ]
)
HOSTILE_VALUES: Any = (  # pyright: ignore
    HOSTILE | st.just([]) | st.just({}) | st.none() | st.integers(-1, 1) | st.lists(HOSTILE, max_size=2)  # pyright: ignore
)
KNOWN = KnownModules({"triple": "MM-00000001@1.0.0"}, frozenset({"MM-00000001@1.0.0"}))


@example([(("modules", 0, "inputs", 0, "name"), "TODO")])
@example([(("modules", 0, "effects"), [])])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(leaves(plan(planned("double"), planned("halve", "double")))), HOSTILE_VALUES
        ),
        min_size=1,
        max_size=3,
    )
)
def test_whatever_a_planner_says_is_refused_in_words_or_becomes_a_plan(changes: list[tuple[Any, Any]]):
    """F-10-04, F-10-05, F-10-06: no answer gets past the checks and then breaks the factory."""
    raw: Any = plan(planned("double"), planned("halve", "double"))
    for path, value in changes:
        raw = replaced(raw, path, value)
    answer = understood(raw)
    if answer is None or plan_problems(answer, KNOWN):
        return
    ids = iter(f"MM-{n:08x}" for n in range(9))
    made, contracts = assign(answer, "MP-00000000", "T-x@1.0.0", KNOWN, lambda: next(ids))
    assert sorted(execution_order(made)) == sorted(m.name for m in answer.modules)
    for contract in contracts.values():
        problems(normalise(contract))


def understood(raw: Any) -> PlanAnswer | None:
    """A plan that fits its schema; one that does not is told of in words."""
    try:
        return PlanAnswer.model_validate(raw)
    except ValidationError as error:
        return None if validation_messages(error) else pytest.fail("refused without a word")


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with another value somewhere; as it was if that place is gone."""
    if not path:
        return new
    step, *rest = path
    if isinstance(value, dict) and step in value:
        return {**value, step: replaced(value[step], tuple(rest), new)}  # pyright: ignore
    if isinstance(value, list) and isinstance(step, int) and step < len(value):  # pyright: ignore
        return [*value[:step], replaced(value[step], tuple(rest), new), *value[step + 1 :]]
    return value  # pyright: ignore


def test_a_text_that_a_ruling_amends_is_written_by_code(directory: Path):
    """F-9.6-02, F-9.6-04: the planner is not asked; who asked, what changed and who made it are on record."""
    purpose = "Double a number that is not negative, and no other."
    ruled = amending(("MODIFY", "contract:double#/purpose", purpose))
    one = plan(planned("double"))
    with DebateWorkbench(directory, script({"contracts/round-1/arbiter": [ruled]}, one)) as bench:
        assert bench.begin() == "SHIPPED"
        assert [call for call in bench.trace if call.startswith("plan/")] == [PLANNER]
        applied = bench.record("contracts", 1, "amendments")
        assert [one["applied"] for one in applied["answer"]["applied"]] == [True]
        made = bench.envelope(applied["after"])
        assert (made.created_by.role, bench.envelope(applied["before"]).created_by.role) == (
            "factory",
            "planner",
        )
        assert bench.read(bench.sealed()["double"] / "contract.json")["purpose"] == purpose


def corrected(directory: Path, *changes: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """A challenged plan after a planner's changes: how the first ones were refused, and the input that was sealed."""
    answers: dict[str, list[Any]] = {
        "contracts/round-1/challenger": [failing()],
        "plan/round-2/planner": [Turn(None, calls=(("submit_plan", {"changes": made}),)) for made in changes],
    }
    heard: list[str] = []
    said = script(answers, plan(planned("double")))
    played = modelled(said, lambda place, messages, _: heard.append(str(messages[-1].content)))
    with DebateWorkbench(directory, script(), roles=played) as bench:
        assert bench.begin() == "SHIPPED"
        sealed = bench.read(bench.sealed()["double"] / "contract.json")
    (refusal,) = (text for text in heard if "Not accepted" in text)
    return refusal, sealed


def test_a_challenged_plan_is_corrected_by_what_changes_in_it(directory: Path):
    """F-9.6-02, F-10-08: a JSON Patch of the plan; one that cannot be applied is refused with the reason, and changes
    nothing. After another refusal the answer says that the change was made, and the next patch goes on from there."""
    purpose = "Double a number that is not negative, and no other."
    right, nowhere = (
        {"op": "replace", "path": f"/modules/{number}/purpose", "value": purpose} for number in (0, 7)
    )
    refusal, sealed = corrected(directory / "one", [right, nowhere], [right])
    assert "changes: not applied, none of them" in refusal
    assert sealed["purpose"] == purpose
    assert sealed["inputs"][0]["constraints"] == ["is not negative"]
    limits = [f"out of scope: numbers of {n} digits" for n in range(11, 18)]
    place = "/modules/0/inputs/0/constraints"
    adds = [{"op": "add", "path": f"{place}/-", "value": text} for text in limits]
    refusal, sealed = corrected(directory / "other", adds, [{"op": "remove", "path": f"{place}/7"}])
    assert "say it in 6 at most" in refusal
    assert "changes: they were made; the next ones change what came of them" in refusal
    assert sealed["inputs"][0]["constraints"] == ["is not negative", *limits[:6]]


def in_two_tasks(
    directory: Path, waits_for: Any, *second: dict[str, Any], scripted: bool = False
) -> DebateWorkbench:
    """Two tasks, of which the first ships `scan`; the plans of the second, from a model or from a script."""
    answers = {"TSK-001/plan/round-1/planner": [plan(planned("scan"))], PLANNER: [*second]}
    bench = DebateWorkbench(directory, script(answers))
    bench.roles.scripted = scripted
    bench.begin(waits_for)
    return bench


def considered(name: str) -> dict[str, Any]:
    """A reuse report that says why a module is not called."""
    why = {"module_ref": name, "why_rejected": "It looks at no number at all."}
    return {**planned("read")["reuse"], "candidates_considered": [why]}


@pytest.mark.parametrize("waits_for", [([], []), ([], [0])], ids=["nearest", "upstream"])
def test_a_plan_answers_for_each_sealed_module_that_its_request_names(directory: Path, waits_for: Any):
    """Refused with the name of one that it ignores; used, or given a reason, it is sound (D-54-03)."""
    ignoring, called = plan(planned("read")), plan(planned("read", "scan"))
    answered = plan(planned("read", reuse=considered("scan")))
    with in_two_tasks(directory / "given", waits_for, ignoring, answered) as bench:
        assert bench.status(1) == "SHIPPED"
        (refusal,) = bench.roles.refusals
        assert (
            f"nothing is said of scan, {bench.sealed()['scan'].parent.name}@1.0.0, which your request names"
            in refusal
        )
        first, second = [one.message for one in bench.roles.asked if one.place.subject == "plan"]
        assert ("Call or reuse each" in first, "Call or reuse each" in second) == (False, True)
    with in_two_tasks(directory / "called", waits_for, called) as bench:
        assert (bench.status(1), bench.roles.refusals) == ("SHIPPED", [])
    with in_two_tasks(directory / "recorded", waits_for, ignoring, scripted=True) as bench:
        assert (bench.status(1), bench.roles.refusals) == ("SHIPPED", [])
