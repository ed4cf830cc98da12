"""What a person is told of an escalation: which wait, why its task halted, what failed (design: escalation)."""

from collections.abc import Iterator

from ship_gate.base.text import first_sentences
from specwright.application.criteria import open_questions
from specwright.application.escalation.halt import open_escalations
from specwright.application.factory import ProjectView
from specwright.domain.debate.falsifying import is_counterexample
from specwright.domain.escalation import EscalationArtifact, FailedInvariant

_SAID = 400
"""Characters of a ruling; the debate has the rest."""

_CAUSES = {
    "planning": "no sound plan was made",
    "contracts": "the contracts were not settled",
    "plan": "the plan itself is at fault",
    "modules": "modules could not be shipped",
    "exception": "a role found the contract of a dependency wrong",
    "journal": "the run cannot be repeated",
    "stalled": "it waits for a task that was abandoned",
    "release": "the product breaks what was approved; nothing waits for the answer",
    "criterion": "no test can show an acceptance criterion; nothing waits for the answer",
}


def escalations_waiting(view: ProjectView) -> list[EscalationArtifact]:
    """The escalations that wait for a person."""
    waiting = [*open_escalations(view), *open_questions(view)]
    return [view.escalations.escalation(ref) for ref in waiting]


def cause(escalation: EscalationArtifact) -> str:
    """Why the task halted, in a few words."""
    kind = str(escalation.details.get("cause", ""))
    names = ", ".join(escalation.details.get("failed", {}))
    return f"{_CAUSES.get(kind, kind)}: {names}" if names else _CAUSES.get(kind, kind)


def last_words(escalation: EscalationArtifact) -> list[str]:
    """What a person has to decide between: the Arbiter's last word on each failed module, and of which the gate passes the
    last draft."""
    words: dict[str, str] = escalation.details.get("last_words", {})
    passing: list[str] = escalation.details.get("passing", [])
    return [
        *(f"The Arbiter on {name}: {first_sentences(said, _SAID)}" for name, said in words.items()),
        *(f"The gate passes the last draft of {name}; only judges speak against it." for name in passing),
    ]


def failures(escalation: EscalationArtifact) -> Iterator[FailedInvariant]:
    """What failed, each once: that a module could not ship is left out where it repeats what was found of it, or what the
    decision says."""
    rows, decision = [*escalation.failed_invariants], escalation.minimal_decision_required
    ships = {f"{name} ships": why for name, why in escalation.details.get("failed", {}).items()}
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        is_told = following is not None and (following.evidence in row.evidence or row.evidence in decision)
        if not (row.invariant in ships and is_told):
            yield row


def shown_failures(escalation: EscalationArtifact) -> list[FailedInvariant]:
    """The failures in the order in which a person reads them: of many counterexamples the smallest alone, and first."""
    found = [*failures(escalation)]
    shown = [one for one in found if not is_counterexample(one.invariant)]
    if tests := sorted((one for one in found if is_counterexample(one.invariant)), key=_size):
        shown.insert(0, tests[0])
    return shown


def _size(failure: FailedInvariant) -> int:
    return len(failure.evidence)
