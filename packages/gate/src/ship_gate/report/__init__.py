"""The gate's verdicts on many modules in the formats that other programs read: SARIF, JUnit, Markdown."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ship_gate.batch import JudgedModule
from ship_gate.report import junit, markdown, sarif

BEGINS = {"sarif": sarif.BEGINS, "junit": junit.BEGINS, "markdown": markdown.BEGINS}
"""How a report of each kind begins, by the options that ask for them."""

REPORTS: Mapping[str, Callable[[Sequence[JudgedModule]], str]] = {
    "sarif": lambda modules: sarif.sarif_report(modules, Path.cwd()),
    "junit": junit.junit_report,
    "markdown": markdown.markdown_report,
}
"""What writes them."""
