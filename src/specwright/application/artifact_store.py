"""The one way in to `artifacts/`: envelope, id, body, status (F§8, D11).

An envelope is validated before anything is written, its body is stored first, and its status moves by the five steps
of F§8.4 alone, each on the record that justifies it. That record is noted among the envelope's outputs, so that a
step which runs again after a crash is known for what it is; any other step is refused by name. Sealing a module and
registering it in the Code Index is the ship node's work (`shipping`).
"""

from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from specwright.domain.answers import Decision
from specwright.domain.artifact import (
    ArtifactEnvelope,
    ArtifactRef,
    ArtifactStatus,
    Author,
    check_transition,
    next_version,
)
from specwright.domain.debate import Adjudication
from specwright.domain.ids import ArtifactType, artifact_id
from specwright.domain.record import validation_messages
from specwright.domain.ship import ShipEvidence, TestOutcome
from specwright.errors import CorruptionError, RefusedError
from specwright.ports.journal import Draws
from specwright.ports.store import StateStore

__all__ = [
    "ADJUDICATED_BY",
    "AMENDED_AFTER",
    "CHALLENGED_BY",
    "LOCKED_AFTER",
    "REJECTED_BY",
    "REVISED_BY",
    "SEALED_AS",
    "ArtifactStoreService",
]

CHALLENGED_BY = "challenged by it"
ADJUDICATED_BY = "adjudicated by it"
REJECTED_BY = "sent back for revision by it"
AMENDED_AFTER = "amended as it says"
LOCKED_AFTER = "locked after it"
SEALED_AS = "sealed as it"
REVISED_BY = "revised by it"
DEPRECATED_FOR = "deprecated for it"

REVISES = "the version that it revises"

FIRST_VERSION = "1.0.0"


class ArtifactStoreService:
    """Artifacts by the folder of their pillar and their id."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def create(
        self,
        draws: Draws,
        folder: str,
        kind: ArtifactType,
        by: Author,
        pack: str,
        body: Mapping[str, bytes],
        *,
        inputs: Sequence[tuple[str, str]] = (),
        revises: str = "",
        name: str = "",
        version: str = "",
    ) -> str:
        """Store an artifact, DRAFT, and return its id; one that is there already is left as it is.

        Args:
            draws: Where its id and time come from.
            folder: The slug of its pillar.
            by: The role and invocation that made it.
            pack: The context pack of that invocation.
            body: Its files.
            inputs: What it was made from, as (id@version, purpose).
            revises: The id of the version before it, in the same folder.
            name: Its id, where it was drawn before because the body names it.
            version: Only where it is not the next one of its lineage.

        Raises:
            RefusedError: the envelope is not valid, the body is empty, or the version does not exceed its lineage;
                nothing is written.
        """
        name = name or artifact_id(kind, draws.hex8())
        now = draws.now()
        before = self.envelope(folder, revises) if revises else None
        if self._store.names(f"artifacts/{folder}/{name}") and self._has_envelope(folder, name):
            if before:
                self._note(folder, before, ArtifactRef(ref=self.ref(folder, name), purpose=REVISED_BY))
            return name
        lineage = [(before.ref, REVISES)] if before else []
        envelope = _valid(
            {
                "artifact_id": name,
                "artifact_type": kind,
                "version": self._version(folder, kind, before, version),
                "created_at": now,
                "created_by": by.to_json(),
                "context_pack_ref": pack,
                "inputs": [{"ref": ref, "purpose": purpose} for ref, purpose in [*lineage, *inputs]],
            },
            body,
        )
        base = f"artifacts/{folder}/{name}/{envelope.version}"
        self._store.publish_tree(f"{base}/body", body)
        self._store.replace(f"{base}/envelope.json", envelope.to_bytes())
        if before:
            self._note(folder, before, ArtifactRef(ref=envelope.ref, purpose=REVISED_BY))
        return name

    def envelope(self, folder: str, name: str) -> ArtifactEnvelope:
        """An artifact's envelope.

        Raises:
            CorruptionError: there is no such artifact.
        """
        path = f"{self._base(folder, name)}/envelope.json"
        return ArtifactEnvelope.from_bytes(self._store.read(path), path)

    def body(self, folder: str, name: str) -> dict[str, bytes]:
        """An artifact's files."""
        return self._store.tree(f"{self._base(folder, name)}/body")

    def ref(self, folder: str, name: str) -> str:
        """`id@version`."""
        return f"{name}@{self._base(folder, name).rpartition('/')[2]}"

    def challenged(self, folder: str, name: str, challenge: str) -> None:
        """DRAFT to CHALLENGED, by a CHALLENGE that references it."""
        envelope = self.envelope(folder, name)
        by = self._record(folder, challenge, ArtifactType.CHALLENGE, envelope.ref)
        self._move(folder, envelope, ArtifactStatus.CHALLENGED, by.ref, CHALLENGED_BY)

    def adjudicated(self, folder: str, name: str, adjudication: str) -> None:
        """CHALLENGED to ADJUDICATED, by an ADJUDICATION that references it."""
        envelope = self.envelope(folder, name)
        by = self._record(folder, adjudication, ArtifactType.ADJUDICATION, envelope.ref)
        self._move(folder, envelope, ArtifactStatus.ADJUDICATED, by.ref, ADJUDICATED_BY)

    def amended(self, folder: str, name: str, before: str, challenge: str, adjudication: str) -> None:
        """DRAFT to ADJUDICATED for what an approval's amendments made of the version that was judged (F§9.6).

        The challenge and the ruling are those of the version before, and the ruling asks for this one.
        """
        envelope, judged = self.envelope(folder, name), self.ref(folder, before)
        if not self._descends(folder, envelope, judged):
            raise RefusedError(f"{name} was not made from {before}", where=folder)
        by = self._record(folder, adjudication, ArtifactType.ADJUDICATION, judged)
        if self._decision(folder, adjudication) is not Decision.APPROVE_WITH_AMENDMENTS:
            raise RefusedError(f"{adjudication} asks for no amendments", where=name)
        first = self._record(folder, challenge, ArtifactType.CHALLENGE, judged)
        self._move(folder, envelope, ArtifactStatus.CHALLENGED, first.ref, CHALLENGED_BY)
        self._move(folder, self.envelope(folder, name), ArtifactStatus.ADJUDICATED, by.ref, AMENDED_AFTER)

    def rejected(self, folder: str, name: str, adjudication: str, *, revisions_left: int) -> None:
        """ADJUDICATED to DRAFT, by a REJECT inside the bounded window (F§9.3)."""
        envelope = self.envelope(folder, name)
        by = self._record(folder, adjudication, ArtifactType.ADJUDICATION, envelope.ref)
        if envelope.has_output(ArtifactRef(ref=by.ref, purpose=REJECTED_BY)):
            return
        if self._decision(folder, adjudication) is not Decision.REJECT:
            raise RefusedError(f"{adjudication} does not reject {name}", where="F§8.4")
        if revisions_left < 1:
            raise RefusedError(f"{name} cannot return to DRAFT: no revision is left", where="F§8.4")
        self._move(folder, envelope, ArtifactStatus.DRAFT, by.ref, REJECTED_BY)

    def shipped(
        self,
        folder: str,
        name: str,
        *,
        evidence: ShipEvidence | None = None,
        locked_fingerprint: str = "",
        faults: Sequence[str] = (),
    ) -> None:
        """ADJUDICATED to SHIPPED, by an approval and proof (F§5.6).

        Args:
            evidence: Of an implementation.
            locked_fingerprint: Of the contract that it implements.
            faults: What the validators of anything else found.
        """
        envelope = self.envelope(folder, name)
        implemented = envelope.artifact_type is ArtifactType.IMPLEMENTATION
        check_transition(name, _before_this(envelope, (SEALED_AS, LOCKED_AFTER)), ArtifactStatus.SHIPPED)
        ruling = self._approval(folder, envelope)
        if implemented and evidence is None:
            raise RefusedError(f"{name} has no ship evidence", where="F§8.4")
        if evidence is not None:
            _prove(name, evidence, locked_fingerprint)
        if faults:
            raise RefusedError(f"{name} is not valid: {'; '.join(faults)}", where="F§5.6")
        came_of_it = (evidence.ref, SEALED_AS) if evidence else (ruling, LOCKED_AFTER)
        self._move(folder, envelope, ArtifactStatus.SHIPPED, *came_of_it)

    def deprecated(self, folder: str, name: str, decided: str) -> None:
        """SHIPPED to DEPRECATED, by a recorded decision: the `id@version` of it, or of the successor (D27)."""
        self._move(folder, self.envelope(folder, name), ArtifactStatus.DEPRECATED, decided, DEPRECATED_FOR)

    def _move(
        self, folder: str, envelope: ArtifactEnvelope, new: ArtifactStatus, ref: str, purpose: str
    ) -> None:
        output = ArtifactRef(ref=ref, purpose=purpose)
        if envelope.has_output(output):
            return  # the very same step, made before a restart
        check_transition(envelope.artifact_id, envelope.status, new)
        self._write(
            folder, envelope.model_copy(update={"status": new, "outputs": [*envelope.outputs, output]})
        )

    def _note(self, folder: str, envelope: ArtifactEnvelope, output: ArtifactRef) -> None:
        if not envelope.has_output(output):
            self._write(folder, envelope.model_copy(update={"outputs": [*envelope.outputs, output]}))

    def _write(self, folder: str, envelope: ArtifactEnvelope) -> None:
        self._store.replace(f"{self._base(folder, envelope.artifact_id)}/envelope.json", envelope.to_bytes())

    def _record(self, folder: str, name: str, kind: ArtifactType, about: str) -> ArtifactEnvelope:
        """The record that a step rests on, seen to be of its kind and about this artifact."""
        found = self.envelope(folder, name)
        if found.artifact_type is not kind:
            raise RefusedError(f"{name} is no {kind}", where="F§8.4")
        if not found.made_from(about):
            raise RefusedError(f"{name} does not reference {about}", where="F§8.4")
        return found

    def _decision(self, folder: str, name: str) -> Decision:
        data = self.body(folder, name).get("adjudication.json")
        if data is None:
            raise CorruptionError("an adjudication has no body", where=name)
        return Adjudication.from_bytes(data, name).decision

    def _approval(self, folder: str, envelope: ArtifactEnvelope) -> str:
        """The ruling that lets an artifact ship: an approval as it is, or the one whose amendments it carries."""
        rulings = [given for given in envelope.outputs if given.purpose in {ADJUDICATED_BY, AMENDED_AFTER}]
        if not rulings:
            raise RefusedError(f"{envelope.artifact_id} was never adjudicated", where="F§8.4")
        ref, purpose = rulings[-1].ref, rulings[-1].purpose
        decision = self._decision(folder, ref.partition("@")[0])
        wanted = Decision.APPROVE if purpose == ADJUDICATED_BY else Decision.APPROVE_WITH_AMENDMENTS
        if decision is not wanted:
            why = "its amendments are not applied" if decision is not Decision.REJECT else "it was rejected"
            raise RefusedError(f"{envelope.artifact_id} is not approved: {why}", where="F§8.4")
        return ref

    def _descends(self, folder: str, envelope: ArtifactEnvelope, ref: str) -> bool:
        """Whether an artifact was made from another, itself or by the plan that it belongs to."""
        plans = [i.ref.partition("@")[0] for i in envelope.inputs if i.ref.startswith("MP-")]
        return envelope.made_from(ref) or any(
            self._has_envelope(folder, plan) and self.envelope(folder, plan).made_from(ref) for plan in plans
        )

    def _version(self, folder: str, kind: ArtifactType, before: ArtifactEnvelope | None, wanted: str) -> str:
        if before is None:
            return wanted or FIRST_VERSION
        if before.artifact_type is not kind:
            raise RefusedError(f"a {kind} cannot be a version of {before.artifact_id}", where="F§8.3")
        highest = max((found.version for found in self._lineage(folder, before)), key=_number)
        if wanted and _number(wanted) <= _number(highest):
            raise RefusedError(
                f"version {wanted} does not exceed {highest}, the highest of its lineage", where="F§8.3"
            )
        return wanted or next_version(highest)

    def _lineage(self, folder: str, envelope: ArtifactEnvelope) -> list[ArtifactEnvelope]:
        """All versions of the same logical artifact: back to its first, and from there every branch."""
        while earlier := [given for given in envelope.inputs if given.purpose == REVISES]:
            envelope = self.envelope(folder, earlier[0].ref.partition("@")[0])
        found = [envelope]
        for version in found:  # grows
            later = [given for given in version.outputs if given.purpose == REVISED_BY]
            found += [self.envelope(folder, given.ref.partition("@")[0]) for given in later]
        return found

    def _base(self, folder: str, name: str) -> str:
        versions = self._store.names(f"artifacts/{folder}/{name}")
        if len(versions) != 1:  # an id is that of one version (F§8.2)
            raise CorruptionError("a record is missing", where=f"artifacts/{folder}/{name}")
        return f"artifacts/{folder}/{name}/{versions[0]}"

    def _has_envelope(self, folder: str, name: str) -> bool:
        versions = self._store.names(f"artifacts/{folder}/{name}")
        return any(self._store.exists(f"artifacts/{folder}/{name}/{v}/envelope.json") for v in versions)


def _valid(given: Mapping[str, object], body: Mapping[str, bytes]) -> ArtifactEnvelope:
    """An envelope, or the refusal that names each field; a body without a file is no artifact."""
    name = str(given["artifact_id"])
    if not body:
        raise RefusedError(f"{name} has no body", where="F§8")
    try:
        return ArtifactEnvelope.model_validate(given)
    except ValidationError as error:
        found = "; ".join(validation_messages(error))
        raise RefusedError(f"the envelope of {name} is not valid: {found}", where="F§8") from error


def _before_this(envelope: ArtifactEnvelope, steps: Sequence[str]) -> ArtifactStatus:
    """The status from which a step is made; one that was made before counts from where it began."""
    made = any(given.purpose in steps for given in envelope.outputs)
    return ArtifactStatus.ADJUDICATED if made else envelope.status


def _prove(name: str, evidence: ShipEvidence, locked: str) -> None:
    if evidence.verification.result is not TestOutcome.PASS:
        raise RefusedError(f"{name}: the ship evidence says {evidence.verification.result}", where="F§8.4")
    if evidence.verification.interface_fingerprint != locked:
        raise RefusedError(
            f"{name}: Interface fingerprint mismatch: expected {locked}, "
            f"got {evidence.verification.interface_fingerprint}",
            where="F§11.2",
        )


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
