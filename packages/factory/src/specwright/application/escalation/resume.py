"""A halted task that continues in place: with another plan, a person's approval, or a person's files (design: escalation).

Where a run begins follows from the answer and the escalation that it answers. Neither ever changes, so a run that begins
again after a crash begins at the same place. A person's approval replaces the Arbiter's ruling, a person's files replace
the Proposer's. Neither leaves a revision; everything after them is as in any debate.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import cast

from specwright.application.debate.debate import Debate
from specwright.application.debate.implementation import Implementation
from specwright.application.escalation.halted import HaltedTask
from specwright.application.factory import Factory, ProjectView
from specwright.application.loop_state import EngineeringState, ResumedDebate
from specwright.application.plan.planner import check_human_plan
from specwright.application.store.artifacts import Invocation
from specwright.application.tasks import Task
from specwright.domain.answers import Decision
from specwright.domain.debate.debate import MAX_REVISIONS, Adjudication
from specwright.domain.debate.falsifying import TriedTest
from specwright.domain.escalation import Action, ApproveOverride, ProvideFix, ResolutionRecord
from specwright.domain.modules.evidence import file_problems, overlaid
from specwright.errors import AnswerError, InputError, RefusedError
from specwright.ports import Files, Role, Scope

_CARRIED = ("plan_id", "shipped", "debates", "locked", "reopened_by")
"""What the resumed run takes over from the state of the halted one, beside what failed."""

_CORRECTED = "The draft as it was handed in; what was approved wrongly has been corrected since."
"""The claim of a draft that goes on once a person has corrected what was approved."""


class AnsweredModule:
    """The failed module that an answer is about, with what its halt left.

    Args:
        factory: The ports.
        task: The halted task.
        record: The answer.

    Raises:
        InputError: its payload names no module that failed, or none of several.
        RefusedError: the halt left nothing to go on with.
    """

    def __init__(self, factory: Factory, task: Task, record: ResolutionRecord) -> None:
        self._factory = factory
        self._record = record
        self.halted = HaltedTask(factory, factory.escalations.escalation(record.escalation_id))
        if self.halted.plan is None:
            raise RefusedError(
                "this halt left nothing to go on with",
                where=record.escalation_id,
                remedy="amend or split the task",
            )
        failed, wanted = self.halted.failed, str(record.payload.get("module", ""))
        name = wanted or (failed[0] if len(failed) == 1 else "")
        if name not in failed:
            names = ", ".join(failed) or "none that is still planned"
            what = f"{wanted!r} is no module that failed" if wanted else "several modules failed"
            raise InputError(f"{what}: {names}", where="payload.module", remedy="name one of them")
        self.module = Implementation(factory, task, self.halted.plan, name)
        self.judged = self.halted.judged(name)
        self.number = self.judged.round + 1
        """Of the round that the answer opens."""
        place = task.place(name, f"round-{self.number}", Role.CHALLENGER)
        self.challenged_at = place._replace(resumed=place.resumed + 1)
        """Where a person's files are judged first."""

    @cached_property
    def tests(self) -> Sequence[TriedTest]:
        """The falsifying tests that still count."""
        debate_id, version_id, number = self.judged
        debate = Debate(self._factory, self.module)
        return debate.active_tests(debate_id, number, version_id) if debate_id else ()

    @property
    def claim(self) -> str:
        """What is said of the files."""
        return self._record.payload.get("fix_description", _CORRECTED)

    @cached_property
    def files(self) -> Files:
        """The module's files with those of a person's fix; its last draft where what was approved is corrected.

        Raises:
            InputError: a path lies outside the module, or a file cannot be removed.
        """
        if self._record.action is Action.RETRY:
            return self.halted.draft(self.module.name).files
        answer = ProvideFix.model_validate(self._record.payload)
        problems, files = list(file_problems(answer.fix_artifacts)), {}
        if not problems:
            version = self.judged.version_id
            base = self.module.files(version) if version else self.module.stub()
            files, problems = overlaid(base, answer.fix_artifacts, answer.removed_artifacts)
        if problems:
            raise InputError("; ".join(problems), where="payload.fix_artifacts", remedy="nothing was written")
        return files

    def overrule(self, scope: Scope, by: Invocation) -> tuple[str, str]:
        """A person's approval as the ruling of a round of its own; the ship gate comes next (design: escalation).

        Returns:
            The debate, and the version that ships.
        """
        rationale = ApproveOverride.model_validate(self._record.payload).rationale
        debate_id, version_id, _ = self.judged
        Debate(self._factory, self.module).overrule(scope, by, debate_id, version_id, self.number, rationale)
        return debate_id, version_id

    def fix(self, scope: Scope, by: Invocation) -> tuple[str, str]:
        """A person's files as the proposal of the next round, or of a first one; the Challenger comes next (design:
        escalation).

        Returns:
            The debate, and the version that is judged.
        """
        claim = self.claim
        stage = f"{'corrected' if claim == _CORRECTED else 'round'}-{self.number}"
        debate_id, before, number = self.judged
        records = self._factory.debates.records(debate_id) if debate_id else None
        proposals = records.history(number).proposals if records else ()
        checks = self.halted.last_checks(proposals, self.files)
        version = self.module.accept_fix(scope, by, claim, checks, self.files, before, self.tests, stage)
        debate = Debate(self._factory, self.module)
        return debate.provide(version, debate_id, self.number), version.version_id


def is_refused_by_gate(view: ProjectView, debate_id: str) -> bool:
    """Whether a debate that failed ended with an approval: then it is the ship gate that refused, and nobody overrules
    it."""
    records = view.debates.records(debate_id)
    ruling = records.find(Adjudication, max(records.rounds(), default=0))
    return ruling is not None and ruling.decision is Decision.APPROVE


def check_in_place(factory: Factory, task: Task, record: ResolutionRecord) -> None:
    """Check that a run could begin with an answer; nothing is written and no model is asked.

    Args:
        factory: The ports.
        task: The halted task.
        record: The answer.

    Raises:
        InputError: its payload names what is not there, a plan that does not hold, or a path outside the module.
        RefusedError: there is nothing that could ship.
    """
    if record.action is Action.REVISE_PLAN:
        check_human_plan(factory, task, record)
        return
    failed = AnsweredModule(factory, task, record)
    if record.action in (Action.PROVIDE_FIX, Action.RETRY):
        _ = failed.files
    elif not failed.judged.version_id:
        raise RefusedError(
            f"{failed.module.name} has nothing that could ship: no proposal of it ever passed the preflight",
            where=record.escalation_id,
            remedy="give its files with PROVIDE_FIX",
        )
    elif is_refused_by_gate(factory, failed.judged.debate_id):
        raise RefusedError(
            f"{failed.module.name} was approved; the ship gate refused it, and nobody overrules the gate",
            where=record.escalation_id,
            remedy="give its files with PROVIDE_FIX, or have the task run again with RETRY",
        )


def resume_module(factory: Factory, task: Task) -> EngineeringState:
    """The state with which the module that an answer is about enters its debate, or fails at once."""
    record = cast(ResolutionRecord, task.answer)  # `loop.begin_task` saw it
    failed = AnsweredModule(factory, task, record)
    name, left = failed.module.name, failed.halted.escalation.left
    others = {other: why for other, why in left["failed"].items() if other != name}
    carried = {key: left[key] for key in _CARRIED if key in left}
    begun = cast(EngineeringState, {**carried, "failed": others, "deliverable": name})
    run_id = f"{task.run}/{name}/operator"
    scope = factory.journal.scope(run_id)
    by = factory.invocations.open_resolution(scope, run_id, task.task_id, task.folder, record.escalation_id)
    enter = "ship" if record.action is Action.APPROVE_OVERRIDE else "challenge"
    try:
        debate_id, version_id = failed.overrule(scope, by) if enter == "ship" else failed.fix(scope, by)
    except AnswerError as error:
        if record.action is not Action.RETRY:
            problems = list(error.problems)
            reason = f"{error.what}: {'; '.join(problems)}"
            return {**begun, "failed": {**others, name: reason}, "errors": problems}
        enter, debate_id, version_id = "propose", "", ""  # what was corrected is not all that the draft fails
    spent = failed.judged.round if record.action is Action.RETRY else MAX_REVISIONS
    resumed = ResumedDebate(
        deliverable=name,
        enter=enter,
        debate_id=debate_id,
        version_id=version_id,
        round=failed.number,
        retry_count=min(spent, MAX_REVISIONS),
    )
    debates = {**begun["debates"], name: debate_id} if debate_id else begun["debates"]
    return {**begun, "resumed": resumed, "debates": debates}
