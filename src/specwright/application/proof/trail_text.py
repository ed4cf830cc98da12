"""The chain from a shipped module back to its spec, as a person reads it (F§5.2)."""

import textwrap
from collections.abc import Iterator, Sequence

from specwright.application.debate.rounds import Round
from specwright.application.proof.trail import ModuleTrail
from specwright.domain.artifact import LOCKED_AFTER, ArtifactEnvelope
from specwright.domain.provenance import ContextPack

__all__ = ["trail_text"]

WIDTH = 100

FEW = 3
"""References of one reason; the rest are counted, and stand in the context pack."""


def trail_text(found: ModuleTrail) -> list[str]:
    """The chain for a reader, in lines of at most 100 columns."""
    return [line for paragraph in _paragraphs(found) for line in _wrapped(*paragraph)]


def _paragraphs(found: ModuleTrail) -> Iterator[tuple[str, str]]:
    evidence, summary = found.evidence, found.evidence.execution_log.summary
    yield "", f"{found.contract.name}  {found.contract.ref}"
    yield "  ", found.contract.purpose
    yield "", "Evidence"
    yield "  ", f"{evidence.ship_id}  {evidence.verification.result}, {evidence.verified_at}"
    yield "  ", f"tests     {summary.passed} of {summary.total} passed"
    yield "  ", f"gate      {', '.join(f'{check.name} {check.result}' for check in evidence.gate)}"
    yield "  ", f"interface {evidence.verification.interface_fingerprint}"
    yield from _debate_lines("Implementation", found.debate_id, found.versions, found.rounds)
    yield "", "Contract"
    locked = next((o.ref for o in found.locked.outputs if o.purpose == LOCKED_AFTER), "not locked")
    yield "  ", f"{found.locked.ref}  {found.locked.status}, locked after {locked}"
    calls = [_named(found, dependency.ref) for dependency in found.contract.dependencies]
    yield "  ", f"calls     {', '.join(calls) or 'no other module'}"
    yield from _debate_lines("Plan", found.contract_debate_id, (found.planned,), found.contract_rounds)
    yield "  ", f"modules   {', '.join(module.name for module in found.plan.modules)}"
    yield "", "Reuse"
    yield "  ", f"{found.reuse.conclusion}: {found.reuse.justification}"
    yield "  ", f"searched  {found.reuse.query}"
    yield "", "Who saw what"
    for contribution, pack in found.made:
        yield "  ", f"{contribution.produced_by.run_id}  {contribution.type}  {contribution.artifact_ref}"
        yield "      ", f"{pack.context_pack_id} shows {_shown(found, pack)}"
        for reason, refs in _excluded(pack).items():
            yield "      ", f"kept from it: {_listed(found, refs)} ({reason})"
    yield "", "Task"
    yield "  ", f"{found.task_id}  {found.task}"
    for criterion in found.criteria:
        yield "    ", f"- {criterion}"
    yield "", "Spec"
    yield "  ", found.spec
    yield "  ", f"definition {found.spec_sha256}"
    yield "", "Files"
    place = f"modules/{found.contract.ref.replace('@', '/')}/"
    yield (
        "  ",
        f"below state_store/: {place}, artifacts/*/ID/, debates/ID/, context_packs/ID.json, definitions/ID",
    )


def _debate_lines(
    title: str, debate_id: str, versions: tuple[ArtifactEnvelope, ...], rounds: tuple[Round, ...]
) -> Iterator[tuple[str, str]]:
    yield "", f"{title} (debate {debate_id})"
    for envelope in versions:
        yield "  ", f"{envelope.ref}  {envelope.status}, by {envelope.created_by.run_id}"
    for one in rounds:
        yield "  ", f"round {one.number}   {one.proposal.proposal_id}: {one.proposal.claim}"
        if one.challenge:
            failures = "; ".join(failure.evidence for failure in one.challenge.failures)
            yield (
                "    ",
                f"{one.challenge.challenge_id}  {one.challenge.verdict}"
                + (f": {failures}" if failures else ""),
            )
        if one.adjudication:
            ruling = one.adjudication
            yield "    ", f"{ruling.adjudication_id}  {ruling.decision}: {ruling.rationale}"
            for amendment in ruling.amendments:
                yield "      ", f"- {amendment.action} {amendment.target}: {amendment.detail}"


def _shown(found: ModuleTrail, pack: ContextPack) -> str:
    """Each reference once, with everything that is shown of it."""
    permissions: dict[str, list[str]] = {}
    for row in pack.included_refs:
        permissions.setdefault(row.ref, []).append(row.permission)
    return ", ".join(f"{_named(found, ref)} {' and '.join(given)}" for ref, given in permissions.items())


def _excluded(pack: ContextPack) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = {}
    for row in pack.excluded_refs:
        by_reason.setdefault(row.reason, []).append(row.ref)
    return by_reason


def _listed(found: ModuleTrail, refs: Sequence[str]) -> str:
    told = ", ".join(_named(found, ref) for ref in refs[:FEW])
    return f"{told} and {len(refs) - FEW} more" if len(refs) > FEW else told


def _named(found: ModuleTrail, ref: str) -> str:
    return f"{found.names[ref]} {ref}" if ref in found.names else ref


def _wrapped(indent: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )
