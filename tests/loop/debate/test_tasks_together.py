"""Tasks that come next are planned, and their contracts judged, in the requests of the task before them (DESIGN D51)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from specwright.application.announce import review
from specwright.domain.debate.debate import SHARED_CHARACTERS, SHARED_TASKS
from specwright.domain.escalation.resolutions import OPERATOR
from specwright.journal import Recording
from specwright.ports.roles import Place
from specwright.roles.agent.tools import NoSearch
from specwright.roles.models.sources import ModelSource, model_sources
from specwright.roles.team import ModelRoles
from specwright.settings import Settings
from specwright.storage.context_pack import ContextPackBackend
from testkit.domain.product_specs import spec_of_graph
from testkit.killing import DeadlyJournal
from testkit.loop.debate_workbench import DebateWorkbench, modelled, script
from testkit.loop.resolving import answer
from testkit.loop.role_answers import (
    MILD,
    PASSING,
    PROSE,
    Turn,
    amending,
    aside,
    failing,
    plan,
    planned,
    rejecting,
    unshown,
)
from testkit.loop.scripted_gate import ScriptedGate
from testkit.sampling import nightly, slow, spread

CHAIN = [[], [0], [1], [2]]
"""Four tasks, each of which waits for the one before it."""
TOGETHER = "TSK-001+TSK-002+TSK-003+TSK-004"
ALONE = ("plan/round-1/planner", "contracts/round-1/challenger", "contracts/round-1/arbiter")
"""The requests that tasks share, as a task alone makes them."""


class Asked:
    """The requests of a run: the first message of each by its place."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.said: dict[str, str] = {}
        self.sizes: dict[str, int] = {}

    def __call__(self, place: Any, messages: list[Any], tools: Any) -> None:
        self.places.append(place.run_id)
        self.sizes.setdefault(place.run_id, len(messages[-1].text))
        self.said.setdefault(place.run_id, "\n".join(message.text for message in messages))

    @property
    def shared(self) -> list[str]:
        """Those about several tasks."""
        return [place for place in self.places if "+" in place]

    def alone(self, task: str) -> list[str]:
        """What a task was asked about alone before its modules were made."""
        places = (place.removeprefix(f"{task}.1/") for place in self.places if place.startswith(f"{task}.1/"))
        return [place for place in places if place.startswith(("plan/", "contracts/"))]


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
    asked: Asked,
    said: Mapping[str, list[Any]] | None = None,
    waits_for: Sequence[Sequence[int]] = CHAIN,
    shared: int = SHARED_CHARACTERS,
    gate: Any = None,
) -> DebateWorkbench:
    """A project whose tasks may share requests."""
    played = script({**plans(waits_for), **(said or {})})
    return DebateWorkbench(directory, played, gate, roles=modelled(played, asked), shared=shared)


def statuses(bench: DebateWorkbench) -> set[str]:
    """How the tasks stand."""
    return {task.status.value for task in bench.state.tasks.values()}


def test_the_tasks_of_a_product_share_one_request_of_each_role(directory: Path):
    """D51: three requests for the contracts of four tasks, three for each module, and the records of a task alone."""
    asked = Asked()
    with opened(directory, asked) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.shared == [
            f"TSK-001.1/{TOGETHER}/round-1/{role}" for role in ("planner", "challenger", "arbiter")
        ]
        assert len(asked.places) == 3 + 4 * 3
        assert set(bench.sealed()) == {name_of(n) for n in range(4)}
        assert bench.unapproved() == []
        kinds = [len(bench.envelopes(kind)) for kind in ("MP", "CTR", "PROP", "CHAL", "ADJ")]
        assert kinds == [4, 4, 8, 8, 8]
        authors = {made.created_by.run_id for kind in ("MP", "CTR") for made in bench.envelopes(kind)}
        assert authors == {f"TSK-00{n}.1/plan/round-1/planner" for n in range(1, 5)}


def test_the_log_says_the_same_as_if_each_task_had_been_asked_about_alone(directory: Path):
    """F§3.3, D51: the order of events is that of the tasks."""

    def told(shared: int, folder: str) -> list[tuple[str, str]]:
        (directory / folder).mkdir()
        with opened(directory / folder, Asked(), shared=shared) as bench:
            bench.begin(CHAIN)
            return [(wire["type"], wire["payload"].get("subject", "")) for wire in bench.wires()]

    assert told(SHARED_CHARACTERS, "together") == told(0, "alone")


def test_nothing_of_a_later_task_is_stored_before_its_dispatch(directory: Path):
    """F§3.3, D51: when the first module is judged there is one plan."""
    found: list[list[str]] = []

    class LookingGate(ScriptedGate):
        """Counts the plans that are stored."""

        def judge(self, candidate: Any, *, thorough: bool = True) -> Any:
            paths = (directory / "state_store/artifacts").glob("*/MP-*")
            found.append(sorted(path.name for path in paths))
            return super().judge(candidate, thorough=thorough)

    with opened(directory, Asked(), gate=LookingGate([])) as bench:
        bench.begin(CHAIN)
        assert [len(plans) for plans in found[::2]] == [1, 2, 3, 4]


UNKNOWN = plan(planned("module_1", "nowhere"))
TWICE = plan(planned("module_1"), planned("module_1"))


@pytest.mark.parametrize("wrong", [UNKNOWN, TWICE], ids=["unknown module", "name twice"])
def test_a_plan_that_is_refused_is_asked_for_alone_with_what_was_wrong(directory: Path, wrong: Any):
    """D51, F-9.5-03: the shared answer was its first attempt; it is shown with what was wrong, and nobody judged it."""
    right = plans(CHAIN)["TSK-002/plan/round-1/planner"][0]
    asked = Asked()
    with opened(directory, asked, {"TSK-002/plan/round-1/planner": [wrong, right]}) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-002")[0] == ALONE[0]
        told = asked.said["TSK-002.1/plan/round-1/planner"]
        assert "# Your first answer" in told
        assert told.count('"name": "module_1"') == len(wrong["modules"])
        assert "Hand in what changes in the plan above by `change_plan`" in told
        assert f"TSK-001.1/{TOGETHER}/round-1/challenger" not in asked.places


def test_a_plan_that_never_fits_has_three_attempts_in_all(directory: Path):
    """F-9.5-03, D51: no bound of calls grows; the escalation holds the answer of the shared request as well."""
    asked = Asked()
    with opened(directory, asked, {"TSK-002/plan/round-1/planner": [UNKNOWN]}) as bench:
        bench.begin(CHAIN)
        assert bench.status(1) == "HALTED"
        assert asked.alone("TSK-002") == [ALONE[0]] * 2
        assert len(bench.escalation.details["raw_answers"]) == 3


def test_an_answer_about_tasks_that_cannot_be_read_sends_each_on_alone(directory: Path):
    """D51: it counts as the first attempt of each, and no later task asks for another one."""
    said = {place: [Turn(PROSE), Turn(given[0])] for place, given in plans(CHAIN).items()}
    asked = Asked()
    with opened(directory, asked, said) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.shared == [f"TSK-001.1/{TOGETHER}/round-1/planner"]
        assert [asked.alone(f"TSK-00{n}") for n in range(1, 5)] == [list(ALONE)] * 4


def test_a_fail_that_was_given_ahead_is_the_first_round_of_its_task(directory: Path):
    """D11, D51: it costs a revision as it would alone, and the other tasks nothing."""
    said = {
        "TSK-002/contracts/round-1/challenger": [failing()],
        "TSK-002/plan/round-2/planner": plans(CHAIN)["TSK-002/plan/round-1/planner"],
    }
    asked = Asked()
    with opened(directory, asked, said) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-002") == [
            "plan/round-2/planner",
            "contracts/round-2/challenger",
            "contracts/round-2/arbiter",
        ]
        assert asked.alone("TSK-003") == asked.alone("TSK-004") == []
        assert asked.shared[2:] == ["TSK-003.1/TSK-003+TSK-004/round-1/arbiter"]


def test_a_mild_review_that_was_given_ahead_is_asked_for_alone(directory: Path):
    """F-9.5-03: with two attempts left, and told what was wrong."""
    asked = Asked()
    with opened(directory, asked, {"TSK-003/contracts/round-1/challenger": [MILD, PASSING]}) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-003") == list(ALONE[1:])
        told = asked.said["TSK-003.1/contracts/round-1/challenger"]
        assert "R1 (rubric_assessments.0.evidence)" in told


AMENDMENT = ("MODIFY", "contract:module_0#/error_surfaces/0/when", "number is negative, as an int again")


JUDGED_ANEW = list(ALONE[1:])
"""What is asked of a task whose plan stands, and whose contracts are judged anew."""


def test_a_plan_stands_where_only_words_of_a_contract_that_it_calls_have_changed(directory: Path):
    """D51: the planner is not asked for what code fills in, the reference; both judges see the contract as it is now."""
    asked = Asked()
    waits_for = [[], [0], [1]]
    with opened(
        directory, asked, {"TSK-001/contracts/round-1/arbiter": [amending(AMENDMENT)]}, waits_for
    ) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-002") == JUDGED_ANEW
        assert asked.alone("TSK-003") == []
        assert "as an int again" in asked.said["TSK-002.1/contracts/round-1/challenger"]
        called, caller = (bench.sealed()[name] for name in ("module_0", "module_1"))
        (dependency,) = bench.read(caller / "contract.json")["dependencies"]
        assert dependency["ref"] == f"{called.parent.name}@{called.name}"


def test_a_plan_that_stands_and_does_not_fit_any_more_is_sent_back_by_the_challenger(directory: Path):
    """D11, D51: nothing is weaker for it; the failure costs a revision, as of any plan."""
    asked = Asked()
    second = plans(CHAIN)["TSK-002/plan/round-1/planner"]
    said = {
        "TSK-001/contracts/round-1/arbiter": [amending(AMENDMENT)],
        "TSK-002/contracts/round-1/challenger": [failing()],
        "TSK-002/plan/round-2/planner": second,
    }
    with opened(directory, asked, said, [[], [0]]) as bench:
        bench.begin([[], [0]])
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-002")[:2] == [ALONE[1], "plan/round-2/planner"]


READS = {"type": "CALL", "target": "the environment variable LIMIT", "description": "is read once"}
ANOTHER_VARIABLE = (
    "MODIFY",
    "contract:module_0#/effects/0/target",
    "the environment variable LARGEST of callers",
)


def test_a_contract_that_is_called_otherwise_sends_those_that_call_it_on_alone(directory: Path):
    """D51: the planner is shown its plan and what is another in the contract; an empty list of changes will do."""
    asked = Asked()
    waits_for = [[], [0], []]
    said = {
        "TSK-001/plan/round-1/planner": [plan(planned("module_0", effects=[READS]))],
        "TSK-001/contracts/round-1/arbiter": [amending(ANOTHER_VARIABLE)],
    }
    with opened(directory, asked, said, waits_for) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-002") == list(ALONE)
        assert asked.alone("TSK-003") == []
        again = asked.said["TSK-002.1/plan/round-1/planner"].partition("# Your earlier plan of this task")[2]
        assert '"name": "module_1"' in again
        assert "these contracts that it calls have changed since:\n\n`module_0`, MM-" in again
        assert "LARGEST of callers" in again.partition("The task file has")[0]
        assert "Hand in what changes in the plan above by `change_plan`" in again
        assert "`change_plan` takes an empty list" in again


class AmendingGate(ScriptedGate):
    """While the first module is judged, a person amends a task that waits."""

    def __init__(self, amend: Callable[[], None]) -> None:
        super().__init__([])
        self._amend: Callable[[], None] | None = amend

    def judge(self, candidate: Any, *, thorough: bool = True) -> Any:
        """As the scripted one."""
        if self._amend:
            self._amend()
            self._amend = None
        return super().judge(candidate, thorough=thorough)


def test_a_task_that_is_amended_meanwhile_is_planned_anew(directory: Path):
    """F§9.6, D51: other criteria make it another task; the rest of what was said still counts."""
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
        assert asked.alone("TSK-002") == list(ALONE)
        assert asked.alone("TSK-003") == []
        assert "Returns the names in their order" in asked.said["TSK-002.1/plan/round-1/planner"]


def test_a_ruling_on_a_criterion_of_a_later_task_has_it_asked_about_alone(directory: Path):
    """F-9.4-06, D51: what was said of it was said without the ruling."""
    asked = Asked()
    said = {
        "TSK-001/contracts/round-1/challenger": [unshown(2)],
        "TSK-001/contracts/round-1/arbiter": [aside(2)],
    }
    with opened(directory, asked, said, [[], []]) as bench:
        bench.begin([[], []])
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-001") == ["contracts/round-1/arbiter"]
        assert asked.alone("TSK-002") == list(ALONE)
        assert "criterion 2: set aside" in asked.said["TSK-002.1/plan/round-1/planner"]


def test_a_task_that_a_person_has_answered_shares_nothing(directory: Path):
    """D51: its second run is asked about alone, while what was said of the next task still counts."""
    asked = Asked()
    right = plans([[], []])["TSK-001/plan/round-1/planner"][0]
    with opened(directory, asked, {"TSK-001/plan/round-1/planner": [UNKNOWN]}, [[], []]) as bench:
        bench.begin([[], []])
        assert bench.status() == "HALTED"
        assert answer(bench, "REVISE_PLAN", {"revised_micro_plan": right}) == "SHIPPED"
        assert len(asked.shared) == 1
        assert "TSK-001.1r1/contracts/round-1/challenger" in asked.places
        assert asked.alone("TSK-002") == list(ALONE[1:])


@pytest.mark.parametrize("count", [6, slow(30), nightly(300, timeout=300)])
def test_a_request_holds_a_bounded_number_of_tasks(directory: Path, count: int):
    """D51: what a request holds does not grow with the product."""
    asked = Asked()
    waits_for: list[list[int]] = [[] for _ in range(count)]
    with opened(directory, asked, waits_for=waits_for) as bench:
        bench.approve(spec_of_graph(waits_for))
        bench.run()
        assert statuses(bench) == {"SHIPPED"}
        asked_about = [place.split("/")[1].split("+") for place in asked.shared]
        assert max(map(len, asked_about)) == SHARED_TASKS
        assert len(asked.shared) == 3 * -(-count // SHARED_TASKS) - 3 * (count % SHARED_TASKS == 1)
        for role in ("planner", "challenger", "arbiter"):
            sizes = [asked.sizes[place] for place in asked.shared if place.endswith(role)]
            # nothing had shipped at the first; how many modules are near a task differs, within a bound
            assert all(size <= 1.5 * sizes[1] for size in sizes[2:])


def test_as_many_tasks_share_a_request_as_fit_its_size(directory: Path):
    """D51: what does not fit comes in the next request."""
    whole, smaller = Asked(), Asked()
    with opened(directory, whole, waits_for=[[], [], []]) as bench:
        bench.begin([[], [], []])
    size = whole.sizes["TSK-001.1/TSK-001+TSK-002+TSK-003/round-1/planner"]
    (directory / "again").mkdir()
    with opened(directory / "again", smaller, waits_for=[[], [], []], shared=size - 1) as bench:
        bench.begin([[], [], []])
        assert smaller.shared[0] == "TSK-001.1/TSK-001+TSK-002/round-1/planner"
        assert smaller.alone("TSK-003") == list(ALONE)
        assert max(smaller.sizes[place] for place in smaller.shared) < size


class Killed(BaseException):
    """The process ends here."""


class DeadlyRoles:
    """Ends the run at the so-manieth request, before or after it is answered."""

    def __init__(self, asked: Asked, left: int) -> None:
        self._asked, self._left = asked, left

    def __call__(self, place: Any, messages: list[Any], tools: Any) -> None:
        self._left -= 1
        if self._left == 0:
            raise Killed
        self._asked(place, messages, tools)


@pytest.mark.parametrize("nth", spread([1, 2, 3, 4, 7, 10], fast=4))
def test_a_run_that_ends_anywhere_asks_nothing_again(directory: Path, nth: int):
    """D-S4-03, D51: what was said of later tasks is in the journal before it is used."""
    first, second = Asked(), Asked()
    played = script(plans(CHAIN))
    with (
        DebateWorkbench(
            directory, played, roles=modelled(played, DeadlyRoles(first, nth)), shared=SHARED_CHARACTERS
        ) as bench,
        pytest.raises(Killed),
    ):
        bench.begin(CHAIN)
    with opened(directory, second) as bench:
        bench.run()
        assert statuses(bench) == {"SHIPPED"}
        assert set(Counter(first.places + second.places).values()) == {1}
        assert len(first.places + second.places) == 3 + 4 * 3
        assert len(bench.envelopes("MP")) == 4


def replayed(directory: Path, recorded: Path, asked: Asked) -> DebateWorkbench:
    """The same project, answered from a recorded journal."""
    recording = Recording(recorded)
    sources = model_sources(Settings(model=f"replay:{recorded}"), recording)

    class Listening(NamedTuple):
        """A source whose requests are heard."""

        below: ModelSource
        scripted: bool = True

        def can_share(self, place: Place) -> bool:
            return self.below.can_share(place)

        def model(self, place: Place) -> Any:
            asked.places.append(place.run_id)
            return self.below.model(place)

    def roles(bench: DebateWorkbench) -> ModelRoles:
        heard = {role: Listening(source) for role, source in sources.items()}
        work, progress = bench.runtime / "work", bench.notes
        return ModelRoles(heard, bench.journal, bench.index, NoSearch(), work, progress, ContextPackBackend)

    return DebateWorkbench(directory, script(), roles=roles, shared=SHARED_CHARACTERS)


def recorded_and_replayed(
    directory: Path, waits_for: Sequence[Sequence[int]], *script: Any, **more: Any
) -> tuple[Asked, Asked]:
    """What is asked in a project that ships, and when its journal is played again in another folder."""
    first, second = Asked(), Asked()
    for folder in ("one", "two"):
        (directory / folder).mkdir()
    with opened(directory / "one", first, *script, **more) as bench:
        bench.begin(waits_for)
        recorded = bench.runtime / "journal.jsonl"
    with replayed(directory / "two", recorded, second) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
    return first, second


@pytest.mark.parametrize("shared", [SHARED_CHARACTERS, 0], ids=["together", "alone"])
def test_a_recording_is_asked_about_tasks_together_as_it_was_recorded(directory: Path, shared: int):
    """D-S4-06, D51: a journal from before tasks shared requests still replays."""
    first, second = recorded_and_replayed(directory, CHAIN, shared=shared)
    assert second.places == first.places
    assert len(first.shared) == (3 if shared else 0)


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
        super().__init__(directory, played, shared=SHARED_CHARACTERS)
        self.journal: Any = DeadlyJournal(self.journal, ShortFuse(records))  # type: ignore[assignment]
        self.factory = replace(self.factory, journal=self.journal)
        self.factory = replace(self.factory, roles=modelled(played, asked)(self))


@pytest.mark.parametrize("records", spread(range(8, 110, 2), fast=17, slow=3))
def test_a_run_that_ends_between_two_records_asks_nothing_again(directory: Path, records: int):
    """D-S4-03, D51: whether the parts of an answer are all in the journal, or some, or none."""
    first, second = Asked(), Asked()
    with CutShort(directory, first, records) as bench, pytest.raises(Killed):
        bench.begin(CHAIN)
    with opened(directory, second) as bench:
        if bench.projection.spec is None:
            bench.approve(spec_of_graph(CHAIN))
        bench.run()
        assert statuses(bench) == {"SHIPPED"}
        assert set(Counter(first.places + second.places).values()) == {1}
        assert len(first.places + second.places) == 3 + 4 * 3
        assert [len(bench.envelopes(kind)) for kind in ("MP", "CHAL", "ADJ")] == [4, 8, 8]


@pytest.mark.parametrize("number", [1, 2])
def test_exact_changes_that_were_given_ahead_go_to_the_arbiter(directory: Path, number: int):
    """D-11-09, D51: as those of a request about one task."""
    named = name_of(number - 1)
    texts = {
        "action": "ADD",
        "target": f"contract:{named}#/error_cases/-",
        "detail": "Zero is given back as nought",
    }
    said = failing()
    mended = {**said, "failures": [{**said["failures"][0], "exact_changes": [texts]}]}
    asked, task = Asked(), f"TSK-00{number}"
    answers = {
        f"{task}/contracts/round-1/challenger": [mended],
        f"{task}/contracts/round-1/arbiter": [{**amending(), "accepted_changes": [1]}],
    }
    with opened(directory, asked, answers) as bench:
        bench.begin(CHAIN)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone(task) == ["contracts/round-1/arbiter"]


WORDS = dict(zip(("action", "target", "detail"), AMENDMENT, strict=True))
TAKEN_OVER = {**amending(), "accepted_changes": [1]}
OWN_WORDS = amending((*AMENDMENT[:2], "number is negative, in words of the Arbiter"))


def changing(change: Mapping[str, str]) -> dict[str, Any]:
    """A FAIL with one exact change."""
    said = failing()
    return {**said, "failures": [{**said["failures"][0], "exact_changes": [change]}]}


def mended_first(**said: Any) -> dict[str, list[Any]]:
    """The Challenger mends the contract of the first task by an exact change, while it passes the others."""
    return {
        "TSK-001/contracts/round-1/challenger": [changing(WORDS)],
        "TSK-001/contracts/round-1/arbiter": [said.get("ruling", TAKEN_OVER)],
    }


BESIDE = "Judge a task that calls contracts of an earlier one beside these as your exact changes make them"


@pytest.mark.parametrize("waits_for", [[[], [0], [0]], [[], [0], [0, 1]], [[], [0], [1]]])
def test_a_verdict_counts_where_the_exact_changes_of_its_own_answer_were_taken_over(
    directory: Path, waits_for: list[list[int]]
):
    """D51: the Challenger is told to judge what calls a contract beside it as changed; the next ruling is shared as well."""
    asked = Asked()
    with opened(directory, asked, mended_first(), waits_for) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-002") == asked.alone("TSK-003") == []
        assert asked.shared[2:] == ["TSK-002.1/TSK-002+TSK-003/round-1/arbiter"]
        assert BESIDE in asked.said[asked.shared[1]]
        assert AMENDMENT[2] in bench.sealed()["module_0"].joinpath("contract.json").read_text()


def test_a_verdict_is_asked_for_anew_where_the_contract_was_changed_otherwise(directory: Path):
    """D51: with words of the Arbiter's own nobody has judged what calls it."""
    asked, waits_for = Asked(), [[], [0], []]
    with opened(directory, asked, mended_first(ruling=OWN_WORDS), waits_for) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-002") == JUDGED_ANEW[:1]
        assert asked.alone("TSK-003") == []
        assert asked.shared[2:] == ["TSK-002.1/TSK-002+TSK-003/round-1/arbiter"]


def test_a_verdict_beside_a_changed_contract_does_not_count_beside_the_unchanged_one(directory: Path):
    """D51: after a REJECT the planner may leave the contract as it was; the verdict was on another."""
    asked, waits_for = Asked(), [[], [0]]
    said = {
        **mended_first(ruling=rejecting()),
        "TSK-001/plan/round-2/planner": plans(waits_for)["TSK-001/plan/round-1/planner"],
    }
    said["TSK-001/contracts/round-1/arbiter"].append(amending())
    with opened(directory, asked, said, waits_for) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-002") == JUDGED_ANEW


def test_nothing_is_said_of_exact_changes_where_no_task_calls_another(directory: Path):
    """D51: a request says what bears on it."""
    asked, waits_for = Asked(), [[], []]
    with opened(directory, asked, mended_first(), waits_for) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        assert BESIDE not in asked.said[asked.shared[1]]


def test_a_recording_in_which_the_verdict_was_asked_for_anew_is_asked_so(directory: Path):
    """D-S4-06, D51: as are those from before the Challenger was told of its exact changes."""
    waits_for = [[], [0]]
    first, second = recorded_and_replayed(directory, waits_for, mended_first(ruling=OWN_WORDS), waits_for)
    assert second.places == first.places
    assert second.alone("TSK-002") == JUDGED_ANEW


TWICE_AGAIN = ("MODIFY", "contract:module_0#/outputs/0/invariants/0", "is the number twice, as an int again")
ELSEWHERE = (
    '- `module_0`: "is the number twice", now "is the number twice, as an int again"; `{}` /outputs/0/invariants/0 says: '
    '"is the number twice"'
)


def test_an_amendment_is_told_to_those_who_judge_the_same_statement_elsewhere(directory: Path):
    """D51, D-S12-09: a ruling that was given before does not count; the verdict of a task that calls nothing does."""
    asked, waits_for = Asked(), [[], [], [0]]
    with opened(
        directory, asked, {"TSK-001/contracts/round-1/arbiter": [amending(TWICE_AGAIN)]}, waits_for
    ) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        assert asked.alone("TSK-002") == ["contracts/round-1/arbiter"]
        assert asked.alone("TSK-003") == JUDGED_ANEW
        for number, role in ((1, "arbiter"), (2, "challenger"), (2, "arbiter")):
            told = asked.said[f"TSK-00{number + 1}.1/contracts/round-1/{role}"]
            assert "# Amended elsewhere\n\n" in told
            assert ELSEWHERE.format(f"module_{number}") in told


def test_an_amendment_is_told_in_the_next_request_about_tasks_together(directory: Path):
    """D51, D-S12-09: to the Arbiter, where the verdicts beside the exact change count."""
    asked, waits_for = Asked(), [[], [0], [0]]
    said = {
        "TSK-001/contracts/round-1/challenger": [
            changing(dict(zip(("action", "target", "detail"), TWICE_AGAIN, strict=True)))
        ],
        "TSK-001/contracts/round-1/arbiter": [TAKEN_OVER],
    }
    with opened(directory, asked, said, waits_for) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
        together = "TSK-002.1/TSK-002+TSK-003/round-1/arbiter"
        assert asked.shared[2:] == [together]
        assert all(ELSEWHERE.format(f"module_{n}") in asked.said[together] for n in (1, 2))


def test_a_recording_from_before_amendments_were_told_replays(directory: Path):
    """D-S4-06, D51: the ruling counts that counted then; one that was asked for anew is asked for."""
    first, second, waits_for = Asked(), Asked(), [[], []]
    for folder in ("one", "two"):
        (directory / folder).mkdir()
    said = {"TSK-001/contracts/round-1/arbiter": [amending(TWICE_AGAIN)]}
    with opened(directory / "one", first, said, waits_for) as bench:
        bench.begin(waits_for)
        recorded = bench.runtime / "journal.jsonl"
    asked_again = "TSK-002.1/contracts/round-1/arbiter"
    with replayed(directory / "two", recorded, second) as bench:
        bench.begin(waits_for)
    assert second.places == first.places
    assert asked_again in first.places
    lines = [line for line in recorded.read_text().splitlines() if asked_again not in line]
    recorded.write_text("\n".join([*lines, ""]))
    (directory / "three").mkdir()
    third = Asked()
    with replayed(directory / "three", recorded, third) as bench:
        bench.begin(waits_for)
        assert statuses(bench) == {"SHIPPED"}
    assert third.places == [place for place in first.places if place != asked_again]
