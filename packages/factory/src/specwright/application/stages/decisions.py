"""A decision of the draft that a person overturns at the approval gate (design: decisions)."""

from specwright.application.factory import ProjectView
from specwright.application.stages.acceptance import last_spec
from specwright.domain.spec.departures import decisions_of
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
    spec = last_spec(view)
    known = decisions_of(spec) if spec else []
    if not known:
        raise InputError(
            "the spec that waits has no numbered decisions",
            where="--decision",
            remedy="say in words what is to change: `specwright amend --feedback TEXT`",
        )
    if not 1 <= number <= len(known):
        raise InputError(
            f"there is no decision {number}; the spec that waits has {len(known)}",
            where="--decision",
            remedy="`specwright status` lists them",
        )
    decided = known[number - 1]
    return f'Decision {number}, of {decided.place}, "{decided.text}": {instead.strip()}'
