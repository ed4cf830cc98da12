"""The debate over the contract of an adopted module: with the first plan that uses it, and never again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specwright import canonical_json
from specwright.application.plan.rules import known_now
from specwright.domain.modules.code_index import IndexStatus
from testkit.domain.product_specs import spec_of_graph
from testkit.loop.adopted_products import imported, module_directory
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.role_answers import PASSING, amending, approving, failing, plan, planned

CHALLENGER = "contracts/round-1/challenger"
ADOPTED = "Adopted contract `triple`"
CALLING = plan(planned("double", "triple"))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[DebateWorkbench]:
    """A project of two tasks, the second of which waits for the first; one module is adopted."""
    with DebateWorkbench(tmp_path, script()) as made:
        made.approve(spec_of_graph(([], [0])))
        imported(made.factory, module_directory("sextuple", "triple"), module_directory("triple"))
        yield made


def ref_of(bench: DebateWorkbench, name: str) -> str:
    return next(ref for ref, one in bench.projection.adopted.items() if one.name == name)


def reusing(bench: DebateWorkbench, name: str) -> dict[str, Any]:
    """A plan of nothing but an adopted module."""
    reuse = {
        "query": name,
        "conclusion": "REUSE_EXISTING",
        "justification": "It does exactly this.",
        "reuse_ref": ref_of(bench, name),
    }
    return plan(planned(name, reuse=reuse))


def blaming(name: str = "triple") -> dict[str, Any]:
    """A verdict that finds an adopted contract at fault."""
    answer = failing("It says nothing of numbers that are too large.")
    answer["failures"][0]["adopted_contract"] = name
    return answer


def rulings(bench: DebateWorkbench) -> dict[str, str]:
    """What the debates over adopted contracts came to, by the modules' names."""
    return {
        bench.projection.adopted[ref].name: one.verdict
        for ref, one in bench.projection.adopted_rulings.items()
    }


def test_the_first_plan_that_calls_it_debates_its_contract(bench: DebateWorkbench):
    """Both judges see it, marked as what nobody can change; with the lock it is accepted, in the log too (D-10, D-29-05)."""
    bench.follow(script(planning=CALLING))
    bench.run()

    for role in ("challenger", "arbiter"):
        asked = [
            one for one in bench.roles.asked if one.place.subject == "contracts" and one.place.role == role
        ]
        assert ADOPTED in asked[0].message
    assert rulings(bench) == {"triple": "ACCEPTED"}
    (wire,) = (one for one in bench.reviews() if one["subject"] == "adopted.ruled")
    assert wire["reference"] == ref_of(bench, "triple")


def test_it_is_debated_once(bench: DebateWorkbench):
    """A later plan that calls it is shown it as any other dependency."""
    later = plan(planned("quadruple", "triple"))
    bench.follow(script({"TSK-002/plan/round-1/planner": [later]}, planning=CALLING))
    assert bench.run() == "COMPLETE"

    first, second = (
        one
        for one in bench.roles.asked
        if one.place.subject == "contracts" and one.place.role == "challenger"
    )
    assert ADOPTED in first.message
    assert ADOPTED not in second.message
    assert "Dependency `triple`" in second.message
    assert "## " not in second.message.partition("Dependency `triple`")[2].partition("\n# ")[0]  # no examples


def test_a_plan_that_only_reuses_it_has_a_debate_for_it(bench: DebateWorkbench):
    """And for what it calls; the task ships it as it is (F-14.3-09)."""
    bench.follow(
        script(
            {"TSK-002/plan/round-1/planner": [plan(planned("double"))]}, planning=reusing(bench, "sextuple")
        )
    )
    assert bench.run() == "COMPLETE"

    message = bench.roles.asked[1].message
    assert "Adopted contract `sextuple`" in message
    assert ADOPTED in message
    assert rulings(bench) == {"sextuple": "ACCEPTED", "triple": "ACCEPTED"}
    assert next(iter(bench.state.tasks.values())).module_refs == [ref_of(bench, "sextuple")]


def test_a_failure_of_it_refuses_it_and_the_plan_goes_back(bench: DebateWorkbench):
    """The module stays as it is, DEPRECATED with the reason; the planner is told, and the next plan does without
    (F-14.3-03)."""
    without = plan(planned("double"))
    answers = {
        CHALLENGER: [blaming()],
        "plan/round-2/planner": [without],
        "TSK-002/contracts/round-1/challenger": [PASSING],
        "TSK-002/plan/round-1/planner": [plan(planned("quadruple"))],
    }
    bench.follow(script(answers, planning=CALLING))
    assert bench.run() == "COMPLETE"

    told = next(
        one.message
        for one in bench.roles.asked
        if one.place.stage == "round-2" and one.place.role == "planner"
    )
    assert "`triple` was adopted and cannot be changed; it was refused for reuse" in told
    assert rulings(bench) == {"triple": "REFUSED"}
    ref = ref_of(bench, "triple")
    entry = bench.index.get(*ref.split("@"))
    assert entry is not None
    assert entry.status is IndexStatus.DEPRECATED
    assert "too large" in entry.notes
    assert ref not in {one for task in bench.state.tasks.values() for one in task.module_refs}
    refused = known_now(bench.factory).refused
    assert refused.keys() == {ref, ref_of(bench, "sextuple")}


def test_no_plan_may_name_what_was_refused_or_what_calls_it(bench: DebateWorkbench):
    """By name or reference; the planner is told why, within its attempts (D-26)."""
    ref = ref_of(bench, "triple")
    answers = {
        CHALLENGER: [blaming()],
        "plan/round-2/planner": [
            plan(planned("double", ref)),
            plan(planned("double", "sextuple")),
            plan(planned("double")),
        ],
        "TSK-002/contracts/round-1/challenger": [PASSING],
        "TSK-002/plan/round-1/planner": [plan(planned("quadruple"))],
    }
    bench.follow(script(answers, planning=CALLING))
    assert bench.run() == "COMPLETE"

    by_ref, by_caller = bench.roles.refusals
    assert f"{ref!r} is refused for reuse: " in by_ref
    assert f"it calls {ref}, which was refused" in by_caller


def test_what_was_refused_comes_back_corrected(bench: DebateWorkbench):
    """As the next version, and so does what calls it; plans may use both."""
    answers = {
        CHALLENGER: [blaming()],
        "plan/round-2/planner": [plan(planned("double"))],
        "TSK-002/contracts/round-1/challenger": [PASSING],
        "TSK-002/plan/round-1/planner": [plan(planned("quadruple"))],
    }
    bench.follow(script(answers, planning=CALLING))
    bench.run()
    refused = known_now(bench.factory).refused

    corrected = module_directory("triple", version="with a correction")
    back = imported(bench.factory, module_directory("sextuple", "triple"), corrected)

    refs = {one.name: one.record.module_ref for one in back if one.record}
    known = known_now(bench.factory)
    assert {ref.partition("@")[2] for ref in refs.values()} == {"1.0.1"}
    assert {name: known.by_name[name] for name in refs} == refs
    assert known.refused == refused


def test_nobody_is_blamed_who_is_not_debated(bench: DebateWorkbench):
    """A failure names an adopted contract of this debate, or the answer goes back."""
    bench.follow(script({CHALLENGER: [blaming("sextuple"), PASSING]}, planning=CALLING))
    bench.run()

    assert any(
        "'sextuple' is no adopted contract of this debate; these are: triple" in one
        for one in bench.roles.refusals
    )
    assert rulings(bench) == {"triple": "ACCEPTED"}


def test_nobody_amends_it(bench: DebateWorkbench):
    """An Arbiter that asks for it is asked again."""
    amendment = ("MODIFY", "contract:triple#/purpose", "Make three times the number that is given.")
    bench.follow(script({"contracts/round-1/arbiter": [amending(amendment), approving()]}, planning=CALLING))
    bench.run()

    assert any("there is no contract triple" in one for one in bench.roles.refusals)
    assert (
        canonical_json.loads(
            bench.store.read(f"modules/{ref_of(bench, 'triple').replace('@', '/')}/contract.json")
        )["purpose"]
        == "Make the triple of a number that is not negative."
    )
