"""A bug report whose example holds, and what a report may point at (design: bug-reports)."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.terminal.page import Page
from specwright.application.change import TriedReport
from specwright.cli.terminal.output import next_command

_LONGEST_POINTER = 30
"""Columns of the pointers; a longer one stands on a line of its own."""


def report_document(tried: TriedReport) -> dict[str, Any]:
    """For a program."""
    contract, example = tried.contract, tried.example
    return {"holds": True, "module_ref": contract.ref, "example": example.heading, "exit_code": 0}


def report_page(tried: TriedReport) -> Page:
    """For a person."""
    page = Page()
    page.prose(
        f"The example {tried.example.heading!r} holds: {tried.contract.name}, {tried.contract.ref}, gives what it says. "
        "Nothing was changed."
    )
    return page


def statements_document(
    contract: MicroModuleContract, statements: Sequence[tuple[str, str]], tried: TriedReport | None = None
) -> dict[str, Any]:
    """What a report may point at, for a program, and what came of its example, if there is one."""
    rows = [{"pointer": pointer, "text": text} for pointer, text in statements]
    example, observed = (tried.example.heading, tried.observed) if tried else ("", "")
    document = {"module_ref": contract.ref, "name": contract.name, "statements": rows, "exit_code": 0}
    return {**document, "example": example, "observed": observed}


def statements_page(
    contract: MicroModuleContract,
    statements: Sequence[tuple[str, str]],
    directory: Path,
    tried: TriedReport | None = None,
    example: str = "bug.md",
) -> Page:
    """What a report may point at, for a person; then the command.

    Args:
        contract: Of the module.
        statements: Pointers with their texts.
        directory: The project.
        tried: The example, if there is one.
        example: Its file.
    """
    page = Page()
    if tried is not None:
        page.prose(f"The example {tried.example.heading!r} fails: {tried.observed}. Nothing was changed.")
    page.heading(f"What a report of {contract.name}, {contract.ref}, may name with --pointer")
    columns = min(_LONGEST_POINTER, max(len(pointer) for pointer, _ in statements))
    for pointer, text in statements:
        page.labelled(f"  {pointer}", text, labels=columns + 4)
    what = f"--example {shlex.quote(example)} --pointer POINTER"
    page.line(next_command(f"report {contract.name}", directory, what), "Then: ")
    return page
