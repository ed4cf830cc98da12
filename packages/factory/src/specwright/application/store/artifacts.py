"""Artifacts, role invocations, and the hashes of files in the journal (design: artifact-lifecycle, provenance).

Only this module writes `artifacts/`. An envelope is validated before anything is written, and its body is stored first.
Its status changes only by the five legal transitions, each justified by a record. That record is added to the envelope's
outputs, so that a step that runs again after a crash is recognised; any other step is refused.

The log binds sealed versions, definitions, escalations, and the records of debates and gates. All other files (packs,
contributions, bodies of artifacts, drafts, product files, the single files of a sealed version) are bound by the journal:
before they are written, their hashes are noted, in one record with their ids and time. A kill leaves at most the files of
the last record unwritten, and the step writes them when it runs again. An envelope is noted as it was created; later
changes follow from its outputs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self, cast

from pydantic import ValidationError

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType, artifact_id
from ship_gate.base.record import validation_messages
from specwright.application.store import layout
from specwright.domain.answers import Decision
from specwright.domain.artifacts import (
    FIRST_VERSION,
    ArtifactEnvelope,
    ArtifactRef,
    ArtifactStatus,
    Author,
    ContextPack,
    Contribution,
    ContributionType,
    CreatedFor,
    ExcludedRef,
    IncludedRef,
    Permission,
    Purpose,
    check_transition,
    next_version,
    version_number,
)
from specwright.domain.base.graph import reachable
from specwright.domain.debate.records import Adjudication, Challenge
from specwright.domain.escalation import OPERATOR
from specwright.domain.modules.evidence import ShipEvidence, TestOutcome
from specwright.errors import CorruptionError, InputErrors, RefusedError
from specwright.ports import Scope, StateStore

FILE_HASHES = "step"
"""The journal's kind of records with hashes."""


def note_hashes(scope: Scope, files: Mapping[str, bytes]) -> None:
    """Journal the hashes of files, by path in the store, before they are published."""
    scope.record({path: canonical_json.sha256(data) for path, data in files.items()})


def publish_noted(scope: Scope, store: StateStore, files: Mapping[str, bytes]) -> None:
    """Journal the hashes of files, by path in the store, then publish the files."""
    note_hashes(scope, files)
    for path, data in files.items():
        store.publish(path, data)


def noted_hashes(records: Iterable[JsonValue]) -> dict[str, str]:
    """Return the SHA-256 of every noted file, by path, from the journal's records."""
    hashes: dict[str, str] = {}
    for record in records:
        hashes |= cast("dict[str, dict[str, str]]", record).get("files", {})
    return hashes


class Invocation(NamedTuple):
    """A role invocation with its pack; the author of the artifacts that the role makes.

    `folder` is the first path segment of the task's artifacts, the slug of its pillar.
    """

    role: str
    run_id: str
    task_ref: str
    pack_id: str
    folder: str

    @classmethod
    def of(cls, envelope: ArtifactEnvelope, task_ref: str, folder: str) -> Self:
        """Return the invocation that made an artifact, from its envelope."""
        return cls(
            envelope.created_by.role, envelope.created_by.run_id, task_ref, envelope.context_pack_ref, folder
        )


class InvocationStore:
    """`context_packs/` and `contributions/`."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def open(
        self,
        scope: Scope,
        author: tuple[str, str],
        task_ref: str,
        folder: str,
        included: Sequence[tuple[str, Permission, str]],
        excluded: Sequence[tuple[str, str]] = (),
    ) -> Invocation:
        """Write the context pack of an invocation, before its first model call.

        Args:
            scope: The source of ids and time.
            author: The role, and the `run_id` of its place.
            task_ref: The task.
            folder: The folder of the task's artifacts.
            included: Visible references, each with permission and reason.
            excluded: Withheld references, each with a reason.
        """
        role, run_id = author
        pack_id = artifact_id(ArtifactType.CONTEXT_PACK, scope.hex8())
        pack = ContextPack(
            context_pack_id=pack_id,
            created_for=CreatedFor(role=role, run_id=run_id, task_ref=task_ref),
            included_refs=[
                IncludedRef(ref=ref, permission=permission, reason=why) for ref, permission, why in included
            ],
            excluded_refs=[ExcludedRef(ref=ref, reason=why) for ref, why in excluded],
            created_at=scope.now(),
        )
        publish_noted(scope, self._store, {layout.context_pack(pack_id): pack.to_bytes()})
        return Invocation(role, run_id, task_ref, pack_id, folder)

    def open_resolution(
        self, scope: Scope, run_id: str, task_ref: str, folder: str, escalation_id: str
    ) -> Invocation:
        """Record a person's answer as an invocation, whose pack has the answered escalation."""
        included = [(f"{escalation_id}@1.0.0", Permission.FULL, "the escalation that is answered")]
        return self.open(scope, (OPERATOR, run_id), task_ref, folder, included)

    def pack(self, pack_id: str) -> ContextPack:
        """Return a context pack."""
        path = layout.context_pack(pack_id)
        return ContextPack.from_bytes(self._store.read(path), path)

    def contributions(self) -> Iterator[Contribution]:
        """Yield all contributions."""
        for name in self._store.names(layout.CONTRIBUTIONS):
            path = f"{layout.CONTRIBUTIONS}/{name}"
            yield Contribution.from_bytes(self._store.read(path), path)


class Draft(NamedTuple):
    """An artifact before it is stored.

    Args:
        folder: The folder of its task's artifacts.
        envelope: The new envelope.
        files: The files by path: the body, the contribution, and last the envelope.
        before: The version that it revises.
    """

    folder: str
    envelope: ArtifactEnvelope
    files: Mapping[str, bytes]
    before: ArtifactEnvelope | None


class ArtifactStore:
    """`artifacts/`, by the folder of a task's pillar and the id of the artifact."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def exists(self, folder: str, name: str) -> bool:
        """Whether an artifact is stored; its envelope is written last."""
        versions = self._store.names(layout.artifact(folder, name))
        return any(self._store.exists(layout.envelope(folder, name, version)) for version in versions)

    def folders(self) -> dict[str, str]:
        """Return the folder of every artifact, by id."""
        return {
            name: folder
            for folder in self._store.names(layout.ARTIFACTS)
            for name in self._store.names(f"{layout.ARTIFACTS}/{folder}")
        }

    def folder_of(self, name: str) -> str:
        """Return the folder of an artifact.

        Raises:
            CorruptionError: there is no such artifact.
        """
        for folder in self._store.names(layout.ARTIFACTS):
            if self._store.names(layout.artifact(folder, name)):
                return folder
        raise CorruptionError("a record is missing", where=f"{layout.ARTIFACTS}/*/{name}")

    def envelope(self, folder: str, name: str) -> ArtifactEnvelope:
        """Return an artifact's envelope.

        Raises:
            CorruptionError: there is no such artifact.
        """
        path = layout.envelope(folder, name, self._stored_version(folder, name))
        return ArtifactEnvelope.from_bytes(self._store.read(path), path)

    def body(self, folder: str, name: str) -> dict[str, bytes]:
        """Return an artifact's files."""
        return self._store.tree(layout.body(folder, name, self._stored_version(folder, name)))

    def ref(self, folder: str, name: str) -> str:
        """`id@version`."""
        return f"{name}@{self._stored_version(folder, name)}"

    def lineage(self, envelope: ArtifactEnvelope) -> list[ArtifactEnvelope]:
        """Return all versions of the same logical artifact: back to the first, and from there every branch."""

        def found(name: str) -> ArtifactEnvelope:
            return self.envelope(self.folder_of(name), name)

        while envelope.revised:
            envelope = found(envelope.revised)

        def later(name: str) -> list[str]:
            return [output.ref.partition("@")[0] for output in found(name).came_of_it(Purpose.REVISED_BY)]

        first = envelope.artifact_id
        return [found(name) for name in (first, *reachable([first], later))]

    def descends(self, folder: str, envelope: ArtifactEnvelope, ref: str) -> bool:
        """Whether an artifact was made from another, directly or through its plan."""
        plans = [i.ref.partition("@")[0] for i in envelope.inputs if i.ref.startswith("MP-")]
        return envelope.has_input(ref) or any(
            self.exists(folder, plan) and self.envelope(folder, plan).has_input(ref) for plan in plans
        )

    def sealed_as(self, ref: str) -> ArtifactEnvelope | None:
        """Return the implementation that was sealed as a module version; None if the version was sealed without a debate."""
        sealed, kind = ArtifactRef(ref=ref, purpose=Purpose.SEALED_AS), ArtifactType.IMPLEMENTATION.prefix
        named = ((at, one) for one, at in self.folders().items() if one.startswith(f"{kind}-"))
        made = (self.envelope(at, one) for at, one in named if self.exists(at, one))
        return next((one for one in made if one.has_output(sealed)), None)

    def decision(self, folder: str, name: str) -> Decision:
        """Return the decision of an adjudication.

        Raises:
            CorruptionError: it has no body.
        """
        data = self.body(folder, name).get("adjudication.json")
        if data is None:
            raise CorruptionError("an adjudication has no body", where=name)
        return Adjudication.from_bytes(data, name).decision

    def draft(
        self,
        scope: Scope,
        by: Invocation,
        kind: ArtifactType,
        body: Mapping[str, bytes],
        *,
        inputs: Sequence[tuple[str, str]] = (),
        name: str = "",
        revises: str = "",
        contributes: bool = False,
    ) -> Draft:
        """Build an artifact in DRAFT, for `add` to store. If it is already stored, return it as created.

        Args:
            scope: The source of id and time.
            by: The invocation that made it, whose folder it gets.
            kind: The type of the artifact.
            body: Its files.
            inputs: Its inputs, as (id@version, purpose).
            name: Its id, if drawn before because the body contains it.
            revises: The id of the previous version.
            contributes: Whether it is the result of the invocation, to be recorded as its contribution.

        Raises:
            RefusedError: the envelope is not valid, the body is empty or not a valid record, or the previous version has
                another type.
        """
        name, now = name or artifact_id(kind, scope.hex8()), scope.now()
        before = self.envelope(self.folder_of(revises), revises) if revises else None
        if self.exists(by.folder, name):  # stored before a crash
            envelope = self.envelope(by.folder, name).as_created
        else:
            made_from = [(before.ref, Purpose.REVISES), *inputs] if before else inputs
            version = self._version(kind, before)
            envelope = _valid(name, kind, version, now, by, made_from)
            _check_record(kind, name, body)
        if not body:
            raise _refusal(f"{name} has no body")
        base = layout.body(by.folder, name, envelope.version)
        files = {f"{base}/{path}": data for path, data in body.items()}
        if contributes:
            contribution = Contribution(
                contribution_id=f"CONTRIB-{scope.hex8()}",
                type=ContributionType(kind),
                produced_by=Author(role=by.role, run_id=by.run_id),
                artifact_ref=envelope.ref,
                task_ref=by.task_ref,
                created_at=now,
                context_pack_ref=by.pack_id,
            )
            files[layout.contribution(contribution.contribution_id)] = contribution.to_bytes()
        files[layout.envelope(by.folder, name, envelope.version)] = envelope.to_bytes()
        return Draft(by.folder, envelope, files, before)

    def add(self, scope: Scope, *drafts: Draft) -> None:
        """Journal the hashes of drafts, then store them; files that a crash left stored stay as they are."""
        note_hashes(scope, {path: data for draft in drafts for path, data in draft.files.items()})
        for folder, envelope, files, before in drafts:
            if not self.exists(folder, envelope.artifact_id):
                for path, data in files.items():  # the envelope comes last and marks the artifact as complete
                    self._store.publish(path, data)
            if before:
                later = ArtifactRef(ref=envelope.ref, purpose=Purpose.REVISED_BY)
                self._note(self.folder_of(before.artifact_id), before, later)

    def debated(self, folder: str, debate_id: str, record: str, purpose: Purpose) -> None:
        """Add a debate record to the outputs of the debate's first proposal, with its purpose."""
        output = ArtifactRef(ref=self.ref(folder, record), purpose=purpose)
        self._note(folder, self.envelope(folder, debate_id), output)

    def challenged(self, folder: str, name: str, challenge: str) -> None:
        """DRAFT to CHALLENGED, by a CHALLENGE that references it."""
        envelope = self.envelope(folder, name)
        by = self._record(folder, challenge, ArtifactType.CHALLENGE, envelope.ref)
        self._move(folder, envelope, ArtifactStatus.CHALLENGED, by.ref, Purpose.CHALLENGED_BY)

    def adjudicated(self, folder: str, name: str, adjudication: str) -> None:
        """CHALLENGED to ADJUDICATED, by an ADJUDICATION that references it."""
        envelope = self.envelope(folder, name)
        by = self._record(folder, adjudication, ArtifactType.ADJUDICATION, envelope.ref)
        self._move(folder, envelope, ArtifactStatus.ADJUDICATED, by.ref, Purpose.ADJUDICATED_BY)

    def amended(self, folder: str, name: str, before: str, challenge: str, adjudication: str) -> None:
        """DRAFT to ADJUDICATED, for the version with an approval's amendments applied (design: amendments).

        The challenge and ruling are those of the previous version.
        """
        envelope, judged = self.envelope(folder, name), self.ref(folder, before)
        if not self.descends(folder, envelope, judged):
            raise RefusedError(f"{name} was not made from {before}", where=folder)
        by = self._record(folder, adjudication, ArtifactType.ADJUDICATION, judged)
        if self.decision(folder, adjudication) is not Decision.APPROVE_WITH_AMENDMENTS:
            raise RefusedError(f"{adjudication} does not ask for amendments", where=name)
        first = self._record(folder, challenge, ArtifactType.CHALLENGE, judged)
        self._move(folder, envelope, ArtifactStatus.CHALLENGED, first.ref, Purpose.CHALLENGED_BY)
        self._move(
            folder, self.envelope(folder, name), ArtifactStatus.ADJUDICATED, by.ref, Purpose.AMENDED_AFTER
        )

    def overruled(self, folder: str, name: str, adjudication: str) -> None:
        """To ADJUDICATED by a person's approval in place of the Arbiter's ruling (design: escalation).

        The version may be challenged, adjudicated, or sent back to DRAFT.
        """
        envelope = self.envelope(folder, name)
        by = self._record(folder, adjudication, ArtifactType.ADJUDICATION, envelope.ref)
        if by.created_by.role != OPERATOR or self.decision(folder, adjudication) is not Decision.APPROVE:
            raise RefusedError(
                f"{adjudication} is not a person's approval of {name}", where="docs/design.md#escalation"
            )
        if envelope.status is ArtifactStatus.DRAFT:
            challenges = envelope.came_of_it(Purpose.CHALLENGED_BY)
            if not challenges:
                raise _refusal(f"{name} was never challenged")
            self._move(
                folder, envelope, ArtifactStatus.CHALLENGED, challenges[-1].ref, Purpose.CHALLENGED_STILL
            )
            envelope = self.envelope(folder, name)
        if envelope.status is ArtifactStatus.ADJUDICATED:  # the status stays, but its justification changes
            self._note(folder, envelope, ArtifactRef(ref=by.ref, purpose=Purpose.OVERRULED_BY))
        else:
            self._move(folder, envelope, ArtifactStatus.ADJUDICATED, by.ref, Purpose.OVERRULED_BY)

    def rejected(self, folder: str, name: str, adjudication: str, *, revisions_left: int) -> None:
        """ADJUDICATED to DRAFT, by a REJECT with revisions left (design: debate)."""
        envelope = self.envelope(folder, name)
        by = self._record(folder, adjudication, ArtifactType.ADJUDICATION, envelope.ref)
        if envelope.has_output(ArtifactRef(ref=by.ref, purpose=Purpose.REJECTED_BY)):
            return
        if self.decision(folder, adjudication) is not Decision.REJECT:
            raise _refusal(f"{adjudication} does not reject {name}")
        if revisions_left < 1:
            raise _refusal(f"{name} cannot return to DRAFT: no revision is left")
        self._move(folder, envelope, ArtifactStatus.DRAFT, by.ref, Purpose.REJECTED_BY)

    def shipped(
        self,
        folder: str,
        name: str,
        *,
        evidence: ShipEvidence | None = None,
        locked_fingerprint: str = "",
        faults: Sequence[str] = (),
    ) -> None:
        """ADJUDICATED to SHIPPED, by an approval and evidence (design: artifact-lifecycle).

        Args:
            folder: The artifact's folder.
            name: The artifact.
            evidence: The ship evidence, for an implementation.
            locked_fingerprint: The fingerprint of the contract that it implements.
            faults: The problems found by validators, for other types.
        """
        envelope = self.envelope(folder, name)
        made = envelope.came_of_it(
            Purpose.SEALED_AS, Purpose.LOCKED_AFTER
        )  # on a repeated step, the status before its first run
        check_transition(
            name, ArtifactStatus.ADJUDICATED if made else envelope.status, ArtifactStatus.SHIPPED
        )
        ruling = self._approval(folder, envelope)
        if envelope.artifact_type is ArtifactType.IMPLEMENTATION and evidence is None:
            raise _refusal(f"{name} has no ship evidence")
        if evidence is not None:
            _prove(name, evidence, locked_fingerprint)
        if faults:
            raise RefusedError(
                f"{name} is not valid: {'; '.join(faults)}", where="docs/design.md#artifact-lifecycle"
            )
        grounds = (evidence.ref, Purpose.SEALED_AS) if evidence else (ruling, Purpose.LOCKED_AFTER)
        self._move(folder, envelope, ArtifactStatus.SHIPPED, *grounds)

    def deprecated(self, folder: str, name: str, decided: str) -> None:
        """SHIPPED to DEPRECATED, by the `id@version` of a decision or a successor (design: deprecation)."""
        self._move(
            folder, self.envelope(folder, name), ArtifactStatus.DEPRECATED, decided, Purpose.DEPRECATED_FOR
        )

    def retired(self, ref: str, later: str) -> None:
        """SHIPPED to DEPRECATED, for the implementation of a module version and its contract (design: deprecation).

        Args:
            ref: The version.
            later: The version that replaces it, or itself if there is none.
        """
        sealed = self.sealed_as(ref)
        for name in (sealed.artifact_id, sealed.implemented) if sealed else ():
            if self.envelope(folder := self.folder_of(name), name).status is ArtifactStatus.SHIPPED:
                self.deprecated(folder, name, later)

    def _move(
        self, folder: str, envelope: ArtifactEnvelope, new: ArtifactStatus, ref: str, purpose: str
    ) -> None:
        grounds = ArtifactRef(ref=ref, purpose=purpose)
        if not envelope.has_output(grounds):  # else this step ran before
            check_transition(envelope.artifact_id, envelope.status, new)
            self._note(folder, envelope.model_copy(update={"status": new}), grounds)

    def _note(self, folder: str, envelope: ArtifactEnvelope, output: ArtifactRef) -> None:
        if not envelope.has_output(output):
            noted = envelope.model_copy(update={"outputs": [*envelope.outputs, output]})
            path = layout.envelope(folder, noted.artifact_id, noted.version)
            self._store.replace(path, noted.to_bytes())

    def _record(self, folder: str, name: str, kind: ArtifactType, about: str) -> ArtifactEnvelope:
        """Return the record that justifies a step; raise unless it has this type and is about this artifact."""
        found = self.envelope(folder, name)
        if found.artifact_type is not kind:
            raise _refusal(f"{name} is not of type {kind}")
        _check_record(kind, name, self.body(folder, name))
        if not found.has_input(about):
            raise _refusal(f"{name} does not reference {about}")
        return found

    def _approval(self, folder: str, envelope: ArtifactEnvelope) -> str:
        """Return the approval that lets an artifact ship; one with amendments counts for the amended version."""
        rulings = envelope.came_of_it(Purpose.ADJUDICATED_BY, Purpose.AMENDED_AFTER, Purpose.OVERRULED_BY)
        if not rulings:
            raise _refusal(f"{envelope.artifact_id} was never adjudicated")
        ref, purpose = rulings[-1].ref, rulings[-1].purpose
        decision = self.decision(folder, ref.partition("@")[0])
        wanted = Decision.APPROVE_WITH_AMENDMENTS if purpose == Purpose.AMENDED_AFTER else Decision.APPROVE
        if decision is not wanted:
            why = "its amendments are not applied" if decision is not Decision.REJECT else "it was rejected"
            raise _refusal(f"{envelope.artifact_id} is not approved: {why}")
        return ref

    def _version(self, kind: ArtifactType, before: ArtifactEnvelope | None) -> str:
        if before is None:
            return FIRST_VERSION
        if before.artifact_type is not kind:
            raise _refusal(f"a {kind} cannot be a version of {before.artifact_id}")
        return next_version(max((one.version for one in self.lineage(before)), key=version_number))

    def _stored_version(self, folder: str, name: str) -> str:
        versions = self._store.names(layout.artifact(folder, name))
        if len(versions) != 1:  # each id has exactly one version (design: artifact-lifecycle)
            raise CorruptionError("a record is missing", where=layout.artifact(folder, name))
        return versions[0]


def _valid(
    name: str,
    kind: ArtifactType,
    version: str,
    now: str,
    by: Invocation,
    inputs: Sequence[tuple[str, str]],
) -> ArtifactEnvelope:
    """Build an envelope; raise with all invalid fields."""
    try:
        return ArtifactEnvelope.model_validate(
            {
                "artifact_id": name,
                "artifact_type": kind,
                "version": version,
                "created_at": now,
                "created_by": {"role": by.role, "run_id": by.run_id},
                "context_pack_ref": by.pack_id,
                "inputs": [{"ref": ref, "purpose": purpose} for ref, purpose in inputs],
            }
        )
    except ValidationError as error:
        found = "; ".join(validation_messages(error))
        raise _refusal(f"the envelope of {name} is not valid: {found}") from error


_RECORDS: Mapping[ArtifactType, type[Challenge | Adjudication]] = {
    ArtifactType.CHALLENGE: Challenge,
    ArtifactType.ADJUDICATION: Adjudication,
}
"""The records that change the status of other artifacts."""


def _check_record(kind: ArtifactType, name: str, body: Mapping[str, bytes]) -> None:
    """Check that the body of a challenge or adjudication is a valid record with this id."""
    if (record := _RECORDS.get(kind)) is None:
        return
    file = f"{kind.lower()}.json"
    try:
        said = record.from_bytes(body.get(file, b""), f"{name}/{file}")
    except InputErrors as error:
        raise _refusal(f"{name} is not a valid {kind}: {error.what}") from error
    own = said.challenge_id if isinstance(said, Challenge) else said.adjudication_id
    if own != name:
        raise _refusal(f"{name} is not a valid {kind}: its record is that of {own}")


def _refusal(what: str) -> RefusedError:
    return RefusedError(what, where="docs/design.md#artifact-lifecycle")


def _prove(name: str, evidence: ShipEvidence, locked: str) -> None:
    if evidence.verification.result is not TestOutcome.PASS:
        raise _refusal(f"{name}: the ship evidence says {evidence.verification.result}")
    if evidence.verification.interface_fingerprint != locked:
        raise RefusedError(
            f"{name}: Interface fingerprint mismatch: expected {locked}, "
            f"got {evidence.verification.interface_fingerprint}",
            where="docs/design.md#sealing",
        )
