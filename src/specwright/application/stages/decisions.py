"""What a person says at the gate of the decisions of the draft (design: decisions)."""

from specwright.application.factory import ProjectView
from specwright.application.stages.acceptance import last_spec
from specwright.domain.spec.departures import Decision, decisions_of, named_decisions
from specwright.domain.spec.draft_history import GateAction, GateAnswer
from specwright.errors import InputError


def overturned(view: ProjectView, number: int, instead: str) -> str:
    """The words of an amendment that overturns a decision.

    Args:
        view: The project, whose spec waits.
        number: Of the decision, as the gate shows it.
        instead: What holds instead.

    Raises:
        InputError: there is no such decision.
    """
    known = len(_shown(view))
    if not known:
        raise InputError(
            "the spec that waits has no numbered decisions",
            where="--decision",
            remedy="say in words what is to change: `specwright amend --feedback TEXT`",
        )
    if not 1 <= number <= known:
        raise InputError(
            f"there is no decision {number}; the spec that waits has {known}",
            where="--decision",
            remedy="`specwright status` lists them",
        )
    return f"Decision {number}: {instead.strip()}"


def gate_answer(view: ProjectView, action: GateAction, words: str, spec_text: str = "") -> GateAnswer:
    """An answer in words, with what the decisions say that it names by their numbers.

    Args:
        view: The project, whose spec waits.
        action: What happens next.
        words: A person's.
        spec_text: SPEC.md as it was edited; empty if it was not.
    """
    return GateAnswer(
        action=action, text=words, spec_text=spec_text, named=named_decisions(words, _shown(view))
    )


def _shown(view: ProjectView) -> list[Decision]:
    """Those of the draft that was shown last; none if there is none."""
    spec = last_spec(view)
    return decisions_of(spec) if spec else []
