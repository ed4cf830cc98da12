"""What the factory says on the Wire, heard in tests: logs that count or only listen, and a module to speak of."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agent_wire.entries import LogEntry, StreamEnd
from agent_wire.log import SqliteWireLog
from ship_gate.contract.contract import Dependency, MicroModuleContract, Modes, Output
from specwright.application.factory import Factory
from specwright.bootstrap.views import stored_wires
from specwright.domain.modules.evidence import ShipEvidence, TreeHashes, tree_sha256
from testkit.domain.ship_evidence import evidence_data

__all__ = ["Counting", "Listening", "Wire", "logged", "of_stream", "seal_by_hand", "texts", "types"]

Wire = dict[str, Any]


def logged(project: Path) -> list[Wire]:
    """The Wires of a project that nobody drives, in their order."""
    return [row["wire"] for row in stored_wires(project)]


def of_stream(log: SqliteWireLog, stream: str = "") -> list[Wire]:
    """What an open log holds, of one stream or of all."""
    found = [json.loads(entry.body) for entry in log.stored()]
    return [wire for wire in found if stream in ("", wire["stream"]["stream_id"])]


def types(told: Sequence[Wire]) -> list[str]:
    """What the Wires say, in order."""
    return [wire["type"] for wire in told]


def texts(value: Any) -> list[str]:
    """Every text in a JSON value, keys apart."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in texts(item)]


class Counting:
    """A log that remembers how many Wires each append brought."""

    def __init__(self, log: SqliteWireLog) -> None:
        self._log = log
        self.stream_end, self.entries = log.stream_end, log.entries
        self.sizes: list[int] = []

    def append(self, wires: Sequence[Any]) -> Sequence[LogEntry]:
        self.sizes.append(len(wires))
        return self._log.append(wires)


class Listening:
    """A log that keeps nothing and hears everything; its streams are long already."""

    def __init__(self) -> None:
        self.heard: list[Wire] = []

    def append(self, wires: Sequence[Any]) -> Sequence[LogEntry]:
        self.heard += wires
        return []

    def entries(self, after: int = 0) -> Iterator[Any]:
        return iter(())

    def stream_end(self, stream_id: str) -> StreamEnd:
        return StreamEnd(999_999, "wire_" + "7" + "Z" * 25)


def seal_by_hand(
    factory: Factory, ref: str, name: str, depends_on: Sequence[str] = (), size: int = 1
) -> None:
    """Put a sealed version into the store as the ship node would have, without a debate, and as if it was announced."""
    module, _, version = ref.partition("@")
    contract = MicroModuleContract(
        module_id=module,
        module_version=version,
        name=name,
        purpose="Stands for what a debate would have made.",
        inputs=[],
        outputs=[Output(name="number", type="int")],
        error_surfaces=[],
        effects=[],
        modes=Modes(sync=True, async_=False),
        dependencies=[Dependency(ref=other, why="It is called.") for other in depends_on],
    )
    files = {"implementation/__init__.py": b"#" * size, "examples.md": b"## It answers\n\nAlways the same.\n"}
    base = f"modules/{module}/{version}"
    log = f"{base}/tests/execution_log.json"
    data = evidence_data(module_id=module, module_version=version, tree_sha256=TreeHashes.of(files).to_json())
    evidence = ShipEvidence.model_validate(
        data | {"verification": data["verification"] | {"evidence_ref": log}}
    )
    factory.store.publish(f"{base}/contract.json", contract.to_bytes())
    factory.store.publish_tree(base, files)
    factory.store.publish(f"{base}/ship.json", evidence.to_bytes())
    factory.projection.announced[ref] = tree_sha256(factory.modules.tree(ref))
