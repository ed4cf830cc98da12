"""The answers at the approval gate that send a draft back, as they are stored beside it (design: approval)."""

from agent_wire import canonical_json
from specwright.application import scopes
from specwright.application.factory import Factory, ProjectView
from specwright.application.store import layout
from specwright.domain.spec.draft_history import DraftHistory, GateAction, GateAnswer
from specwright.errors import RefusedError
from specwright.ports.roles import Place, Role
from specwright.ports.store import FileTree


def draft_files(view: ProjectView) -> layout.SpecFiles:
    """The files of the spec that waits for approval, or that was approved last."""
    return layout.spec_files(view.projection.change_number)


def draft_history(view: ProjectView) -> DraftHistory:
    """What became of the drafts so far.

    Raises:
        InputError: the file is damaged.
    """
    return read_history(view.store, draft_files(view))


def read_history(store: FileTree, files: layout.SpecFiles) -> DraftHistory:
    """What became of the drafts of a spec.

    Raises:
        InputError: the file is damaged.
    """
    path = files.history
    return DraftHistory.from_bytes(store.read(path), path) if store.exists(path) else DraftHistory()


def send_back(factory: Factory, answer: GateAnswer) -> None:
    """Record an answer. From here it counts, and nobody can approve the draft before it.

    Args:
        answer: With SPEC.md if it was edited.

    Raises:
        InputError: scripted answers hold none to it; nothing is recorded.
    """
    history = draft_history(factory)
    answer = answer.model_copy(update={"asked": _asked(factory, history)})
    sent_back = history.sent_back(answer, history.spec_text or _assigned_at_first(factory))
    if sent_back.structured is None and sent_back.asks_more_than(history):
        _require_script(factory, sent_back)
    _write(factory, sent_back)
    settle_spec_text(factory)


def _require_script(factory: Factory, history: DraftHistory) -> None:
    """Refuse an answer that scripted answers cannot go on from."""
    number = factory.projection.change_number
    task = scopes.product_change(number) if number else ""
    answered = factory.journal.count(scopes.research(history.restart, number), "model")
    factory.roles.require_script(Place(task, history.restart, "", "", Role.RESEARCHER), answered)


def withdraw(factory: Factory) -> None:
    """Take back every answer that the draft does not know yet: the draft before them waits again.

    Raises:
        RefusedError: there is none, or no draft to go back to.
    """
    history = draft_history(factory)
    if history.drafted < 0 or history.is_drafted or not factory.projection.awaits_approval:
        raise RefusedError(
            f"there is nothing to withdraw: {_why_not(factory, history)}",
            remedy="`specwright status` says what comes next",
        )
    _write(factory, history.withdrawn(_asked(factory, history)))
    settle_spec_text(factory)


def _why_not(factory: Factory, history: DraftHistory) -> str:
    """Why no answer can be withdrawn."""
    if history.drafted < 0:
        return "no spec was shown before"
    if not factory.projection.awaits_approval:
        return "no spec waits for approval"
    if not history.answers:
        return "the spec that waits was not sent back"
    if history.answers[-1].action is GateAction.REJECT:
        return "the spec that waits was written anew after the rejection, and a rejected draft does not come back"
    return "every answer is in the spec that waits"


def _asked(factory: Factory, history: DraftHistory) -> int:
    """How many answers models have given about the spec, in all conversations."""
    number = factory.projection.change_number
    conversations = (scopes.research(restart, number) for restart in range(1, history.restart + 1))
    return sum(factory.journal.count(scope, "model") for scope in conversations)


def settle_spec_text(factory: Factory) -> None:
    """Have the copy of SPEC.md be what was last sent, where a crash came between."""
    files, text = draft_files(factory), draft_history(factory).spec_text.encode()
    if text and (not factory.store.exists(files.source) or factory.store.read(files.source) != text):
        factory.store.replace(files.source, text)


def note_draft(factory: Factory, shown_sha256: str) -> None:
    """Note that the draft in the store takes every answer into account."""
    history = draft_history(factory)
    noted = {"drafted": len(history.answers), "shown_sha256": shown_sha256, "gave_up": ""}
    _write(factory, history.model_copy(update=noted))


def note_gave_up(factory: Factory, models: str) -> None:
    """Note that the researcher gave no usable answer.

    Args:
        models: That were asked.
    """
    _write(factory, draft_history(factory).model_copy(update={"gave_up": models}))


def note_passed_over(factory: Factory, spec_text: str) -> None:
    """Note that an approval leaves out an edited SPEC.md."""
    sha256 = canonical_json.sha256(spec_text.encode())
    _write(factory, draft_history(factory).model_copy(update={"passed_over": sha256}))


def _assigned_at_first(factory: Factory) -> str:
    change = factory.projection.open_change
    return change.request.spec_text if change else factory.spec_text


def _write(factory: Factory, history: DraftHistory) -> None:
    if history != draft_history(factory):
        factory.store.replace(draft_files(factory).history, history.to_bytes())
