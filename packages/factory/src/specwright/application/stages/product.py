"""The product stage: from SPEC.md to an approved product spec (design: product-spec, approval, executable-spec).

An answer that sends the draft back is stored beside the draft before the researcher is asked. Later drafts must keep the
examples and properties that a person wrote."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from agent_wire import canonical_json
from specwright.application import scopes
from specwright.application.announce import announce, review_of
from specwright.application.change import (
    approve_change,
    change_assignment,
    change_errors,
    product_modules,
    researcher_at,
)
from specwright.application.factory import Factory, ProjectView
from specwright.application.pages import acceptance_file, full_spec_page, spec_page, spec_patch
from specwright.application.rendering import rendered
from specwright.application.store import layout
from specwright.application.store.artifacts import note_hashes
from specwright.application.tasks import laid_out, project_state
from specwright.domain.base.slugs import slugify
from specwright.domain.costs import Estimate, Price, build_estimate, research_estimate
from specwright.domain.spec.acceptance_text import (
    authorship_problems,
    own_items,
    placed,
    with_acceptance,
)
from specwright.domain.spec.completeness import ValidationReport, in_words, validate
from specwright.domain.spec.draft_history import DraftHistory, GateAction, GateAnswer
from specwright.domain.spec.product_spec import (
    ProductSpec,
    ProductSpecDraft,
    decisions_of,
    outside_problems,
    spec_difference,
)
from specwright.domain.tasks.project_state import TaskStatus
from specwright.errors import CorruptionErrors, InputError, InputErrors, RefusedError
from specwright.ports import Assignment, FileTree, Research, RunEvent, Scope


def draft_files(view: ProjectView) -> layout.SpecFiles:
    """Return the files of the spec that waits for approval, or of the last approved one."""
    return layout.spec_files(view.projection.change_number)


def draft_history(view: ProjectView) -> DraftHistory:
    """Return the history of the present spec's drafts.

    Raises:
        InputError: the file is damaged.
    """
    return read_history(view.store, draft_files(view))


def read_history(store: FileTree, files: layout.SpecFiles) -> DraftHistory:
    """Return the history of a spec's drafts.

    Raises:
        InputError: the file is damaged.
    """
    path = files.history
    return DraftHistory.from_bytes(store.read(path), path) if store.exists(path) else DraftHistory()


def send_back(factory: Factory, answer: GateAnswer) -> None:
    """Record an answer. From then on the previous draft cannot be approved.

    Args:
        factory: The ports.
        answer: The answer, with SPEC.md if it was edited.

    Raises:
        InputError: the playbook has no next draft; nothing is recorded.
    """
    history = draft_history(factory)
    answer = answer.model_copy(update={"asked": _asked(factory, history)})
    sent_back = history.sent_back(answer, history.spec_text or _first_text(factory))
    if sent_back.structured is None and sent_back.asks_more_than(history):
        number = factory.projection.change_number
        answered = factory.journal.count(scopes.research(sent_back.restart, number), "model")
        factory.roles.require_script(researcher_at(number, sent_back.restart), answered)
    _write(factory, sent_back)
    settle_spec_text(factory)


def withdraw(factory: Factory) -> None:
    """Withdraw every answer that no draft takes into account yet; the previous draft waits again.

    Raises:
        RefusedError: there is no such answer, or no draft to return to.
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
    """Return why no answer can be withdrawn."""
    if history.drafted < 0:
        return "no spec was shown before"
    if not factory.projection.awaits_approval:
        return "no spec waits for approval"
    if not history.answers:
        return "the spec that waits was not sent back"
    if history.answers[-1].action is GateAction.REJECT:
        return "the spec that waits was written after the rejection, and a rejected draft cannot be restored"
    return "the spec that waits takes every answer into account"


def _asked(factory: Factory, history: DraftHistory) -> int:
    """Count the model answers about the spec, in all conversations."""
    number = factory.projection.change_number
    conversations = (scopes.research(restart, number) for restart in range(1, history.restart + 1))
    return sum(factory.journal.count(scope, "model") for scope in conversations)


def settle_spec_text(factory: Factory) -> None:
    """Update the copy of SPEC.md to the last answer's, in case a crash prevented it."""
    files, text = draft_files(factory), draft_history(factory).spec_text.encode()
    if text and (not factory.store.exists(files.source) or factory.store.read(files.source) != text):
        factory.store.replace(files.source, text)


def note_gave_up(factory: Factory, models: str) -> None:
    """Record that the researcher gave no usable answer.

    Args:
        factory: The ports.
        models: The models that were asked.
    """
    _write(factory, draft_history(factory).model_copy(update={"gave_up": models}))


def note_passed_over(factory: Factory, spec_text: str) -> None:
    """Record that an approval leaves out an edited SPEC.md."""
    sha256 = canonical_json.sha256(spec_text.encode())
    _write(factory, draft_history(factory).model_copy(update={"passed_over": sha256}))


def _first_text(factory: Factory) -> str:
    """Return the SPEC.md of the first draft."""
    change = factory.projection.open_change
    return change.request.spec_text if change else factory.spec_text


def _write(factory: Factory, history: DraftHistory) -> None:
    if history != draft_history(factory):
        factory.store.replace(draft_files(factory).history, history.to_bytes())


_TIMES = ("created_at", "updated_at")


def last_spec(view: ProjectView) -> ProductSpec | None:
    """Return the last shown draft, or else the approved spec; None before the first draft."""
    path = draft_files(view).spec
    if not view.store.exists(path):
        return view.projection.spec
    try:
        return ProductSpec.from_bytes(view.store.read(path), path)
    except InputErrors:  # edited and not valid
        return view.projection.spec


def asked_text(view: Factory, sent: str) -> str:
    """Return the text that the researcher works from: SPEC.md as last sent, or else the first one, and the request of a
    change."""
    change, text = view.projection.open_change, sent or _first_text(view)
    return f"{text}\n{change.request.request}" if change else text


def draft_errors(factory: Factory, history: DraftHistory, answers: int) -> Callable[[Any], Sequence[str]]:
    """Return a check for drafts of the researcher: the errors of any spec, dropped or falsely attributed examples of a
    person, and quotations that are not in SPEC.md.

    Args:
        factory: The ports.
        history: The history of the drafts.
        answers: The number of answers that the draft takes into account. A conversation is repeated from its beginning, and
            its earlier messages do not contain a person's later answers.
    """
    edited = [one.structured for one in history.answers[:answers] if one.structured]
    before = ProductSpecDraft.model_validate(edited[-1]) if edited else factory.projection.spec
    asked = asked_text(factory, history.text_after(answers))

    def errors(data: Any) -> Sequence[str]:
        if found := change_errors(factory, data):
            return found
        draft = ProductSpecDraft.model_validate(data)
        return [*authorship_problems(before, draft), *outside_problems(draft.outside, asked)]

    return errors


def edited_examples(factory: Factory, text: str, where: str) -> GateAnswer:
    """Build the answer of a person who edited the examples and properties; it contains the draft with the edits.

    Args:
        factory: The ports.
        text: The text of the file.
        where: Its path, for messages.

    Raises:
        InputError: the file is not valid, changes nothing, or does not fit the spec.
    """
    spec = last_spec(factory)
    if spec is None:
        raise InputError("there is no spec to which the examples could belong", where=where)
    shown = {name: value for name, value in spec.to_json().items() if name not in _TIMES}
    structured = with_acceptance(shown, text, where)
    if structured == shown:
        raise InputError(
            "the examples are those of the spec that waits",
            where=where,
            remedy="edit an example or a property of the file; `specwright amend --feedback` changes a criterion",
        )
    errors = [in_words(structured, one) for one in validate(structured).errors]
    if errors := errors or change_errors(factory, structured):
        raise InputError(
            "the examples do not fit the spec",
            where="\n    ".join(placed(error, text, where) for error in errors),
            remedy="correct these lines, then amend again",
        )
    draft = ProductSpecDraft.model_validate(structured).stamped(spec.created_at, spec.updated_at)
    return GateAnswer(action=GateAction.AMEND, examples=acceptance_file(draft), structured=structured)


def replaced_spec(factory: Factory, text: str, structured: dict[str, Any]) -> GateAnswer:
    """Build the answer of a person who replaced SPEC.md by a structured spec, which becomes the draft.

    Args:
        factory: The ports.
        text: The text of the file.
        structured: The parsed spec.

    Raises:
        InputError: the spec cannot follow the approved one.
    """
    if factory.projection.open_change and (problems := change_errors(factory, structured)):
        raise InputError("the product spec cannot follow the approved one", where="\n    ".join(problems))
    return GateAnswer(action=GateAction.REJECT, spec_text=text, structured=structured)


_FAULTS_SHOWN = 10

_EARLIER_EXAMPLES = "## Examples and properties of an earlier draft\n\nKeep them: they are the person's."

MANY_AMENDMENTS = 3
"""The number of amendments after which the approval page advises to decide (design: approval)."""


def research(factory: Factory) -> None:
    """Ask the researcher to expand SPEC.md, or to revise the draft, and store the result under `product/` for the
    approval."""
    history, change = draft_history(factory), factory.projection.open_change
    number = change.request.number if change else 0
    begun = None if history.answers or (change and change.request.request) else factory.given_spec
    emission = scopes.emission(history.restart, history.amendments + 1, number)
    if (structured := history.structured or begun) is not None:
        _publish(factory, Research(structured, ()), emission)
        return
    if factory.price:
        told = f"up to the approval: {next_stop_estimate(factory, factory.price).in_words()}"
        factory.progress.note(RunEvent("estimate", "", told))
    if change is None:
        assignment = _first_assignment(factory, history)
    else:
        text = history.text_after(0)
        request = change.request.model_copy(update={"spec_text": text}) if text else change.request
        assignment = change_assignment(factory, request, history.restart, history.reasons)
    checks = [draft_errors(factory, history, at) for at, _ in [(history.begun, ""), *history.feedback]]
    result = factory.roles.research(assignment, [text for _, text in history.feedback], checks)
    _publish(factory, result, emission)
    factory.progress.note(RunEvent("spec", "", "the product spec is complete"))


def next_stop_estimate(factory: Factory, price: Price, tasks: int | None = None) -> Estimate:
    """Estimate the model usage up to the next stop: for a spec, or for the remaining tasks.

    Args:
        factory: The ports.
        price: Returns the price of a role's tokens.
        tasks: The number of tasks; by default all remaining ones.
    """
    spec, state = factory.projection.spec, factory.projection.state
    if factory.projection.awaits_approval or state is None:
        asked = asked_text(factory, draft_history(factory).text_after(0))
        draft = draft_files(factory).spec
        shown = factory.store.read(draft) if factory.store.exists(draft) else spec.to_bytes() if spec else b""
        return research_estimate(asked, price, len(shown))
    ended = (TaskStatus.SHIPPED, TaskStatus.ABANDONED)
    left = sum(entry.status not in ended for entry in state.tasks.values())
    return build_estimate(tasks or max(1, left), price)


def restore_draft(factory: Factory) -> None:
    """Write the files of the waiting spec again, from the journal, if one is missing or unreadable.

    A readable file that was changed stays as it is; an approval is then refused, and sending the draft back replaces it.
    """
    if not draft_history(factory).is_drafted:
        return
    try:
        current_spec(factory)
        validation_of(factory)
        shown_hash(factory)
        canonical_json.loads(factory.store.read(draft_files(factory).sources))
    except (ValueError, *InputErrors, *CorruptionErrors):
        research(factory)


def check_draft(factory: ProjectView) -> None:
    """Raise if the waiting spec was edited and is no longer valid; restoring it silently would lose the edit. A missing
    spec passes, because it is restored as shown.

    Raises:
        InputError: the spec is not valid; the message has its problems with ids.
    """
    if factory.store.exists(draft_files(factory).spec):
        current_spec(factory)


def _first_assignment(factory: Factory, history: DraftHistory) -> Assignment[ProductSpecDraft]:
    text = history.text_after(0) or factory.spec_text
    if listed := "".join(f"- {reason}\n" for reason in history.reasons):
        text += f"\n\n## Rejection Feedback\n\n{listed}"
    if history.earlier_examples:
        text += f"\n\n{_EARLIER_EXAMPLES}\n\n{own_items(history.earlier_examples)}"
    # avoids the cost of a search that can find nothing
    holds = "modules" if factory.index.entries() else "nothing yet, so there is nothing to search for"
    return Assignment(
        answer=ProductSpecDraft,
        place=researcher_at(0, history.restart),
        message="Turn the SPEC.md in your directory into a complete product spec. "
        f"The Code Index holds {holds}.\n\n{text}\n\n{rendered('researcher.md')}",
        pack={"SPEC.md": text.encode()},
        writable=("spec.json", "notes/"),
    )


def current_spec(factory: ProjectView) -> ProductSpec:
    """Return the spec that waits for approval, or the approved one."""
    path = draft_files(factory).spec
    content = factory.store.read(path)
    try:
        return ProductSpec.from_bytes(content, path)
    except InputError as error:
        raise _damaged(content, f"{factory.store.address}/{path}", error) from error


def _damaged(content: bytes, where: str, error: InputError) -> InputError:
    """Build the error about an edited spec that is not valid, with the ids of its parts."""
    try:
        data = canonical_json.loads(content)
        faults = [in_words(data, fault) for fault in validate(data, ProductSpec).errors]
    except ValueError:
        faults = [error.what]
    shown = "\n    ".join(faults[:_FAULTS_SHOWN] or [error.what])
    return InputError(
        "the spec that waits was edited and is no longer valid",
        where=f"{where}\n    {shown}",
        remedy="`specwright run` restores it; `specwright amend` asks the researcher for changes",
    )


def tasks_in_draft(factory: ProjectView) -> int:
    """Count the tasks of the waiting spec; 0 if there is none or it is not readable."""
    try:
        return sum(1 for _ in current_spec(factory).tasks())
    except (*InputErrors, *CorruptionErrors):
        return 0


def validation_of(factory: ProjectView) -> ValidationReport:
    """Return the last validation of the current spec."""
    path = draft_files(factory).validation
    return ValidationReport.from_bytes(factory.store.read(path), path)


def shown_hash(factory: ProjectView) -> str:
    """Return the SHA-256 of what the approval shows: the spec as JSON, and its two pages."""
    files = draft_files(factory)
    return canonical_json.sha256(b"".join(map(factory.store.read, (files.spec, files.text, files.in_full))))


def approval_estimate(
    factory: ProjectView, price: Price | None, spec: ProductSpec | None = None
) -> Estimate | None:
    """Estimate the cost of building a spec, by default the current one, or of the affected part for a change; None if all
    answers are scripted."""
    if price is None:
        return None
    spec = spec or current_spec(factory)
    before = factory.projection.decided_spec if factory.projection.awaits_approval else None
    difference = spec_difference(before, spec) if before else None
    tasks = [*difference.added, *difference.changed] if difference else [*spec.tasks()]
    return build_estimate(len(tasks), price)


def change_preview(view: ProjectView, spec: ProductSpec | None = None) -> dict[str, Any] | None:
    """Compute the effect of the change that waits for approval: the four lists of tasks, and the modules that may get a new
    version, with their callers. None if no change waits. `spec` defaults to the current one."""
    change, before = view.projection.open_change, view.projection.decided_spec
    if change is None or before is None or not view.projection.awaits_approval:
        return None
    spec = spec or current_spec(view)
    difference = spec_difference(before, spec)
    contracts = [view.modules.contract(ref) for ref in product_modules(view)]
    modules = [
        {
            "name": contract.name,
            "module_ref": contract.ref,
            "task_id": entry.spec_task_id,
            "used_by": [c.name for c in contracts if any(d.ref == contract.ref for d in c.dependencies)],
        }
        for entry in project_state(view).tasks.values()
        if entry.spec_task_id in difference.changed and entry.status is TaskStatus.SHIPPED
        for contract in contracts
        if contract.ref in entry.module_refs
    ]
    return {
        "number": change.request.number,
        "request": change.request.request,
        "version_before": before.spec_version,
        "version": spec.spec_version,
        "difference": difference.to_json(),
        "modules": modules,
    }


def affected(change: Mapping[str, Any]) -> list[str]:
    """Format a change's preview, a line for each task and module."""
    difference, same = change["difference"], len(change["difference"]["untouched"])
    users = {f"{one['name']} {one['module_ref']}": ", ".join(one["used_by"]) for one in change["modules"]}
    return [
        *(f"{label}: {name}" for label in ("added", "removed") for name in difference[label]),
        *(f"changed: {one['task_id']}" for one in difference["changed"]),
        f"untouched: {same:,} task{'' if same == 1 else 's'}",
        *(f"may get a new version: {name}, used by {by or 'no other module'}" for name, by in users.items()),
    ]


def approval_question(factory: Factory) -> dict[str, Any]:
    """Return the approval question for the graph's interrupt: the spec as a page, its warnings and sources, and further
    data for the decision."""
    estimate, files = approval_estimate(factory, factory.price), draft_files(factory)
    history = draft_history(factory)
    return {
        "kind": "approval",
        "spec": factory.store.read(files.text).decode(),
        "warnings": [warning.to_json() for warning in validation_of(factory).warnings],
        "sources": canonical_json.loads(factory.store.read(files.sources)),
        "answers": len(history.answers),
        "amend_count": history.amendments,
        "advise": len(history.feedback) >= MANY_AMENDMENTS,
        "sha256": shown_hash(factory),
        "estimate": estimate and estimate.to_json(),
        "changes": changes_since(factory),
        "change": change_preview(factory),
        "searches": factory.searches,
    }


def approve(factory: Factory, by: str) -> None:
    """Approve the current spec: store it as a definition and append a review Wire (design: projection, wire).

    From then on `product/` changes only when a change is released; the hashes of its files are journalled.

    Raises:
        InputError: the spec cannot be laid out as folders and tasks (design: ids); it is not accepted.
    """
    spec = current_spec(factory)
    if factory.projection.open_change is not None:
        approve_change(factory, spec, by)
        return
    laid_out(spec)  # an older version of the factory may have accepted this spec
    scope = factory.journal.scope(scopes.APPROVAL, deferred=True)
    project_id = f"{slugify(spec.title)}-{scope.hex8()}"
    approved = review_of(factory, "spec.approved", spec, spec.spec_id, by)
    files = factory.store.tree(layout.PRODUCT)
    note_hashes(scope, {f"{layout.PRODUCT}/{path}": data for path, data in files.items()})
    announce(factory, scope, [approved], project_id)


def _publish(factory: Factory, result: Research, scope_name: str) -> None:
    scope = factory.journal.scope(scope_name)
    spec = ProductSpecDraft.model_validate(result.spec).stamped(_created_at(factory), scope.now())
    report = validate(result.spec)
    sources = [{"query": source.query, "urls": list(source.urls)} for source in result.sources]
    store, files = factory.store, draft_files(factory)
    shown = _shown_before(factory, spec)
    if shown != spec.to_bytes():
        store.replace(files.before, shown)
    store.replace(files.validation, report.to_bytes())
    store.replace(files.sources, canonical_json.pretty(sources))
    store.replace(files.text, _markdown(factory, scope, spec, report, result).encode())
    store.replace(files.in_full, full_spec_page(spec).encode())
    store.replace(files.acceptance, acceptance_file(spec).encode())
    store.replace(files.spec, spec.to_bytes())
    history = draft_history(factory)  # the draft takes every answer into account
    noted = {"drafted": len(history.answers), "shown_sha256": shown_hash(factory), "gave_up": ""}
    _write(factory, history.model_copy(update=noted))


def _created_at(factory: Factory) -> str:
    """Return the time when the first draft of the product's spec was accepted."""
    if factory.projection.spec is not None:
        return factory.projection.spec.created_at
    return factory.journal.scope(scopes.emission(1, 1)).now()


def _shown_before(factory: ProjectView, spec: ProductSpec) -> bytes:
    """Return the spec to compare a draft with: the version before it, the approved spec for a change's first draft, else
    the draft itself."""
    store, files = factory.store, draft_files(factory)
    try:
        return current_spec(factory).to_bytes()
    except (*InputErrors, *CorruptionErrors):  # missing or unreadable
        first = not store.exists(files.before)
        return ((factory.projection.spec if first else None) or spec).to_bytes()


def _markdown(
    factory: Factory, scope: Scope, spec: ProductSpec, report: ValidationReport, result: Research
) -> str:
    def costs() -> str:
        estimate = approval_estimate(factory, factory.price, spec)
        return estimate.in_words() if estimate else ""

    return spec_page(
        spec,
        report.warnings,
        result.sources,
        [package.requirement for package in factory.packages],
        changes_since(factory, spec),
        affected(change) if (change := change_preview(factory, spec)) else (),
        # a repeated step must render the page that was shown
        costs=cast(str, scope.recall("draw", "costs", costs)),
    )


def changes_since(view: ProjectView, spec: ProductSpec | None = None) -> list[str]:
    """Return the difference of a spec, by default the current one, from the version shown before, as a patch; empty if there
    is none."""
    path = draft_files(view).before
    if not view.store.exists(path):
        return []
    before = ProductSpec.from_bytes(view.store.read(path), path)
    return spec_patch(before, spec or current_spec(view))


def overturned(view: ProjectView, number: int, instead: str) -> str:
    """Return the feedback of an amendment that overturns a decision.

    Args:
        view: The project, whose spec waits.
        number: The number of the decision on the approval page.
        instead: The decision that replaces it.

    Raises:
        InputError: there is no such decision.
    """
    spec = last_spec(view)
    known = decisions_of(spec) if spec else []
    if not known:
        raise InputError(
            "the spec that waits has no numbered decisions",
            where="--decision",
            remedy="describe the change: `specwright amend --feedback TEXT`",
        )
    if not 1 <= number <= len(known):
        raise InputError(
            f"there is no decision {number}; the spec that waits has {len(known)}",
            where="--decision",
            remedy="`specwright status` lists them",
        )
    decided = known[number - 1]
    return f'Decision {number}, of {decided.place}, "{decided.text}": {instead.strip()}'
