"""The codes of findings: one list in the code, and the page that shows it."""

import re

from ship_gate.findings import FindingCode
from testkit.documents import generator_of
from testkit.paths import SOURCES

generator = generator_of("make_gate_codes")


def test_the_page_lists_the_codes_that_the_gate_has():
    """D-S8-15: its table is what `.venv/bin/python docs/make_gate_codes.py` writes."""
    written = generator.PAGE.read_text(encoding="utf-8")
    assert generator.page(written) == written, "run `.venv/bin/python docs/make_gate_codes.py`"


def test_every_code_is_produced_somewhere():
    """D-S8-15: by its member in the gate, or by its value where the domain and the debate find something."""
    files = [path for root in SOURCES for path in root.rglob("*.py") if path.name != "findings.py"]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    produced = {FindingCode[name].value for name in re.findall(r"\bFindingCode\.([A-Z_]+)\b", source)}
    produced |= {code.value for code in FindingCode if f'"{code}"' in source}
    assert {code.value for code in FindingCode} - produced == set()
