"""The product stage: from SPEC.md to an approved product spec (design: product-spec)."""

from collections.abc import Sequence
from typing import Any

from specwright import canonical_json
from specwright.application import scopes
from specwright.application.announce import announce, review
from specwright.application.factory import Factory, ProjectView
from specwright.application.store import layout
from specwright.application.store.file_hashes import note_hashes
from specwright.application.tasks import laid_out
from specwright.domain.base.slugs import slugify
from specwright.domain.costs.estimate import Estimate, Price, build_estimate, research_estimate
from specwright.domain.spec.completeness import ValidationReport, validate
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft
from specwright.domain.spec.spec_changes import spec_changes
from specwright.domain.spec.spec_markdown import render
from specwright.errors import SpecwrightError
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
    if factory.given_spec is not None and not reasons and not feedback:
        _publish(factory, Research(factory.given_spec, ()), scopes.emission(restart, 1))
        return
    if factory.price and not factory.store.exists(layout.SPEC):
        estimate = research_estimate(factory.price)
        factory.progress.note(Step("estimate", "", f"to the approval: {estimate.in_words()}"))
    text = factory.spec_text
    if reasons:
        text += "\n\n## Rejection Feedback\n\n" + "\n".join(f"- {reason}" for reason in reasons) + "\n"
    assignment = Assignment(
        place=Place("", restart, "", "", Role.RESEARCHER),
        message=f"Turn the SPEC.md in your directory into a complete product spec. {_indexed(factory)}\n\n{text}",
        pack={"SPEC.md": text.encode()},
        writable=("spec.json", "notes/"),
    )
    result = factory.roles.research(assignment, feedback, spec_errors)
    _publish(factory, result, scopes.emission(restart, len(feedback) + 1))
    factory.progress.note(Step("spec", "", "the product spec is complete"))


def _indexed(factory: Factory) -> str:
    """Whether a search of the Code Index can find anything: one that cannot costs a call."""
    if factory.index.entries():
        return "The Code Index holds modules that exist already."
    return "The Code Index holds nothing yet, so there is nothing to search for."


def current_spec(factory: ProjectView) -> ProductSpec:
    """The spec that waits for approval, or that was approved."""
    return ProductSpec.from_bytes(factory.store.read(layout.SPEC), layout.SPEC)


def validation_of(factory: ProjectView) -> ValidationReport:
    """The last validation of the current spec."""
    return ValidationReport.from_bytes(factory.store.read(layout.SPEC_VALIDATION), layout.SPEC_VALIDATION)


def shown_hash(factory: ProjectView) -> str:
    """The SHA-256 of what a person is shown at the gate: the spec, as JSON and as the page made of it."""
    return canonical_json.sha256(factory.store.read(layout.SPEC) + factory.store.read(layout.SPEC_TEXT))


def changes_since(factory: ProjectView) -> list[str]:
    """What is different in the current spec from the version that was shown before; empty if there was none."""
    return _changes(factory, current_spec(factory))


def approval_estimate(factory: ProjectView, price: Price | None) -> Estimate | None:
    """What the approval of the current spec will cost; None if all answers are scripted."""
    tasks = sum(1 for _ in current_spec(factory).tasks())
    return build_estimate(tasks, price) if price else None


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
        "searches": factory.searches,
    }


def approve(factory: Factory, by: str) -> None:
    """Accept the current spec: it becomes a definition, and a review Wire says so (design: projection, wire).

    From here nothing below `product/` changes, and what lies there is noted as it was approved.

    Raises:
        InputError: the spec cannot be laid out as folders and tasks (design: ids); it is not accepted.
    """
    spec = current_spec(factory)
    laid_out(spec)  # a person may have approved what an older version let through
    scope = factory.journal.scope(scopes.APPROVAL)
    project_id = f"{slugify(spec.title)}-{scope.hex8()}"
    sha256 = factory.store.define(spec.to_bytes())
    files = factory.store.tree(layout.PRODUCT)
    note_hashes(scope, {f"{layout.PRODUCT}/{path}": data for path, data in files.items()})
    announce(factory, scope, project_id, [review(project_id, "spec.approved", sha256, spec.spec_id, by)])


def spec_errors(data: Any) -> Sequence[str]:
    """What keeps a draft from being emitted: docs/design.md#product-spec, and what no folder, id or task file can
    carry (design: ids)."""
    if errors := validate(data).errors:
        return [str(error) for error in errors]
    draft = ProductSpecDraft.model_validate(data)
    try:
        laid_out(draft.stamped("2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z"))
    except SpecwrightError as error:
        return [error.what]
    return []


def _publish(factory: Factory, result: Research, scope_name: str) -> None:
    now = factory.journal.scope(scope_name).now()
    spec = ProductSpecDraft.model_validate(result.spec).stamped(now, now)
    report = validate(result.spec)
    sources = [{"query": source.query, "urls": list(source.urls)} for source in result.sources]
    store = factory.store
    shown = store.read(layout.SPEC) if store.exists(layout.SPEC) else spec.to_bytes()
    if shown != spec.to_bytes():
        store.replace(layout.SPEC_BEFORE, shown)
    store.replace(layout.SPEC_VALIDATION, report.to_bytes())
    store.replace(layout.SPEC_SOURCES, canonical_json.pretty(sources))
    store.replace(layout.SPEC_TEXT, _markdown(factory, spec, report, result).encode())
    store.replace(layout.SPEC, spec.to_bytes())


def _markdown(factory: Factory, spec: ProductSpec, report: ValidationReport, result: Research) -> str:
    packages = [package.requirement for package in factory.packages]
    changes = _changes(factory, spec)
    return render(spec, report.warnings, result.sources, packages, changes, searches=factory.searches)


def _changes(factory: ProjectView, spec: ProductSpec) -> list[str]:
    if not factory.store.exists(layout.SPEC_BEFORE):
        return []
    before = ProductSpec.from_bytes(factory.store.read(layout.SPEC_BEFORE), layout.SPEC_BEFORE)
    return spec_changes(before, spec)
