"""A module for a reader: its contract, dimension by dimension, and its evidence."""

from typing import Any

from specwright.domain.contract import MicroModuleContract
from specwright.domain.ship import ShipEvidence

__all__ = ["module_page"]


def module_page(contract: MicroModuleContract, evidence: ShipEvidence) -> list[str]:
    """The lines."""
    lines = [f"{contract.name}  {contract.ref}", contract.purpose, ""]
    for title, entries in _dimensions(contract.to_json()):
        lines += [f"{title}:", *(f"  {entry}" for entry in entries or ["none"])]
    calls = ", ".join(dependency.ref for dependency in contract.dependencies)
    summary, verified = evidence.execution_log.summary, evidence.verification
    return [
        *lines,
        "",
        f"Calls:    {calls or 'no other module'}",
        f"Evidence: {verified.result}, {summary.passed} of {summary.total} tests passed, {evidence.verified_at}",
        f"Surface:  {verified.interface_fingerprint}",
    ]


def _dimensions(contract: dict[str, Any]) -> list[tuple[str, list[str]]]:
    def line(entry: dict[str, Any], details: str) -> str:
        said = "; ".join(entry[details])
        return f"{entry['name']}: {entry['type']}" + (f"  ({said})" if said else "")

    modes = [name for name in ("sync", "async") if contract["modes"][name]]
    effects = [f"{entry['type']} {entry['target']}: {entry['description']}" for entry in contract["effects"]]
    return [
        ("Inputs", [line(entry, "constraints") for entry in contract["inputs"]]),
        ("Outputs", [line(entry, "invariants") for entry in contract["outputs"]]),
        ("Errors", [f"{entry['name']}: {entry['when']}" for entry in contract["error_surfaces"]]),
        ("Effects", effects),
        ("Modes", [", ".join(modes)]),
    ]
