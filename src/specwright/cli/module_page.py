"""A module for a reader: its contract, dimension by dimension, and its evidence."""

import textwrap
from typing import Any

from specwright.cli.columns import bullets, row, width
from specwright.domain.contract import MicroModuleContract
from specwright.domain.ship import ShipEvidence

__all__ = ["module_page"]


def module_page(contract: MicroModuleContract, evidence: ShipEvidence) -> list[str]:
    """The lines."""
    lines = [f"{contract.name}  {contract.ref}", *textwrap.wrap(contract.purpose, width()), ""]
    for title, entries in _dimensions(contract.to_json()):
        lines += bullets(title, entries or ["none"], 0)
    calls = ", ".join(dependency.ref for dependency in contract.dependencies)
    summary, verified = evidence.execution_log.summary, evidence.verification
    return [
        *lines,
        "",
        *row("Calls", calls or "no other module", 0),
        *row(
            "Evidence",
            f"{verified.result}, {summary.passed} of {summary.total} tests passed, {evidence.verified_at}",
            0,
        ),
        *row("Interface", verified.interface_fingerprint, 0),
    ]


def _dimensions(contract: dict[str, Any]) -> list[tuple[str, list[str]]]:
    def line(entry: dict[str, Any], details: str) -> str:
        return "\n".join([f"{entry['name']}: {entry['type']}", *(f"- {said}" for said in entry[details])])

    modes = [name for name in ("sync", "async") if contract["modes"][name]]
    effects = [f"{entry['type']} {entry['target']}: {entry['description']}" for entry in contract["effects"]]
    return [
        ("Inputs", [line(entry, "constraints") for entry in contract["inputs"]]),
        ("Outputs", [line(entry, "invariants") for entry in contract["outputs"]]),
        ("Errors", [f"{entry['name']}: {entry['when']}" for entry in contract["error_surfaces"]]),
        ("Effects", effects),
        ("Modes", [", ".join(modes)]),
    ]
