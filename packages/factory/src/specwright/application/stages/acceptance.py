"""Examples and properties at the approval gate: a person's are kept by every later draft (design: executable-spec)."""

from collections.abc import Callable, Sequence
from typing import Any

from specwright.application.change.request import change_errors
from specwright.application.factory import Factory, ProjectView
from specwright.application.stages.draft_history import draft_files, draft_history
from specwright.application.tasks import spec_errors
from specwright.domain.spec.acceptance_text import (
    acceptance_file,
    authorship_problems,
    read_acceptance,
    with_acceptance,
)
from specwright.domain.spec.departures import outside_problems
from specwright.domain.spec.draft_history import GateAction, GateAnswer
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft
from specwright.errors import InputError, InputErrors

_TIMES = ("created_at", "updated_at")


def last_spec(view: ProjectView) -> ProductSpec | None:
    """The draft that a person saw last, or else the approved spec; None before the first draft."""
    path = draft_files(view).spec
    if not view.store.exists(path):
        return view.projection.spec
    try:
        return ProductSpec.from_bytes(view.store.read(path), path)
    except InputErrors:  # somebody edited it: nothing of it counts
        return view.projection.spec


def asked_text(view: Factory) -> str:
    """What the researcher is asked to make a spec of: SPEC.md as it was sent last, and the request of a change."""
    history, change = draft_history(view), view.projection.open_change
    text = history.assigned_text or (change.request.spec_text if change else view.spec_text)
    return f"{text}\n{change.request.request}" if change else text


def draft_errors(factory: Factory) -> Callable[[Any], Sequence[str]]:
    """What keeps a draft of the researcher from being emitted: faults of any spec, an example of a person that it leaves
    out, one that it passes off as a person's, and a quotation that SPEC.md does not have."""
    before, changes = last_spec(factory), factory.projection.open_change is not None
    asked = asked_text(factory)

    def errors(data: Any) -> Sequence[str]:
        if found := change_errors(factory, data) if changes else spec_errors(data):
            return found
        draft = ProductSpecDraft.model_validate(data)
        return [*authorship_problems(before, draft), *outside_problems(draft.outside, asked)]

    return errors


def edited_examples(factory: Factory, text: str, where: str) -> GateAnswer:
    """The answer of a person who edited the examples and properties: the draft with them.

    Args:
        text: Of the file.
        where: Its path, for messages.

    Raises:
        InputError: the file cannot be read, changes nothing, or does not fit the spec.
    """
    spec = last_spec(factory)
    if spec is None:
        raise InputError("there is no spec to which the examples could belong", where=where)
    shown = {name: value for name, value in spec.to_json().items() if name not in _TIMES}
    structured = with_acceptance(shown, read_acceptance(text, where))
    if structured == shown:
        raise InputError(
            "the examples are those of the spec that waits", where=where, remedy="edit the file, then amend"
        )
    errors = change_errors(factory, structured) if factory.projection.open_change else spec_errors(structured)
    if errors:
        raise InputError(
            "the examples do not fit the spec",
            where=f"{where}\n    " + "\n    ".join(errors),
            remedy="correct them",
        )
    draft = ProductSpecDraft.model_validate(structured).stamped(spec.created_at, spec.updated_at)
    return GateAnswer(action=GateAction.AMEND, examples=acceptance_file(draft), structured=structured)


def replaced_spec(factory: Factory, text: str, structured: dict[str, Any]) -> GateAnswer:
    """The answer of a person who put a structured spec in place of SPEC.md: it takes the place of the draft.

    Args:
        text: Of the file.
        structured: What it says.

    Raises:
        InputError: it cannot follow the approved one.
    """
    if factory.projection.open_change and (problems := change_errors(factory, structured)):
        raise InputError("the product spec cannot follow the approved one", where="\n    ".join(problems))
    return GateAnswer(action=GateAction.REJECT, spec_text=text, structured=structured)
