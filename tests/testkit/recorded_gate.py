"""The gate and the packager of a project, which observe the same inputs only once in a test run.

What the real ones observe of a sound module or wheel is recorded in a directory that all workers share, and found
there again by everything that the observation depends on: the settings of the gate, the sandbox of this machine, and
every file. The ids of modules, which a run draws, are left out. What fails is never recorded.

Commands that tests run in their own process have them (`testkit.cli.commands`), since a command takes no composition.
"""

import hashlib
import io
import os
import pickle
import zipfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from filelock import FileLock

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.settings import GateSettings
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.verdict import Candidate, GateVerdict
from specwright.bootstrap import project
from specwright.ports import BuiltWheel, ExerciseReport, ProductPackage
from specwright.settings import Settings
from specwright.wheels import FlitPackager

__all__ = ["recorded_gate"]

_T = TypeVar("_T")


class Recordings:
    """What was observed in this test run.

    Args:
        directory: Of all workers.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def observed(
        self,
        asked: Sequence[object],
        contracts: Sequence[MicroModuleContract],
        observe: Callable[[], _T],
        sound: Callable[[_T], bool],
    ) -> _T:
        """What is observed, or was before.

        Args:
            asked: All on which it depends, with a `repr` that says everything.
            contracts: Of the modules whose ids do not matter.
            observe: Observes it.
            sound: Whether an observation may be recorded.
        """
        drawn = {one.module_id.encode(): b"MM-%08d" % -place for place, one in enumerate(contracts, start=1)}
        question = _renamed(repr(asked).encode(), drawn)
        file = self._directory / hashlib.sha256(question).hexdigest()
        with FileLock(f"{file}.lock"):
            if file.exists():
                return pickle.loads(_renamed(file.read_bytes(), {new: old for old, new in drawn.items()}))
            answer = observe()
            if sound(answer):
                file.write_bytes(_renamed(pickle.dumps(answer), drawn))
            return answer


def _renamed(data: bytes, names: Mapping[bytes, bytes]) -> bytes:
    """Some bytes with other ids, each as long as the one before."""
    for old, new in names.items():
        data = data.replace(old, new)
    return data


class RecordedGate:
    """The port `ShipGate`: a project's gate whose verdicts are recorded."""

    def __init__(self, gate: SandboxedShipGate, settings: Settings, recordings: Recordings) -> None:
        self._gate = gate
        self._settings = [getattr(settings, name) for name in GateSettings.model_fields]
        self.recordings = recordings

    @property
    def circumstances(self) -> object:
        """What decides a verdict beside the candidate."""
        return self._gate.sandbox.kind, self._settings

    def judge(self, candidate: Candidate, *, thorough: bool = True) -> GateVerdict:
        """Check a candidate (port)."""
        called = [(one.contract, _files(one.directory)) for one in candidate.dependencies]
        files = sorted(candidate.files.items())
        return self.recordings.observed(
            (self.circumstances, candidate.contract, files, called, thorough),
            [candidate.contract, *(contract for contract, _ in called)],
            lambda: self._gate.judge(candidate, thorough=thorough),
            lambda verdict: verdict.passed,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gate, name)


class RecordedPackager(FlitPackager):
    """What comes of trying a wheel is recorded."""

    def exercise(self, wheel: BuiltWheel, product: ProductPackage, **how: Any) -> ExerciseReport:
        """Install a wheel and try it (port)."""
        gate: Any = self._gate
        with zipfile.ZipFile(io.BytesIO(wheel.content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}
        return gate.recordings.observed(
            (gate.circumstances, wheel.file_name, wheel.exports, files, product),
            [module.contract for module in product.modules],
            lambda: super(RecordedPackager, self).exercise(wheel, product, **how),
            lambda report: report.result == "PASS",
        )


def _files(directory: Path) -> list[tuple[str, bytes]]:
    return sorted(
        (str(p.relative_to(directory)), p.read_bytes()) for p in directory.rglob("*") if p.is_file()
    )


@contextmanager
def recorded_gate() -> Generator[None]:
    """The projects that this process opens have such a gate and packager."""
    recordings = Recordings(Path(os.environ["TESTKIT_RECORDINGS"]))
    real = project.project_gate
    with pytest.MonkeyPatch.context() as root:
        root.setattr(
            project, "project_gate", lambda settings: RecordedGate(real(settings), settings, recordings)
        )
        root.setattr(project, "FlitPackager", RecordedPackager)
        yield
