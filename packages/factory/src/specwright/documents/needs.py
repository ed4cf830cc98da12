"""Who must act, and with which commands: what waits for a person in a project, and its escalations (design: command-line,
escalation).
"""

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field

from ship_gate.base.record import Record
from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.terminal.output import counted
from ship_gate.terminal.page import brief
from specwright.application.change import product_modules
from specwright.application.criteria import open_questions
from specwright.application.escalation.halted import (
    HaltedTask,
    open_escalations,
    recommended_action,
    unusable_roles,
)
from specwright.application.escalation.offers import DECISIONS, meaning, payload_draft, suited_actions
from specwright.application.factory import ProjectView
from specwright.application.interface_change import shown_sha256
from specwright.application.stages.product import current_spec, draft_history
from specwright.application.stages.release import last_release
from specwright.application.stages.status import ProjectStatus
from specwright.application.store import layout
from specwright.application.store.layout import release, spec_files
from specwright.application.tasks import task_board
from specwright.bootstrap.spec_file import spec_changed, spec_copy
from specwright.bootstrap.views import LastStop
from specwright.documents.commands import OTHER_SPEC, next_command
from specwright.domain.base.document import Document
from specwright.domain.base.graph import reachable
from specwright.domain.escalation import (
    CRITERION,
    RELEASE,
    STALLED,
    Action,
    EscalationArtifact,
    FailedInvariant,
)
from specwright.domain.modules.release import ReleaseManifest
from specwright.domain.spec.acceptance_text import summary
from specwright.domain.spec.product_spec import decisions_of
from specwright.domain.tasks.project_state import TaskStatus
from specwright.errors import InputError

FIX = "fix"
"""The directory of a fix in the commands that are shown."""

_ANSWERED = 160
"""Characters of what a model answered last."""

_UNFINISHED = {
    ProjectStatus.NEW: "The run has begun; no spec is written yet.",
    ProjectStatus.RUNNING: "The run stopped between two answers; nothing is lost.",
    ProjectStatus.RELEASE_DUE: "No task is left to do; the release is still to be made.",
}
_SENT_BACK = "The spec was sent back and is not written again yet; what was answered is not asked again."
_NOTHING_SHIPPED = (
    "Every task was abandoned, so there is nothing to release. Revise SPEC.md, and begin in a new directory."
)
_KINDS: dict[str, "Kind"] = {
    STALLED: "stalled",
    CRITERION: "question",
    RELEASE: "release",
    "exception": "exception",
}
_DECISION_OPTIONS = {"approve": "", "reject": '--reason "why" --requeue', "defer": ""}

Kind = Literal["start", "approval", "escalation", "exception", "stalled", "question", "run", "release"]


class Need(Record):
    """Something that waits for a person.

    Args:
        kind: Of the question.
        about: What it is about: an escalation with its task, the spec, the run.
        question: What is to be decided.
        since: When it began to wait; empty if nothing says it.
        urgent: Whether work waits for the answer.
        escalation: Its id; empty if it is none.
        cause: Why a task halted.
        last_words: What the Arbiter said last of each failed module.
        answered: What a model answered last where no answer of it could be used.
        recommended: The recommended answer.
        steps: The commands that lead to the recommended answer, one after the other.
        others: Commands that give other answers.
        read: The file to read first.
        page: The command that shows everything.
    """

    kind: Kind
    about: str
    question: str
    since: str = ""
    urgent: bool = True
    escalation: str = ""
    cause: str = ""
    last_words: list[str] = Field(default_factory=list)
    answered: str = ""
    recommended: str = ""
    steps: list[str]
    others: list[str] = Field(default_factory=list)
    read: str = ""
    page: str = ""


def needs(
    view: ProjectView,
    status: ProjectStatus,
    directory: Path,
    *,
    stop: LastStop | None = None,
    driven: bool = False,
    most: int | None = None,
) -> list[Need]:
    """What waits for a person; while a run is at work, its escalations alone.

    Args:
        view: The project.
        status: Of it.
        directory: Of it.
        stop: What stopped the last run.
        driven: Whether a run is at work.
        most: The most escalations for which work waits, and the most other ones.
    """
    found = [] if driven else [*_at_stop(view, status, directory, stop)]
    for names, urgent in ((open_escalations(view), True), (open_questions(view), False)):
        records = (view.escalations.escalation(name) for name in names[:most])
        found += [escalation_need(view, one, directory, urgent=urgent) for one in records]
    return found


def _at_stop(
    view: ProjectView, status: ProjectStatus, directory: Path, stop: LastStop | None
) -> Iterator[Need]:
    if status is ProjectStatus.APPROVAL:
        yield _approval(view, directory)
    elif status is ProjectStatus.RELEASE_FAILED and (manifest := last_release(view)):
        yield _failed_release(view, manifest, directory)
    elif status is ProjectStatus.RELEASE_DUE and not task_board(view).count(TaskStatus.SHIPPED):
        yield Need(kind="release", about="the release", question=_NOTHING_SHIPPED, steps=[])
    elif status.is_between_stops:
        yield _run(view, status, directory, stop)


def _failed_release(view: ProjectView, manifest: ReleaseManifest, directory: Path) -> Need:
    """What leads to a release: to take a deprecation back, to release what was sealed since, or to change the product."""
    change, again = next_command("change", directory, OTHER_SPEC), next_command("release", directory)
    undo, steps, others = undo_commands(view, product_modules(view), directory), [change], [again]
    hint = "`release` gives the same again unless what the report names was repaired outside of the product."
    if undo:
        steps, others, hint = [*undo, again], [change], "A deprecation can be taken back."
    elif sealed_since(view, manifest):
        steps, others, hint = [again], [change], "What was sealed since is not in it."
    return Need(
        kind="release",
        about="the release",
        question=f"The release failed: {manifest.notes} {hint}",
        steps=steps,
        others=others,
        read=str(view.store.directory(release(manifest.release_id)) / "failure_report.md"),
    )


def undo_commands(view: ProjectView, refs: Sequence[str], directory: Path) -> list[str]:
    """The commands that take back what is deprecated of some modules."""
    return [
        next_command(f"deprecate {ref}", directory, '--undo --reason "why"')
        for ref in refs
        if view.projection.is_deprecated(ref)
    ]


def sealed_since(view: ProjectView, manifest: ReleaseManifest) -> list[str]:
    """The modules of the product of which a release has another version."""
    released = dict(one.module_ref.split("@") for one in manifest.modules)
    parts = (ref.split("@") for ref in product_modules(view))
    return [f"{name}@{version}" for name, version in parts if released.get(name, version) != version]


def _approval(view: ProjectView, directory: Path) -> Need:
    spec, files = current_spec(view), spec_files(view.projection.change_number)
    number, epics = sum(1 for _ in spec.tasks()), sum(len(pillar.epics) for pillar in spec.pillars)
    commands = [("approve", ""), ("amend", '--feedback "what to change"'), ("reject", '--reasons "why"')]
    if spec_changed(directory, spec_copy(directory)):
        commands[:2] = [("amend", ""), ("approve", "--old-spec")]
    elif decisions_of(spec):
        commands.insert(2, ("amend", '--decision 1 "what holds instead"'))
    folder = view.store.directory(files.folder)
    commands.insert(-1, ("amend", f"--examples {shlex.quote(str(folder / 'acceptance.md'))}"))
    step, *others = (next_command(command, directory, rest) for command, rest in commands)
    waits = "waits" if number == 1 else "wait"
    return Need(
        kind="approval",
        about="the spec",
        question=f"{brief(spec.title)}: {counted(number, 'task')} in {counted(epics, 'epic')} {waits} for your approval. "
        f"{summary(spec)}",
        since=spec.updated_at,
        steps=[step],
        others=others,
        read=str(folder / "spec.md"),
    )


def _run(view: ProjectView, status: ProjectStatus, directory: Path, stop: LastStop | None) -> Need:
    """What a run has still to do, and the commands that go on."""
    history = draft_history(view)
    sent_back = view.projection.awaits_approval and history.is_sent_back
    says_why = stop is not None and not sent_back
    other, kind = "--model PROVIDER:MODEL", stop.kind if stop else ""
    options = other if kind == "script" else stop.options if stop else ""
    others = [next_command("run", directory, other)] if kind == "gave_up" else []
    if sent_back and history.drafted >= 0:
        others.append(next_command("amend", directory, "--withdraw"))
    return Need(
        kind="run",
        about="the run",
        question="" if says_why else _SENT_BACK if sent_back else _UNFINISHED[status],
        since=stop.at if stop else "",
        steps=[next_command("run", directory, options)],
        others=others,
    )


def escalation_need(
    view: ProjectView, escalation: EscalationArtifact, directory: Path, *, urgent: bool = True
) -> Need:
    """An escalation: what waits, since when and why, and what to type."""
    name, details, state = escalation.escalation_id, escalation.details, view.projection.state
    entry = state.tasks.get(escalation.task_id) if state else None
    task = f"{entry.spec_task_id}  {brief(entry.task)}" if entry else escalation.task_id
    answers = details.get("raw_answers", [])
    if exception := details.get("exception_id"):
        recommended = f"decide about {exception}: approve, reject or defer the change that it proposes"
        steps, others = [decision_command(exception, "approve", directory)], []
    else:
        action = recommended_action(escalation)
        recommended = f"{action}: {meaning(escalation, action)}"
        steps = answer_steps(view, escalation, action, directory)
        roles = unusable_roles(escalation) if action is Action.RETRY else []
        others = [next_command("run", directory, f"--retry {roles[0]}")] if roles else []
    return Need(
        kind=_KINDS.get(escalation.cause, "escalation"),
        about=f"{name}  {task}",
        question=escalation.minimal_decision_required,
        since=escalation.created_at,
        urgent=urgent,
        escalation=name,
        cause=escalation.cause_in_words,
        last_words=escalation.last_words,
        answered=brief(answers[-1], _ANSWERED) if answers and not details.get("gate") else "",
        recommended=recommended,
        steps=steps,
        others=others,
        page=next_command(f"escalations {name}", directory),
    )


def draft(view: ProjectView, escalation: EscalationArtifact, wanted: str) -> dict[str, Any]:
    """The payload of an answer, to fill in.

    Raises:
        InputError: the action is no answer to this escalation.
    """
    actions = suited_actions(view, escalation)
    wanted = wanted.upper().replace("-", "_")
    if wanted not in actions:
        raise InputError(
            f"{wanted} is no answer to {escalation.escalation_id}",
            where=escalation.escalation_id,
            remedy=f"{did_you_mean(wanted, actions)}choose one of {', '.join(actions)}",
        )
    return payload_draft(view, escalation, Action(wanted))


def decision_command(name: str, decision: str, directory: Path) -> str:
    """The command of a decision about an interface change exception."""
    return next_command(f"exceptions {decision} {name}", directory, _DECISION_OPTIONS[decision])


def answer_steps(
    view: ProjectView, escalation: EscalationArtifact, action: Action, directory: Path
) -> list[str]:
    """The commands that lead to an answer, one after the other; what needs only a reason takes it in the command."""
    name, place, payload = escalation.escalation_id, _free_place(), [*payload_draft(view, escalation, action)]
    if action is Action.RETRY and (roles := unusable_roles(escalation)):
        return [
            next_command("run", directory, " ".join(f"--role-model {one}=PROVIDER:MODEL" for one in roles))
        ]
    if action is Action.PROVIDE_FIX:
        contract = next(iter(HaltedTask(view, escalation).drafts().values())).contract
        before = [
            next_command(f"escalations {name}", directory, f"--checkout {place}"),
            gate_command(view, contract, Path(place)),
        ]
        fields = f'--files {place} --rationale "what it does"'
    elif payload == ["rationale"] or action is Action.RETRY:  # whose draft stands as it is
        before, fields = [], '--rationale "why"' if payload == ["rationale"] else ""
    else:
        before = [next_command(f"escalations {name}", directory, f"--draft {action} > answer.json")]
        fields = "--payload answer.json"
    return [*before, next_command(f"resolve {name} {action}", directory, fields)]


def _free_place() -> str:
    """The directory that a command lays a draft out in: one that is not there yet."""
    names = (FIX, *(f"{FIX}-{number}" for number in range(2, 100)))
    return next((name for name in names if not os.path.lexists(name)), FIX)


def gate_command(view: ProjectView, contract: MicroModuleContract, place: Path) -> str:
    """The command that judges a corrected module, with the sealed ones that it calls."""

    def called(ref: str) -> list[str]:
        of = view.modules.contract(ref) if ref else contract
        return [dependency.ref.replace("@^", "@") for dependency in of.dependencies]

    sealed = (view.modules.location(ref) for ref in reachable([""], called) if view.modules.is_sealed(ref))
    return next_command("gate", place, " ".join(f"--dependency {shlex.quote(str(one))}" for one in sealed))


FAILURES = 3
"""Failures whose statements of the contract are shown."""


_OTHER_PRODUCTS = (
    ("report example.md", "have one module corrected; costs its challenge and its ruling", ""),
    ("change", "ask for another spec; costs the tasks that it changes", OTHER_SPEC),
)
"""What answers a failed release beside an action: the command, what it does, and its arguments."""


class Answer(Record):
    """An answer, what it does and costs, and the command that gives it; empty where that of all answers does."""

    answer: str
    means: str
    command: str = ""


class Escalation(EscalationArtifact, Document, schema="escalation"):
    """An escalation for the person who decides about it.

    Args:
        actions: A payload to fill in for each action that suits it.
        sha256: Of what is shown.
        command: That gives the recommended answer.
        need: What waits, and the commands that answer it.
        failures: What failed, each once, in the order in which a person reads them.
        statements: Of the contract, where one of the first failures cites it.
        answers: What can be answered, the recommended one left out.
        file: The record.
        drafts: The directory of failed modules.
    """

    actions: dict[str, dict[str, Any]]
    sha256: str
    command: str
    need: Need
    failures: list[FailedInvariant]
    statements: list[str]
    answers: list[Answer]
    file: str
    drafts: str

    @classmethod
    def of(cls, view: ProjectView, record: EscalationArtifact, directory: Path) -> Self:
        """An escalation of a project."""
        name, shown, actions = record.escalation_id, record.shown_failures, suited_actions(view, record)
        halted = HaltedTask(view, record)
        need = escalation_need(view, record, directory, urgent=name not in open_questions(view))
        folder, _, file = layout.escalation(name).rpartition("/")
        return cls(
            **dict(record),
            actions={action.value: payload_draft(view, record, action) for action in actions},
            sha256=shown_sha256(view, name),
            command=need.steps[-1],
            need=need,
            failures=shown,
            statements=halted.contract_sentences(
                f"{one.invariant} {one.evidence}" for one in shown[:FAILURES]
            ),
            answers=_answers(view, record, directory),
            file=str(view.store.directory(folder) / file),
            drafts=str(view.store.directory(layout.DRAFTS)),
        )


def _answers(view: ProjectView, record: EscalationArtifact, directory: Path) -> list[Answer]:
    """What can be answered beside what is recommended; of an exception the decisions about it first."""
    exception: str = record.details.get("exception_id", "")
    recommended = None if exception else recommended_action(record)
    return [
        *(
            Answer(answer=name, means=means, command=decision_command(exception, name, directory))
            for name, means in (DECISIONS.items() if exception else ())
        ),
        *(
            Answer(answer=command.split()[0], means=means, command=next_command(command, directory, rest))
            for command, means, rest in (_OTHER_PRODUCTS if record.cause == RELEASE else ())
        ),
        *(
            Answer(answer=action.value, means=meaning(record, action))
            for action in suited_actions(view, record)
            if action is not recommended
        ),
    ]


class Escalations(Document, schema="escalations"):
    """What waits for a person."""

    escalations: list[Escalation]
