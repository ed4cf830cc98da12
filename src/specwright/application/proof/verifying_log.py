"""What the log says of the files of a project, as `verify` needs it (D29, D33, ADR 0051).

Wires bind sealed versions, definitions, gate records, escalations and their answers, and the approved spec, each by a
SHA-256. A log that breaks off is read as far as it goes.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from specwright.application.proof.sealed_version import Fault
from specwright.errors import SpecwrightError
from specwright.ports.store import StateStore
from specwright.ports.wire_log import WireLog

__all__ = ["Told", "gate_records", "read_log", "referred_files"]


class Told(NamedTuple):
    """What the log says.

    Args:
        announced: What the files of each sealed version hash to, by its reference.
        definitions: The definitions that it refers to, with the first Wire that does.
        references: The definitions that stand for what a Wire names, such as an escalation, oldest first.
        decisions: The hashes of what gates saw, by the artifact that they decided on.
        spec: The definition of the approved spec; empty before.
        wires: How many there are.
    """

    announced: dict[str, str]
    definitions: dict[str, int]
    references: dict[str, list[str]]
    decisions: dict[str, list[str]]
    spec: str = ""
    wires: int = 0


def read_log(log: WireLog, faults: list[Fault]) -> Told:
    """Go through the log once; where it cannot be read goes to the faults."""
    told = Told({}, {}, {}, {})
    wires, spec = 0, ""
    try:
        for entry in log.entries():
            wires += 1
            payload = cast("dict[str, Any]", entry.wire["payload"])
            _take(told, str(entry.wire["type"]), payload, entry.sequence_number)
            if payload.get("subject") == "spec.approved":
                spec = str(payload["definition_sha256"])
    except (SpecwrightError, KeyError, TypeError) as error:
        faults.append(Fault("log.unreadable", "wire.db", f"Wire {wires + 1} cannot be read: {error}"))
    return told._replace(wires=wires, spec=spec)


def _take(told: Told, kind: str, payload: Mapping[str, Any], number: int) -> None:
    if sha256 := payload.get("definition_sha256"):
        told.definitions.setdefault(str(sha256), number)
        told.references.setdefault(str(payload.get("reference", "")), []).append(str(sha256))
    if kind == "gate.decided":
        target = str(payload["reference"]).partition("@")[0]
        told.decisions.setdefault(target, []).append(str(payload["evidence_sha256"]))
    if kind == "artifact.ready":
        ref = f"{payload['artifact_id']}@{payload['version']}"
        # a task that reuses it announces it again; the first is from when it was sealed
        told.announced.setdefault(ref, str(payload["sha256"]))


def referred_files(told: Told) -> dict[str, set[str]]:
    """Files that are definitions too, with the hashes that they may have; what no Wire names yet is left out, as a
    crash leaves it."""
    found = {"product/spec.json": {told.spec}} if told.spec else {}
    for name, hashes in told.references.items():
        if name.startswith("REL-"):
            found[f"releases/{name}/manifest.json"] = set(hashes)
        if name.startswith("ESC-"):
            found[f"escalations/{name}.json"] = set(hashes[:1])
            if len(hashes) > 1:
                found[f"resolutions/{name}.json"] = set(hashes[1:])
    return found


def gate_records(store: StateStore, told: Told) -> dict[str, set[str]]:
    """The records of gates that decided, with the hashes that their Wires name."""
    there: dict[str, list[str]] = {}
    for debate in store.names("debates"):
        for place in store.names(f"debates/{debate}"):
            for name in store.names(f"debates/{debate}/{place}"):
                target = name.removeprefix("gate-").removesuffix(".json")
                there.setdefault(target, []).append(f"debates/{debate}/{place}/{name}")
    return {
        path: set(hashes)
        for target, hashes in told.decisions.items()
        for path in there.get(target, [f"debates/*/round-*/gate-{target}.json"])
    }
