"""The gate's verdicts on many modules in the formats that other programs read: SARIF and Markdown."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ship_gate.batch import JudgedModule
from ship_gate.report import markdown, sarif

BEGINS = {"sarif": sarif.BEGINS, "markdown": markdown.BEGINS}
"""How a report of each kind begins, by the options that ask for them."""

REPORTS: Mapping[str, Callable[[Sequence[JudgedModule]], str]] = {
    "sarif": lambda modules: sarif.sarif_report(modules, Path.cwd()),
    "markdown": markdown.markdown_report,
}
"""What writes them."""
