"""What the README says a run costs is what the recorded runs took."""

import re

import pytest

from specwright.journal import read_records
from specwright.roles.models.journalled_model import tokens_of
from testkit.paths import ROOT

ROWS = re.findall(
    r"^\| `(examples/[a-z]+)` \([^|]+\) \| (\d+) \| (\d+) \| ([\d,]+) \| ([\d,]+) \|$",
    (ROOT / "README.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_of_the_costs_is_what_the_recording_holds(row: tuple[str, ...]) -> None:
    """Tasks and calls exactly, tokens to the thousand (D-S6-05)."""
    records = list(read_records(ROOT / row[0] / "recorded.journal"))
    asked = [tokens_of(record.answer) for record in records if record.place.kind == "model"]
    tasks = {
        record.place.scope.partition(".")[0] for record in records if record.place.scope.startswith("TSK-")
    }
    assert (len(tasks), len(asked)) == (int(row[1]), int(row[2]))
    for column, told in enumerate(row[3:]):
        assert round(sum(tokens[column] for tokens in asked), -3) == int(told.replace(",", ""))


def test_every_recorded_run_is_in_the_table() -> None:
    """Also one that took much (D-S6-05)."""
    recorded = {str(path.parent.relative_to(ROOT)) for path in ROOT.glob("examples/*/recorded.journal")}
    assert {row[0] for row in ROWS} == recorded
