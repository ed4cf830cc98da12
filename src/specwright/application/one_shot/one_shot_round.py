"""The first round of all modules of a plan in the lane `one-shot`: one request drafts them with those of the tasks that come
next (design: one-shot).

What is answered about a later task is kept for it, and its own first round takes it up without a request, if it rests on
what is still the same. From there on each module is checked, judged and sealed as in the other lane.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import cast

from specwright.application import scopes
from specwright.application.context.packs import PackEntry, task_ref
from specwright.application.criteria import carried_rulings
from specwright.application.debate.case import Case
from specwright.application.debate.first_round import Changes, FirstRound, LaterModules, refused_part
from specwright.application.debate.implementation import Implementation
from specwright.application.debate.judges import take_challenge, take_ruling
from specwright.application.factory import Factory
from specwright.application.loop_state import DebateState
from specwright.application.messages.tasks import drafts_message
from specwright.application.one_shot.advance_drafts import AdvanceDrafts, advance_drafts, keep_drafts
from specwright.application.one_shot.later_tasks import (
    LaterTask,
    approved_in_advance,
    later_tasks,
    modules_of_later,
    to_draft,
)
from specwright.application.one_shot.shared_verdicts import OwnDebates, VerdictsTogether
from specwright.application.plan.drafted_plans import contracts_basis, sealed_fingerprint, shown_of
from specwright.application.plan.rules import known_modules
from specwright.application.plan.shared_plans import SharedTasks, journalled_request, may_share
from specwright.application.plan.stored_plans import StoredPlan
from specwright.application.tasks import Task
from specwright.canonical_json import JsonValue
from specwright.domain.artifacts.provenance import Permission
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.debate import MAX_REVISIONS, ONE_SHOT_MODULES, Adjudication, Challenge
from specwright.domain.modules.human_files import WRITABLE
from specwright.domain.plan.micro_plan import KnownModules
from specwright.errors import AnswerError
from specwright.ports.progress import Step
from specwright.ports.roles import Files, Place, Role


class OneShotRound(FirstRound):
    """All modules of a plan, in the order of their dependencies, before anybody was asked for one of them.

    Args:
        factory: The ports.
        modules: The modules.
        plan: Of which they are.
    """

    def __init__(self, factory: Factory, modules: Sequence[Implementation], plan: StoredPlan) -> None:
        super().__init__(factory, modules)
        self._own = list(modules)
        self._plan = plan
        self._task = modules[0].task

    @property
    def is_shared(self) -> bool:
        """Whether their drafts were asked for together with those of other tasks, or will be, and still count."""
        if not may_share(self._factory, self._task):
            return False
        if drafts := advance_drafts(self._factory, self._task):
            return drafts.basis == self._basis
        return bool(self._request.tasks)

    def propose(self, states: Changes) -> Changes:
        """The first proposals, of the drafts that were made in advance, or are made now with those of later tasks."""
        drafts = advance_drafts(self._factory, self._task) or self._drafts()
        place = self._task.place(drafts.asked, "round-1", Role.PROPOSER)
        opened_at = scopes.part(place.run_id, self._task.entry.spec_task_id)
        by, _ = self.proposer_request(self._own, place, opened_at)
        return {module.name: self.taken(module, by, place, drafts.answer) for module in self._own}

    def challenge(self, states: Changes) -> Changes:
        """The verdicts that were given in advance, or are given now together with those on later drafts."""
        cases = {name: self.debate(name).case(state) for name, state in states.items()}
        together = VerdictsTogether(self._factory, self._debates_now(list(cases.values())), Role.CHALLENGER)
        changes: dict[str, DebateState] = {}
        for name, offered in together.offered().items():
            record = take_challenge(self._factory, cases[name], self._called, offered)
            if isinstance(record, Challenge):
                changes[name] = self.debate(name).challenged(cases[name], record)
            elif record is not None:
                changes[name] = refused_part(record)
        return {**changes, **super().challenge(_others(states, changes))}

    def adjudicate(self, states: Changes) -> Changes:
        """The rulings, likewise."""
        cases = {name: self.debate(name).case(state, challenged=True) for name, state in states.items()}
        together = VerdictsTogether(self._factory, self._debates_now(list(cases.values())), Role.ARBITER)
        changes: dict[str, DebateState] = {}
        for name, offered in together.offered().items():
            record = take_ruling(self._factory, cases[name], MAX_REVISIONS, offered)
            if isinstance(record, Adjudication):
                changes[name] = self.debate(name).ruled(cases[name], record)
            elif record is not None:
                changes[name] = refused_part(record)
        return {**changes, **super().adjudicate(_others(states, changes))}

    def _debates_now(self, cases: Sequence[Case]) -> OwnDebates:
        drafts = advance_drafts(self._factory, self._task)
        assert drafts is not None  # they were proposed from these
        return OwnDebates(
            self._task,
            drafts,
            self._basis,
            self._own[0].plan_claim,
            cases,
            list(self._plan.contracts.values()),
            self.drafted,
            self._later,
        )

    @property
    def _called(self) -> list[MicroModuleContract]:
        """The contracts that a judge of these modules may cite."""
        return [*self._plan.contracts.values(), *(v.contract for m in self._own for v in m.dependencies(""))]

    @cached_property
    def _basis(self) -> JsonValue:
        """What a draft of the modules rests on now."""
        factory, place = self._factory, scopes.drafts_together(self._task.run, "own")
        rulings = carried_rulings(factory, self._task, self._own[0].questions, place)
        return contracts_basis(
            shown_of(self._task, rulings),
            self._plan.answer,
            lambda name: sealed_fingerprint(factory, self._known, name),
        )

    @cached_property
    def _known(self) -> KnownModules:
        scope = scopes.known_together(self._task.run, Role.PROPOSER)
        return known_modules(self._factory, self._factory.journal.scope(scope))

    @cached_property
    def _request(self) -> SharedTasks:
        """The request about this task and those that come next, as many as fit."""
        return journalled_request(
            self._factory, self._task, Role.PROPOSER, self._others, self._composed, self._place
        )

    def _others(self) -> list[Task]:
        """The tasks that may join, with at most so many modules in all."""
        joined, left = list[Task](), ONE_SHOT_MODULES - len(self._own)
        for one in self._later(approved_in_advance(self._factory, self._task)):
            left -= len(one.contracts)
            if left < 0:
                break
            joined.append(one.task)
        return joined

    def _later(self, tasks: Sequence[Task]) -> list[LaterTask]:
        contracts, place = (
            list(self._plan.contracts.values()),
            scopes.drafts_together(self._task.run, "later"),
        )
        return later_tasks(self._factory, self._known, contracts, tasks, place)

    def _place(self, tasks: Sequence[Task], role: Role) -> Place:
        names = [module.name for module in self._own]
        names += [contract.name for one in self._later(tasks[1:]) for contract in one.contracts]
        return self._task.place("+".join(names), "round-1", role)

    def _composed(self, tasks: Sequence[Task]) -> tuple[dict[str, dict[str, JsonValue]], str]:
        """What is shown of each task, with the files that its modules begin with; and the message."""
        factory, later = self._factory, self._later(tasks[1:])
        contracts = list(self._plan.contracts.values())
        modules = modules_of_later(factory, later, contracts)
        place = scopes.drafts_together(self._task.run, "told")
        told = [to_draft(factory, self._task, self._own[0].plan_claim, self._own, place)]
        told += [
            to_draft(factory, one.task, one.plan.claim, modules[one.task.task_id], place) for one in later
        ]
        views = [view for made in (self._own, *modules.values()) for m in made for view in m.dependencies("")]
        shown: dict[str, dict[str, JsonValue]] = {self._task.task_id: {"basis": self._basis}}
        for one in later:
            made = modules[one.task.task_id]
            files: JsonValue = {
                m.name: {path: data.decode() for path, data in m.stub().items()} for m in made
            }
            calls: JsonValue = [view.contract.ref for m in made for view in m.dependencies("")]
            shown[one.task.task_id] = {"basis": one.basis, "modules": files, "calls": calls}
        dependencies = list({view.contract.ref: view for view in views}.values())
        return shown, drafts_message(told, dependencies, factory.packages)

    def _drafts(self) -> AdvanceDrafts:
        """Ask, and keep each part for its task; that of this task last, so that a crash before it leaves the request to
        be repeated."""
        shared, factory = self._request, self._factory
        names = {self._task.task_id: [module.name for module in self._own]}
        names |= {one.task_id: list(_modules(shared, one)) for one in shared.others}
        asked = "+".join(name for task in shared.tasks for name in names[task.task_id])
        place = self._task.place(asked, "round-1", Role.PROPOSER)
        _, assignment = self.proposer_request(self._own, place, place.run_id, self._also(shared))
        listed = ", ".join(task.entry.spec_task_id for task in shared.tasks)
        factory.progress.note(
            Step(
                "one-shot",
                self._task.entry.spec_task_id,
                f"one request for the drafts of {listed}, {len(shared.message):,} characters; "
                "tasks after these come in the next",
            )
        )
        try:
            answered = factory.roles.propose_together(assignment)
        except AnswerError as error:
            answered = error
        parts = {
            task.task_id: AdvanceDrafts.of(
                answered, names[task.task_id], asked, shared.shown[task.task_id]["basis"]
            )
            for task in shared.tasks
        }
        for task in shared.others:
            keep_drafts(factory, task, parts[task.task_id])
        return keep_drafts(factory, self._task, parts[self._task.task_id])

    def _also(self, shared: SharedTasks) -> LaterModules:
        """What the request shows of later tasks, as it was journalled."""
        entries, calls, writable = list[PackEntry](), list[str](), list[str]()
        told = scopes.drafts_together(self._task.run, "told")
        for task in shared.others:
            name, files = task.entry.spec_task_id, dict[str, bytes]()
            for module, stub in _modules(shared, task).items():
                files |= {f"{module}/{path}": data for path, data in stub.items()}
                writable += [f"{module}/{path}" for path in WRITABLE]
            files[f"{name}/task.md"] = self._factory.folder.read(task.path)
            entries.append(PackEntry(task_ref(self._factory, task), Permission.FULL, _LATER, files))
            rulings = carried_rulings(self._factory, task, (), scopes.part(told, name))
            entries += [PackEntry(*ruling.row) for ruling in rulings.values()]
            calls += cast(list[str], shared.shown[task.task_id]["calls"])
        return LaterModules(entries, calls, writable, shared.message)


_LATER = "a task that comes later: of the plan that was approved for it, its contracts and its claim"


def _others(states: Changes, changes: Changes) -> Changes:
    return {name: state for name, state in states.items() if name not in changes}


def _modules(shared: SharedTasks, task: Task) -> dict[str, Files]:
    """The modules of a later task in a request, with the files that each begins with."""
    modules = cast(dict[str, dict[str, str]], shared.shown[task.task_id]["modules"])
    return {name: {path: text.encode() for path, text in files.items()} for name, files in modules.items()}
