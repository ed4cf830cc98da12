"""The product stage: from SPEC.md to an approved product spec (F§3.2)."""

from collections.abc import Sequence
from typing import Any

from specwright import canonical_json
from specwright.application.announcing import announce, review
from specwright.application.factory import Factory, Reading
from specwright.application.project_stage import laid_out
from specwright.application.stores.kept_records import keep
from specwright.domain.completeness import ValidationReport, validate
from specwright.domain.product_spec import ProductSpec, ProductSpecDraft
from specwright.domain.slugs import slugify
from specwright.domain.spec_markdown import ResearchSource, render
from specwright.errors import SpecwrightError
from specwright.ports.progress import Step
from specwright.ports.roles import Assignment, Place, Research, Role

__all__ = ["MANY_AMENDMENTS", "approve", "current_spec", "research", "validation_of"]

MANY_AMENDMENTS = 3
"""Consecutive amendments after which the gate advises to decide (F§3.2.4)."""


def research(factory: Factory, restart: int, reasons: Sequence[str], feedback: Sequence[str]) -> None:
    """Have SPEC.md expanded and leave the result under `product/` for the approval gate.

    Args:
        restart: 1, and one more after each rejection.
        reasons: Why earlier specs were rejected; the new agent sees these and nothing else of them.
        feedback: Amendments asked for since the last restart; they continue the conversation.
    """
    text = factory.spec_text
    if reasons:
        text += "\n\n## Rejection Feedback\n\n" + "\n".join(f"- {reason}" for reason in reasons) + "\n"
    assignment = Assignment(
        place=Place("", restart, "", "", Role.RESEARCHER),
        message="Turn the SPEC.md in your directory into a complete product spec.\n\n" + text,
        pack={"SPEC.md": text.encode()},
        writable=("spec.json", "notes/"),
    )
    found = factory.roles.research(assignment, feedback, _errors)
    _publish(factory, found, f"product.{restart}/emission-{len(feedback) + 1}")
    factory.progress.note(Step("spec", "", "the product spec is complete"))


def current_spec(factory: Reading) -> ProductSpec:
    """The spec that waits for approval, or that was approved."""
    return ProductSpec.from_bytes(factory.store.read("product/spec.json"), "product/spec.json")


def validation_of(factory: Reading) -> ValidationReport:
    """The last validation of the current spec."""
    return ValidationReport.from_bytes(
        factory.store.read("product/validation.json"), "product/validation.json"
    )


def approve(factory: Factory, by: str) -> None:
    """Accept the current spec: it becomes a definition, and a review Wire says so (D29, D33).

    From here nothing below `product/` changes, and what lies there is noted as it was approved (ADR 0051).

    Raises:
        InputError: the spec cannot be laid out as folders and tasks (F§4.1); it is not accepted.
    """
    spec = current_spec(factory)
    laid_out(spec)  # a person may have approved what an older version let through
    scope = factory.journal.scope("product/approval")
    project_id = f"{slugify(spec.title)}-{scope.hex8()}"
    sha256 = factory.store.define(spec.to_bytes())
    keep(scope, {f"product/{path}": data for path, data in factory.store.tree("product").items()})
    announce(factory, scope, project_id, [review(project_id, "spec.approved", sha256, spec.spec_id, by)])


def _errors(data: Any) -> Sequence[str]:
    """What keeps a draft from being emitted: F§3.2.3, and what no folder, id or task file can carry (F§4.1)."""
    if errors := validate(data).errors:
        return [str(error) for error in errors]
    draft = ProductSpecDraft.model_validate(data)
    try:
        laid_out(draft.stamped("2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z"))
    except SpecwrightError as error:
        return [error.what]
    return []


def _publish(factory: Factory, found: Research, scope_name: str) -> None:
    now = factory.journal.scope(scope_name).now()
    spec = ProductSpecDraft.model_validate(found.spec).stamped(now, now)
    report = validate(found.spec)
    sources = [{"query": source.query, "urls": list(source.urls)} for source in found.sources]
    store = factory.store
    store.replace("product/validation.json", report.to_bytes())
    store.replace("product/sources.json", canonical_json.pretty(sources))
    store.replace("product/spec.md", _markdown(factory, spec, report, found).encode())
    store.replace("product/spec.json", spec.to_bytes())


def _markdown(factory: Factory, spec: ProductSpec, report: ValidationReport, found: Research) -> str:
    sources = [ResearchSource(s.query, tuple(s.urls)) for s in found.sources]
    return render(spec, report.warnings, sources, [package.requirement for package in factory.packages])
