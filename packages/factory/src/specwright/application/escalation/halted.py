"""Open escalations, and the plan, drafts and contracts of a halted task (design: escalation).

To decide about a failed module, a person needs its last draft and the contract statements that the findings cite.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from ship_gate.base.text import one_line
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import imported_classes, render_stub
from ship_gate.contract.statements import statements
from ship_gate.verdict import ENTRY_FILE
from specwright.application.criteria import open_questions
from specwright.application.debate.implementation import claims_of
from specwright.application.factory import ProjectView
from specwright.application.stored_plans import StoredPlan, load_plan
from specwright.application.tasks import Task, project_state, task_at
from specwright.domain.debate.answer_rules import checks_still_shown, named_tests
from specwright.domain.debate.records import Proposal
from specwright.domain.escalation import Action, EscalationArtifact
from specwright.domain.tasks.project_state import TaskStatus
from specwright.errors import RefusedError
from specwright.ports import Files, Role, run_of

_SENTENCES = 3
_POINTER = re.compile(
    r"/(?:purpose|inputs|outputs|error_surfaces|error_cases|effects|modes|dependencies)\b(?:/[a-z]+|/\d+)*"
)
_UNUSABLE = re.compile(rf"(?P<scope>\S+/(?P<role>{'|'.join(Role)})) gave no acceptable answer")


def open_escalations(view: ProjectView) -> list[str]:
    """Return the escalations for which tasks wait, in declaration order of the tasks."""
    if view.projection.board is None:  # no spec is approved yet
        return []
    waiting = (TaskStatus.HALTED, TaskStatus.BLOCKED)
    entries = [entry for entry in project_state(view).tasks.values() if entry.status in waiting]
    entries.sort(key=lambda entry: entry.declaration_order)
    return [entry.escalation_ref for entry in entries if entry.escalation_ref]


def escalations_waiting(view: ProjectView) -> list[EscalationArtifact]:
    """Return the escalations that wait for a person."""
    return [view.escalations.escalation(ref) for ref in (*open_escalations(view), *open_questions(view))]


def unusable_answers(escalation: EscalationArtifact) -> dict[str, Role]:
    """Return the roles whose unusable answers halted the task, by the scopes of their requests."""
    evidence = " ".join(failure.evidence for failure in escalation.failed_invariants)
    return {found["scope"]: Role(found["role"]) for found in _UNUSABLE.finditer(evidence)}


def unusable_roles(escalation: EscalationArtifact) -> list[Role]:
    """Return the roles whose unusable answers alone halted the task. Then another model, or asking again, helps more than
    another plan."""
    if escalation.details.get("gate"):
        return []  # the answer was usable, and the gate's findings can be corrected
    found = unusable_answers(escalation)
    return [*dict.fromkeys(found.values())] if len(found) >= len(escalation.failed) else []


def recommended_action(escalation: EscalationArtifact) -> Action:
    """Return the action to offer first: RETRY if a role gave no usable answer or the approved spec is wrong; else the one
    that the escalation recommends."""
    retries = unusable_roles(escalation) or escalation.corrections
    return Action.RETRY if retries else escalation.recommended_resolution


def draft_names(task: Task, last_round: int, escalation: str = "") -> Iterator[str]:
    """Yield the possible names of the refused draft that ended a debate, newest run first; with an escalation, only those
    from before its answer."""
    entry = task.entry
    for resumed in range(sum(one.escalation_id != escalation for one in task.answers), -1, -1):
        for stage in (f"round-{last_round + 1}", f"amended-{last_round}"):
            yield f"{run_of(entry.spec_task_id, entry.attempt, resumed)}-{stage}"


class FailedDraft(NamedTuple):
    """The last draft of a failed module.

    Args:
        contract: The locked contract.
        base: The files to which a fix is applied: the last judged version, or the stub.
        files: The newest files: a draft that never became a proposal, or `base`.
    """

    contract: MicroModuleContract
    base: Files
    files: Files


class Judged(NamedTuple):
    """The end of a failed module's debate: the last judged version and its round; empty if there was none."""

    debate_id: str = ""
    version_id: str = ""
    round: int = 0


class HaltedTask:
    """A halted task.

    Args:
        view: The project.
        escalation: The escalation of the halt.
    """

    def __init__(self, view: ProjectView, escalation: EscalationArtifact) -> None:
        self._view = view
        self.escalation = escalation
        self.task = task_at(view, escalation.task_id)

    @cached_property
    def plan(self) -> StoredPlan | None:
        """The task's plan; None if it halted before there was one."""
        plan_id = self.escalation.left.get("plan_id")
        return load_plan(self._view.artifacts, self.task.folder, plan_id) if plan_id is not None else None

    @property
    def contracts(self) -> Mapping[str, MicroModuleContract]:
        """The contracts of the plan, by module name."""
        return self.plan.contracts if self.plan else {}

    @property
    def failed(self) -> list[str]:
        """The failed modules that the plan still has."""
        return [name for name in self.escalation.left.get("failed", {}) if name in self.contracts]

    def judged(self, name: str) -> Judged:
        """Return where the debate of a failed module ended."""
        return Judged(**self.escalation.left["judged"].get(name, {}))

    def drafts(self) -> dict[str, FailedDraft]:
        """Return the last draft of each failed module, by name.

        Raises:
            RefusedError: the plan has no failed module.
        """
        name = self.escalation.escalation_id
        if not self.failed:
            raise RefusedError(
                f"{name} has no failed module whose files could be corrected",
                where=self.escalation.task_id,
                remedy=f"`specwright escalations {name}` shows the answers that it takes",
            )
        return {name: self.draft(name) for name in self.failed}

    def draft(self, name: str) -> FailedDraft:
        """Return the last draft of a failed module."""
        contract, judged = self.contracts[name], self.judged(name)
        if judged.version_id:
            base = self._view.artifacts.body(self.task.folder, judged.version_id)
        else:
            known = {one.ref: one for one in self.contracts.values()}
            refs = [dependency.ref.replace("@^", "@") for dependency in contract.dependencies]
            called = [known.get(ref) or self._view.modules.contract(ref) for ref in refs]
            base = {ENTRY_FILE: render_stub(contract, imported_classes(contract, called)).encode()}
        names = draft_names(self.task, judged.round, self.escalation.escalation_id)
        kept = (self._view.drafts.files(contract.ref, one) for one in names)
        return FailedDraft(contract, base, next((files for files in kept if files), base))

    def last_checks(self, proposals: Sequence[Proposal], files: Files) -> list[str]:
        """Return the Proposer's last acceptance checks, from a refused answer or else from the last proposal, reduced to
        tests that a person's files still have.

        Args:
            proposals: The proposals of the module's debate.
            files: All files of the module.
        """
        tests = set(claims_of(files))
        given = (answer.get("acceptance_checks") for answer in self._refused_answers())
        said = [
            [one for one in cast("list[Any]", checks) if isinstance(one, str)]
            for checks in given
            if isinstance(checks, list)
        ]
        said += [proposals[-1].acceptance_checks] if proposals else []
        kept = (
            checks_still_shown(checks, tests) for checks in said if not tests.isdisjoint(named_tests(checks))
        )
        return next((checks for checks in kept if checks), list[str]())

    def contract_sentences(self, findings: Iterable[str]) -> list[str]:
        """Return the contract statements that findings cite, each with its pointer: from the contracts of failed modules, or
        of the whole plan if no module was tried."""
        names = [name for name in self.contracts if name in self.failed] or [*self.contracts]
        stated = [(name, one) for name in names for one in statements(self.contracts[name])]
        found = dict.fromkeys(
            f"The contract of {name}, {pointer}: {one_line(one.line)}"
            for text in findings
            for pointer in _POINTER.findall(text)
            for name, one in stated
            if one.pointer == pointer
        )
        return [*found][:_SENTENCES]

    def _refused_answers(self) -> list[dict[str, Any]]:
        """Return the refused answers, last one first, if exactly one module failed."""
        found: list[dict[str, Any]] = []
        raw_answers: list[str] = self.escalation.details.get("raw_answers", [])
        for raw in reversed(raw_answers if len(self.escalation.failed) == 1 else []):
            try:
                given: Any = json.loads(raw)
            except (ValueError, RecursionError):
                given = None
            # an answer within a list is accepted too
            answers = cast("list[Any]", given if isinstance(given, list) else [given])
            found += [cast("dict[str, Any]", one) if isinstance(one, dict) else {} for one in answers]
        return found
