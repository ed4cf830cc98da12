"""The lane `one-shot`: one request drafts the modules of all tasks that fit (DESIGN D51)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specwright.application.announce import review
from specwright.domain.debate.debate import ONE_SHOT_CHARACTERS
from specwright.domain.escalation.resolutions import OPERATOR
from specwright.ports.progress import Step
from specwright.ports.roles import Place, Role
from specwright.roles.agent.tools import NoSearch
from specwright.roles.team import ModelRoles
from specwright.storage.context_pack import ContextPackBackend
from testkit.domain.product_specs import spec_of_graph
from testkit.killing import DeadlyJournal
from testkit.loop.debate_workbench import DebateWorkbench, modelled, script
from testkit.loop.resolving import answer
from testkit.loop.role_answers import MILD, PASSING, PROSE, Turn, claimed, draft, failing, plan, planned
from testkit.loop.scripted_gate import AT_PREFLIGHT, ScriptedGate
from testkit.model.fake_model import FakeSource, observed
from testkit.model.script import script_replies
from testkit.sampling import slow, spread

JUDGED = ("proposer", "challenger", "arbiter")
"""The roles that are asked about a module, in their order."""

CHAIN = [[], [0], [1], [2]]
"""Four tasks, each of which waits for the one before it."""


class Asked:
    """The requests of a run: their places in order, and what each said first."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.said: dict[str, str] = {}
        self.sizes: dict[str, int] = {}

    def __call__(self, place: Any, messages: list[Any], tools: Any) -> None:
        self.places.append(place.run_id)
        self.sizes.setdefault(place.run_id, len(messages[-1].text))
        self.said.setdefault(place.run_id, "\n".join(message.text for message in messages))

    def of(self, role: str) -> list[str]:
        """Those of one role, without it."""
        return [place.removesuffix(f"/{role}") for place in self.places if place.endswith(role)]


def name_of(number: int) -> str:
    """The module of a task."""
    return f"module_{number}"


def plans(waits_for: Sequence[Sequence[int]]) -> dict[str, list[Any]]:
    """For each task a plan of one module, which calls those of the tasks that it waits for."""
    return {
        f"TSK-{n + 1:03d}/plan/round-1/planner": [plan(planned(name_of(n), *map(name_of, waits)))]
        for n, waits in enumerate(waits_for)
    }


def opened(
    directory: Path,
    asked: Any,
    said: Mapping[str, list[Any]] | None = None,
    waits_for: Sequence[Sequence[int]] = CHAIN,
    shared: int = ONE_SHOT_CHARACTERS,
    gate: Any = None,
    *,
    one_shot: bool = True,
    index: Any = None,
) -> DebateWorkbench:
    """A project in that lane."""
    played = script({**plans(waits_for), **(said or {})})
    return DebateWorkbench(directory, played, gate, modelled(played, asked), index, shared, one_shot=one_shot)


def statuses(bench: DebateWorkbench) -> set[str]:
    """How the tasks stand."""
    return {task.status.value for task in bench.state.tasks.values()}


def joined(*numbers: int) -> str:
    """The modules of some tasks, as a place names them."""
    return "+".join(map(name_of, numbers))


def test_one_request_of_each_role_is_about_the_modules_of_all_tasks(directory: Path):
    """D51: six requests for four tasks, in place of fifteen, and the records of each task and module alone."""
    asked = Asked()
    with opened(directory, asked) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.places[3:] == [f"TSK-001.1/{joined(0, 1, 2, 3)}/round-1/{role}" for role in JUDGED]
        assert len(asked.places) == 6
        assert set(bench.sealed()) == {name_of(n) for n in range(4)}
        assert bench.unapproved() == []
        kinds = [len(bench.envelopes(kind)) for kind in ("MP", "CTR", "IMPL", "PROP", "CHAL", "ADJ")]
        assert kinds == [4, 4, 4, 8, 8, 8]
        assert {made.created_by.run_id.partition("/")[0] for made in bench.envelopes("IMPL")} == {
            f"TSK-00{n}.1" for n in range(1, 5)
        }


def test_the_request_tells_of_each_task_what_it_would_be_told_alone(directory: Path):
    """D-41, D51: criteria and contracts under the heading of each task; no judge sees source or, as Challenger, a task
    file."""
    asked = Asked()
    with opened(directory, asked) as bench:
        bench.begin(CHAIN)
    drafted, judged = (asked.said[f"TSK-001.1/{joined(0, 1, 2, 3)}/round-1/{role}"] for role in JUDGED[:2])
    for number in range(4):
        assert f"# TSK-00{number + 1}: Task {number + 1}" in drafted
        assert f"# Contract of `{name_of(number)}`" in drafted
        assert f"# /{name_of(number)}/implementation/__init__.py as it is now" in drafted
    assert "return number * 2" not in judged
    assert "Task file" not in judged
    assert "not stored" not in judged


def told(bench: DebateWorkbench) -> list[tuple[str, str]]:
    """The log: the kinds of its events and their subjects."""
    return [(wire["type"], wire["payload"].get("subject", "")) for wire in bench.wires()]


def test_the_log_says_the_same_as_in_the_other_lane(directory: Path):
    """F§3.3, D51: a task is claimed, started and shipped in the order of dispatch, and nothing of it comes before."""

    def log(folder: str, *, one_shot: bool) -> list[tuple[str, str]]:
        (directory / folder).mkdir()
        with opened(directory / folder, Asked(), one_shot=one_shot) as bench:
            bench.begin(CHAIN)
            return told(bench)

    assert log("one", one_shot=True) == log("other", one_shot=False)


def test_nothing_of_a_later_task_is_stored_before_its_dispatch(directory: Path):
    """F§3.3, D51: when a module passes the ship gate there are the files of the tasks up to its own."""
    found: list[int] = []

    class LookingGate(ScriptedGate):
        """Counts the implementations that are stored."""

        def judge(self, candidate: Any, *, thorough: bool = True) -> Any:
            if not thorough:
                found.append(len(list((directory / "state_store/artifacts").glob("*/IMPL-*"))))
            return super().judge(candidate, thorough=thorough)

    with opened(directory, Asked(), gate=LookingGate([])) as bench:
        bench.begin(CHAIN)
        assert found == [1, 2, 3, 4]


def test_a_draft_that_the_preflight_refuses_goes_on_alone(directory: Path):
    """D18, D51: its own request holds the files as they were drafted and what was found; what calls it was not judged in
    advance and shares the next request."""
    said = {
        "module_1/round-1/proposer": [
            Turn(claimed(), draft("module_1", AT_PREFLIGHT)),
            Turn(claimed(), draft("module_1")),
        ]
    }
    asked = Asked()
    with opened(directory, asked, said) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        alone = [place for place in asked.places if place.startswith("TSK-002")]
        assert alone == [f"TSK-002.1/module_1/round-1/{role}" for role in JUDGED]
        assert "expected 4, got 5" in asked.said[alone[0]]
        assert asked.of("proposer") == [
            f"TSK-001.1/{joined(0, 1, 2, 3)}/round-1",
            "TSK-002.1/module_1/round-1",
        ]
        assert asked.of("challenger")[-2:] == [
            "TSK-002.1/module_1/round-1",
            f"TSK-003.1/{joined(2, 3)}/round-1",
        ]
        assert bench.unapproved() == []


def test_a_fail_that_was_given_in_advance_is_the_first_round_of_its_module(directory: Path):
    """D11, D51: it costs a revision as it would alone; later modules count as they were judged."""
    asked = Asked()
    with opened(directory, asked, {"module_2/round-1/challenger": [failing()]}) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        alone = [place for place in asked.places if not place.startswith("TSK-001")]
        assert alone[:3] == [f"TSK-003.1/module_2/round-2/{role}" for role in JUDGED]
        assert alone[3:] == ["TSK-004.1/module_3/round-1/arbiter"]
        assert bench.records()["module_2"][0].split() == ["challenge", "proposal"]


def test_a_mild_review_that_was_given_in_advance_is_asked_for_alone(directory: Path):
    """F-9.5-03: with two attempts left, and told what was wrong."""
    asked = Asked()
    with opened(directory, asked, {"module_1/round-1/challenger": [MILD, PASSING]}) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        told_so = asked.said["TSK-002.1/module_1/round-1/challenger"]
        assert "R1 (rubric_assessments.0.evidence)" in told_so


def test_an_answer_that_cannot_be_read_sends_each_module_on_alone(directory: Path):
    """D51: it counts as the first attempt of each."""
    said = {
        f"{name_of(n)}/round-1/proposer": [Turn(PROSE), Turn(claimed(), draft(name_of(n)))] for n in range(4)
    }
    asked = Asked()
    with opened(directory, asked, said) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.of("proposer")[1:] == [f"TSK-00{n + 1}.1/{name_of(n)}/round-1" for n in range(4)]


class AmendingGate(ScriptedGate):
    """While the first module passes the ship gate, a person amends a task that waits."""

    def __init__(self, amend: Callable[[], None]) -> None:
        super().__init__([])
        self._amend: Callable[[], None] | None = amend

    def judge(self, candidate: Any, *, thorough: bool = True) -> Any:
        """As the scripted one."""
        if self._amend and not thorough:
            self._amend()
            self._amend = None
        return super().judge(candidate, thorough=thorough)


def test_what_was_drafted_of_a_task_that_is_amended_meanwhile_does_not_count(directory: Path):
    """F§9.6, D51: it is planned and drafted anew; the rest of what was said still counts."""
    asked = Asked()
    waits_for: list[list[int]] = [[], [], []]

    def amend() -> None:
        definition = next(d for d in bench.projection.definitions.values() if d.spec_task_id == "TSK-002")
        changed = definition.model_copy(update={"acceptance_criteria": ["Returns the names in their order"]})
        sha256 = bench.store.define(changed.to_bytes())
        bench.tell(review("keeper-1a2b3c4d", "task.amended", sha256, definition.task_id, OPERATOR))

    with opened(directory, asked, waits_for=waits_for, gate=AmendingGate(amend)) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        assert "Returns the names in their order" in asked.said["TSK-002.1/module_1/round-1/proposer"]
        assert not [place for place in asked.places if place.startswith("TSK-003")]


def test_drafts_outlive_a_halt_of_the_task_before_them(directory: Path):
    """F§9.6, D51: a person's answer brings another plan with the same contract; what was drafted of later tasks counts."""
    refused = [Turn(claimed(), draft("module_0", AT_PREFLIGHT))]
    asked, waits_for = Asked(), [[], [0]]
    with opened(directory, asked, {"module_0/round-1/proposer": refused}, waits_for) as bench:
        bench.begin(waits_for)
        assert [bench.status(0), bench.status(1)] == ["HALTED", "BLOCKED"]
        again = script({**plans(waits_for)})
        bench.factory = replace(bench.factory, roles=modelled(again, asked)(bench))
        right = plans(waits_for)["TSK-001/plan/round-1/planner"][0]
        assert answer(bench, "REVISE_PLAN", {"revised_micro_plan": right}) == "SHIPPED"
        assert bench.status(1) == "SHIPPED"
        assert "TSK-002" not in "".join(asked.of("proposer"))
        assert asked.of("challenger")[-1] == "TSK-002.1/module_1/round-1"


@pytest.mark.parametrize("count", [7, slow(21)])
def test_a_request_holds_a_bounded_number_of_tasks_and_says_so(directory: Path, count: int):
    """D51: what a request holds does not grow with the product; progress tells of each request."""
    asked, waits_for = Asked(), [[] for _ in range(count)]
    with opened(directory, asked, waits_for=waits_for) as bench:
        bench.approve(spec_of_graph(waits_for))
        bench.run()
        assert statuses(bench) == {"SHIPPED"}
        held = [place.split("/")[1].split("+") for place in asked.of("proposer")]
        assert [len(names) for names in held] == [5] * (count // 5) + [count % 5]
        notes = [one for one in bench.notes.events if isinstance(one, Step) and one.kind == "one-shot"]
        assert len(notes) == sum(len(names) > 1 for names in held)
        assert "TSK-001, TSK-002, TSK-003, TSK-004, TSK-005" in notes[0].text


def test_as_many_modules_share_a_request_as_fit_its_size(directory: Path):
    """D51: what does not fit comes in the next request."""
    whole, smaller, waits_for = Asked(), Asked(), [[], [], []]
    with opened(directory, whole, waits_for=waits_for) as bench:
        bench.begin(waits_for)
    size = whole.sizes[f"TSK-001.1/{joined(0, 1, 2)}/round-1/arbiter"]
    (directory / "again").mkdir()
    with opened(directory / "again", smaller, waits_for=waits_for, shared=size - 1) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        assert smaller.of("challenger")[1:] == [f"TSK-001.1/{joined(0, 1, 2)}/round-1"]
        assert smaller.of("arbiter")[1:] == [
            f"TSK-001.1/{joined(0, 1)}/round-1",
            "TSK-003.1/module_2/round-1",
        ]
        assert max(smaller.sizes[place] for place in smaller.places if "+" in place) < size


def test_a_request_drafts_a_bounded_number_of_modules(directory: Path):
    """D51: an answer must fit what a model writes; the modules of a plan stay together."""
    waits_for: list[list[int]] = [[], [], []]
    said = {
        f"TSK-00{n}/plan/round-1/planner": [plan(*(planned(f"part_{n}{letter}") for letter in "abcd"))]
        for n in (1, 2, 3)
    }
    asked = Asked()
    with opened(directory, asked, said, waits_for) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        held = [place.split("/")[1].split("+") for place in asked.of("proposer")]
        assert [len(names) for names in held] == [8, 4]
        assert bench.unapproved() == []


def test_a_script_that_cannot_answer_about_tasks_together_is_asked_task_by_task(directory: Path):
    """D51: as a playbook, whose files may be written task by task."""

    class Alone(FakeSource):
        """Knows one task at a time."""

        def can_share(self, place: Place) -> bool:
            return False

    asked, played = Asked(), script(plans(CHAIN))

    def roles(bench: DebateWorkbench) -> ModelRoles:
        source = Alone(observed(script_replies(played), asked))
        sources, work = dict.fromkeys(Role, source), bench.runtime / "work"
        return ModelRoles(
            sources, bench.journal, bench.index, NoSearch(), work, bench.notes, ContextPackBackend
        )

    with DebateWorkbench(directory, played, roles=roles, shared=ONE_SHOT_CHARACTERS, one_shot=True) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        assert len(asked.places) == 4 * 6


class Killed(BaseException):
    """The process ends here."""


class ShortFuse:
    """Ends the run after so many effects."""

    def __init__(self, left: int) -> None:
        self._left = left

    def effect(self, kind: str, name: str) -> None:
        """One more."""
        self._left -= 1
        if self._left == 0:
            raise Killed


class CutShort(DebateWorkbench):
    """A project whose run ends after so many records of its journal."""

    def __init__(self, directory: Path, asked: Asked, records: int) -> None:
        played = script(plans(CHAIN))
        super().__init__(directory, played, shared=ONE_SHOT_CHARACTERS, one_shot=True)
        self.journal: Any = DeadlyJournal(self.journal, ShortFuse(records))  # type: ignore[assignment]
        self.factory = replace(self.factory, journal=self.journal)
        self.factory = replace(self.factory, roles=modelled(played, asked)(self))


@pytest.mark.parametrize("records", spread(range(8, 230, 2), fast=22, slow=6))
def test_a_run_that_ends_between_two_records_asks_nothing_again(directory: Path, records: int):
    """D-S4-03, D51: whether the parts of a shared answer are all in the journal, or some, or none."""
    first, second = Asked(), Asked()
    with CutShort(directory, first, records) as bench, pytest.raises(Killed):
        bench.begin(CHAIN)
    with opened(directory, second, index=bench.index) as bench:
        if bench.projection.spec is None:
            bench.approve(spec_of_graph(CHAIN))
        bench.run()
        assert statuses(bench) == {"SHIPPED"}
        assert set(Counter(first.places + second.places).values()) == {1}
        assert len(first.places + second.places) == 6
        assert [len(bench.envelopes(kind)) for kind in ("MP", "IMPL", "CHAL", "ADJ")] == [4, 4, 8, 8]
