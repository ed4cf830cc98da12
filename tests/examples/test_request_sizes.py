"""How much is sent to a role at once: prompt, request, tools (design: models)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from specwright.journal.journal import FileJournal
from testkit.examples.built import built

__all__ = ["built"]

MODULES_CALLED = {"TSK-001": 0, "TSK-002": 1, "TSK-003": 2, "TSK-004": 3}
"""Of each task of `leftout`, whose modules have nine criteria and two dozen approved examples."""

MOST = {
    "plan planner": 22_000,
    "contracts challenger": 26_000,
    "contracts arbiter": 10_000,
    "module proposer": 27_000,
    "module challenger": 34_000,
    "module arbiter": 6_000,
}
"""Characters of a request in its first round, and `MORE` for each module that may be called."""

MORE = 1_500
CORRECTED_PLAN = 4_000
"""On top: what was challenged, and the tool that changes it."""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_request_is_longer_than_it_may_be(built: Callable[[str], Path]) -> None:
    """Nine criteria, two dozen examples and a debate of two rounds fit (D-57-01)."""
    journal = FileJournal(built("leftout") / ".specwright/journal.jsonl")
    longer: dict[str, tuple[int, int]] = {}
    for record in journal.records("model"):
        task, _, where = record.place.scope.partition(".1/")
        if task not in MODULES_CALLED:
            continue
        subject, stage, role = where.split("/")
        kind = f"{subject if subject in ('plan', 'contracts') else 'module'} {role}"
        most = MOST[kind] + (0 if role == "arbiter" else MORE * MODULES_CALLED[task])
        most += CORRECTED_PLAN if kind == "plan planner" and stage != "round-1" else 0
        asked = record.answer["asked"]
        sent = sum(asked.values())
        if sent > most:
            longer[record.place.scope] = (sent, most)
    journal.close()
    assert longer == {}
