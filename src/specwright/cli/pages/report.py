"""A bug report whose example holds (design: bug-reports)."""

from typing import Any

from specwright.application.change.report import TriedReport
from specwright.cli.pages.page import Page


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
