"""A halted task that a person resumes in place: who is asked, what is written, what ships (F§17.2, F§17.3, D16, D22)."""

from pathlib import Path
from typing import Any

import pytest

from specwright.application.escalation import offers
from specwright.application.history.provenance import Artifacts, debate_rounds, decisions_of_module
from specwright.domain.escalation import OPERATOR, HumanResolution
from specwright.errors import InputError, RefusedError
from testkit.loop.debate_workbench import TWO, DebateWorkbench, script
from testkit.loop.halts import HALTS, sealed_bytes
from testkit.loop.resolving import answer, override
from testkit.loop.role_answers import (
    PASSING,
    PROSE,
    Turn,
    amended,
    amending,
    approving,
    claimed,
    draft,
    failing,
    plan,
    planned,
    rejecting,
)
from testkit.loop.scripted_gate import AT_PREFLIGHT, AT_THE_GATE, FALSIFIABLE

REJECTED = HALTS["rejected"]
WEAK = {**HALTS["gate"], **{name: turns for name, turns in REJECTED.items() if name.endswith("/arbiter")}}
"""Rejected, and the ship gate would refuse it too."""
CHAIN = plan(
    planned("first"),
    planned("double", "first"),
    planned("last", "double"),
    planned("other"),
    task_facing="last",
)


def fix(
    bench: DebateWorkbench, files: dict[str, str], module: str = "", said: str = "Doubles by adding."
) -> str:
    payload = {"fix_description": said, "fix_artifacts": files, "module": module}
    return answer(bench, "PROVIDE_FIX", payload)


def of(bench: DebateWorkbench, *prefixes: str) -> list[str]:
    """The calls since the answer that are about some subjects."""
    return [call for call in bench.trace if call.split("/")[0] in prefixes]


def test_an_approval_sends_the_rejected_version_to_the_gate_and_asks_nobody(directory: Path):
    """F-17.2-02, F-17.3-04, D-22-01, D-33-04, F-17.1-01: the halt says plan, sealed and failed modules, debates and where
    each was left, and the log alone leads on; no role call for that module; the same attempt, sealed and shipped."""
    with DebateWorkbench(directory, script(REJECTED, CHAIN)) as bench:
        assert bench.begin() == "HALTED"
        kept = bench.escalation.details["resume"]
        assert kept["plan_id"] == bench.record("contracts", 1, "proposal")["target_artifact_id"]
        assert (set(kept["shipped"]), set(kept["failed"])) == ({"first", "other"}, {"double"})
        assert kept["debates"]["double"] == bench.debate("double").name
        assert kept["locked"]["round"] == 1
        last = bench.record("double", 3, "proposal")["target_artifact_id"]
        left = {"debate_id": kept["debates"]["double"], "version_id": last, "round": 3}
        assert kept["judged"]["double"] == left
        before = sealed_bytes(bench)
        assert override(bench) == "SHIPPED"
        assert of(bench, "plan", "contracts", "first", "other") == []
        assert of(bench, "double") == ["double/gate"]
        assert of(bench, "last")[-1] == "last/gate"
        assert sorted(bench.sealed()) == ["double", "first", "last", "other"]
        after = sealed_bytes(bench)
        assert {name: after[name] for name in before} == before
        assert bench.unapproved() == []
        started = [w for w in bench.wires() if w["type"] == "task.started"]
        assert [w["stream"]["stream_id"] for w in started] == ["task:TSK-001:attempt:1"] * 2
        entry = next(iter(bench.state.tasks.values()))
        assert len(entry.module_refs) == 4
        ruling = bench.record("double", 4, "adjudication")
        made = bench.envelope(ruling["adjudication_id"])
        assert (made.created_by.role, made.created_by.run_id) == (OPERATOR, "TSK-001.1r1/double/operator")
        assert ruling["rationale"] == "The criteria are met as I read them."
        ref = next(ref for ref in entry.module_refs if bench.factory.modules.contract(ref).name == "double")
        (decided,) = decisions_of_module(bench.factory, ref)
        assert (decided.action, decided.decided_by) == ("APPROVE_OVERRIDE", OPERATOR)
        assert decided.rationale == ruling["rationale"]
        assert [decisions_of_module(bench.factory, one) for one in entry.module_refs if one != ref] == [
            []
        ] * 3
        rounds = debate_rounds(Artifacts(bench.factory), kept["debates"]["double"], "double").rounds
        assert [one.overruled.partition(",")[0] for one in rounds] == ["", "", "", OPERATOR]


def test_an_approval_that_the_gate_refuses_halts_again(directory: Path):
    """F-17.2-04, D-22-01, F-8-09, F-8-11: a new escalation, no ship.json; asked is nobody; a fix for the second one still
    ships. Neither the Arbiter's approval nor a person's of another version puts one in the Arbiter's place."""
    with DebateWorkbench(directory, script(WEAK)) as bench:
        bench.begin()
        folder = next(iter(bench.projection.definitions.values())).path.split("/")[0]
        first, ruling = bench.escalation, bench.record("double", 3, "adjudication")
        overruled = bench.factory.artifacts.overruled
        with pytest.raises(RefusedError, match="is not a person's approval"):
            overruled(folder, ruling["target_artifact_id"], ruling["adjudication_id"])
        assert override(bench) == "HALTED"
        assert bench.trace == ["double/gate"]
        given = bench.record("double", 4, "adjudication")["adjudication_id"]
        with pytest.raises(RefusedError, match="does not reference"):
            overruled(folder, bench.record("double", 1, "proposal")["target_artifact_id"], given)
        again = bench.escalation
        assert again.escalation_id != first.escalation_id
        assert "7 of 12 mutants lived" in again.details["failed"]["double"]
        assert again.details["shipped"] == first.details["shipped"]
        assert set(bench.sealed()) == {"halve"}
        assert bench.unapproved() == []
        assert fix(bench, draft("double")) == "SHIPPED"
        assert bench.record("double", 5, "proposal")["claim"] == "Doubles by adding."
        assert bench.unapproved() == []
        runs = {e.created_by.run_id.split("/")[0] for e in bench.envelopes("CHAL")}
        assert runs == {"TSK-001.1", "TSK-001.1r2"}


def test_an_approval_of_what_the_gate_refused_is_refused(directory: Path):
    """F-17.2-03, D-22-01: the Arbiter had approved it, so there is nothing to overrule; nothing is written."""
    with DebateWorkbench(directory, script(HALTS["gate"])) as bench:
        bench.begin()
        before, first = bench.projection.state, bench.escalation
        assert override(bench) == "HALTED"
        assert (bench.trace, bench.escalation, bench.projection.state) == ([], first, before)


LEFT: dict[str, tuple[str, dict[str, list[Any]]]] = {
    "without_a_ruling": ("CHALLENGED", {"double/round-1/arbiter": [PROSE]}),
    "rejected": ("ADJUDICATED", REJECTED),
    "sent_back": (
        "DRAFT",
        {
            "double/round-1/arbiter": [rejecting()],
            "double/round-2/proposer": [Turn(claimed(), draft("double", AT_PREFLIGHT))],
        },
    ),
    "not_amended": (
        "ADJUDICATED",
        {
            "double/round-1/arbiter": [
                amending(("MODIFY", "function:double", "Double it by adding it to itself."))
            ],
            "double/amended-1/proposer": [Turn(amended("It cannot be done."), draft("double"))],
        },
    ),
}


@pytest.mark.parametrize(("status", "answers"), LEFT.values(), ids=LEFT.keys())
def test_whatever_ended_the_debate_an_approval_takes_the_lawful_road(
    directory: Path, status: str, answers: dict[str, list[Any]]
):
    """F-17.2-02, F-8-09, F-8-11, F-8-12: the status goes by the table from where it was left; what was judged last ships."""
    with DebateWorkbench(directory, script(answers)) as bench:
        bench.begin()
        target = bench.escalation.details["resume"]["judged"]["double"]["version_id"]
        assert bench.envelope(target).status == status
        assert override(bench) == "SHIPPED"
        assert of(bench, "double") == ["double/gate"]
        made = bench.envelope(target)
        assert made.status == made.status_by_grounds == "SHIPPED"
        assert bench.unapproved() == []


def everything(directory: Path) -> dict[str, bytes]:
    """Every file of a project, but for the index that its readers share in memory."""
    files = (p for p in directory.rglob("*") if p.is_file() and not p.name.endswith(".db-shm"))
    return {str(p): p.read_bytes() for p in files}


def refused(
    bench: DebateWorkbench, action: str, payload: dict[str, Any], error: type[Exception], match: str
) -> None:
    """An answer is refused with a reason, and not a byte of the project is another."""
    before = everything(bench.directory)
    given = HumanResolution.model_validate(
        {"action": action, "payload": payload, "escalation_id": bench.escalation.escalation_id}
    )
    with pytest.raises(error, match=match):
        offers.check(bench.factory, given)
    assert everything(bench.directory) == before


BOTH = {**REJECTED, **{f"halve/round-{n}/arbiter": [rejecting()] for n in (1, 2, 3)}}


def test_of_several_that_failed_one_is_named_and_the_others_ask_again(directory: Path):
    """F-17.2-02: a module that is not named, or did not fail, is refused; the other still waits for an answer."""
    with DebateWorkbench(directory, script(BOTH)) as bench:
        bench.begin()
        why = {"rationale": "It is good enough."}
        refused(bench, "APPROVE_OVERRIDE", why, InputError, "several modules failed: double, halve")
        refused(
            bench,
            "APPROVE_OVERRIDE",
            {**why, "module": "third"},
            InputError,
            "'third' is not a failed module",
        )
        assert override(bench, "halve") == "HALTED"
        assert bench.trace == ["halve/gate"]
        assert set(bench.sealed()) == {"halve"}
        assert set(bench.escalation.details["failed"]) == {"double"}
        assert fix(bench, draft("double")) == "SHIPPED"
        assert bench.unapproved() == []


TRIED = {
    "name": "test_three_is_six",
    "obligation": "/outputs/0/invariants/0",
    "source": "from modules.double import double\n\n\ndef test_three_is_six():\n    assert double(3) == 6\n",
}


def test_falsifying_tests_that_stand_count_against_an_approval(directory: Path):
    """F-17.2-04, D-13-05: a person strikes no test; the gate runs it, and the module halts again."""
    answers: dict[str, list[Any]] = {
        **REJECTED,
        **{
            f"double/round-{n}/proposer": [Turn(claimed(), draft("double", FALSIFIABLE, str(n)))]
            for n in (1, 2, 3)
        },
        "double/round-3/challenger": [{**PASSING, "falsifying_tests": [TRIED]}],
    }
    with DebateWorkbench(directory, script(answers)) as bench:
        bench.begin()
        assert override(bench) == "HALTED"
        assert bench.trace == ["double/gate", "double/tests"]
        assert "test_three_is_six" in bench.escalation.details["failed"]["double"]
        assert set(bench.sealed()) == {"halve"}


def test_a_fix_is_challenged_judged_and_shipped_like_any_other(directory: Path):
    """F-17.2-11: it enters at the challenge as a person's proposal; Challenger and Arbiter are asked once, no Proposer;
    what was given up because of the module is made."""
    with DebateWorkbench(directory, script(REJECTED, CHAIN)) as bench:
        bench.begin()
        assert (
            fix(
                bench,
                {"implementation/__init__.py": draft("double", version="mine")["implementation/__init__.py"]},
            )
            == "SHIPPED"
        )
        assert of(bench, "double") == [
            "double/preflight",
            "double/round-4/challenger",
            "double/round-4/arbiter",
            "double/gate",
        ]
        assert of(bench, "last") != []
        assert bench.records()["double"][3] == "adjudication challenge gate proposal"
        proposal = bench.record("double", 4, "proposal")
        target = bench.envelope(proposal["target_artifact_id"])
        assert target.created_by.role == bench.envelope(proposal["proposal_id"]).created_by.role == OPERATOR
        assert target.revised == bench.record("double", 3, "proposal")["target_artifact_id"]
        assert b"mine" in bench.body(target.artifact_id)["implementation/__init__.py"]
        assert bench.body(target.artifact_id)["examples.md"].decode() == draft("double")["examples.md"]
        assert proposal["claim"] == "Doubles by adding."
        assert bench.unapproved() == []


def test_where_nothing_was_proposed_a_fix_begins_the_debate(directory: Path):
    """F-17.2-11, F-17.2-03, D-22-01: over the stub of the contract, as the first round; with no version that could ship an
    approval is refused, and nothing is written."""
    with DebateWorkbench(directory, script(HALTS["no_draft_passes"])) as bench:
        bench.begin()
        why = {"rationale": "It is good enough."}
        refused(bench, "APPROVE_OVERRIDE", why, RefusedError, "does not suit")
        assert fix(bench, draft("double")) == "SHIPPED"
        steps = ("preflight", "round-1/challenger", "round-1/arbiter", "gate")
        assert of(bench, "double") == [f"double/{step}" for step in steps]
        assert bench.unapproved() == []


TRACED = {
    **claimed(),
    "acceptance_checks": [
        "1: test_it_is_the_number_twice",
        "2: test_it_is_the_number_twice, test_a_negative_number_is_refused",
    ],
}


def test_the_checks_of_a_fix_keep_their_numbers_of_criteria(directory: Path):
    """F-17.2-11: those of the last proposal, as far as the tests that they name are there."""
    traced = [Turn(TRACED, draft("double"))]
    answers = {**REJECTED, **{f"double/round-{n}/proposer": traced for n in (1, 2, 3)}}
    fewer = {"tests/obligations.json": '{"test_it_is_the_number_twice": [""]}'}
    with DebateWorkbench(directory, script(answers)) as bench:
        bench.begin()
        assert fix(bench, fewer) == "SHIPPED"
        assert bench.record("double", 4, "proposal")["acceptance_checks"] == [
            "1: test_it_is_the_number_twice",
            "2: test_it_is_the_number_twice",
        ]


def test_a_fix_of_a_draft_that_nobody_judged_has_the_checks_of_its_answer(directory: Path):
    """F-17.2-11: as it was refused."""
    answers = {"double/round-1/proposer": [Turn(TRACED, draft("double", AT_PREFLIGHT))]}
    with DebateWorkbench(directory, script(answers)) as bench:
        bench.begin()
        assert fix(bench, draft("double")) == "SHIPPED"
        assert bench.record("double", 1, "proposal")["acceptance_checks"] == TRACED["acceptance_checks"]


def test_a_fix_that_fails_the_preflight_asks_nobody(directory: Path):
    """F-17.2-11, D-18-01: its findings are the new escalation; no artifact, no proposal."""
    with DebateWorkbench(directory, script(REJECTED)) as bench:
        bench.begin()
        versions, rounds = len(bench.envelopes("IMPL")), bench.records()
        assert fix(bench, draft("double", AT_PREFLIGHT)) == "HALTED"
        assert bench.trace == ["double/preflight"]
        assert "expected 4, got 5" in bench.escalation.details["failed"]["double"]
        assert any("expected 4, got 5" in error for error in bench.escalation.details["errors"])
        assert len(bench.envelopes("IMPL")) == versions
        assert bench.records() == rounds
        assert override(bench) == "SHIPPED"
        assert bench.unapproved() == []


def test_a_fix_that_quotes_its_source_asks_nobody(directory: Path):
    """F-9.7-07, F-17.2-11: judges are shown what a person says of a fix, and so never a line of it."""
    with DebateWorkbench(directory, script(REJECTED)) as bench:
        bench.begin()
        assert fix(bench, draft("double"), said="It ends in `return number * 2` now.") == "HALTED"
        assert bench.trace == ["double/preflight"]
        assert any("fix_description: it holds line" in error for error in bench.escalation.details["errors"])


FIX_FAILS: dict[str, tuple[dict[str, list[Any]], str, list[str]]] = {
    "challenged": (
        {
            "double/round-4/challenger": [failing("Nothing shows what 3 gives.")],
            "double/round-4/arbiter": [approving(), rejecting()],
        },
        "",
        ["preflight", "round-4/challenger", "round-4/arbiter", "round-4/arbiter"],
    ),
    "rejected": (
        {"double/round-4/arbiter": [rejecting()]},
        "",
        ["preflight", "round-4/challenger", "round-4/arbiter"],
    ),
    "gate": ({}, AT_THE_GATE, ["preflight", "round-4/challenger", "round-4/arbiter", "gate"]),
}


@pytest.mark.parametrize(("answers", "mark", "calls"), FIX_FAILS.values(), ids=FIX_FAILS.keys())
def test_a_fix_has_one_round_and_no_revision(
    directory: Path, answers: dict[str, list[Any]], mark: str, calls: list[str]
):
    """F-17.2-11, F-9.3-03, F-9.3-04: after a FAIL it cannot be approved as it is; rejected, or refused by the gate, it
    asks a person again."""
    with DebateWorkbench(directory, script({**REJECTED, **answers})) as bench:
        bench.begin()
        first = bench.escalation.escalation_id
        assert fix(bench, draft("double", mark, "mine")) == "HALTED"
        assert bench.trace == [f"double/{call}" for call in calls]
        assert bench.escalation.escalation_id != first
        assert set(bench.sealed()) == {"halve"}
        assert bench.unapproved() == []


def test_a_fix_that_is_approved_with_amendments_is_amended_by_the_proposer(directory: Path):
    """F-17.2-11, F-9.6-02, F-9.6-03: amendments are applied as ever; nothing else is asked of the Proposer."""
    change = ("MODIFY", "function:double", "Double it by adding it to itself.")
    better = draft("double", version="amended")
    better["implementation/__init__.py"] = better["implementation/__init__.py"].replace(
        "number * 2", "number + number"
    )
    answers: dict[str, list[Any]] = {
        **REJECTED,
        "double/round-4/arbiter": [amending(change)],
        "double/amended-4/proposer": [Turn(amended(""), better)],
    }
    with DebateWorkbench(directory, script(answers)) as bench:
        bench.begin()
        assert fix(bench, draft("double", version="mine")) == "SHIPPED"
        assert of(bench, "double")[1:4] == [
            "double/round-4/challenger",
            "double/round-4/arbiter",
            "double/amended-4/proposer",
        ]
        assert bench.unapproved() == []


OUTSIDE = [
    "../x", "implementation/../../x", "implementation/..", "/etc/passwd", "C:/x", "implementation\\__init__.py",
    "implementation/a\nb.py", "implementation/a\0.py", "implementation//x.py", "implementation/./x.py",
    "implementation/", "implementation", "tests/.hidden/x.py", "tests/execution_log.json", "contract.json",
    "ship.json", "examples.md/x", "implementation/__init__.py/x.py", "implementation/\ud800.py", "",
]  # fmt: skip


def test_a_fix_stays_inside_its_module_and_a_plan_holds(directory: Path):
    """F-17.2-12, F-10-15, D-16-01: anything else than a file of the module, and a plan with whatever is wrong, is refused
    at once, as bad input; nothing is written and nobody is asked; no link at the module's place is followed."""
    with DebateWorkbench(directory, script(REJECTED)) as bench:
        bench.begin()
        for path in OUTSIDE:
            given = {"fix_description": "Mended.", "fix_artifacts": {path: "x = 1\n"}}
            told = "is not a file of a module|file and a directory|written by the ship gate"
            refused(bench, "PROVIDE_FIX", given, InputError, told)
        given = {"fix_description": "Mended.", "fix_artifacts": {"examples.md": "\ud800"}}
        refused(bench, "PROVIDE_FIX", given, InputError, "cannot be written as UTF-8")
        for bad, told in BAD_PLANS.values():
            refused(bench, "REVISE_PLAN", {"revised_micro_plan": bad}, InputError, told)
        many = [module("a", "x"), module("a", "y")]
        refused(bench, "REVISE_PLAN", {"revised_micro_plan": many}, InputError, "'a' occurs twice.*'x'.*'y'")
        (outside := directory / "outside").mkdir()
        (name,) = {c.module_id for c in map(bench.contract_of, bench.envelopes("CTR")) if c.name == "double"}
        (bench.base / "modules" / name).symlink_to(outside)
        given = {"fix_description": "Mended.", "fix_artifacts": {"implementation/__init__.py": "x = 1\n"}}
        refused(bench, "PROVIDE_FIX", given, RefusedError, "a link leads out of the project")


REUSED = {"query": "double", "conclusion": "REUSE_EXISTING", "justification": "It is sealed already."}


def sealed_ref(bench: DebateWorkbench, name: str) -> str:
    path = bench.sealed()[name]
    return f"{path.parent.name}@{path.name}"


def test_a_whole_plan_of_a_person_is_debated_and_followed(directory: Path):
    """F-17.2-10, F-10-15, F-3.4-06, D-16-01: no planner; the contracts are debated with a new budget; what was sealed is
    taken over, what was not is made anew."""
    with DebateWorkbench(directory, script(REJECTED)) as bench:
        bench.begin()
        halve = planned("halve", reuse={**REUSED, "reuse_ref": sealed_ref(bench, "halve")})
        given = plan(planned("twice", "halve"), halve, task_facing="twice")
        assert answer(bench, "REVISE_PLAN", {"revised_micro_plan": given}) == "SHIPPED"
        assert bench.trace[:2] == ["contracts/round-1/challenger", "contracts/round-1/arbiter"]
        assert of(bench, "plan", "double", "halve") == []
        assert sorted(bench.sealed()) == ["halve", "twice"]
        assert bench.unapproved() == []
        made = [e for e in bench.envelopes("MP") if e.created_by.role == OPERATOR]
        assert [e.created_by.run_id for e in made] == ["TSK-001.1r1/plan/operator"]
        entry = next(iter(bench.state.tasks.values()))
        assert entry.module_refs == [sealed_ref(bench, "twice"), sealed_ref(bench, "halve")]
        assert entry.module_ref == sealed_ref(bench, "twice")


def test_the_planner_fills_in_a_short_plan_and_changes_no_name_and_no_edge(directory: Path):
    """F-10-15, D-16-01: it is told the modules; another edge or another module goes back to it; so it is in the next
    round of the contract debate."""
    wrong = [
        plan(planned("twice"), planned("thrice")),
        plan(planned("twice"), planned("thrice", "twice"), planned("more")),
    ]
    right = plan(planned("twice"), planned("thrice", "twice"))
    short = [
        {"module_id": "MM-twice", "description": "Doubles a number."},
        {"module_id": "thrice", "description": "Triples it.", "depends_on": ["MM-twice"]},
    ]
    halted = script(
        {
            "contracts/round-3/arbiter": [rejecting()],
            **{f"contracts/round-{n}/challenger": [failing()] for n in (1, 2, 3)},
        }
    )
    with DebateWorkbench(directory, halted) as bench:
        assert bench.begin() == "HALTED"
        answers: dict[str, list[Any]] = {
            "plan/round-1/planner": [*wrong, right],
            "contracts/round-1/challenger": [failing()],
            "plan/round-2/planner": [wrong[0], right],
        }
        bench.follow(script(answers))
        assert answer(bench, "REVISE_PLAN", {"revised_micro_plan": short}) == "SHIPPED"
        assert of(bench, "plan") == ["plan/round-1/planner"] * 3 + ["plan/round-2/planner"] * 2
        told = bench.roles.asked_at("plan/round-1/planner").message
        assert "- `thrice`, which calls twice: Triples it." in told
        assert (
            "modules.1.depends_on: in the plan that was given thrice depends on twice"
            in bench.roles.refusals[0]
        )
        assert "'more' is not part of the plan that was given" in bench.roles.refusals[1]
        assert sorted(bench.sealed()) == ["thrice", "twice"]
        assert bench.unapproved() == []


def module(name: str, *depends_on: str, **more: str) -> dict[str, Any]:
    return {"module_id": name, "description": "Does it.", "depends_on": list(depends_on), **more}


BAD_PLANS: dict[str, tuple[Any, str]] = {
    "unknown": ([module("a", "nothing")], "'nothing' is neither a module of this plan nor a shipped one"),
    "circle": ([module("a", "b"), module("b", "a")], "cycle: a -> b -> a|cycle: b -> a -> b"),
    "twice": ([module("a"), module("a")], "'a' occurs twice"),
    "no_name": ([module("Ä ö!")], "cannot be read as a snake_case name"),
    "new_id": ([module("MM-0123abcd")], "MM-0123abcd is no module yet"),
    "no_plan": ({"modules": []}, "modules: .*task_facing|modules: .*claim"),
    "cycle_in_full": (plan(planned("a", "b"), planned("b", "a")), "the dependencies form a cycle"),
    "hiding": ([module("list")], "'list' would hide a name of Python's own"),
    "debated_name": ([module("contracts")], "'contracts' is what the debate"),
    "shipped_name": (plan(planned("halve")), "'halve' is the name of a shipped module"),
}


def test_a_plan_answers_a_halt_without_a_plan(directory: Path):
    """F-17.2-10: where planning itself failed, the person's plan is the first one."""
    with DebateWorkbench(directory, script({"plan/round-1/planner": [PROSE]})) as bench:
        assert bench.begin() == "HALTED"
        assert bench.escalation.details["cause"] == "planning"
        assert answer(bench, "REVISE_PLAN", {"revised_micro_plan": TWO}) == "SHIPPED"
        assert of(bench, "plan") == []
        assert bench.unapproved() == []


def test_an_approval_is_of_the_amended_version_where_the_amendments_were_applied(directory: Path):
    """F-17.2-02, F-9.6-04: what the gate refused after its amendments is what a person approves, and no other version."""
    change = ("MODIFY", "function:double", "Double it by adding it to itself.")
    better = draft("double", AT_THE_GATE)
    better["implementation/__init__.py"] = better["implementation/__init__.py"].replace(
        "number * 2", "number + number"
    )
    answers: dict[str, list[Any]] = {
        **{f"double/round-{n}/challenger": [failing()] for n in (1, 2)},
        "double/round-3/arbiter": [amending(change)],
        "double/amended-3/proposer": [Turn(amended(""), better)],
    }
    with DebateWorkbench(directory, script(answers)) as bench:
        bench.begin()
        last = bench.record("double", 3, "amendments")["after"]
        assert bench.escalation.details["resume"]["judged"]["double"]["version_id"] == last
        assert override(bench) == "HALTED"
        assert bench.record("double", 4, "adjudication")["target_artifact_id"] == last


def test_a_fix_meets_the_falsifying_tests_of_earlier_rounds(directory: Path):
    """F-17.2-11, D-13-05: at its preflight already; nobody is asked."""
    answers: dict[str, list[Any]] = {
        **REJECTED,
        "double/round-3/challenger": [{**PASSING, "falsifying_tests": [TRIED]}],
    }
    with DebateWorkbench(directory, script(answers)) as bench:
        bench.begin()
        assert fix(bench, draft("double", FALSIFIABLE)) == "HALTED"
        assert bench.trace == ["double/preflight", "double/tests"]
        assert "test_three_is_six" in bench.escalation.details["failed"]["double"]
