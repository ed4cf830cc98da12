"""What stopped and what is known about it: the escalations that wait, and what a halted task left behind (design:
escalation).

Who decides about a failed module needs its last draft and the sentences of the contract that the findings cite.
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
    """The escalations for which tasks wait, in declaration order of the tasks."""
    if view.projection.board is None:  # no spec was approved yet
        return []
    waiting = (TaskStatus.HALTED, TaskStatus.BLOCKED)
    entries = [entry for entry in project_state(view).tasks.values() if entry.status in waiting]
    entries.sort(key=lambda entry: entry.declaration_order)
    return [entry.escalation_ref for entry in entries if entry.escalation_ref]


def escalations_waiting(view: ProjectView) -> list[EscalationArtifact]:
    """The escalations that wait for a person."""
    return [view.escalations.escalation(ref) for ref in (*open_escalations(view), *open_questions(view))]


def unusable_answers(escalation: EscalationArtifact) -> dict[str, Role]:
    """Where roles gave no usable answers that halted the task: the roles by the scopes of their requests."""
    evidence = " ".join(failure.evidence for failure in escalation.failed_invariants)
    return {found["scope"]: Role(found["role"]) for found in _UNUSABLE.finditer(evidence)}


def unusable_roles(escalation: EscalationArtifact) -> list[Role]:
    """The roles whose answers could not be used, if that alone halted the task: then another model, or the same one asked
    anew, helps more than another plan."""
    if escalation.details.get("gate"):
        return []  # it was usable, and what the gate says of it can be corrected
    found = unusable_answers(escalation)
    return [*dict.fromkeys(found.values())] if len(found) >= len(escalation.failed) else []


def recommended_action(escalation: EscalationArtifact) -> Action:
    """The answer that a person is offered first: RETRY where no answer of a role could be used, or what was approved is
    wrong; else the one that the escalation recommends."""
    retries = unusable_roles(escalation) or escalation.corrections
    return Action.RETRY if retries else escalation.recommended_resolution


def draft_names(task: Task, last_round: int, escalation: str = "") -> Iterator[str]:
    """Where the draft is stored by which a debate ended without a proposal, the newest run first; only those before the
    answer to an escalation."""
    entry = task.entry
    for resumed in range(sum(one.escalation_id != escalation for one in task.answers), -1, -1):
        for stage in (f"round-{last_round + 1}", f"amended-{last_round}"):
            yield f"{run_of(entry.spec_task_id, entry.attempt, resumed)}-{stage}"


class FailedDraft(NamedTuple):
    """The last draft of a failed module.

    Args:
        contract: Locked.
        base: The files that a fix is laid over: the version that was judged last, or the stub.
        files: The last files that were written: a draft that was refused before anybody judged it, or `base`.
    """

    contract: MicroModuleContract
    base: Files
    files: Files


class Judged(NamedTuple):
    """Where the debate of a failed module ended: the version that it judged last, in which round; empty if it had none."""

    debate_id: str = ""
    version_id: str = ""
    round: int = 0


class HaltedTask:
    """What a halted task left behind.

    Args:
        view: The project.
        escalation: The halt.
    """

    def __init__(self, view: ProjectView, escalation: EscalationArtifact) -> None:
        self._view = view
        self.escalation = escalation
        self.task = task_at(view, escalation.task_id)

    @cached_property
    def plan(self) -> StoredPlan | None:
        """The plan that the task followed; None if it halted before there was one."""
        plan_id = self.escalation.left.get("plan_id")
        return load_plan(self._view.artifacts, self.task.folder, plan_id) if plan_id is not None else None

    @property
    def contracts(self) -> Mapping[str, MicroModuleContract]:
        """The contracts of the plan, by the names of the modules."""
        return self.plan.contracts if self.plan else {}

    @property
    def failed(self) -> list[str]:
        """The modules that failed and are still planned."""
        return [name for name in self.escalation.left.get("failed", {}) if name in self.contracts]

    def judged(self, name: str) -> Judged:
        """Where the debate of a failed module ended."""
        return Judged(**self.escalation.left["judged"].get(name, {}))

    def drafts(self) -> dict[str, FailedDraft]:
        """The last draft of each failed module, by its name.

        Raises:
            RefusedError: no module failed that is still planned.
        """
        name = self.escalation.escalation_id
        if not self.failed:
            raise RefusedError(
                f"{name} has no module whose files could be corrected",
                where=self.escalation.task_id,
                remedy=f"`specwright escalations {name}` shows the answers that it takes",
            )
        return {name: self.draft(name) for name in self.failed}

    def draft(self, name: str) -> FailedDraft:
        """The last draft of a failed module."""
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
        """What the Proposer said last of the criteria, by their numbers: in an answer that was refused, else in the proposal
        that was judged last; as far as a person's files still hold the tests that it names.

        Args:
            proposals: Of the module's debate.
            files: All that the module is to have.
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
        """The statements of the failed modules' contracts that findings cite by their pointers, each after its pointer; of a
        halt before any module, those of all contracts of the plan."""
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
        """The answers that were refused, the last one first, where they can only be of the one module that failed."""
        found: list[dict[str, Any]] = []
        raw_answers: list[str] = self.escalation.details.get("raw_answers", [])
        for raw in reversed(raw_answers if len(self.escalation.failed) == 1 else []):
            try:
                given: Any = json.loads(raw)
            except (ValueError, RecursionError):
                given = None
            # an answer within a list is read, too
            answers = cast("list[Any]", given if isinstance(given, list) else [given])
            found += [cast("dict[str, Any]", one) if isinstance(one, dict) else {} for one in answers]
        return found
