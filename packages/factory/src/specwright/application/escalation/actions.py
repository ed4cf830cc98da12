"""Which answers can help an escalation (design: escalation)."""

from specwright.application.factory import ProjectView
from specwright.domain.answers import Decision
from specwright.domain.escalation import Action, EscalationArtifact, actions_of


def suited_actions(view: ProjectView, escalation: EscalationArtifact) -> tuple[Action, ...]:
    """The actions that an escalation can be answered with as the project is: those that its cause allows, without an
    attestation where nothing is sealed, and without an override where the ship gate refused what was approved."""
    unsuited = set[Action]()
    if not view.modules.refs():
        unsuited.add(Action.ATTEST_SHIPPED)
    judged = escalation.details.get("resume", {}).get("judged", {})
    if judged and all(is_refused_by_gate(view, one["debate_id"]) for one in judged.values()):
        unsuited.add(Action.APPROVE_OVERRIDE)
    return tuple(action for action in actions_of(escalation.details) if action not in unsuited)


def is_refused_by_gate(view: ProjectView, debate_id: str) -> bool:
    """Whether a debate that failed ended with an approval: then it is the ship gate that refused, and nobody overrules
    it."""
    records = view.debates.records(debate_id)
    rounds = records.rounds()
    return (
        bool(rounds)
        and records.has_ruling(rounds[-1])
        and (records.adjudication(rounds[-1]).decision is Decision.APPROVE)
    )
