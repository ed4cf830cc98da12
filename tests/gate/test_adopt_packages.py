"""Functions of well-known packages are adopted: no statement of a draft is one that the gate refutes.

`docs/measure_adopt.py` asks the same of many more; these are of packages that the tests have anyway.
"""

from pathlib import Path

import pytest

from specwright.bootstrap.gate.adoption import adopt_source
from specwright.bootstrap.verify import judge_directory
from specwright.domain.adoption.report import AdoptionStatus
from testkit.sampling import nightly, slow

REFUTED = ("examples.false", "examples.broken", "tests.failed", "surface.", "contract.invalid")
SOURCES = [
    slow("packaging.utils:is_normalized_name"),
    nightly("packaging.utils:canonicalize_name"),
    nightly("idna.core:check_bidi"),
    nightly("idna:encode", timeout=400),
]


@pytest.mark.parametrize("source", SOURCES)
def test_no_statement_of_a_draft_is_refuted(source: str, tmp_path: Path) -> None:
    """Whatever else the gate finds, such as tests that are missing (D-50-02)."""
    (record,) = adopt_source(source, tmp_path / "out").functions
    assert record.status is not AdoptionStatus.INEXPRESSIBLE, record.obstacles
    assert record.statements
    found = judge_directory(Path(record.directory)).findings
    assert [one for one in found if one.code.startswith(REFUTED)] == []
    assert all(gap.write and gap.where for gap in record.gaps)
