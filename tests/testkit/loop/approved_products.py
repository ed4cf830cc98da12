"""A product whose four criteria are shown in four ways: by an approved example, by a test that its Proposer names and a
falsifying test, by nothing for a stated reason, and by nothing since a ruling set it aside."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import specwright
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK, rewrite
from testkit.shared_fixtures import made_once

__all__ = ["CRITERIA", "LIMIT", "REFUSED", "WHY", "approved", "approved_product"]

REFUSED = "test_a_name_without_a_letter_is_refused"
WHY = "What a reader likes is no value that comes out."
LIMIT = "How the result lies in memory does not cross to the tests."
CRITERIA = (
    "initials returns 'AL' for 'ada lovelace' and 'A' for ' ada '.",
    "initials raises ValueError for '' and for '42'.",
    "initials returns letters that a reader recognises at once.",
    "initials returns a text that shares no memory with the name.",
)
_TRIED = {
    "name": "test_a_dash_is_no_letter",
    "obligation": "/error_surfaces/0",
    "source": "import pytest\n\nfrom modules.initials import initials\n\n\ndef test_a_dash_is_no_letter():\n"
    "    with pytest.raises(ValueError):\n        initials('-')\n",
    "criteria": [2],
}


def approved_product(directory: Path) -> Path:
    """Its playbook."""
    playbook = shutil.copytree(PLAYBOOK, directory)
    spec = json.loads((playbook / "researcher/spec.json").read_text())
    task: dict[str, Any] = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    example = {
        "title": "Two words",
        "criteria": [1],
        "code": "from nameplate import initials\ninitials('ada lovelace')",
        "gives": "'AL'",
    }
    task["acceptance_criteria"] = list(CRITERIA)
    task["acceptance"] = {
        "provides": ["initials(name: str) -> str"],
        "examples": [example],
        "unexecutable": [{"criterion": 3, "why": WHY}],
    }
    (playbook / "researcher/spec.json").write_text(json.dumps(spec))
    contracts, module = playbook / "TSK-001/contracts/round-1", playbook / "TSK-001/initials/round-1"
    judged = json.loads((contracts / "challenger.json").read_text())["rubric_assessments"]
    judged[4]["assessment"] = "CANNOT_BE_SHOWN"
    rewrite(
        contracts / "challenger.json",
        rubric_assessments=judged,
        unshown_criteria=[{"criterion": 4, "evidence": LIMIT}],
    )
    rewrite(contracts / "arbiter.json", set_aside=[{"criterion": 4, "reason": LIMIT}])
    rewrite(module / "challenger.json", falsifying_tests=[_TRIED])
    rewrite(module / "proposer.json", acceptance_checks=["1: the example says it.", f"2: {REFUSED}"])
    return playbook


@pytest.fixture(scope="session")
def approved(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The product, released; only looked at or copied."""

    # outside of what is copied: the project remembers where its playbook is
    playbook = approved_product(tmp_path_factory.mktemp("approved") / "playbook")

    def make(base: Path) -> None:
        options = ("--spec", NAMEPLATE_SPEC, "--model", f"playbook:{playbook}", "--approve")
        told = specwright("run", base / "project", *options)
        assert told.code == 0, told

    return made_once(tmp_path_factory, worker_id, "approved", make) / "project"
