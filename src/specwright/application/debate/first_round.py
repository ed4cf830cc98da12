"""The first round of several modules of a plan: each role is asked once for all of them (design: shared-requests).

An answer is split into one record per deliverable, and each is checked as if it had come alone. What is refused goes
on alone, at the step where it was refused, and the shared answer counts as its first attempt; so does whatever needs a
revision. The answer is journalled once, under a place that names its modules, so that a run that goes on after a crash
splits the same answer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from specwright.application import scopes
from specwright.application.context.packs import (
    PackEntry,
    dependency_entries,
    index_statuses,
    pack_files,
    pack_rows,
    schema_entries,
    task_ref,
)
from specwright.application.context.role_store import RoleStore
from specwright.application.criteria import CriterionRuling, carried_rulings
from specwright.application.debate.case import Case
from specwright.application.debate.debate import Debate
from specwright.application.debate.deliverable import PLAN_CLAIM, Version
from specwright.application.debate.implementation import Implementation
from specwright.application.debate.judges import (
    RefusedPart,
    arbitrate_together,
    challenge_text,
    challenge_together,
    ruling_text,
)
from specwright.application.factory import Factory
from specwright.application.loop_state import DebateState
from specwright.application.messages.debate import ModuleRequest, proposer_message
from specwright.application.store.invocations import Invocation
from specwright.domain.answers.answers import ProposerAnswer
from specwright.domain.artifacts.provenance import Permission
from specwright.domain.debate.debate import MAX_REVISIONS, Adjudication, Challenge
from specwright.domain.modules.evidence import TreeHashes
from specwright.domain.modules.human_files import WRITABLE
from specwright.errors import AnswerError
from specwright.ports.gate import SealedModule
from specwright.ports.roles import Assignment, Place, Role, SharedAnswer

Changes = Mapping[str, DebateState]
"""What changed in the debate of each module."""

_SHARED = 2
"""Modules make a shared request."""


class LaterModules(NamedTuple):
    """What a request for the modules of a plan asks for as well: modules of tasks that come later (design: one-shot).

    Args:
        entries: Of its context pack.
        calls: The sealed modules that they call.
        writable: Where they are written.
        message: The request.
    """

    entries: Sequence[PackEntry] = ()
    calls: Sequence[str] = ()
    writable: Sequence[str] = ()
    message: str = ""


class FirstRound:
    """Modules of a plan whose debates begin together, in the order of their dependencies."""

    def __init__(self, factory: Factory, modules: Sequence[Implementation]) -> None:
        self._factory = factory
        self._modules = {module.name: module for module in modules}
        self._debates = {module.name: Debate(factory, module) for module in modules}
        self.drafted: dict[str, SealedModule | None] = {module.contract.ref: None for module in modules}
        for module in modules:
            module.drafted = self.drafted

    def debate(self, name: str) -> Debate:
        """The debate over a module."""
        return self._debates[name]

    def fitting(self) -> list[str]:
        """The first of the modules, as many as one request holds."""
        modules, limit = list(self._modules.values()), self._factory.shared_characters
        fits = (n for n in range(len(modules), 1, -1) if limit and len(self._message(modules[:n])) <= limit)
        return [module.name for module in modules[: next(fits, 1)]]

    def propose(self, states: Changes) -> Changes:
        """The first proposals; the preflight takes a dependency of the same request as it was drafted, since a module
        ships only after those that it calls are sealed, and is gated with them again."""
        if len(states) < _SHARED:
            return {}
        modules = [self._modules[name] for name in states]
        place = modules[0].task.place("+".join(states), "round-1", Role.PROPOSER)
        by, assignment = self.proposer_request(modules, place, place.run_id)
        try:
            shared = self._factory.roles.propose_together(assignment)
        except AnswerError as error:
            return dict.fromkeys(states, refused_part(RefusedPart.unreadable(error)))
        return {module.name: self.taken(module, by, place, shared) for module in modules}

    def challenge(self, states: Changes) -> Changes:
        """The verdicts on them."""
        cases = [self.debate(name).case(state) for name, state in states.items()]
        changes: dict[str, DebateState] = {}
        for shared in _sharing(cases, challenge_text, self._factory.shared_characters):
            for case, record in zip(shared, challenge_together(self._factory, shared), strict=True):
                debate = self.debate(case.name)
                accepted = isinstance(record, Challenge)
                changes[case.name] = debate.challenged(case, record) if accepted else refused_part(record)
        return changes

    def adjudicate(self, states: Changes) -> Changes:
        """The rulings on them."""
        cases = [self.debate(name).case(state, challenged=True) for name, state in states.items()]
        changes: dict[str, DebateState] = {}
        limit = self._factory.shared_characters
        for shared in _sharing(cases, lambda several: ruling_text(self._factory, several), limit):
            records = arbitrate_together(self._factory, shared, MAX_REVISIONS)
            for case, record in zip(shared, records, strict=True):
                debate = self.debate(case.name)
                accepted = isinstance(record, Adjudication)
                changes[case.name] = debate.ruled(case, record) if accepted else refused_part(record)
        return changes

    def taken(
        self, module: Implementation, by: Invocation, place: Place, shared: SharedAnswer[ProposerAnswer]
    ) -> DebateState:
        """A module's part of the answer: proposed, or kept as a draft that goes on alone."""
        scope = self._factory.journal.scope(scopes.implementation(scopes.part(place.run_id, module.name)))
        files, answer = shared.files_of(module.name), shared.answers.get(module.name)
        refused = RefusedPart(shared.problems.get(module.name, ()), shared.raw.get(module.name, ""))
        waits_for = [ref for ref in module.calls if self.drafted.get(ref, module) is None]
        if answer is not None:
            taken = [f"{ref}, which it calls, was not drafted" for ref in waits_for]
            version = taken or module.take(scope, by, answer, files)
            if isinstance(version, Version):
                self._note_draft(module, version.version_id)
                return self.debate(module.name).proposed(version)
            refused = refused._replace(problems=version)
        draft = module.keep(scope, by, files) if files not in ({}, module.stub()) else ""
        if draft and not waits_for:
            self._note_draft(module, draft)
        return {**refused_part(refused), "draft": draft}

    def _note_draft(self, module: Implementation, version_id: str) -> None:
        folder, artifacts = module.task.folder, self._factory.artifacts
        sha256 = TreeHashes.of(artifacts.body(folder, version_id)).implementation
        location = artifacts.location(folder, version_id)
        self.drafted[module.contract.ref] = SealedModule(module.contract, location, sha256)

    def _message(
        self, modules: Sequence[Implementation], rulings: Mapping[int, CriterionRuling] | None = None
    ) -> str:
        views = {view.contract.ref: view for module in modules for view in module.dependencies("")}
        contracts = [module.contract for module in modules]
        return proposer_message(
            [
                ModuleRequest(m.contract, m.stub(), reports=m.reports, approved=m.approved(contracts))
                for m in modules
            ],
            list(views.values()),
            self._factory.packages,
            modules[0].task.definition.acceptance_criteria,
            rulings or {},
            modules[0].plan_claim,
        )

    def proposer_request(
        self,
        modules: Sequence[Implementation],
        place: Place,
        opened_at: str,
        also: LaterModules = LaterModules(),  # noqa: B008 - immutable
    ) -> tuple[Invocation, Assignment]:
        """The Proposer's column of the role table, for all modules of the request (design: role-access).

        Args:
            modules: Of the plan.
            place: Where it is asked.
            opened_at: The place whose scope takes the draws of the context pack.
            also: Modules of other tasks.
        """
        factory, task, first = self._factory, modules[0].task, modules[0]
        scope = factory.journal.scope(scopes.implementation(opened_at))
        rulings = carried_rulings(factory, task, first.questions, place.run_id)
        own_calls = list(dict.fromkeys(view.contract.ref for m in modules for view in m.dependencies("")))
        calls = list(dict.fromkeys((*own_calls, *also.calls)))
        surfaces = {ref: factory.modules.surface(ref) for ref in calls}
        task_file = {"task.md": factory.folder.read(task.path)}
        entries = [PackEntry(task_ref(factory, task), Permission.FULL, "the task", task_file)]
        for module in modules:
            own = {"contract.json": module.contract.to_bytes(), **module.stub()}
            files = {f"{module.name}/{path}": data for path, data in own.items()}
            entries.append(PackEntry(module.contract_ref, Permission.FULL, "a contract to implement", files))
        entries += also.entries
        entries += dependency_entries(calls, surfaces, index_statuses(factory, scope, calls))
        entries += schema_entries()
        entries += [PackEntry(*ruling.row) for ruling in rulings.values()]
        entries.append(PackEntry(first.plan_ref, Permission.SUMMARY_ONLY, PLAN_CLAIM))
        asked = {module.contract.ref for module in modules}
        others = sorted({ref for module in modules for ref in module.other_modules()} - asked - set(calls))
        excluded = [(ref, "no dependency of these modules") for ref in others]
        author = place.role, place.run_id
        by = factory.invocations.open(scope, author, task.task_id, task.folder, pack_rows(entries), excluded)
        writable = tuple(f"{module.name}/{path}" for module in modules for path in WRITABLE)
        message = also.message or self._message(modules, rulings)
        inputs = [made_from for module in modules for made_from in module.artifact_inputs()]
        works_on = first.contract_ref
        store = RoleStore(factory, factory.index, by, drafts_of=inputs, upstream=own_calls, works_on=works_on)
        return by, Assignment(place, message, pack_files(entries), (*writable, *also.writable), store)


def refused_part(part: RefusedPart) -> DebateState:
    """The state of a debate that goes on alone at the step where an answer was refused."""
    return {"refused": list(part.problems), "raw_answers": [part.raw]}


def _sharing(
    cases: Sequence[Case], text: Callable[[Sequence[Case]], str], limit: int
) -> Iterator[list[Case]]:
    """The debates that share a request; one that is left alone is judged in its own time."""
    shared: list[Case] = []
    for case in cases:
        if shared and len(text([*shared, case])) > limit:
            yield from [shared] if len(shared) > 1 else []
            shared = []
        shared.append(case)
    yield from [shared] if len(shared) > 1 else []
