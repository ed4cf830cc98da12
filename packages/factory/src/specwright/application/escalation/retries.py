"""Halted tasks that a run tries again because a role gave no usable answer, and is asked anew (design: escalation)."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from specwright.application.escalation.answers import resolve
from specwright.application.escalation.halt import open_escalations
from specwright.application.factory import Factory
from specwright.domain.escalation import Action, EscalationArtifact, HumanResolution
from specwright.errors import InputError
from specwright.ports import Role, provider_of

RoleModels = Mapping[Role, Collection[str]]
"""The models that answer for each role, as the journal names them; none for a scripted role."""

_UNUSABLE = re.compile(rf"(?P<scope>\S+/(?P<role>{'|'.join(Role)})) gave no acceptable answer")


class _FailedRole(NamedTuple):
    """A role that gave no usable answer: where, and which model it was; empty if it was scripted."""

    role: Role
    scope: str
    model: str


def retry_halted(factory: Factory, models: RoleModels, role: str = "") -> None:
    """Answer with RETRY the escalations of tasks that halted because a role gave no usable answer: those of a role that is
    named, else those in which other models would answer now. What was answered before stays on record.

    Args:
        factory: The ports.
        models: That answer now.
        role: Whose answers are asked for anew.

    Raises:
        InputError: a role is named, and no task halted because of it.
    """
    waiting = [factory.escalations.escalation(name) for name in open_escalations(factory)]
    again = [one for one in waiting if _is_tried_again(factory, one, models, role)]
    if role and not again:
        done = "the researcher is done: its spec is approved" if role == Role.RESEARCHER else ""
        raise InputError(
            done or f"no task halted because the {role} gave no usable answer",
            where="--retry",
            remedy="a halted task is tried again by `specwright resolve ESC-ID RETRY`",
        )
    for escalation in again:
        resolve(
            factory,
            HumanResolution(action=Action.RETRY, payload={}, escalation_id=escalation.escalation_id),
        )


def unusable_roles(escalation: EscalationArtifact) -> list[Role]:
    """The roles whose answers could not be used, if that alone halted the task: then another model, or the same one asked
    anew, helps more than another plan."""
    if escalation.details.get("gate"):
        return []  # it was usable, and what the gate says of it can be mended
    evidence = " ".join(failure.evidence for failure in escalation.failed_invariants)
    found = [*_UNUSABLE.finditer(evidence)]
    is_alone = len(found) >= len(escalation.details.get("failed", {}))
    return [*dict.fromkeys(Role(one["role"]) for one in found)] if is_alone else []


def recommended_action(escalation: EscalationArtifact) -> Action:
    """The answer that a person is offered first: RETRY where no answer of a role could be used, else the one that the
    escalation recommends."""
    return Action.RETRY if unusable_roles(escalation) else Action(escalation.recommended_resolution)


def _is_tried_again(factory: Factory, escalation: EscalationArtifact, models: RoleModels, role: str) -> bool:
    found = _unusable_answers(factory, escalation)
    if role:
        return any(one.role == role for one in found)
    # where a module failed for another reason too, a person looks at it first
    is_alone = len(found) >= len(escalation.details.get("failed", {}))
    return bool(found) and is_alone and all(one.model not in models.get(one.role, {""}) for one in found)


def _unusable_answers(factory: Factory, escalation: EscalationArtifact) -> list[_FailedRole]:
    evidence = " ".join(failure.evidence for failure in escalation.failed_invariants)
    scopes = {found["scope"]: Role(found["role"]) for found in _UNUSABLE.finditer(evidence)}
    return [
        _FailedRole(role, scope, provider_of(factory.journal.recorded(scope, "model") or {}))
        for scope, role in scopes.items()
    ]
