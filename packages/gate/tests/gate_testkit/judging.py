"""Reads the module directories and has them judged."""

from typing import Any

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.fuzz.check import FuzzBounds
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.verdict import Candidate, SealedModule
from testkit.paths import GATE_MODULES

__all__ = ["MODULES", "candidate", "codes", "judge", "sealed"]

MODULES = GATE_MODULES
NO_FUZZ = FuzzBounds(examples=0)
_DEPENDENCIES = {"save_tally": ("tally_words",)}


def _contract(name: Any):
    return MicroModuleContract.from_bytes((MODULES / name / "contract.json").read_bytes(), name)


def sealed(name: Any):
    """A module directory as a shipped dependency."""
    return SealedModule(_contract(name), MODULES / name)


def candidate(name: Any, changes: Any = None, contract: Any = None):
    """A module directory as a candidate.

    Args:
        name: The directory.
        changes: Files to replace by bytes or text, or with None to leave out.
        contract: Another contract than the directory's.
    """
    folder = MODULES / name
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.name != "contract.json"
    }
    replaced: dict[str, Any] = changes or {}
    for path, data in replaced.items():
        files.pop(path, None)
        if data is not None:
            files[path] = data.encode() if isinstance(data, str) else data
    siblings = tuple(sealed(dependency) for dependency in _DEPENDENCIES.get(name, ()))
    return Candidate(contract or _contract(name), files, siblings)


def judge(
    name: Any,
    changes: Any = None,
    contract: Any = None,
    timeout_seconds: Any = 30.0,
    *,
    static: Any = False,
    strength: Any = 0.0,
    fuzz: Any = NO_FUZZ,
):
    """The gate's verdict on a changed module directory.

    Without the static stage, strength and fuzz, unless they are asked for: most modules here are hostile, and what
    a run withstands is shown by running them.
    """
    gate = SandboxedShipGate(timeout_seconds, static=static, strength=strength, fuzz=fuzz)
    return gate.judge(candidate(name, changes, contract))


def codes(verdict: Any):
    """The codes of the findings, each once, in their order."""
    return list(dict.fromkeys(finding.code for finding in verdict.findings))
