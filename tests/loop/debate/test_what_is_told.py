"""What a revision is told, and why there is one: nothing twice, nothing unsaid (F§9.7, D10, D12, D15)."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.static.effects import Kind, undeclared_text
from specwright.application.rendering import READ_ONLY
from specwright.application.requests import (
    ModuleRequest,
    callers_of,
    plan_message,
    proposer_message,
    replan_message,
    without_source,
)
from specwright.domain.answers import Failure, UndisputedRuling
from specwright.domain.artifacts import ContextPack, Permission
from specwright.domain.interfaces.records import VALUES, Interfaces
from specwright.domain.spec.product_spec import ProductSpec
from specwright.ports import Role
from testkit.domain.doubling import DOUBLE as DOUBLING
from testkit.domain.product_specs import spec_of_graph  # pyright: ignore[reportUnknownVariableType]
from testkit.loop.debate_workbench import IN_MEMORY, DebateWorkbench, modelled, script
from testkit.loop.late_faults import REPLANNED, falsifying, late
from testkit.loop.role_answers import (
    PASSING,
    Turn,
    approving,
    claimed,
    draft,
    failing,
    plan,
    planned,
    rejecting,
)
from testkit.loop.scripted_gate import AT_THE_GATE, FALSIFIABLE

DOUBLE = "double"
QUOTES = '"""'
ONE = plan(planned(DOUBLE))


def run(directory: Path, answers: dict[str, list[Any]], planning: dict[str, Any] = ONE) -> DebateWorkbench:
    """A task that ships in the end."""
    bench = DebateWorkbench(directory, script(answers, planning))
    assert bench.begin() == "SHIPPED"
    return bench


@pytest.fixture(scope="module")
def reopened() -> Iterator[DebateWorkbench]:
    """A run in which a module's contract is found at fault and debated again; only looked at."""
    with TemporaryDirectory(dir=IN_MEMORY) as made:
        planning = plan(planned("halve"), planned(DOUBLE), task_facing=DOUBLE)
        yield run(Path(made), late(REPLANNED), planning)


def test_what_is_both_evidence_and_change_is_said_once(directory: Path):
    """A ruling's rationale, and what the gate found (D-15-01, F-9.7-05)."""
    bench = run(
        directory,
        {
            "double/round-1/arbiter": [rejecting("Nothing shows what twice nought is.")],
            "double/round-2/proposer": [Turn(claimed(), draft(DOUBLE, AT_THE_GATE))],
            "double/round-3/proposer": [Turn(claimed(), draft(DOUBLE))],
        },
    )
    rejected = bench.roles.asked_at("double/round-2/proposer").message
    assert rejected.count("Nothing shows what twice nought is.") == 1
    refused = bench.roles.asked_at("double/round-3/proposer").message
    assert refused.count("7 of 12 mutants lived") == 1


def test_a_round_that_the_gate_asked_for_says_what_the_gate_found(directory: Path):
    """Both judges approved the round before and would see no reason for another; the reason is said where the round stands,
    and in later rounds too (D-11-01, F-9.7-02, D-56-02)."""
    weak = Turn(claimed(), draft(DOUBLE, AT_THE_GATE))
    bench = run(directory, {"double/round-1/proposer": [weak], "double/round-2/arbiter": [rejecting()]})
    why = (
        "# Why there is a round 2\n\nThe gate refused what was approved in round 1:\n\n"
        "1. strength.weak at implementation/__init__.py"
    )
    for judge in ("challenger", "arbiter"):
        first, second, later = (bench.roles.told_at(f"double/round-{n}/{judge}") for n in (1, 2, 3))
        assert "# Why there is" not in first
        assert why in second
        assert later.index("# Round 1\n") < later.index(why) < later.index("# Round 2\n")
        assert "# Why there is a round 3" not in later


@pytest.mark.parametrize("role", [Role.CHALLENGER, Role.ARBITER])
def test_a_contract_debate_that_is_reopened_says_why(reopened: DebateWorkbench, role: Role):
    """The confirmed fault and the rationale, as the planner is told them; their packs name the records (D-10-05,
    F-9.7-06)."""
    asked = reopened.roles.asked_at(f"contracts/round-2/{role}")
    said = reopened.roles.told_at(f"contracts/round-2/{role}")
    assert "# Why there is a round 2" in said
    assert "Nothing says what twice means for a large number." in said
    assert "The contract is wrong, and no implementation can mend that." in said
    assert "# Why" not in reopened.roles.told_at(f"contracts/round-1/{role}")
    packs = [
        ContextPack.from_bytes(p.read_bytes(), "") for p in (reopened.base / "context_packs").glob("*.json")
    ]
    (pack,) = (one for one in packs if one.created_for.run_id == asked.place.run_id)
    told = {
        row.ref.partition("-")[0] for row in pack.included_refs if row.permission is Permission.SUMMARY_ONLY
    }
    assert {"CHAL", "ADJ"} <= told


def test_a_module_whose_contract_changed_is_told_what_changed(reopened: DebateWorkbench):
    """Statement by statement, and the file that it goes on from says what the contract says now (D-10-05, D-S8-03,
    D-56-02)."""
    asked = reopened.roles.asked_at("double/round-2/proposer")
    assert "# What has changed in the contract" in asked.message
    assert (
        "- outputs: result: is the number twice\n+ outputs: result: is the number twice, exactly"
        in asked.message
    )
    entry = asked.pack["implementation/__init__.py"].decode()
    assert "is the number twice, exactly" in entry
    assert "return number * 2" in entry
    assert entry.replace(f'    """{entry.split(QUOTES)[3]}"""\n', "").rstrip() in asked.message
    assert "# What has changed" not in reopened.roles.asked_at("double/round-1/proposer").message


def test_what_the_gate_quotes_of_the_source_is_left_out_for_the_judges():
    """Code in ticks, and all but the first line (F-9.7-07)."""
    said = (
        "the tests notice 2 of 6 faults in `sort(x)`; write tests that fail on these:\n  line 88: `0` to `1`"
    )
    failure = Failure(invariant="strength.weak", evidence=said, required_change=said)
    shown = without_source(failure)
    assert shown.evidence == "the tests notice 2 of 6 faults in ...; write tests that fail on these:"
    assert shown.required_change == shown.evidence


def test_a_ruling_stands_in_the_round_that_it_is_about(directory: Path):
    """Also where the round before had none (F-9.7-09)."""
    bench = run(
        directory, {"double/round-1/challenger": [failing()], "double/round-2/arbiter": [rejecting()]}
    )
    told = bench.roles.told_at("double/round-3/arbiter")
    first, second = told.split("# Round 2\n")
    assert "Ruling:" not in first.partition("# Round 1\n")[2]
    assert "Ruling:" in second.partition("# Proposal\n")[0]


def test_the_challenger_sees_the_decisions_and_no_more_of_the_task(directory: Path):
    """F-9.7-02, D-12-02: an extract, as the criteria are; it explains why a contract settles an open case."""
    data = spec_of_graph(([],)).to_json()
    task = data["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    decided = "Nought is nought, and stays so."
    task["decisions"] = [decided]
    task["io_contract_sketch"]["outputs"] = "A number without a sign.\nIt is an int."
    with DebateWorkbench(directory, script({}, ONE)) as bench:
        bench.approve(ProductSpec.model_validate(data))
        bench.run()
        for place in ("contracts/round-1/challenger", "double/round-1/challenger"):
            message = bench.roles.asked_at(place).message
            assert f"# Decisions of the task\n\n- {decided}\n" in message
            assert "A number without a sign" not in message
            assert "It is an int" not in message


def test_of_a_review_that_found_nothing_the_arbiter_is_told_in_short_what_it_can_read(directory: Path):
    """Criteria with what shows them, and the review; the rest, tests and approved examples with their code too, lies in its
    directory (F-9.7-04, F-9.7-05)."""
    data = spec_of_graph(([],)).to_json()
    example = {
        "title": "Four",
        "criteria": [1],
        "code": "from project_1 import double\n\ndouble(2)",
        "gives": "4",
    }
    task = data["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    task["acceptance"] = {"provides": ["double(number: int) -> int"], "examples": [example]}
    for answers, short in (
        ({}, True),
        ({f"double/round-{n}/challenger": [failing()] for n in (1, 2, 3)}, False),
    ):
        with DebateWorkbench(directory / str(short), script(answers, ONE)) as bench:
            bench.approve(ProductSpec.model_validate(data))
            bench.run()
            asked = bench.roles.asked_at(f"double/round-{1 if short else 3}/arbiter")
            assert (asked.answer is UndisputedRuling) is short
            files = {path: text.decode() for path, text in asked.pack.items()}
            assert {*files} == {"task.md", "contracts.md", "debate.md"}
            assert "#### Four" in files["task.md"]
            assert "    double(2)" in files["task.md"]
            assert "/outputs/0/invariants/0" in files["contracts.md"]
            assert "test_it_is_the_number_twice shows" in files["debate.md"]
            assert ("# What shows them, says the proposal" in asked.message) is short
            assert "double(2)" not in asked.message


def test_a_ruling_on_nothing_disputed_holds_what_it_rests_on(directory: Path):
    """On contracts all criteria with the statements that are cited; on a module whole the criteria that its checks name, and
    the numbers of the others (F-9.7-04)."""
    cited = ["1: double /outputs/0/invariants/0", "2: double /error_surfaces/0"]
    own = Turn(
        {**claimed(), "acceptance_checks": ["Criterion 2: test_it_is_the_number_twice"]}, draft(DOUBLE)
    )
    said = script({"double/round-1/proposer": [own]}, plan(planned(DOUBLE), acceptance_checks=cited))
    with DebateWorkbench(directory, said) as bench:
        assert bench.begin() == "SHIPPED"
        contracts, module = (
            bench.roles.asked_at(f"{of}/round-1/arbiter").message for of in ("contracts", DOUBLE)
        )
    shown = {
        "/outputs/0/invariants/0 is the number twice",
        "/error_surfaces/0 ValueError: number is negative",
    }
    assert {text for text in shown if text in contracts} == shown
    assert "/purpose " not in contracts
    assert [f"\n{n}. " in contracts for n in (1, 2)] == [True, True]
    assert [f"\n{n}. " in module for n in (1, 2)] == [False, True]
    assert "Of 1 the proposal says nothing" in module


def test_an_arbiter_reads_what_its_pack_says_it_can(directory: Path):
    """Each reference that its request leaves out, by the path in its reason; nothing else, and nothing is written
    (D-57-01)."""
    paths = ("/task.md", "/contracts.md", "/debate.md", "/implementation/__init__.py")
    reads = Turn(None, calls=tuple(("read_file", {"file_path": path}) for path in paths))
    read: list[str] = []
    offered: set[str] = set()

    def observe(place: Any, messages: list[Any], tools: Any) -> None:
        if place.role is Role.ARBITER:
            read.extend(message.text for message in messages if message.type == "tool")
            offered.update(tool["function"]["name"] for tool in tools)

    answers = {"double/round-1/arbiter": [reads, approving()]}
    with DebateWorkbench(directory, script(), roles=modelled(script(answers, ONE), observe)) as bench:
        assert bench.begin() == "SHIPPED"
        packs = [
            ContextPack.from_bytes(p.read_bytes(), "") for p in (bench.base / "context_packs").glob("*.json")
        ]
    assert ["## Acceptance Criteria" in read[0], "/outputs/0" in read[1], "Claim: " in read[2]] == [True] * 3
    assert "return number * 2" not in read[3]
    assert offered == {"read_file", "submit_ruling"}
    (pack,) = (one for one in packs if one.created_for.run_id == "TSK-001.1/double/round-1/arbiter")
    readable = {
        path for row in pack.included_refs for path in paths if row.reason.endswith(f"readable as {path}")
    }
    assert readable == {*paths[:3]}


def test_a_dispute_is_told_with_the_statements_and_tests_that_it_names(directory: Path):
    """And with no other; of a dispute that names none, every statement (F-9.7-04)."""
    named, unnamed = failing("test_it_is_the_number_twice tries no odd number."), failing()
    unnamed["failures"][0]["invariant"] = "It is the number twice."
    asked: list[str] = []
    for said in (named, unnamed):
        answers = {f"double/round-{n}/challenger": [said] for n in (1, 2, 3)}
        with DebateWorkbench(directory / str(len(asked)), script(answers, ONE)) as bench:
            bench.begin()
            asked.append(bench.roles.asked_at("double/round-3/arbiter").message)
    shown = [
        [
            word in message
            for word in ("/outputs/0/invariants/0 ", "/purpose ", "# Tests that the dispute names")
        ]
        for message in asked
    ]
    assert shown == [[True, False, True], [True, True, False]]


def test_a_dispute_over_several_contracts_is_told_of_the_one_that_it_names(directory: Path):
    """A pointer after a module's name is one of its contract (F-9.7-04)."""
    said = failing()
    said["failures"][0]["invariant"] = "double /outputs/0/invariants/0 is not said of odd numbers"
    planned_twice = plan(planned("halve"), planned(DOUBLE), task_facing=DOUBLE)
    answers = {f"contracts/round-{n}/challenger": [said] for n in (1, 2, 3)}
    with DebateWorkbench(directory, script(answers, planned_twice)) as bench:
        bench.begin()
        message = bench.roles.asked_at("contracts/round-3/arbiter").message
    assert message.count("as far as it is cited") == 1
    assert "# Contract of `double`" in message
    assert "/purpose " not in message


LINE = "assert double(3) == 6, 'three is doubled exactly'"
THREE = (
    "test_three",
    "/outputs/0/invariants/0",
    f"from modules.double import double\n\n\ndef test_three():\n    {LINE}\n",
)


def test_a_falsifying_test_stands_once_in_every_request(directory: Path):
    """F-9.7-05: for judges with what it saw, not among the failures as well; for a Proposer whose next draft fails it again
    by name."""
    falsified = Turn(claimed(), draft(DOUBLE, FALSIFIABLE))
    answers = {
        "double/round-1/proposer": [falsified],
        "double/round-1/challenger": [falsifying(THREE, said=failing())],
        "double/round-1/arbiter": [rejecting()],
        "double/round-2/proposer": [falsified, Turn(claimed(), draft(DOUBLE, version="Mended"))],
    }
    requests: dict[str, list[str]] = {}

    def observe(place: Any, messages: list[Any], tools: Any) -> None:
        whole = "\n".join(message.text for message in messages)
        requests.setdefault(f"{place.subject}/{place.stage}/{place.role}", []).append(whole)

    with DebateWorkbench(directory, script(), roles=modelled(script(answers, ONE), observe)) as bench:
        assert bench.begin() == "SHIPPED"
    judged = [f"double/{where}" for where in ("round-1/arbiter", "round-2/challenger")]
    for place in judged:
        (said,) = requests[place]
        assert said.count(LINE) == 1
        assert "Falsifying test test_three of /outputs/0/invariants/0 failed: expected 6, got 5" in said
        assert "1. /outputs/0/invariants/0: is the number twice" in said
    first, again = requests["double/round-2/proposer"]
    assert first.count(LINE) == again.count(LINE) == 1
    assert "test_three, of an earlier round, fails" in again
    assert "as it stands above: expected 6, got 5" in again


def test_all_who_work_on_a_revision_are_told_how_many_are_left(directory: Path):
    """F-9.3-03: planner, Proposer and Challenger as the Arbiter; what another debate forces costs none."""
    answers: dict[str, list[Any]] = {
        "contracts/round-1/challenger": [failing()],
        "double/round-1/challenger": [failing()],
        "double/round-2/arbiter": [rejecting()],
    }
    bench = run(directory, answers)

    def told(place: str) -> list[str]:
        message = bench.roles.asked_at(place).message
        return [line.split("Revisions left")[1] for line in message.splitlines() if "Revisions left" in line]

    left = {
        "contracts/round-1/challenger": ": 2. Judge R1 to R6 and submit your verdict.",
        "plan/round-2/planner": " after this one: 1.",
        "contracts/round-2/challenger": ": 1. Judge R1 to R6 and submit your verdict.",
        "contracts/round-2/arbiter": ": 1.",
        "double/round-2/proposer": " after this one: 1.",
        "double/round-3/proposer": " after this one: 0.",
        "double/round-3/challenger": ": 0. Judge R1 to R6 and submit your verdict.",
        "double/round-3/arbiter": ": 0.",
    }
    assert {place: told(place) for place in left} == {place: [said] for place, said in left.items()}
    assert told("double/round-1/proposer") == told("plan/round-1/planner") == []


def test_a_revision_that_another_debate_forces_leaves_as_many_as_before(reopened: DebateWorkbench):
    """D-10-05: and the round does not say that it is the last."""
    assert "Revisions left after this one: 2." in reopened.roles.asked_at("plan/round-2/planner").message
    assert "Revisions left after this one: 2." in reopened.roles.asked_at("double/round-2/proposer").message
    assert "Round 2. Revisions left: 2." in reopened.roles.asked_at("double/round-2/challenger").message


def told_of(kind: str, target: str) -> str:
    """What a Proposer is told of a contract with an effect."""
    effect = {"type": kind, "target": target, "description": "is asked once"}
    contract = MicroModuleContract.model_validate({**DOUBLING.to_json(), "effects": [effect]})
    return proposer_message(ModuleRequest(contract, {"implementation/__init__.py": b""}), [])


def test_a_proposer_is_told_how_a_database_is_only_read():
    """D-S8-07: before the gate refuses it, and in its words."""
    told = told_of("CALL", "the SQLite database at `number`")
    assert f"One that is only read is opened by {READ_ONLY}." in told
    assert READ_ONLY in undeclared_text(Kind.WRITE, "sqlite3.connect")
    assert "sqlite3" not in told_of("CALL", "clock")


def test_the_planner_is_told_what_calls_its_functions():
    """D-45-01: who calls, what is passed for the clock, and what is printed; of functions that nothing calls, nothing."""
    clock = {"parameter": "at", "default": "now"}
    interfaces = Interfaces.model_validate(
        {
            "command": {
                "name": "hours",
                "subcommands": [{"name": "stop", "calls": "end", "parameters": [clock]}],
            },
            "http": {
                "name": "hours-http",
                "routes": [{"calls": "report", "defaults": {"day": "today"}}],
                "options": {"at": "now", "till": "now"},
            },
        }
    )
    told = callers_of(interfaces, {"end": ["at"], "report": ["day", "till"]})
    assert told == [
        "# What calls it\n\nCode makes this, no module:\n\n"
        "- the command `hours stop` calls `end`; unless it is given, `at` is `now`\n"
        f"- the route `/report` calls `report`; unless it is given, `till` is `now`, `day` is `today`\n\n{VALUES}"
    ]
    assert callers_of(interfaces, {"start": []}) == callers_of(None, {"end": ["at"]}) == []
    requests = [
        plan_message("# Stop", callers=told),
        replan_message("# Stop", "{}", [], callers=told),
    ]
    assert [told[0] in request for request in requests] == [True] * 2


def test_a_review_that_is_refused_is_not_written_twice(directory: Path):
    """D-11-04, D-S6-04: a Challenger whose answer has the wrong form hands in what changes, a small part of it."""
    first, *others = PASSING["rubric_assessments"]
    wrong = {**PASSING, "rubric_assessments": [{**first, "assessment": "PERHAPS"}, *others]}
    right = {"op": "replace", "path": "/rubric_assessments/0/assessment", "value": first["assessment"]}
    answers = {
        "contracts/round-1/challenger": [
            Turn(wrong),
            Turn(None, calls=(("submit_challenge", {"changes": [right]}),)),
        ]
    }
    heard: list[str] = []
    played = modelled(script(answers), lambda place, messages, _: heard.append(str(messages[-1].content)))
    with DebateWorkbench(directory, script(), roles=played) as bench:
        assert bench.begin() == "SHIPPED"
    (refusal,) = (text for text in heard if "Not accepted" in text)
    assert "rubric_assessments.0.assessment" in refusal
    assert "changes: you need not write the whole again" in refusal
    assert len(json.dumps([right])) * 5 < len(json.dumps(wrong))
