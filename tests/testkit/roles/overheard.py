"""A whole run of the example product in which every request to a model is recorded.

The gate says PASS to everything, for speed: what a role sees does not depend on what the gate thinks.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.obligations import read_claims
from ship_gate.verdict import Candidate, GateVerdict, TestResult
from specwright.bootstrap.project import Composition, Silent, open_project
from specwright.domain.artifacts import ContextPack
from specwright.ports import Place, Progress, Role
from specwright.roles.models.sources import ModelSource
from specwright.settings import Settings
from testkit.loop.products import failing, rejecting, untested
from testkit.model.fake_model import FakeModel, Observer, observed
from testkit.paths import TABKEEPER

__all__ = ["EXAMPLE", "Invoked", "Run", "overheard"]

EXAMPLE = TABKEEPER


class Invoked(NamedTuple):
    """One role invocation.

    Args:
        place: Where in the run.
        requests: Every request in full: messages and tool schemas, as one text each.
        tools: The names of its tools.
        directory: Its files at its first model call.
        packs: The context packs that were made for it and on the disk at its first model call.
    """

    place: Place
    requests: list[str]
    tools: set[str]
    directory: Mapping[str, bytes]
    packs: list[ContextPack]

    @property
    def given(self) -> str:
        """What it was asked at first, and what lay in its directory."""
        return "\n".join([self.requests[0], *(data.decode() for data in self.directory.values())])

    @property
    def everything(self) -> str:
        """What it ever saw."""
        return "\n".join([self.given, *self.requests])

    @property
    def pack(self) -> ContextPack:
        """Its one context pack."""
        (pack,) = self.packs
        return pack


class Run(NamedTuple):
    """A finished run."""

    project: Path
    playbook: Path
    invoked: list[Invoked]

    def by(self, role: Role, subject: str = "", stage: str = "") -> list[Invoked]:
        """The invocations of a role in implementation debates, or of one place."""
        return [
            one
            for one in self.invoked
            if one.place.role is role
            and (
                one.place.subject == subject
                if subject
                else one.place.subject not in {"contracts", "plan", ""}
            )
            and one.place.stage.startswith(stage)
        ]

    def contract(self, name: str) -> MicroModuleContract:
        """The sealed contract of a module."""
        for path in self.project.glob("state_store/modules/*/*/contract.json"):
            contract = MicroModuleContract.from_bytes(path.read_bytes(), str(path))
            if contract.name == name:
                return contract
        raise LookupError(name)


class RequestRecorder:
    """Records the requests of a composition whose gate passes everything."""

    def __init__(self, project: Path, meddle: Callable[[Place, Path], None]) -> None:
        self._project = project
        self._meddle = meddle
        self.invoked: dict[str, Invoked] = {}

    @property
    def composition(self) -> Composition:
        """What is put in the place of gate and models."""
        return Composition(
            wrap_adapters=lambda adapters: replace(adapters, gate=Lenient(adapters.gate)),
            wrap_models=lambda models: {role: ObservedSource(m, self.record) for role, m in models.items()},
        )

    def record(self, place: Place, messages: list[BaseMessage], tools: Any) -> None:
        """Record a request; at the first of an invocation also what lies on the disk."""
        run_id = place.run_id
        self._meddle(place, self._project)
        said = json.dumps([message.model_dump(mode="json") for message in messages], ensure_ascii=False)
        text = "\n".join([said, *map(_text, messages), json.dumps(tools, default=str)])
        if run_id not in self.invoked:
            root = self._project / ".specwright/work" / run_id.replace("/", "--")
            files = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
            names = {tool["function"]["name"] for tool in tools}
            self.invoked[run_id] = Invoked(place, [], names, files, self._packs(run_id))
        self.invoked[run_id].requests.append(text)

    def _packs(self, run_id: str) -> list[ContextPack]:
        paths = (self._project / "state_store/context_packs").glob("*.json")
        packs = [ContextPack.from_bytes(path.read_bytes(), str(path)) for path in paths]
        return [pack for pack in packs if pack.created_for.run_id == run_id]


def _text(message: BaseMessage) -> str:
    return str(message.text)


class ObservedSource:
    """A source of playbook models whose requests are recorded."""

    scripted = True

    def __init__(self, source: ModelSource, observer: Observer) -> None:
        self._source, self._observer = source, observer

    def model(self, place: Place) -> FakeModel:
        below = self._source.model(place)

        def reply(place: Place, messages: list[BaseMessage], tools: Any) -> AIMessage:
            return below.invoke(messages)

        return FakeModel(reply=observed(reply, self._observer), place=place)


class Lenient:
    """A gate that observes what is claimed."""

    def __init__(self, gate: Any) -> None:
        self._gate = gate

    def judge(self, candidate: Candidate, *, thorough: bool = True) -> GateVerdict:
        tests = read_claims(candidate.files["tests/obligations.json"])
        fingerprint = candidate.contract.interface_fingerprint
        ran = tuple(TestResult(name, "PASS", 1.0) for name in tests)
        return GateVerdict(True, (), fingerprint, fingerprint, {}, ran, candidate.files)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gate, name)


def overheard(
    base: Path,
    meddle: Callable[[Place, Path], None] = lambda place, project: None,
    progress: Progress | None = None,
) -> Run:
    """The example product up to its sealed modules, with every turn that a debate can take.

    Beside its own FAIL and its own amendments: `compute_balances` fails twice, `settle_up` is rejected once.

    Args:
        meddle: Called at every request, before it is answered.
        progress: Is called at every step.
    """
    playbook, project = base / "playbook", base / "project"
    shutil.copytree(EXAMPLE / "playbook", playbook)
    balances, settle = playbook / "TSK-003/compute_balances", playbook / "TSK-004/settle_up"
    shutil.copytree(balances / "round-1", balances / "round-3")
    failing(balances, 2)
    shutil.copytree(settle / "round-1", settle / "round-2")
    untested(settle / "round-2")
    rejecting(settle / "round-1", "The transfers are not shown to be the fewest; show it for three debtors.")
    recorder = RequestRecorder(project, meddle)
    project.mkdir()
    settings = Settings(model=f"playbook:{playbook}")
    spec = (EXAMPLE / "SPEC.md").read_text()
    with open_project(project, settings, progress or Silent(), spec, recorder.composition) as opened:
        opened.driver.advance()
        opened.driver.advance({"action": "APPROVE", "by": "human:operator"})
    return Run(project, playbook, list(recorder.invoked.values()))
