"""The product stage: from SPEC.md to an approved product spec (design: product-spec)."""

from collections.abc import Sequence
from typing import Any

from specwright import canonical_json
from specwright.application import scopes
from specwright.application.announce import announce, review
from specwright.application.change.approval import ChangePreview, approve_change, preview_of
from specwright.application.change.request import change_assignment, change_errors
from specwright.application.factory import Factory, ProjectView
from specwright.application.store import layout
from specwright.application.store.file_hashes import note_hashes
from specwright.application.tasks import laid_out, spec_errors
from specwright.domain.base.slugs import slugify
from specwright.domain.costs.estimate import Estimate, Price, build_estimate, research_estimate
from specwright.domain.spec.completeness import ValidationReport, validate
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft
from specwright.domain.spec.spec_changes import spec_changes
from specwright.domain.spec.spec_markdown import render
from specwright.errors import CorruptionError, InputError
from specwright.ports.progress import Step
from specwright.ports.roles import Assignment, Place, Research, Role

MANY_AMENDMENTS = 3
"""Consecutive amendments after which the gate advises to decide (design: approval)."""


def research(factory: Factory, restart: int, reasons: Sequence[str], feedback: Sequence[str]) -> None:
    """Have SPEC.md expanded and leave the result under `product/` for the approval gate.

    Args:
        restart: 1, and one more after each rejection.
        reasons: Why earlier specs were rejected; the new agent sees these and nothing else of them.
        feedback: Amendments asked for since the last restart; they continue the conversation.
    """
    change = factory.projection.open_change
    number = change.request.number if change else 0
    given = None if change and change.request.request else factory.given_spec
    if given is not None and not reasons and not feedback:
        _publish(factory, Research(given, ()), scopes.emission(restart, 1, number))
        return
    if factory.price and not factory.store.exists(_files(factory).spec):
        estimate = research_estimate(factory.price)
        factory.progress.note(Step("estimate", "", f"to the approval: {estimate.in_words()}"))
    if change is None:
        result = factory.roles.research(_first_assignment(factory, restart, reasons), feedback, spec_errors)
    else:
        assignment = change_assignment(factory, change.request, restart, reasons)
        result = factory.roles.research(assignment, feedback, lambda data: change_errors(factory, data))
    _publish(factory, result, scopes.emission(restart, len(feedback) + 1, number))
    factory.progress.note(Step("spec", "", "the product spec is complete"))


def restore_draft(factory: Factory, restart: int, reasons: Sequence[str], feedback: Sequence[str]) -> None:
    """Write the files of the spec that waits again if one is missing or unreadable; the journal has what was answered.

    A readable file that was changed stays as it is: an approval is refused then, and what sends it back replaces it.
    """
    try:
        current_spec(factory)
        validation_of(factory)
        factory.store.read(_files(factory).text)
    except (InputError, CorruptionError):
        research(factory, restart, reasons, feedback)


def _first_assignment(factory: Factory, restart: int, reasons: Sequence[str]) -> Assignment:
    text = factory.spec_text
    if reasons:
        text += "\n\n## Rejection Feedback\n\n" + "\n".join(f"- {reason}" for reason in reasons) + "\n"
    return Assignment(
        place=Place("", restart, "", "", Role.RESEARCHER),
        message=f"Turn the SPEC.md in your directory into a complete product spec. {_indexed(factory)}\n\n{text}",
        pack={"SPEC.md": text.encode()},
        writable=("spec.json", "notes/"),
    )


def _indexed(factory: Factory) -> str:
    """Whether a search of the Code Index can find anything: one that cannot costs a call."""
    if factory.index.entries():
        return "The Code Index holds modules that exist already."
    return "The Code Index holds nothing yet, so there is nothing to search for."


def _files(factory: ProjectView) -> layout.SpecFiles:
    """The files of the spec that waits for approval, or that was approved last."""
    return layout.spec_files(factory.projection.change_number)


def current_spec(factory: ProjectView) -> ProductSpec:
    """The spec that waits for approval, or that was approved."""
    path = _files(factory).spec
    return ProductSpec.from_bytes(factory.store.read(path), path)


def tasks_in_draft(factory: ProjectView) -> int:
    """How many tasks the spec that waits has; 0 if there is none, or none that can be read."""
    try:
        return sum(1 for _ in current_spec(factory).tasks())
    except (InputError, CorruptionError):
        return 0


def validation_of(factory: ProjectView) -> ValidationReport:
    """The last validation of the current spec."""
    path = _files(factory).validation
    return ValidationReport.from_bytes(factory.store.read(path), path)


def shown_hash(factory: ProjectView) -> str:
    """The SHA-256 of what a person is shown at the gate: the spec, as JSON and as the page made of it."""
    files = _files(factory)
    return canonical_json.sha256(factory.store.read(files.spec) + factory.store.read(files.text))


def changes_since(factory: ProjectView) -> list[str]:
    """What is different in the current spec from the version that was shown before; empty if there was none."""
    return _changes(factory, current_spec(factory))


def approval_estimate(factory: ProjectView, price: Price | None) -> Estimate | None:
    """What the approval of the current spec will cost; None if all answers are scripted."""
    preview = change_preview(factory)
    tasks = preview.tasks_to_build if preview else sum(1 for _ in current_spec(factory).tasks())
    return build_estimate(tasks, price) if price else None


def change_preview(factory: ProjectView) -> ChangePreview | None:
    """What the change that waits for approval does, by code; None if none waits."""
    if factory.projection.open_change is None or not factory.projection.awaits_approval:
        return None
    return preview_of(factory, current_spec(factory))


def approval_question(factory: Factory, amendments: int) -> dict[str, Any]:
    """What the gate asks a person, as the graph's interrupt carries it."""
    estimate = approval_estimate(factory, factory.price)
    return {
        "kind": "approval",
        "amend_count": amendments,
        "advise": amendments >= MANY_AMENDMENTS,
        "sha256": shown_hash(factory),
        "estimate": estimate and estimate.to_json(),
        "changes": changes_since(factory),
        "change": (preview := change_preview(factory)) and preview.to_json(),
        "searches": factory.searches,
    }


def approve(factory: Factory, by: str) -> None:
    """Accept the current spec: it becomes a definition, and a review Wire says so (design: projection, wire).

    From here nothing below `product/` changes, and what lies there is noted as it was approved.

    Raises:
        InputError: the spec cannot be laid out as folders and tasks (design: ids); it is not accepted.
    """
    spec = current_spec(factory)
    if factory.projection.open_change is not None:
        approve_change(factory, spec, by)
        return
    laid_out(spec)  # a person may have approved what an older version let through
    scope = factory.journal.scope(scopes.APPROVAL)
    project_id = f"{slugify(spec.title)}-{scope.hex8()}"
    sha256 = factory.store.define(spec.to_bytes())
    files = factory.store.tree(layout.PRODUCT)
    note_hashes(scope, {f"{layout.PRODUCT}/{path}": data for path, data in files.items()})
    announce(factory, scope, project_id, [review(project_id, "spec.approved", sha256, spec.spec_id, by)])


def _publish(factory: Factory, result: Research, scope_name: str) -> None:
    now = factory.journal.scope(scope_name).now()
    spec = ProductSpecDraft.model_validate(result.spec).stamped(now, now)
    report = validate(result.spec)
    sources = [{"query": source.query, "urls": list(source.urls)} for source in result.sources]
    store, files = factory.store, _files(factory)
    shown = _shown_before(factory, spec)
    if shown != spec.to_bytes():
        store.replace(files.before, shown)
    store.replace(files.validation, report.to_bytes())
    store.replace(files.sources, canonical_json.pretty(sources))
    store.replace(files.text, _markdown(factory, spec, report, result).encode())
    store.replace(files.spec, spec.to_bytes())


def _shown_before(factory: ProjectView, spec: ProductSpec) -> bytes:
    """What a draft is compared with: the version before it, the approved spec for the first of a change, else itself."""
    store, files = factory.store, _files(factory)
    try:
        return current_spec(factory).to_bytes()
    except (InputError, CorruptionError):  # missing or unreadable
        first = not store.exists(files.before)
        return ((factory.projection.spec if first else None) or spec).to_bytes()


def _markdown(factory: Factory, spec: ProductSpec, report: ValidationReport, result: Research) -> str:
    packages = [package.requirement for package in factory.packages]
    changes = _changes(factory, spec)
    return render(spec, report.warnings, result.sources, packages, changes, searches=factory.searches)


def _changes(factory: ProjectView, spec: ProductSpec) -> list[str]:
    path = _files(factory).before
    if not factory.store.exists(path):
        return []
    return spec_changes(ProductSpec.from_bytes(factory.store.read(path), path), spec)
