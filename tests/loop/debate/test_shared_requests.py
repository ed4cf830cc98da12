"""One request of a role covers several modules of a plan; each is recorded, judged and shipped alone (DESIGN D51)."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from specwright.domain.debate.debate import SHARED_CHARACTERS
from specwright.domain.spec.product_spec import ProductSpec
from specwright.gate import SandboxedShipGate
from specwright.gate.fuzz.check import FuzzBounds
from testkit.domain.product_specs import spec_of_graph
from testkit.loop.debate_workbench import TWO, DebateWorkbench, modelled, script
from testkit.loop.role_answers import (
    MILD,
    PASSING,
    PROSE,
    Turn,
    approving,
    claimed,
    draft,
    failing,
    plan,
    planned,
)
from testkit.loop.scripted_gate import AT_PREFLIGHT, AT_THE_GATE, ScriptedGate
from testkit.model.script import Script
from testkit.sampling import spread

ALONE = "PCAG"
CHAIN = plan(planned("double"), planned("triple", "double"), planned("halve"), task_facing="triple")


class Overheard:
    """The requests of a run, by the places where they were made."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []

    def __call__(self, place: Any, messages: list[Any], tools: Any) -> None:
        self.requests.append((f"{place.subject}/{place.stage}/{place.role}", messages[-1].text))

    @property
    def places(self) -> list[str]:
        """Where, in order."""
        return [place for place, _ in self.requests]

    def said(self, place: str) -> str:
        """The last message of the request at a place."""
        return next(text for where, text in reversed(self.requests) if where == place)


def run(directory: Path, played: Script, heard: Overheard, gate: Any = None) -> DebateWorkbench:
    """A task whose modules share requests, driven to its end."""
    bench = DebateWorkbench(
        directory, script(), gate, roles=modelled(played, heard), shared=SHARED_CHARACTERS
    )
    bench.begin()
    return bench


def modules_in(heard: Overheard) -> list[str]:
    """The requests after the contracts are locked."""
    return heard.places[heard.places.index("contracts/round-1/arbiter") + 1 :]


def letters(bench: DebateWorkbench, subject: str) -> str:
    """The records of a debate by round."""
    kinds = ("proposal", "challenge", "adjudication", "gate")
    rounds = bench.records()[subject]
    return "|".join("".join(k[0].upper() for k in kinds if k in found.split()) for found in rounds)


def test_each_role_is_asked_once_for_all_modules_of_a_plan(directory: Path):
    """D51: three requests instead of six; a proposal, a challenge and a ruling for each module."""
    heard = Overheard()
    with run(directory, script(planning=TWO), heard) as bench:
        assert modules_in(heard) == [
            f"double+halve/round-1/{r}" for r in ("proposer", "challenger", "arbiter")
        ]
        assert bench.status() == "SHIPPED"
        assert {name: letters(bench, name) for name in ("double", "halve")} == {
            "double": ALONE,
            "halve": ALONE,
        }
        assert set(bench.sealed()) == {"double", "halve"}
        assert bench.unapproved() == []


def test_a_shared_request_tells_of_the_approved_examples(directory: Path):
    """Those that the gate will run on each of its modules (D-40-10, D51)."""
    heard, spec = Overheard(), spec_of_graph([[]]).to_json()
    code = "from keeper import double\n\ndouble(3)"
    shown = {"title": "Twice three", "criteria": [1], "code": code, "gives": "6"}
    (task,) = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"]
    task["acceptance"] = {"provides": ["double(number: int) -> int"], "examples": [shown]}
    roles = modelled(script(planning=TWO), heard)
    gate = SandboxedShipGate(30.0, strength=0.0, fuzz=FuzzBounds(examples=0))
    with DebateWorkbench(directory, script(), gate, roles=roles, shared=SHARED_CHARACTERS) as bench:
        bench.approve(ProductSpec.model_validate(spec))
        bench.run()
    asked = heard.said("double+halve/round-1/proposer")
    assert "## criterion 1, Twice three\ndouble(3)\ngives 6" in asked


def test_what_is_refused_goes_on_alone_and_is_told_why(directory: Path):
    """D51, F-9.5-03: the mild review of one module is asked for again alone, with two attempts left; the other stands."""
    heard = Overheard()
    with run(directory, script({"double/round-1/challenger": [MILD, PASSING]}), heard) as bench:
        assert modules_in(heard) == [
            "double+halve/round-1/proposer",
            "double+halve/round-1/challenger",
            "double/round-1/challenger",
            "double/round-1/arbiter",
            "halve/round-1/arbiter",
        ]
        assert "R1 (rubric_assessments.0.evidence)" in heard.said("double/round-1/challenger")
        assert bench.status() == "SHIPPED"
        assert letters(bench, "halve") == ALONE


def test_a_challenger_that_is_always_mild_has_three_attempts_in_all(directory: Path):
    """F-9.5-03: the shared answer is the first of them."""
    heard = Overheard()
    played = script({"double/round-1/challenger": [MILD], "double/round-2/challenger": [PASSING]})
    with run(directory, played, heard) as bench:
        asked = Counter(place for place in heard.places if place.endswith("round-1/challenger"))
        assert asked["double+halve/round-1/challenger"] + asked["double/round-1/challenger"] == 3
        assert letters(bench, "double") == "PC|PCAG"


def test_a_draft_that_the_preflight_refuses_is_repaired_alone(directory: Path):
    """D18, D51: its own request holds the files as they were drafted and what was found of them."""
    heard = Overheard()
    said = {
        "double/round-1/proposer": [
            Turn(claimed(), draft("double", AT_PREFLIGHT)),
            Turn(claimed(), draft("double")),
        ]
    }
    with run(directory, script(said), heard) as bench:
        assert bench.status() == "SHIPPED"
        told = heard.said("double/round-1/proposer")
        assert "tests.failed" in told
        assert "return number * 2" in told
        assert letters(bench, "halve") == ALONE
        assert not [place for place in heard.places if place == "halve/round-1/proposer"]


@pytest.mark.parametrize("role", spread(["challenger", "proposer", "arbiter"], fast=3))
def test_an_answer_without_any_part_sends_all_modules_on_alone(directory: Path, role: str):
    """D51: one unreadable answer counts as the first attempt of each."""
    heard = Overheard()
    right = {"proposer": None, "challenger": Turn(PASSING), "arbiter": Turn(approving())}[role]
    said = {
        f"{name}/round-1/{role}": [Turn(PROSE), right or Turn(claimed(), draft(name))]
        for name in ("double", "halve")
    }
    with run(directory, script(said), heard) as bench:
        assert bench.status() == "SHIPPED"
        assert Counter(heard.places)[f"double+halve/round-1/{role}"] == 1
        assert f"halve/round-1/{role}" in heard.places


def test_a_failure_costs_the_module_that_has_it_a_revision_and_no_other(directory: Path):
    """D11, D51: the budget is counted per deliverable; the revision is asked for alone."""
    heard = Overheard()
    with run(directory, script({"double/round-1/challenger": [failing()]}), heard) as bench:
        assert letters(bench, "double") == "PC|PCAG"
        assert letters(bench, "halve") == ALONE
        assert bench.status() == "SHIPPED"


class SeenGate(ScriptedGate):
    """Remembers where it took the dependencies of each candidate from."""

    def __init__(self) -> None:
        super().__init__([])
        self.seen: list[tuple[str, bool, list[str]]] = []

    def judge(self, candidate: Any, *, thorough: bool = True) -> Any:
        """As the scripted one."""
        folders = [{*module.directory.parts} & {"artifacts", "modules"} for module in candidate.dependencies]
        places = [place for found in folders for place in found]
        self.seen.append((candidate.contract.name, thorough, places))
        assert all((module.directory / "implementation").is_dir() for module in candidate.dependencies)
        return super().judge(candidate, thorough=thorough)


def test_a_dependency_of_the_same_request_is_a_draft_at_the_preflight_and_sealed_at_the_gate(directory: Path):
    """F§10.2, D51: modules are gated in order, with what was sealed before them."""
    heard, gate = Overheard(), SeenGate()
    with run(directory, script(planning=CHAIN), heard, gate) as bench:
        assert bench.status() == "SHIPPED"
        taken = {thorough: places for name, thorough, places in gate.seen if name == "triple"}
        assert taken == {True: ["artifacts"], False: ["modules"]}
        assert [name for name, thorough, _ in gate.seen if thorough].count("triple") == 1
        order = [name for name, thorough, _ in gate.seen if not thorough]
        assert order.index("double") < order.index("triple")
        assert letters(bench, "triple") == ALONE


def test_slow_stages_run_again_where_a_dependency_ships_as_another_than_it_was_drafted(directory: Path):
    """D-18-04: what was observed holds for the same dependencies only."""
    said = {"double/round-1/proposer": [Turn(claimed(), draft("double", AT_THE_GATE))]}
    gate = SeenGate()
    with run(directory, script(said, CHAIN), Overheard(), gate) as bench:
        assert bench.status() == "SHIPPED"
        seen = [(thorough, *places) for name, thorough, places in gate.seen if name == "triple"]
        assert seen == [(True, "artifacts"), (False, "modules"), (True, "modules")]


def test_what_depends_on_a_module_that_fails_is_abandoned_whatever_was_said_of_it(directory: Path):
    """F§3.4, D51: its first round came to an approval; it does not ship."""
    said = {f"double/round-{n}/proposer": [Turn(claimed(), draft("double", AT_THE_GATE))] for n in (1, 2, 3)}
    with run(directory, script(said, CHAIN), Overheard()) as bench:
        assert bench.status() == "HALTED"
        assert set(bench.sealed()) == {"halve"}
        assert bench.escalation.details["abandoned"] == ["triple"]


def test_no_judge_of_several_modules_sees_source(directory: Path):
    """F-9.7: Challenger and Arbiter judge claims, tests and examples."""
    heard = Overheard()
    with run(directory, script(), heard):
        for role in ("challenger", "arbiter"):
            assert "return number * 2" not in heard.said(f"double+halve/round-1/{role}")


def test_a_request_holds_as_many_modules_as_fit_its_size(directory: Path):
    """D51: what does not fit the stated size is asked for in the next request, or alone."""
    heard = Overheard()
    played = script(planning=plan(*map(planned, ("one", "two", "three")), task_facing="one"))
    roles = modelled(played, heard)
    with DebateWorkbench(directory, script(), roles=roles, shared=SHARED_CHARACTERS) as bench:
        bench.begin()
        whole = len(heard.said("one+two+three/round-1/proposer"))
    smaller = Overheard()
    (directory / "again").mkdir()
    limited = modelled(played, smaller)
    with DebateWorkbench(directory / "again", script(), roles=limited, shared=whole - 1) as bench:
        assert bench.begin() == "SHIPPED"
        assert [p for p in modules_in(smaller) if p.endswith("proposer")] == [
            "one+two/round-1/proposer",
            "three/round-1/proposer",
        ]


class Killed(BaseException):
    """The process ends here."""


class DeadlyGate(ScriptedGate):
    """Ends the run at its so-manieth observation."""

    def __init__(self, nth: int) -> None:
        super().__init__([])
        self._left = nth

    def judge(self, candidate: Any, *, thorough: bool = True) -> Any:
        """As the scripted one, until it is over."""
        self._left -= 1
        if self._left == 0:
            raise Killed
        return super().judge(candidate, thorough=thorough)


@pytest.mark.parametrize("nth", spread([1, 2, 3, 4], fast=3))
def test_a_run_that_ends_between_the_parts_of_a_shared_answer_asks_nothing_again(directory: Path, nth: int):
    """D-S4-03: the answer is journalled once; the run that goes on splits it the same way."""
    first, second = Overheard(), Overheard()
    with pytest.raises(Killed):
        run(directory, script(planning=TWO), first, DeadlyGate(nth))
    roles = modelled(script(planning=TWO), second)
    with DebateWorkbench(directory, script(), roles=roles, shared=SHARED_CHARACTERS) as bench:
        bench.run()
        assert bench.status() == "SHIPPED"
        asked = Counter(first.places + second.places)
        assert set(asked.values()) == {1}
        assert {name: letters(bench, name) for name in ("double", "halve")} == {
            "double": ALONE,
            "halve": ALONE,
        }
        proposals = list((bench.base / "debates").glob("*/round-1/proposal.json"))
        assert len(proposals) == 3
        assert len({json.loads(path.read_text())["proposal_id"] for path in proposals}) == 3
