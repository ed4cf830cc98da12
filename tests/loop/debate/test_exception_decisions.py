"""A person decides about an interface change exception: rejected with the task run again or held, or deferred (F§13.5)."""

from pathlib import Path
from typing import Any

import pytest

from specwright.application.interface_change import decide, exceptions
from specwright.domain.interface_change import DecisionRequest
from specwright.errors import InputError, RefusedError
from testkit.loop.exceptions import CHAIN, Story, raising
from testkit.loop.role_answers import Turn, failing, rejecting

WHERE = "TSK-002.1/triple/round-1/proposer"


def halted(directory: Path) -> Story:
    """The three tasks, with the second one halted by its exception."""
    story = Story(directory, {WHERE: raising()})
    story.bench.begin(CHAIN)
    return story


def request(
    story: Story, decision: str, reason: str = "Ask the module twice instead.", **more: Any
) -> DecisionRequest:
    """A decision about the one exception."""
    name = story.record()["exception_id"]
    return DecisionRequest.model_validate(
        {"exception_id": name, "decision": decision, "reason": reason, **more}
    )


def status(story: Story) -> str:
    """Where the one exception is."""
    (known,) = exceptions(story.bench.factory)
    return known.status.value


def test_a_rejection_may_run_the_task_again(directory: Path):
    """F-13-19, D-29-05: the next attempt is a new one, without the change; the reason is kept, and a Wire has the
    decision."""
    story = halted(directory)
    before = story.record()
    decide(story.bench.factory, request(story, "REJECT_CHANGE", requeue=True))
    assert story.bench.status(1) == "PENDING"
    story.bench.run()
    assert [story.bench.status(n) for n in range(3)] == ["SHIPPED"] * 3
    assert "TSK-002.2/triple/round-1/proposer" in story.heard.places
    assert status(story) == "REJECTED"
    assert story.record() == before
    (wire,) = [one for one in story.bench.reviews() if one["subject"] == "exception.decided"]
    (path,) = (story.bench.base / "exceptions").glob("*.decision-1.json")
    assert story.bench.read(path)["reason"] == "Ask the module twice instead."
    assert story.bench.store.definition(wire["definition_sha256"]) == path.read_bytes()


def test_a_halt_after_a_rejection_has_the_debates_of_both_attempts(directory: Path):
    """F-17.1-02: what the first attempt said lies in `debates/`, and is in the next escalation, too; what other tasks of the
    story said is not."""
    again: dict[str, Any] = {f"TSK-002.2/triple/round-{n}/challenger": saying(failing()) for n in (1, 2, 3)}
    again["TSK-002.2/triple/round-3/arbiter"] = saying(rejecting())
    story = Story(directory, {"TSK-002.1/triple/round-1/challenger": raising(), **again})
    story.bench.begin(CHAIN)
    first = story.bench.escalation.debate_trail
    assert first.challenges != []
    decide(story.bench.factory, request(story, "REJECT_CHANGE", requeue=True))
    story.bench.run()
    assert story.bench.status(1) == "HALTED"
    trail = story.bench.escalation.debate_trail
    assert trail.proposals[: len(first.proposals)] == first.proposals
    assert trail.challenges[: len(first.challenges)] == first.challenges
    kept = (story.bench.base / "artifacts").glob(f"{task_folder(story)}/PROP-*/1.0.0/envelope.json")
    made = {one["artifact_id"]: one["created_by"]["run_id"] for one in map(story.bench.read, kept)}
    own = [name for name, run in made.items() if run.startswith("TSK-002.")]
    assert sorted(one.proposal_id for one in trail.proposals) == sorted(own)
    assert len(own) < len(made)


def saying(answer: dict[str, Any]) -> Any:
    """A turn that always gives one answer."""

    def said(story: Story, place: Any, ordinal: int) -> Turn:
        return Turn(answer)

    return said


def task_folder(story: Story) -> str:
    """Of the task that halted."""
    return story.bench.factory.artifacts.folder_of(
        story.bench.escalation.debate_trail.proposals[0].proposal_id
    )


def test_a_rejection_may_leave_the_task_halted(directory: Path):
    """F-13-19: for another answer to its escalation."""
    story = halted(directory)
    decide(story.bench.factory, request(story, "REJECT_CHANGE"))
    story.bench.run()
    assert [story.bench.status(n) for n in range(3)] == ["SHIPPED", "HALTED", "BLOCKED"]
    assert status(story) == "REJECTED"
    given = {"action": "ABANDON_TASK", "payload": {"rationale": "Nobody needs it."}}
    story.bench.run(answer=given)
    assert story.bench.status(1) == "ABANDONED"


def test_a_deferred_one_is_decided_later(directory: Path):
    """F-13-20, D-26-01: the record stays as it is, the decisions are numbered beside it."""
    story = halted(directory)
    (record,) = (story.bench.base / "exceptions").iterdir()
    before = record.read_bytes()
    assert status(story) == "RAISED"
    decide(story.bench.factory, request(story, "DEFER", ""))
    assert (status(story), story.bench.status(1)) == ("DEFERRED", "HALTED")
    decide(story.bench.factory, request(story, "REJECT_CHANGE", requeue=True))
    assert (status(story), story.bench.status(1)) == ("REJECTED", "PENDING")
    assert record.read_bytes() == before
    assert sorted(path.name.partition(".")[2] for path in record.parent.iterdir()) == [
        "decision-1.json",
        "decision-2.json",
        "json",
    ]


def test_what_has_gone_on_cannot_be_decided(directory: Path):
    """D-26-01: nor what was never raised; nothing is written."""
    story = halted(directory)
    decide(story.bench.factory, request(story, "REJECT_CHANGE", requeue=True))
    with pytest.raises(RefusedError, match="its task has continued"):
        decide(story.bench.factory, request(story, "DEFER"))
    unknown = DecisionRequest.model_validate({"exception_id": "ICE-00000000", "decision": "DEFER"})
    with pytest.raises(InputError, match="there is no interface change exception ICE-00000000"):
        decide(story.bench.factory, unknown)
    assert len([*(story.bench.base / "exceptions").iterdir()]) == 2
