"""From a sentence of SPEC.md, a criterion, a task or a module to what answers to it, and back (design: trace)."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from pydantic import Field

from specwright.application.criteria import unshown_criteria
from specwright.application.factory import ProjectView
from specwright.application.history.criterion_checks import DebateIndex
from specwright.application.history.criterion_evidence import JudgedFrom, RunOutcome, TaskEvidence
from specwright.application.stages.acceptance_report import ReportSources, acceptance_report
from specwright.application.store import layout
from specwright.application.tasks import task_board
from specwright.domain.acceptance.records import name_of
from specwright.domain.base.record import Record
from specwright.domain.modules.acceptance_report import (
    AcceptanceReport,
    CriterionReport,
    CriterionStatus,
    TaskReport,
)
from specwright.domain.spec.product_spec import ProductSpec, TaskSpec
from specwright.domain.spec.statements import (
    Statement,
    holds,
    names_in,
    same_words,
    shared_errors,
    shared_values,
    shared_words,
    statements,
)
from specwright.domain.tasks.project_state import expanded
from specwright.errors import RefusedError

_WORDS_ALONE = "words alone"
_FEW = 2
"""Criteria with the same error that a sentence is linked to."""
_CRITERION = re.compile(r"(TSK-[0-9]+)(?:\s+criterion\s+|\s*[/#:]\s*)([0-9]+)", re.IGNORECASE)


class TracedLink(Record):
    """What links a sentence to a task or to one of its criteria; nobody recorded it.

    Args:
        task_id: As the spec names it.
        criterion: Its number; null if the link is to the task.
        by: What the two have in common, in words.
    """

    task_id: str
    criterion: int | None
    by: str

    @property
    def is_weak(self) -> bool:
        """Whether the two have words in common and nothing else."""
        return self.by.startswith(_WORDS_ALONE)


class JudgedCriterion(Record):
    """A criterion that models alone judged, and what they named for it."""

    task_id: str
    criterion: int
    judged_from: list[JudgedFrom]


class TracedSentence(Record):
    """A sentence of SPEC.md: its file below `state_store/`, its line, and what it has in common with the spec."""

    file: str
    line: int
    text: str
    links: list[TracedLink]


class Trace(Record):
    """What a text leads to.

    Args:
        text: That was asked for.
        found_as: What it is: `sentence`, `criterion`, `task` or `module`, each once.
        sentences: Of SPEC.md; those that words alone link come last.
        tasks: With the criteria that are meant, and what shows them; those that words alone link come last.
        judged: Of these criteria those that models alone judged.
    """

    text: str
    found_as: list[str]
    sentences: list[TracedSentence]
    tasks: list[TaskReport]
    judged: list[JudgedCriterion] = Field(default_factory=list)

    def judged_from(self, task_id: str, criterion: int) -> list[JudgedFrom]:
        """What models judged a criterion from; nothing if code shows it."""
        return [
            row
            for one in self.judged
            if (one.task_id, one.criterion) == (task_id, criterion)
            for row in one.judged_from
        ]

    @property
    def is_uncovered(self) -> bool:
        """Whether sentences alone were asked for, and nothing but words links them to the spec."""
        if self.found_as != ["sentence"]:
            return False
        return all(link.is_weak for one in self.sentences for link in one.links)

    def by_words_alone(self, task_id: str) -> bool:
        """Whether a sentence leads to a task by nothing but words in common."""
        links = [link for one in self.sentences for link in one.links if link.task_id == task_id]
        return self.found_as == ["sentence"] and all(link.is_weak for link in links)


class _Place(NamedTuple):
    """A criterion by its task and number."""

    task_id: str
    criterion: int


class ProjectTrace:
    """A project's sentences, criteria and modules, with what links them.

    Args:
        view: A project whose spec is approved.

    Raises:
        RefusedError: no spec is approved yet.
    """

    def __init__(self, view: ProjectView) -> None:
        if view.projection.spec is None or view.projection.board is None:
            raise RefusedError(
                "no spec is approved yet, so nothing answers to it",
                remedy="`specwright status` says what comes next",
            )
        self._view = view
        self._spec: ProductSpec = view.projection.spec
        self._report = _live_report(view)
        self._file, text = _spec_text(view)
        self._places = {
            task.task_id: [_Place(task.task_id, one.criterion) for one in task.criteria]
            for task in self._report.tasks
        }
        self._around = dict(_texts(self._spec))
        self._sentences = self._linked(statements(text))

    def of(self, text: str) -> Trace | None:
        """What a text leads to; None if it stands nowhere."""
        if (places := self._named(text)) is not None:
            kind, chosen = places
            linked = [row for row in self._sentences if self._meant(row[1]) & chosen]
            return self._trace(text, [kind], linked, chosen)
        found = [row for row in self._sentences if holds(row[0].text, text)]
        own = {
            _Place(task.task_id, one.criterion)
            for task in self._report.tasks
            for one in task.criteria
            if holds(one.text, text)
        }
        kinds = [kind for kind, there in (("sentence", found), ("criterion", own)) if there]
        if not kinds:
            return None
        chosen = own.union(*(self._meant(links) for _, links in found))
        back = [row for row in self._sentences if row in found or self._meant(row[1]) & own]
        return self._trace(text, kinds, back, chosen)

    @property
    def known(self) -> list[str]:
        """Everything that can be asked for."""
        ids = [_id(task.task_id, one) for task in self._report.tasks for one in task.criteria]
        texts = [one.text for task in self._report.tasks for one in task.criteria]
        modules = [one.name for task in self._report.tasks for one in task.modules]
        tasks = [name for task in self._report.tasks for name in (task.task_id, task.name)]
        return [*modules, *tasks, *ids, *(one.text for one, _ in self._sentences), *texts]

    def _named(self, text: str) -> tuple[str, set[_Place]] | None:
        """The criteria that an id or a name means; None if it is none."""
        wanted = text.strip()
        if match := _CRITERION.fullmatch(wanted):
            place = _Place(match[1].upper(), int(match[2]))
            return ("criterion", {place}) if place in self._places.get(place.task_id, ()) else None
        refs = [
            one.module_ref
            for task in self._report.tasks
            for one in task.modules
            if wanted in (one.name, one.module_ref, one.module_ref.partition("@")[0], *one.functions)
        ]
        if refs:
            return "module", self._answered_by(refs)
        tasks = {
            place
            for task in self._report.tasks
            if wanted.casefold() in (task.task_id.casefold(), task.name.casefold())
            for place in self._places[task.task_id]
        }
        return ("task", tasks) if tasks else None

    def _answered_by(self, refs: Sequence[str]) -> set[_Place]:
        """The criteria that something of some modules shows; of a module that shows none, all of its task."""
        own = [
            (task, one)
            for task in self._report.tasks
            if any(module.module_ref in refs for module in task.modules)
            for one in task.criteria
        ]
        paths = tuple(f"{layout.module(ref)}/" for ref in refs)
        shown = [(task, one) for task, one in own if any(ref.startswith(paths) for ref in _files(one))]
        return {_Place(task.task_id, one.criterion) for task, one in shown or own}

    def _meant(self, links: Sequence[TracedLink]) -> set[_Place]:
        """The criteria that links lead to; one to a task leads to all of its criteria, unless another link names one of
        them."""
        named = {link.task_id for link in links if link.criterion is not None}
        return {
            place
            for link in links
            for place in self._places[link.task_id]
            if link.criterion == place.criterion or (link.criterion is None and link.task_id not in named)
        }

    def _trace(
        self,
        text: str,
        kinds: list[str],
        sentences: Sequence[tuple[Statement, list[TracedLink]]],
        chosen: set[_Place],
    ) -> Trace:
        tasks = [
            task.model_copy(update={"criteria": criteria})
            for task in self._report.tasks
            if (criteria := [one for one in task.criteria if _Place(task.task_id, one.criterion) in chosen])
        ]
        traced = [
            TracedSentence(file=self._file, line=one.line, text=one.text, links=links)
            for one, links in sentences
        ]
        traced.sort(key=lambda one: all(link.is_weak for link in one.links))
        judged = [one for task in tasks for one in self._judged(task)]
        trace = Trace(text=text, found_as=kinds, sentences=traced, tasks=tasks, judged=judged)
        ordered = sorted(tasks, key=lambda task: trace.by_words_alone(task.task_id))
        return trace.model_copy(update={"tasks": ordered})

    def _judged(self, task: TaskReport) -> Iterator[JudgedCriterion]:
        """Of a task's criteria those that models alone judged, with what they named."""
        refs = [one.module_ref for one in task.modules]
        state = task_board(self._view).state()
        own = [name for name, entry in state.tasks.items() if entry.spec_task_id == task.task_id]
        evidence = TaskEvidence(self._view, self._debates, expanded(state.tasks, own), "", refs)
        for one in task.criteria:
            if one.status is CriterionStatus.JUDGED:
                found = evidence.judged_from(one.text)
                yield JudgedCriterion(task_id=task.task_id, criterion=one.criterion, judged_from=found)

    @cached_property
    def _debates(self) -> DebateIndex:
        return DebateIndex(self._view)

    def _linked(self, sentences: Sequence[Statement]) -> list[tuple[Statement, list[TracedLink]]]:
        """What each sentence has in common with tasks and criteria. Words alone count only where nothing else does, and
        then only for the tasks that the rest of its section leads to, if it leads to any."""
        strong = [[*self._by_values(one.text), *self._by_names(one.text)] for one in sentences]
        tasks = dict[int, set[str]]()
        for one, links in zip(sentences, strong, strict=True):
            tasks.setdefault(one.section, set()).update(link.task_id for link in links)
        return [
            (one, links or self._by_words(one.text, tasks[one.section]))
            for one, links in zip(sentences, strong, strict=True)
        ]

    def _by_values(self, text: str) -> Iterator[TracedLink]:
        """The criteria with the same words in a row, or else with the most values in common."""
        rows = [(task.task_id, one) for task in self._report.tasks for one in task.criteria]
        same = [(name, one.criterion, "the same words") for name, one in rows if same_words(text, one.text)]
        if not same:
            values = {(name, one.criterion): shared_values(text, one.text) for name, one in rows}
            most = max(map(len, values.values()), default=0)
            same = [
                (*place, f"the same values: {', '.join(found)}")
                for place, found in values.items()
                if found and len(found) == most
            ]
        for name, number, by in same or self._by_errors(text):
            yield TracedLink(task_id=name, criterion=number, by=by)

    def _by_errors(self, text: str) -> list[tuple[str, int, str]]:
        """The criteria with the same errors; none if many criteria have them."""
        rows = [
            (task.task_id, one.criterion, f"the same error: {', '.join(errors)}")
            for task in self._report.tasks
            for one in task.criteria
            if (errors := shared_errors(text, one.text))
        ]
        return rows if len(rows) <= _FEW else []

    def _by_names(self, text: str) -> Iterator[TracedLink]:
        for task, report in zip(self._spec.tasks(), self._report.tasks, strict=True):
            names = names_in(text, _names(task, report))
            if names:
                yield TracedLink(task_id=task.task_id, criterion=None, by=f"the name {', '.join(names)}")
            elif any(same_words(text, other) for other in (task.name, task.description)):
                yield TracedLink(task_id=task.task_id, criterion=None, by="the same words")

    def _by_words(self, text: str, within: set[str]) -> list[TracedLink]:
        """The criteria with the most words in common; if none has any, the tasks.

        Args:
            text: Of the sentence.
            within: The tasks that come into question; all if it is empty.
        """
        criteria = [
            (shared_words(text, one.text), task.task_id, one.criterion)
            for task in self._report.tasks
            if not within or task.task_id in within
            for one in task.criteria
        ]
        tasks = [
            (shared_words(text, around), name, None)
            for name, around in self._around.items()
            if not within or name in within
        ]
        rows = criteria if any(words for words, _, _ in criteria) else tasks
        most = max((len(words) for words, _, _ in rows), default=0)
        return [
            TracedLink(task_id=task_id, criterion=number, by=f"{_WORDS_ALONE}: {', '.join(words)}")
            for words, task_id, number in rows
            if words and len(words) == most
        ]


def _files(criterion: CriterionReport) -> list[str]:
    """Where its evidence is."""
    return [ref for one in criterion.evidence for ref in (one.stated_in, *one.ran_in)]


def _id(task_id: str, criterion: CriterionReport) -> str:
    return f"{task_id} criterion {criterion.criterion}"


def _names(task: TaskSpec, report: TaskReport) -> list[str]:
    """The public names of a task, and the functions of its modules."""
    provided = [name_of(public) for public in task.acceptance.provides] if task.acceptance else []
    return list(dict.fromkeys((*provided, *(name for one in report.modules for name in one.functions))))


def _texts(spec: ProductSpec) -> Iterator[tuple[str, str]]:
    """Everything that the spec says of a task, its story and its epic, by task."""
    for epic in (epic for pillar in spec.pillars for epic in pillar.epics):
        for story in epic.stories:
            for task in story.tasks:
                above = (epic.name, epic.description, *epic.success_criteria, story.name, story.description)
                own = (story.user_facing_behavior, task.name, task.description, *task.subtasks)
                sketch = map(str, task.io_contract_sketch.to_json().values())
                yield task.task_id, "\n".join((*above, *own, *sketch))


def _spec_text(view: ProjectView) -> tuple[str, str]:
    """The SPEC.md that the approved spec was made of: its file, and its text; empty if there was none."""
    approved = [
        one.request.number for one in view.projection.changes if one.before and one.ended != "abandoned"
    ]
    for number in (*reversed(approved), 0):
        path = layout.spec_files(number).source
        if view.store.exists(path):
            return path, view.store.read(path).decode(errors="replace")
    return layout.spec_files().source, ""


def _live_report(view: ProjectView) -> AcceptanceReport:
    """The report as the project stands now, with what came of examples on the wheel of the last release."""
    board, projection = task_board(view), view.projection
    refs = [ref for task_id in board.tasks for ref in board.modules_of(task_id)]
    release_id = projection.releases[-1] if projection.releases else ""
    path = layout.acceptance_report(release_id) if release_id else ""
    outcomes: dict[tuple[str, str], RunOutcome] = {}
    ran_in: list[str] = []
    if path and view.store.exists(path):
        before = AcceptanceReport.from_document(view.store.read(path), path)
        if before.spec == layout.definition(projection.spec_sha256):
            for key, outcome, wheel in _ran_at_release(before):
                outcomes[key], ran_in = outcome, [wheel]
    unshown = list(unshown_criteria(view, list(board.tasks)))
    return acceptance_report(view, release_id, ReportSources(refs, outcomes, ran_in, unshown))


def _ran_at_release(report: AcceptanceReport) -> Iterator[tuple[tuple[str, str], RunOutcome, str]]:
    """What a release ran: by task and title, what came of it, and the wheel."""
    for task in report.tasks:
        evidence = [one for criterion in task.criteria for one in criterion.evidence]
        for one in evidence:
            wheel = next((ref for ref in one.ran_in if ref.endswith(".whl")), "")
            if wheel and one.kind in ("example", "property", "session"):
                passed = one.result == "PASS"
                yield (task.task_id, one.name), RunOutcome(passed, "" if passed else one.detail), wheel
