"""The hashes of files that the log names, for `verify` (design: projection, wire).

Wires bind sealed versions, definitions, gate records, escalations and their answers, and the approved spec, each by a
SHA-256. A log that breaks off is read as far as it goes.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from agent_wire import canonical_json
from agent_wire.entries import WireLog
from specwright.application.store import layout
from specwright.application.verify.sealed_version import VerifyFinding
from specwright.errors import SpecwrightErrors
from specwright.ports.store import StateStore


class LogBindings(NamedTuple):
    """What the log binds.

    Args:
        announced: What the files of each sealed version hash to, by its reference.
        definitions: The definitions that it refers to, with the first Wire that does.
        references: The definitions that stand for what a Wire names, such as an escalation, oldest first.
        decisions: The hashes of what gates saw, by the artifact that they decided on, with the Wire of each.
        specs: The definition of each approved spec, by its file.
        retired: The decision to retire a module version, by its reference.
        resealed: The record of each version that code sealed, by its reference.
        subjects: Of reviews, what each names and the definition that stands for it, by subject, oldest first.
        wires: How many there are.
    """

    announced: dict[str, str]
    definitions: dict[str, int]
    references: dict[str, list[str]]
    decisions: dict[str, dict[str, int]]
    specs: dict[str, str]
    retired: dict[str, str]
    resealed: dict[str, str]
    subjects: dict[str, list[tuple[str, str]]]
    wires: int = 0


def read_log(log: WireLog, findings: list[VerifyFinding]) -> LogBindings:
    """Go through the log once; where it cannot be read goes to the findings."""
    bindings = LogBindings({}, {}, {}, {}, {}, {}, {}, {})
    wires = 0
    try:
        for entry in log.entries():
            wires += 1
            payload = cast("dict[str, Any]", entry.wire["payload"])
            _add(bindings, str(entry.wire["type"]), payload, entry.sequence_number)
    except (*SpecwrightErrors, KeyError, TypeError) as error:
        findings.append(
            VerifyFinding("log.unreadable", "wire.db", f"Wire {wires + 1} cannot be read: {error}")
        )
    return bindings._replace(wires=wires)


def _add(bindings: LogBindings, kind: str, payload: Mapping[str, Any], number: int) -> None:
    if sha256 := payload.get("definition_sha256"):
        bindings.definitions.setdefault(str(sha256), number)
        bindings.references.setdefault(str(payload.get("reference", "")), []).append(str(sha256))
        row = str(payload.get("reference", "")), str(sha256)
        bindings.subjects.setdefault(str(payload.get("subject", "")), []).append(row)
        _add_review(bindings, str(payload.get("subject")), str(payload.get("reference", "")), str(sha256))
    if kind == "gate.decided":
        target = str(payload.get("reference", "")).partition("@")[0]
        bindings.decisions.setdefault(target, {}).setdefault(str(payload["evidence_sha256"]), number)
    if kind == "artifact.ready":
        ref = f"{payload['artifact_id']}@{payload['version']}"
        # a task that reuses it announces it again; the first is from when it was sealed
        bindings.announced.setdefault(ref, str(payload["sha256"]))


def _add_review(bindings: LogBindings, subject: str, reference: str, sha256: str) -> None:
    if subject == "spec.approved":
        bindings.specs[layout.spec_files().spec] = sha256
    elif subject == "change.approved":
        bindings.specs[layout.spec_files(int(reference.rpartition("-")[2])).spec] = sha256
    elif subject in ("module.deprecated", "module.superseded"):
        bindings.retired[reference] = sha256
    elif subject == "module.sealed":
        bindings.resealed[reference] = sha256


def referred_files(bindings: LogBindings) -> dict[str, set[str]]:
    """Files that are definitions too, with the hashes that they may have; what no Wire names yet is left out, as a
    crash leaves it."""
    found = {path: {sha256} for path, sha256 in bindings.specs.items()}
    for name, hashes in bindings.references.items():
        if name.startswith("REL-"):
            found[layout.manifest(name)] = set(hashes)
        if name.startswith("ICE-"):
            found[layout.exception(name)] = set(hashes[:1])
            own = [sha256 for ref, sha256 in bindings.subjects.get("exception.decided", ()) if ref == name]
            found |= {layout.exception_decision(name, n): {sha256} for n, sha256 in enumerate(own, 1)}
        if name.startswith("ESC-"):
            found[layout.escalation(name)] = set(hashes[:1])
            if len(hashes) > 1:
                found[layout.resolution(name)] = set(hashes[1:])
    return found


def gate_records(store: StateStore, bindings: LogBindings) -> dict[str, set[str]]:
    """The records of gates that decided, with the hashes that their Wires name."""
    paths = _record_paths(store)
    return {
        path: set(hashes)
        for version_id, hashes in bindings.decisions.items()
        for path in paths.get(version_id, [layout.gate_record("*", "*", version_id)])
    }


def evidence_findings(store: StateStore, bindings: LogBindings) -> Iterator[VerifyFinding]:
    """The decisions of gates whose evidence is the hash of no record; one that is gone or was changed is named itself."""
    paths = _record_paths(store)
    for version_id, hashes in bindings.decisions.items():
        records = paths.get(version_id, [])
        found = [canonical_json.sha256(store.read(path)) for path in records]
        changed = sum(sha256 not in hashes for sha256 in found)
        nowhere = [sha256 for sha256 in hashes if sha256 not in found] if records else []
        for sha256 in nowhere[changed:]:
            message = f"Wire {hashes[sha256]} names evidence that no record has: {sha256}"
            yield VerifyFinding("evidence.missing", records[0], message)


def _record_paths(store: StateStore) -> dict[str, list[str]]:
    """The records of gates, by the version that they judged."""
    paths: dict[str, list[str]] = {}
    for debate_id in store.names(layout.DEBATES):
        for name in store.names(layout.debate(debate_id)):
            if name.startswith("gate-"):
                version_id = name.split("-", 2)[2].removesuffix(".json")
                paths.setdefault(version_id, []).append(f"{layout.debate(debate_id)}/{name}")
    return paths
