"""One request of a judge is about the modules of a task and the drafts of the tasks that come next (design: one-shot).

What is said of a later task is kept for each of its modules, with what it rests on: the draft, and what that rests on. The
task's own first round takes it after the checks that it would have met alone; falsifying tests run again on what is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, cast

from specwright.application import scopes
from specwright.application.context.packs import Row, task_ref
from specwright.application.context.role_store import RoleStore
from specwright.application.criteria import carried_rulings
from specwright.application.debate.case import Case
from specwright.application.debate.examination import Examination
from specwright.application.debate.judges import called_modules, known_views, open_judge_pack
from specwright.application.factory import Factory
from specwright.application.messages.debate import JudgedDebate
from specwright.application.messages.tasks import JudgedModules, module_rulings_message, verdicts_message
from specwright.application.one_shot.advance_drafts import AdvanceDrafts, advance_drafts
from specwright.application.one_shot.draft_case import DraftModule, verdict_basis
from specwright.application.one_shot.later_tasks import LaterTask
from specwright.application.plan.advance_answers import (
    AdvanceAnswer,
    AdvanceStep,
    OfferedAnswer,
    advance_answer,
    keep,
    part_of,
)
from specwright.application.plan.shared_plans import SharedTasks, following, journalled_request, task_brief
from specwright.application.store.debates import DebateHistory
from specwright.application.store.invocations import Invocation
from specwright.application.tasks import Task
from specwright.canonical_json import JsonValue
from specwright.domain.answers.answers import ArbiterAnswer, ChallengerAnswer
from specwright.domain.artifacts.provenance import Permission
from specwright.domain.base.ids import ArtifactType, artifact_id
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.debate import MAX_REVISIONS, Challenge, challenge
from specwright.errors import AnswerError
from specwright.ports.gate import SealedModule
from specwright.ports.roles import Assignment, Place, Role, SharedAnswer

_STEPS = {Role.CHALLENGER: AdvanceStep.CHALLENGE, Role.ARBITER: AdvanceStep.RULING}


class OwnDebates(NamedTuple):
    """The debates of the task that is made now, which begin together.

    Args:
        task: The task.
        drafts: What was answered about its modules.
        basis: What that rests on.
        plan_claim: What the planner says of their contracts.
        cases: Those that are judged, in order.
        contracts: Of all modules of the plan.
        drafted: Each module as it was drafted, by its reference.
        later: Those of some tasks whose contracts stand as they were approved.
    """

    task: Task
    drafts: AdvanceDrafts
    basis: JsonValue
    plan_claim: str
    cases: Sequence[Case]
    contracts: Sequence[MicroModuleContract]
    drafted: Mapping[str, SealedModule | None]
    later: Callable[[Sequence[Task]], Sequence[LaterTask]]


class _Judged(NamedTuple):
    """What is judged of one task."""

    task: Task
    plan_claim: str
    questions: Sequence[str]
    cases: Sequence[Case]
    bases: Mapping[str, JsonValue]


class VerdictsTogether:
    """The verdicts of one judge on the first proposals of a task.

    Args:
        factory: The ports.
        own: The debates of the task.
        role: Who judges.
    """

    def __init__(self, factory: Factory, own: OwnDebates, role: Role) -> None:
        self._factory, self._own, self._role = factory, own, role
        self._step, self._task = _STEPS[role], own.task

    def offered(self) -> dict[str, OfferedAnswer]:
        """By module, what was answered about it in advance, or now together with the tasks that come next; empty if the
        modules are judged without those."""
        found = self._answers()
        if len(found) < len(self._own.cases) and self._may_ask:
            self._ask()
            found = self._answers()
        bases = self._judged_now().bases
        return {name: OfferedAnswer(answer, bases[name]) for name, answer in found.items()}

    def _answers(self) -> dict[str, AdvanceAnswer]:
        kept = {
            case.name: advance_answer(self._factory, self._task, self._step, case.name)
            for case in self._own.cases
        }
        return {name: answer for name, answer in kept.items() if answer is not None}

    @property
    def _may_ask(self) -> bool:
        """The Arbiter rules together on reviews that found nothing."""
        return self._role is Role.CHALLENGER or all(case.shown.undisputed for case in self._own.cases)

    def _judged_now(self) -> _Judged:
        own, cases = self._own, self._own.cases
        bases = {
            case.name: verdict_basis(
                own.basis, own.drafts.modules[case.name], self._role, case.history.challenges
            )
            for case in cases
        }
        return _Judged(own.task, own.plan_claim, cases[0].deliverable.questions, cases, bases)

    def _ask(self) -> None:
        """Ask, and keep each part; those of this task last, so that a crash before it leaves the request to be repeated."""
        shared = self._request()
        if not shared.tasks:
            return
        try:
            answered = self._answered(shared)
        except AnswerError as error:
            answered = error
        for task in (*shared.others, self._task):
            for name, basis in _bases(shared, task).items():
                keep(self._factory, task, self._step, part_of(answered, name, basis), name)

    def _request(self) -> SharedTasks:
        """The request; later drafts are examined when it is first composed, and not again after a crash."""
        with TemporaryDirectory() as directory:
            found = dict[str, _Judged]()

            def others() -> list[Task]:
                found.update({one.task.task_id: one for one in self._later(Path(directory))})
                return [one.task for one in found.values()]

            def judged(tasks: Sequence[Task]) -> list[_Judged]:
                return [self._judged_now(), *(found[task.task_id] for task in tasks[1:])]

            return journalled_request(
                self._factory,
                self._task,
                self._role,
                others,
                lambda tasks: self._composed(judged(tasks)),
                lambda tasks, _: self._place([case.name for one in judged(tasks) for case in one.cases]),
                about="modules",
            )

    def _place(self, names: Sequence[str]) -> Place:
        return self._task.place("+".join(names), "round-1", self._role)

    def _later(self, directory: Path) -> list[_Judged]:
        """The tasks that come next whose drafts can be judged as they are: all modules of each."""
        factory = self._factory

        def wanted(other: Task) -> bool:
            drafts = advance_drafts(factory, other)
            return drafts is not None and not any(
                advance_answer(factory, other, self._step, name) for name in drafts.modules
            )

        drafted, found = dict(self._own.drafted), list[_Judged]()
        later = self._own.later(following(factory, self._task, wanted))
        everything = [*self._own.contracts, *(contract for one in later for contract in one.contracts)]
        for one in later:
            drafts = advance_drafts(factory, one.task)
            if drafts is None or drafts.basis != one.basis:
                continue
            modules = [
                DraftModule(factory, one.task, contract, everything, drafts.modules[contract.name])
                for contract in one.contracts
            ]
            if judged := self._examined(one, drafts, modules, drafted, directory):
                found.append(judged)
        return found

    def _examined(
        self,
        one: LaterTask,
        drafts: AdvanceDrafts,
        modules: Sequence[DraftModule],
        drafted: dict[str, SealedModule | None],
        directory: Path,
    ) -> _Judged | None:
        """A later task whose drafts all pass the preflight, and for the Arbiter a review that found nothing."""
        cases, bases = list[Case](), dict[str, JsonValue]()
        by = Invocation(Role.PROPOSER, drafts.asked, one.task.task_id, "", one.task.folder)
        for module in modules:
            module.drafted = drafted
            known = {ref for ref in module.calls if drafted.get(ref) or self._factory.modules.is_sealed(ref)}
            case = module.case(self._factory, by, self._examined_at(one.task), known)
            basis = verdict_basis(drafts.basis, module.draft, Role.CHALLENGER)
            if case is not None and self._role is Role.ARBITER:
                case = self._reviewed(one.task, case, basis)
                basis = case and verdict_basis(
                    drafts.basis, module.draft, Role.ARBITER, case.history.challenges
                )
            if case is None:
                return None
            cases.append(case)
            bases[module.name] = basis
            drafted[module.contract.ref] = module.lay_out(directory)
        return _Judged(one.task, one.plan.claim, (), cases, bases)

    def _reviewed(self, task: Task, case: Case, basis: JsonValue) -> Case | None:
        """The debate over a draft after the review that was given in advance; None if there is none that found nothing."""
        early = advance_answer(self._factory, task, AdvanceStep.CHALLENGE, case.name)
        if early is None:
            return None
        place = scopes.part(self._examined_at(task), case.name)
        known = [*self._own.contracts, *case.contracts, *(v.contract for v in called_modules([case]))]
        examination = Examination(self._factory, case, known, place)
        answer, _ = early.take(ChallengerAnswer, basis, examination.problems)
        if answer is None:
            return None
        record: Challenge = challenge(
            answer, artifact_id(ArtifactType.CHALLENGE, "00000000"), case.version_id, examination.tried
        )
        reviewed = case._replace(history=DebateHistory(case.history.proposals, [record]))
        return reviewed if reviewed.shown.undisputed else None

    def _examined_at(self, task: Task) -> str:
        return scopes.judged_ahead(self._task.run, task.entry.spec_task_id)

    def _composed(self, judged: Sequence[_Judged]) -> tuple[dict[str, dict[str, JsonValue]], str]:
        """What the verdicts on each task rest on, by module, and the message."""
        told = scopes.judged_together(self._task.run, self._role)
        tasks = [
            JudgedModules(
                task_brief(self._factory, one.task, told, one.questions),
                one.plan_claim,
                [JudgedDebate(case.name, case.contracts, case.history) for case in one.cases],
            )
            for one in judged
        ]
        shown: dict[str, dict[str, JsonValue]] = {}
        for one in judged:
            calls: JsonValue = [view.contract.ref for view in called_modules(one.cases)]
            shown[one.task.task_id] = {"bases": dict(one.bases), "calls": calls}
        if self._role is Role.ARBITER:
            return shown, module_rulings_message(tasks, MAX_REVISIONS)
        cases = [case for one in judged for case in one.cases]
        place = self._place([case.name for case in cases])
        return shown, verdicts_message(tasks, known_views(self._factory, called_modules(cases), place.run_id))

    def _answered(self, shared: SharedTasks) -> SharedAnswer[ChallengerAnswer] | SharedAnswer[ArbiterAnswer]:
        factory, own = self._factory, self._own
        place = self._place([name for task in shared.tasks for name in _bases(shared, task)])
        told = scopes.judged_together(self._task.run, self._role)
        rulings = carried_rulings(
            factory,
            self._task,
            own.cases[0].deliverable.questions,
            scopes.part(told, self._task.entry.spec_task_id),
        )
        rows = [row for task in shared.others for row in self._rows(shared, task, told)]
        views = known_views(factory, called_modules(own.cases), scopes.part(place.run_id, "own"))
        by = open_judge_pack(factory, own.cases, place, views, rulings, rows)
        if self._role is Role.ARBITER:
            return factory.roles.arbitrate_together(Assignment(place, shared.message, {}, undisputed=True))
        store = RoleStore(
            factory,
            factory.index,
            by,
            judged=[contract for case in own.cases for contract in case.contracts],
            contracts_only=True,
            upstream=[view.contract.ref for view in views],
            works_on=own.cases[0].history.proposals[-1].deliverable_ref,
        )
        files = {f"{case.name}/proposal.json": case.history.proposals[-1].to_bytes() for case in own.cases}
        return factory.roles.challenge_together(Assignment(place, shared.message, files, store=store))

    def _rows(self, shared: SharedTasks, task: Task, place: str) -> list[Row]:
        """What the context pack says of a later task: there are no records of it yet."""
        seen = Permission.FULL if self._role is Role.ARBITER else Permission.SUMMARY_ONLY
        rows: list[Row] = [(task_ref(self._factory, task), seen, _LATER)]
        of_task = scopes.part(place, task.entry.spec_task_id)
        rulings = carried_rulings(self._factory, task, (), of_task)
        rows += [ruling.row for ruling in rulings.values()]
        if self._role is Role.CHALLENGER:
            calls = cast(list[str], shared.shown[task.task_id]["calls"])
            rows += [(ref, Permission.CONTRACT_ONLY, "a dependency") for ref in calls]
        return rows


def _bases(shared: SharedTasks, task: Task) -> dict[str, JsonValue]:
    """What the verdicts on the modules of a task rest on, by module."""
    return cast(dict[str, JsonValue], shared.shown[task.task_id]["bases"])


_LATER = "a task that comes later: the proposals of its modules, as they were drafted, with their contracts"
