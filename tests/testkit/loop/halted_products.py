"""The pair of modules, spoilt so that a run halts."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from specwright.domain.escalation import EscalationArtifact
from testkit.layout import examine_store
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.stores import records
from testkit.workshop import Finished, Workshop

SHOUT = "TSK-001/shout"


class Halted(NamedTuple):
    """A project that stopped for a person."""

    project: Path
    finished: Finished

    @property
    def tasks(self) -> dict[str, dict[str, Any]]:
        """The tasks by their spec ids."""
        state = json.loads((self.project / "state_store/project/state_machine.json").read_text())
        return {entry["spec_task_id"]: entry for entry in state["tasks"].values()}

    @property
    def escalation(self) -> EscalationArtifact:
        """The one that waits."""
        (path,) = (self.project / "state_store/escalations").iterdir()
        return EscalationArtifact.from_bytes(path.read_bytes(), str(path))

    @property
    def shipped(self) -> list[str]:
        """The names of the sealed modules."""
        sealed = (self.project / "state_store").glob("modules/*/*/ship.json")
        return [json.loads((path.parent / "contract.json").read_text())["name"] for path in sealed]

    @property
    def asked(self) -> Counter[str]:
        """How often each invocation got an answer."""
        return Counter(record.place.scope for record in records(self.project, "model"))


def halted(workshop: Workshop, project: Path, *where: object) -> Halted:
    """Run the spoilt pair; it stops for a person, in good order."""
    finished = workshop.command("run", project, "--spec", NAMEPLATE_SPEC, *where, "--approve", "--json")
    assert finished.code == 3, finished.err
    assert finished.document["where"] == "halted"
    examine_store(project)
    found = Halted(project, finished)
    assert {task: entry["status"] for task, entry in found.tasks.items()} == {
        "TSK-001": "HALTED",
        "TSK-002": "BLOCKED",
    }
    assert found.tasks["TSK-001"]["escalation_ref"] == found.escalation.escalation_id
    assert (
        found.escalation.state_machine_snapshot["tasks"]
        == json.loads((project / "state_store/project/state_machine.json").read_text())["tasks"]
    )
    assert not (project / "state_store/releases").exists()
    return found
