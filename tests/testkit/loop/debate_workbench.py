"""The engineering loop whole, over scripted roles and a scripted gate.

Project graph, engineering graph, debate graph, store, journal, log, projection and checkpoints are those of the
product; so is the Code Index, with an embedder that needs no model. One task by default, whose planner plans two
modules that do not know each other: `double`, on which the scripts work, and `halve`, with which nothing is ever
wrong.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_wire import canonical_json
from ship_gate.contract.contract import MicroModuleContract
from specwright.domain.artifacts import ArtifactEnvelope, Purpose
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.modules.evidence import Environment
from specwright.graphs.graphs import engineering_graph
from specwright.ports import Place, Role
from specwright.roles.agent.tools import NoSearch
from specwright.roles.team import ModelRoles
from specwright.storage.context_pack import ContextPackBackend
from testkit.domain.product_specs import spec_of_graph  # pyright: ignore[reportUnknownVariableType]
from testkit.loop import project_workbench as workbench
from testkit.loop.role_answers import Turn, plan, planned
from testkit.loop.scripted_gate import ScriptedGate
from testkit.model.fake_model import FakeSource, Observer, observed
from testkit.model.script import Script, ScriptedRoles, key, script_replies

__all__ = ["IN_MEMORY", "TWO", "DebateWorkbench", "modelled", "script"]

_SHARED_MEMORY = Path("/dev/shm")
IN_MEMORY = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else None
"""Where a directory costs no disk writes; None for the usual place."""

TWO = plan(planned("double"), planned("halve"), task_facing="double")


def script(answers: dict[str, list[Any]] | None = None, planning: dict[str, Any] = TWO) -> Script:
    """A script: by place, what is handed in; a bare answer stands for one without files."""
    given = {
        place: [said if isinstance(said, Turn) else Turn(said) for said in all_said]
        for place, all_said in (answers or {}).items()
    }
    return Script(planning, given)


def modelled(script: Any, observer: Observer | None = None) -> "Callable[[DebateWorkbench], ModelRoles]":
    """The real roles over a chat model that follows a script; each answer is in the workbench's trace."""

    def made(bench: "DebateWorkbench") -> ModelRoles:
        def observe(place: Place, messages: list[Any], tools: Any) -> None:
            if observer:
                observer(place, messages, tools)
            bench.trace.append(key(place))

        source = FakeSource(observed(script_replies(script), observe))
        work = bench.runtime / "work"
        return ModelRoles(
            dict.fromkeys(Role, source),
            bench.journal,
            bench.index,
            NoSearch(),
            work,
            bench.notes,
            ContextPackBackend,
        )

    return made


def record_of(store: Path, debate: str, number: int, kind: str) -> Path:
    """The file of a record of a round.

    Args:
        store: The folder `state_store`.
        debate: The id of its first proposal.
        number: Of the round, from 1.
        kind: `proposal`, `challenge` or `adjudication`.

    Raises:
        KeyError: the round has no such record.
    """
    (path,) = store.glob(f"artifacts/*/{debate}/*/envelope.json")
    outputs = ArtifactEnvelope.from_bytes(path.read_bytes(), debate).outputs
    at = 1
    for purpose, name in [("", debate), *((one.purpose, one.ref.partition("@")[0]) for one in outputs)]:
        at += purpose == Purpose.OPENS_ROUND
        (body,) = store.glob(f"artifacts/*/{name}/*/body/*.json")
        if (at, body.stem) == (number, kind):
            return body
    raise KeyError(kind)


class DebateWorkbench(workbench.ProjectWorkbench):
    """A project with one task that follows a script.

    Args:
        directory: The project.
        script: What the roles answer.
        gate: Judges instead of the scripted one; told where to write down that it did.
        roles: Asks instead of the scripted ones.
    """

    def __init__(
        self,
        directory: Path,
        script: Script,
        gate: Any = None,
        roles: Callable[["DebateWorkbench"], Any] | None = None,
    ) -> None:
        super().__init__(directory)
        self.trace: list[str] = []
        self.factory = replace(
            self.factory,
            gate=gate or ScriptedGate(self.trace),
            environment=Environment(repo_revision="r", dependency_lock_ref="l", runner_id="here"),
        )
        self.roles: Any = None
        self.follow(script)
        if roles:
            self.factory = replace(self.factory, roles=roles(self))

    def follow(self, script: Any) -> None:
        """Let the roles follow a script from now on."""
        self.roles = ScriptedRoles(script.answer, self.trace)
        self.factory = replace(self.factory, roles=self.roles)

    def stub(self) -> Any:
        """The real engineering loop."""
        return engineering_graph(self.factory)

    def begin(self, waits_for: Any = ([],)) -> str:
        """Approve a spec of so many tasks, run it to its first stop, and say how the first task stands."""
        self.approve(spec_of_graph(waits_for))
        self.run()
        return self.status()

    def traced(self, *subjects: str) -> list[str]:
        """What was asked and examined, in order, of these subjects; of all if none is named."""
        return [one for one in self.trace if not subjects or one.partition("/")[0] in subjects]

    def reviews(self) -> list[dict[str, Any]]:
        """The payloads of the review Wires, oldest first."""
        return [wire["payload"] for wire in self.wires() if wire["type"] == "review.recorded"]

    def wires(self) -> list[dict[str, Any]]:
        """The log."""
        return [canonical_json.loads(stored.body) for stored in self.log.stored()]

    def status(self, number: int = 0) -> str:
        """How a task stands."""
        return list(self.state.tasks.values())[number].status.value

    @property
    def base(self) -> Path:
        """`state_store/`."""
        return self.directory / "state_store"

    def records(self) -> dict[str, list[str]]:
        """The debates by their subject: for each round the kinds of record that lie there."""
        found: dict[str, list[str]] = {}
        for debate in sorted((self.base / "debates").glob("*")):
            rounds = self.rounds(debate)
            found[self.subject_of(debate)] = [
                " ".join(sorted(kind for kind, _ in rounds[number])) for number in sorted(rounds)
            ]
        return found

    def rounds(self, debate: Path) -> dict[int, list[tuple[str, Path]]]:
        """The records of a debate by the number of their round, each with its kind."""
        number, found = 1, defaultdict[int, list[tuple[str, Path]]](list)
        for purpose, name in [("", debate.name), *self.outputs(debate.name)]:
            (path,) = (self.base / "artifacts").glob(f"*/{name}/*/body/*.json")
            number += purpose == Purpose.OPENS_ROUND
            found[number].append((path.stem, path))
        for path in [*debate.glob("gate-*.json"), *debate.glob("amendments-*.json")]:
            kind, number = path.stem.split("-")[:2]
            found[int(number)].append((kind, path))
        return found

    def debate(self, subject: str) -> Path:
        """The directory of a debate."""
        (path,) = (d for d in (self.base / "debates").glob("*") if self.subject_of(d) == subject)
        return path

    def subject_of(self, debate: Path) -> str:
        """What a debate is about."""
        target = canonical_json.loads(self.body(debate.name)["proposal.json"])["target_artifact_id"]
        if target.startswith("MP-"):
            return "contracts"
        contract = next(given.ref for given in self.envelope(target).inputs if given.ref.startswith("CTR-"))
        return self.contract(contract.partition("@")[0]).name

    def record(self, subject: str, number: int, kind: str) -> Any:
        """One record of a round."""
        (path,) = (path for found, path in self.rounds(self.debate(subject))[number] if found == kind)
        return self.read(path)

    def envelope(self, name: str) -> ArtifactEnvelope:
        """An artifact's envelope."""
        (path,) = (self.base / "artifacts").glob(f"*/{name}/*/envelope.json")
        return ArtifactEnvelope.from_bytes(path.read_bytes(), name)

    def outputs(self, name: str) -> list[tuple[str, str]]:
        """What followed from an artifact: purpose and id."""
        return [(one.purpose, one.ref.partition("@")[0]) for one in self.envelope(name).outputs]

    def body(self, name: str) -> dict[str, bytes]:
        """An artifact's files."""
        (base,) = (self.base / "artifacts").glob(f"*/{name}/*/body")
        return {p.relative_to(base).as_posix(): p.read_bytes() for p in base.rglob("*") if p.is_file()}

    def sealed(self) -> dict[str, Path]:
        """The sealed versions by the names of their modules."""
        paths = sorted(path.parent for path in (self.base / "modules").glob("*/*/ship.json"))
        return {self.read(path / "contract.json")["name"]: path for path in paths}

    @property
    def escalation(self) -> EscalationArtifact:
        """The one that waits."""
        name = next(e.escalation_ref for e in self.state.tasks.values() if e.escalation_ref)
        return EscalationArtifact.from_bytes((self.base / f"escalations/{name}.json").read_bytes(), name)

    def unapproved(self) -> list[str]:
        """What is wrong with the modules that shipped: each must be what the Arbiter and the gate let pass."""
        begun = {path.parent.relative_to(self.base).as_posix() for path in self.base.glob("modules/*/*/*")}
        sealed = {path.relative_to(self.base).as_posix(): name for name, path in self.sealed().items()}
        indexed = {f"modules/{e.module_id}/{e.version}": e.name for e in self.index.entries()}
        found = [f"{path} is not sealed" for path in begun - sealed.keys()]
        found += [] if indexed == sealed else [f"sealed: {sealed}, but indexed: {indexed}"]
        return found + [fault for name, path in self.sealed().items() for fault in self._faults(name, path)]

    def _faults(self, name: str, path: Path) -> Iterator[str]:
        """An approval of this very version, or of the one before its amendments, and a gate without a finding."""
        ref = f"{path.parent.name}@{path.name}"
        made = [e for e in self.envelopes("IMPL") if any(o.purpose == Purpose.SEALED_AS for o in e.outputs)]
        target = next((e for e in made if self.body(e.artifact_id) == self._sealed_files(path)), None)
        if target is None:
            yield f"{ref} is no version that was sealed"
            return
        if target.status != "SHIPPED":
            yield f"{ref} was sealed from {target.artifact_id}, which is {target.status}"
        last = len(self.records()[name])
        ruling = self.record(name, last, "adjudication")
        judged = target.artifact_id
        if ruling["decision"] == "APPROVE_WITH_AMENDMENTS":
            amendments = self.record(name, last, "amendments")
            if amendments["after"] != judged or not all(
                a["applied"] for a in amendments["answer"]["applied"]
            ):
                yield f"{ref} is not what was amended"
            judged = amendments["before"]
        if ruling["target_artifact_id"] != judged or ruling["ship_directive"] != "SHIP":
            yield f"{ref} was not approved"
        gate = self.read(self.debate(name) / f"gate-{last}-{target.artifact_id}.json")
        if gate["failures"]:
            yield f"{ref} did not pass the gate"

    def envelopes(self, prefix: str) -> list[ArtifactEnvelope]:
        """All artifacts of a kind."""
        return [self.envelope(path.name) for path in sorted(self.base.glob(f"artifacts/*/{prefix}-*"))]

    def _sealed_files(self, path: Path) -> dict[str, bytes]:
        files = {p.relative_to(path).as_posix(): p.read_bytes() for p in path.rglob("*") if p.is_file()}
        beside = ("contract.json", "ship.json", "tests/execution_log.json", "falsifying_tests.json")
        return {name: data for name, data in files.items() if name not in beside}

    def contract_of(self, envelope: ArtifactEnvelope) -> MicroModuleContract:
        """The contract in an artifact."""
        return self.contract(envelope.artifact_id)

    def contract(self, name: str) -> MicroModuleContract:
        """A contract by its artifact."""
        return MicroModuleContract.from_bytes(self.body(name)["contract.json"], name)

    def read(self, path: Path) -> Any:
        """A JSON file."""
        return canonical_json.loads(path.read_bytes())
