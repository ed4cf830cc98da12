"""A change of a released product: what is asked for, and what the researcher makes of it (design: change)."""

from collections.abc import Sequence
from typing import Any

from agent_wire import canonical_json
from ship_gate.base.ids import ModuleRef
from specwright.application import scopes
from specwright.application.announce import announce, review
from specwright.application.change.catch_up import finish_change
from specwright.application.factory import Factory, ProjectView
from specwright.application.messages.parts import as_block, as_contract
from specwright.application.messages.researcher import researcher_notes
from specwright.application.tasks import project_state, spec_errors
from specwright.domain.base.graph import reachable
from specwright.domain.escalation.resolutions import OPERATOR
from specwright.domain.spec.change_request import ChangeRequest
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft
from specwright.domain.spec.spec_changes import change_problems, spec_difference
from specwright.domain.tasks.project_state import TaskStatus
from specwright.domain.tasks.task_board import Outcome
from specwright.domain.tasks.task_ids import lay_out_change
from specwright.errors import InputError, RefusedError, SpecwrightErrors
from specwright.ports.progress import Step
from specwright.ports.roles import Assignment, Place, Role

LONGEST_REQUEST = 10_000
"""Characters of a request."""

_STAMPED = "2000-01-01T00:00:00Z"


def begin_change(factory: Factory, request: str, spec_before: str, spec_text: str) -> None:
    """Begin a change; asked for in the same words again, it goes on.

    Args:
        request: A sentence, or empty.
        spec_before: The SPEC.md that the product was built from.
        spec_text: As it is now.

    Raises:
        InputError: there is nothing to change or no change in it, another change is open, or a structured spec does not
            follow the approved one; nothing is written.
        RefusedError: the product is not released yet.
    """
    projection = factory.projection
    if (under_way := projection.open_change) is not None:
        if under_way.request.report is not None or under_way.request.asked[::2] != (request, spec_text):
            raise InputError(
                f"another change is under way since {under_way.request.asked_at}",
                remedy="finish it with `specwright run`, or give it up with `specwright change --abandon`",
            )
        return
    number = len(projection.changes) + 1
    scope = factory.journal.scope(f"{scopes.product_change(number)}/request")
    base = released_spec(factory)
    _check_request(factory, request, spec_before, spec_text)
    if request or factory.given_spec is None:
        factory.roles.require_script(_researcher_at(number))
    asked = ChangeRequest(
        number=number,
        base_version=base.spec_version,
        request=request,
        spec_before=spec_before,
        spec_text=spec_text,
        asked_at=scope.now(),
        asked_by=OPERATOR,
    )
    sha256, reference = factory.store.define(asked.to_bytes()), scopes.product_change(number)
    event = review(projection.project_id, "change.requested", sha256, reference, OPERATOR)
    announce(factory, scope, projection.project_id, [event])
    finish_change(factory)
    factory.progress.note(Step("change", "", f"{reference}: {request or 'the changed SPEC.md'}"))


def released_spec(factory: ProjectView) -> ProductSpec:
    """The spec of the released product.

    Raises:
        InputError: nothing was approved.
        RefusedError: the product is not released yet.
    """
    spec, board = factory.projection.spec, factory.projection.board
    if spec is None or board is None:
        raise InputError(
            "no spec was approved here, so there is nothing to change",
            remedy="edit SPEC.md before the approval, or have the draft changed with `specwright amend`",
        )
    if board.outcome() is not Outcome.COMPLETE or not factory.projection.releases:
        raise RefusedError(
            "the product is not released yet",
            remedy="`specwright status` says what it waits for; a change comes after the release",
        )
    return spec


def _check_request(factory: Factory, request: str, spec_before: str, spec_text: str) -> None:
    if len(request) > LONGEST_REQUEST:
        raise InputError(
            f"the request has {len(request):,} characters; the limit is {LONGEST_REQUEST:,}",
            remedy="say what is to change in SPEC.md instead",
        )
    if not request and spec_before == spec_text:
        raise InputError(
            "nothing has changed: SPEC.md is the one that the product was built from",
            remedy="edit SPEC.md, or say in a sentence what is to change with --request TEXT",
        )
    given = None if request else factory.given_spec
    if given is not None and (problems := change_errors(factory, given)):
        raise InputError("the product spec cannot follow the approved one", where="\n    ".join(problems))


def change_errors(factory: ProjectView, data: Any) -> Sequence[str]:
    """What keeps an amended spec from being emitted: what keeps any, and what the approved one rules out (design:
    change)."""
    if errors := spec_errors(data):
        return errors
    before, tasks = factory.projection.spec, project_state(factory).tasks
    assert before is not None
    draft = ProductSpecDraft.model_validate(data)
    taken = {entry.spec_task_id for entry in tasks.values()}
    abandoned = {e.spec_task_id for e in tasks.values() if e.status is TaskStatus.ABANDONED}
    if problems := change_problems(before, draft, taken, abandoned):
        return problems
    try:
        spec = draft.stamped(_STAMPED, _STAMPED)
        lay_out_change(spec, spec_difference(before, spec), factory.projection.definitions)
    except SpecwrightErrors as error:
        return [error.what]
    return []


def _researcher_at(number: int, restart: int = 1) -> Place:
    """Where a change is asked of the researcher."""
    return Place(scopes.product_change(number), restart, "", "", Role.RESEARCHER)


def change_assignment(
    factory: Factory, request: ChangeRequest, restart: int, reasons: Sequence[str]
) -> Assignment:
    """The researcher's assignment: what is asked for, the approved spec, and the contracts of what is shipped; no source
    (design: change).

    Args:
        request: What is asked for.
        restart: 1, and one more after each rejection.
        reasons: Why earlier drafts were rejected.
    """
    spec = factory.projection.spec
    assert spec is not None
    draft = {
        name: value for name, value in spec.to_json().items() if name not in ("created_at", "updated_at")
    }
    approved = canonical_json.pretty(draft)
    asked = [as_block("The request", request.request, "text")] if request.request else []
    asked += [as_block("The change of SPEC.md", request.diff, "diff")] if request.diff else []
    rejected = (
        ["# Rejection Feedback\n\n" + "\n".join(f"- {reason}" for reason in reasons)] if reasons else []
    )
    parts = [
        _INSTRUCTION.format(version=spec.spec_version, number=_next_number(factory)),
        *asked,
        *rejected,
        as_block("The approved spec", approved.decode(), "json"),
        *_contracts(factory),
        researcher_notes(f"{request.request}\n{request.spec_text}"),
    ]
    return Assignment(
        place=_researcher_at(request.number, restart),
        message="\n\n".join(parts),
        pack={"SPEC.md": request.spec_text.encode(), "spec.json": approved},
        writable=("spec.json", "notes/"),
    )


_INSTRUCTION = (
    "The product of this spec is released. Amend the approved spec, which is also `/spec.json` in your directory, so that "
    "it says what is asked for below, and change nothing else: what stays keeps its ids and its words, to the letter, "
    "since each task with another word is built again. A new task gets a new id, from {number} on. What is not wanted "
    "any more is left out, and so is every dependency on it. `spec_version` is greater than {version}: a minor version, "
    "or a major one if something that users call is removed or breaks. Where a function changes, say in the task that "
    "owns it what stays as it was."
)


def _next_number(factory: ProjectView) -> str:
    numbers = (int(e.spec_task_id.removeprefix("TSK-")) for e in project_state(factory).tasks.values())
    return f"TSK-{1 + max(numbers, default=0):03d}"


def _contracts(factory: ProjectView) -> list[str]:
    return [as_contract(factory.modules.contract(ref)) for ref in product_modules(factory)]


def product_modules(factory: ProjectView) -> list[str]:
    """The modules of all shipped tasks, and whatever they call, each once; of a module that a task has, only its version,
    so that the gates of a release name those that call an earlier one."""
    state = project_state(factory)
    tasks = [state.tasks[task_id] for task_id in state.ordered]
    refs = [ref for entry in tasks if entry.status is TaskStatus.SHIPPED for ref in entry.module_refs]
    own = list(dict.fromkeys(refs))
    shipped_ids = {ModuleRef.parse(ref).module_id for ref in own}

    def called(ref: str) -> list[str]:
        refs = [dependency.ref for dependency in factory.modules.contract(ref).dependencies]
        return [one for one in refs if ModuleRef.parse(one).module_id not in shipped_ids]

    return [*own, *reachable(own, called)]
