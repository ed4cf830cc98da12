"""How large a Wire of the factory gets: every event of it, by its own functions, with the widest values (D30, D33)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from agent_wire import envelope
from agent_wire.admission import default_admission
from agent_wire.tables import default_tables
from specwright.application import tasks
from specwright.application.announce import announce, review, task_event
from specwright.application.escalation.halt import halt
from specwright.application.factory import Factory
from specwright.application.raising import Halt
from specwright.application.ship import reused
from specwright.application.tasks import Task
from specwright.domain.base.slugs import MAX_LENGTH, slugify
from specwright.domain.escalation import Action
from specwright.domain.spec.product_spec import ProductSpec
from testkit.domain.product_specs import epic_data, pillar_data, spec_data, story_data, task_data
from testkit.loop.project_workbench import ProjectWorkbench
from testkit.wires_heard import Listening, Wire, seal_by_hand

TASK_EVENTS = {event for event, rule in default_tables().events.items() if rule.is_task_event}
PROJECT = slugify("A title that goes on " * 10) + "-1a2b3c4d"
MODULES = [f"MM-{number:08x}@100.200.300" for number in range(20)]
NUMBERS = range(999_999_900, 999_999_951)
"""51 tasks; the last waits for all others."""


def widest_spec() -> ProductSpec:
    """Ids of 128 characters, 50 dependencies, spec ids of nine digits."""
    tasks = [task_data(number, f"{number} " + "t" * 54) for number in NUMBERS]
    tasks[-1]["depends_on"] = [f"TSK-{number}" for number in NUMBERS[:-1]]
    stories = [story_data(tasks, "s" * 40)]
    return ProductSpec.model_validate(spec_data([pillar_data([epic_data(stories, "e" * 40)], "p" * 40)]))


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[Wire]:
    """Every Wire about the widest task."""
    return list(everything_said(tmp_path_factory.mktemp("wide")))


@pytest.fixture(scope="module")
def sizes(said: list[Wire]) -> dict[str, int]:
    """The canonical bytes of the largest Wire of each type."""
    found: dict[str, int] = {}
    for wire in said:
        assert default_admission().rejection_of(wire) is None, wire
        found[wire["type"]] = max(found.get(wire["type"], 0), len(envelope.encode(wire)))
    return found


def everything_said(directory: Path) -> Iterator[Wire]:
    """Every event of the factory about the widest task."""
    heard = Listening()
    with ProjectWorkbench(directory) as bench:
        bench.approve(widest_spec())
        tasks.initialise(bench.factory)
        seal_by_hand(bench.factory, MODULES[0], "m" * 64, depends_on=MODULES[1:], size=10_000_000)
        found = tasks.task_at(bench.factory, list(bench.projection.definitions)[-1])
        assert len(found.task_id) == 128
        wide = found.entry.model_copy(update={"attempt": 999_999})
        bench.tell(
            *(task_event(event, found.entry.spec_task_id, 1, body) for event, body in _DISPATCH.items())
        )
        bench.projection.project_id = PROJECT
        _say(replace(bench.factory, log=heard), found._replace(entry=wide))
    yield from heard.heard


_DISPATCH: dict[str, dict[str, str]] = {
    "task.available": {},
    "task.claimed": {"claimed_by": "agent:engineering-loop"},
    "task.started": {},
}
"""What must have happened to a task before it can halt."""


def _say(factory: Factory, task: Task) -> None:
    spec_id, attempt = task.entry.spec_task_id, task.entry.attempt
    free = task.definition.model_copy(update={"depends_on": []})  # what they shipped is not asked here
    tasks.begin(factory, task._replace(definition=free))
    halt(factory, task, Halt("modules", "no", "Decide.", Action.PROVIDE_FIX, "none"))
    waits = [factory.projection.definitions[ref].spec_task_id for ref in task.definition.depends_on]
    failure = {"failure": {"kind": "halted", "retryable": True}, "reference": "ESC-0a0b0c0d"}
    created = task_event("task.created", spec_id, attempt, {"definition_sha256": "a" * 64}, waits)
    announce(
        factory,
        factory.journal.scope("wide"),
        [
            created._replace(parent=f"TSK-{NUMBERS[0]}"),
            task_event("task.available", spec_id, attempt, {}),
            reused(factory, task, MODULES[0]),
            *tasks.completion(factory, task, MODULES, MODULES[0]),
            task_event("task.failed", spec_id, attempt, failure),
            task_event("task.cancelled", spec_id, attempt, {}),
            review("escalation.resolved", "a" * 64, "ESC-0a0b0c0d", "human:operator"),
        ],
        PROJECT,
    )


def test_the_largest_wire_of_an_event_is_carried(sizes: dict[str, int]):
    """128-character ids, 50 dependencies, 20 artifacts, the longest title and names fit (D-30-03, W-5-04, W-6-06). They are
    the widest indeed: the title fills its slug, a module names all its inputs that a Wire takes, nothing else is emitted
    (D33)."""
    assert sizes.keys() == {*TASK_EVENTS, "review.recorded"}
    assert {event: size for event, size in sizes.items() if size > envelope.MAX_BYTES} == {}
    assert len(PROJECT) == MAX_LENGTH + 9
    assert PROJECT.startswith("a-title-that-goes-on-")
    assert min(sizes[event] for event in ("artifact.ready", "task.created", "task.complete")) > 880


def test_inputs_that_a_wire_does_not_carry_are_counted(said: list[Wire]):
    """Of 19 inputs three are carried, and the Wire says that there are 19 (D-37-02)."""
    (ready,) = [wire["payload"] for wire in said if wire["type"] == "artifact.ready"]

    assert ready["lineage"]["inputs"] == sorted(MODULES[1:])[:3]
    assert ready["lineage"]["input_count"] == 19


def test_an_id_that_no_wire_could_carry_is_refused_with_the_spec():
    """Ids of the spec that go into Wires have at most nine digits: nothing is written before that is seen (D30, F§4.1)."""
    long = spec_data([pillar_data([epic_data([story_data([task_data(1, task_id="TSK-" + "1" * 10)])])])])
    with pytest.raises(ValidationError, match="task_id"):
        ProductSpec.model_validate(long)
    with pytest.raises(ValidationError, match="spec_id"):
        ProductSpec.model_validate({**spec_data(), "spec_id": "SPEC-" + "1" * 10})
