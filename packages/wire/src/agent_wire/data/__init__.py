"""The contracts, schemas and fixtures of Agent Wire 1.1 as data.

The Agent Wire specification places these files at the repository root. Links beside this module point there; a build follows
them, so that a wheel and a source distribution hold copies.
"""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonObject

__all__ = ["VERSION", "contract", "fixtures", "schemas"]

VERSION = "v1.1"


@cache
def contract(name: str) -> JsonObject:
    """One contract by its name.

    Args:
        name: `task-state-machine`, `event-state-map` or `a2a-task-state-map`.
    """
    return canonical_json.loads(_directory("contracts").joinpath(f"{name}.json").read_bytes())


@cache
def schemas() -> dict[str, JsonObject]:
    """Every JSON Schema by its file name, `envelope.schema.json` and so on."""
    return {
        entry.name: canonical_json.loads(entry.read_bytes())
        for entry in sorted(_directory("schemas").iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".schema.json")
    }


def fixtures() -> dict[str, bytes]:
    """Every fixture by its file name, as bytes, since some are not JSON; `expectations.json` describes the others."""
    files = sorted(_directory("fixtures").iterdir(), key=lambda entry: entry.name)
    return {entry.name: entry.read_bytes() for entry in files if entry.name.endswith(".json")}


def _directory(kind: str) -> Traversable:
    return files(__name__) / kind / VERSION
