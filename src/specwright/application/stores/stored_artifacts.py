"""Artifacts as they are stored: one directory per id and version, an envelope and a body (F§7, F§8).

Only looked at here; what writes them is the artifact store (`artifact_store`).
"""

from specwright.domain.answers import Decision
from specwright.domain.artifact import REVISED_BY, ArtifactEnvelope
from specwright.domain.debate import Adjudication
from specwright.errors import CorruptionError
from specwright.ports.store import StateStore

__all__ = ["StoredArtifacts"]


class StoredArtifacts:
    """Artifacts by the folder of their pillar and their id."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def exists(self, folder: str, name: str) -> bool:
        """Whether an artifact is there: its envelope is written last."""
        versions = self._store.names(f"artifacts/{folder}/{name}")
        return any(self._store.exists(f"artifacts/{folder}/{name}/{v}/envelope.json") for v in versions)

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

    def lineage(self, folder: str, envelope: ArtifactEnvelope) -> list[ArtifactEnvelope]:
        """All versions of the same logical artifact: back to its first, and from there every branch."""
        while envelope.revised:
            envelope = self.envelope(folder, envelope.revised)
        found = [envelope]
        for version in found:  # grows
            later = version.came_of_it(REVISED_BY)
            found += [self.envelope(folder, given.ref.partition("@")[0]) for given in later]
        return found

    def descends(self, folder: str, envelope: ArtifactEnvelope, ref: str) -> bool:
        """Whether an artifact was made from another, itself or by the plan that it belongs to."""
        plans = [i.ref.partition("@")[0] for i in envelope.inputs if i.ref.startswith("MP-")]
        return envelope.made_from(ref) or any(
            self.exists(folder, plan) and self.envelope(folder, plan).made_from(ref) for plan in plans
        )

    def decision(self, folder: str, name: str) -> Decision:
        """What an adjudication decides.

        Raises:
            CorruptionError: it has no body.
        """
        data = self.body(folder, name).get("adjudication.json")
        if data is None:
            raise CorruptionError("an adjudication has no body", where=name)
        return Adjudication.from_bytes(data, name).decision

    def _base(self, folder: str, name: str) -> str:
        versions = self._store.names(f"artifacts/{folder}/{name}")
        if len(versions) != 1:  # an id is that of one version (F§8.2)
            raise CorruptionError("a record is missing", where=f"artifacts/{folder}/{name}")
        return f"artifacts/{folder}/{name}/{versions[0]}"
