"""Code Index entries for tests."""

from specwright.domain.modules.code_index import CodeIndexEntry, Deprecation, IndexStatus, IoSummary

__all__ = ["entry", "retirement"]


def entry(number: int, purpose: str = "", **changes: object) -> CodeIndexEntry:
    """An entry with the module id `MM-{number}`.

    Args:
        number: Tells modules apart.
        purpose: What it is found by.
        changes: Further fields; `inputs` and `outputs` are the lines of the io_summary.
    """
    lines = {
        "inputs": changes.pop("inputs", ["text: str"]),
        "outputs": changes.pop("outputs", ["result: str"]),
        "error_surfaces": ["ValueError: text is empty"],
        "effects": [],
        "modes": ["sync"],
    }
    module_id = f"MM-{number:08x}"
    fields = {
        "module_id": module_id,
        "version": "1.0.0",
        "name": f"module_{number}",
        "purpose": purpose or f"purpose number {number}",
        "tags": ["text"],
        "contract_ref": f"modules/{module_id}/1.0.0/contract.json",
        "examples_ref": f"modules/{module_id}/1.0.0/examples.md",
        "ship_ref": f"modules/{module_id}/1.0.0/ship.json",
        "io_summary": IoSummary.model_validate(lines),
        "dependencies": [],
    }
    return CodeIndexEntry.model_validate(fields | changes)


def retirement(
    ref: str,
    replacement: str | None = None,
    status: IndexStatus = IndexStatus.DEPRECATED,
    why: str = "It is old.",
) -> Deprecation:
    """The decision to retire a version."""
    return Deprecation(
        module_ref=ref,
        reason=why,
        migration_note="Take another.",
        replacement=replacement,
        decided_at="2026-11-24T10:00:00.000000000Z",
        decided_by="human:operator",
        consumers=[],
        status=status,
    )
