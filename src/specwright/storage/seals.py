"""The routing table of F§7 as deepagents backends, and which paths are shipped, sealed or closed (D15, D20).

No route leads to `code_index/`, which the index alone writes, nor to what is not in the table. Every route is guarded,
also where reading and writing are free: the bare backend tells the real root when it raises.
"""

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from deepagents.backends import CompositeBackend, FilesystemBackend

from specwright import canonical_json
from specwright.domain.artifact import ArtifactEnvelope, ArtifactStatus
from specwright.domain.provenance import SURFACE
from specwright.errors import InputError
from specwright.storage.guarded_backend import (
    GuardedBackend,
    ImmutableArtifactBackend,
    OpaqueEnforcementBackend,
)
from specwright.storage.policy import nothing, unrestricted

__all__ = [
    "closed_in",
    "sealed_in",
    "shipped_artifacts_in",
    "shipped_in",
    "state_store_backend",
    "written_in",
]

_VERSION = 2  # {module_id}/{version} below modules/
_ARTIFACT = 3  # {pillar}/{artifact_id}/{version} below artifacts/


def shipped_in(modules: Path) -> Callable[[str], bool]:
    """Whether a path below `modules/` is, lies in, or holds a sealed version (one with its ship.json)."""

    def shipped(path: str) -> bool:
        parts = PurePosixPath(path).parts[1:]
        if len(parts) >= _VERSION:
            return (modules / parts[0] / parts[1] / "ship.json").is_file()
        return any(modules.joinpath(*parts).glob("**/ship.json"))

    return shipped


def sealed_in(modules: Path) -> Callable[[str], bool]:
    """Whether a path below `modules/` lies in a sealed version and is not part of its public surface."""

    def sealed(path: str) -> bool:
        parts = PurePosixPath(path).parts[1:]
        return (
            len(parts) > _VERSION
            and parts[_VERSION:] not in {(name,) for name in SURFACE}
            and (modules / parts[0] / parts[1] / "ship.json").is_file()
        )

    return sealed


def shipped_artifacts_in(artifacts: Path) -> Callable[[str], bool]:
    """Whether a path below `artifacts/` is, lies in, or holds an artifact that is shipped or deprecated."""

    def shipped(path: str) -> bool:
        parts = PurePosixPath(path).parts[1:]
        if len(parts) >= _ARTIFACT:
            return _is_shipped(artifacts.joinpath(*parts[:_ARTIFACT], "envelope.json"))
        return any(map(_is_shipped, artifacts.joinpath(*parts).glob("**/envelope.json")))

    return shipped


def closed_in(debates: Path) -> Callable[[str], bool]:
    """Whether a path below `debates/` is, lies in, or holds a round that is adjudicated (D15)."""

    def closed(path: str) -> bool:
        parts = PurePosixPath(path).parts[1:]
        if not parts:
            return any(debates.glob("**/adjudication.json"))
        debate = debates / parts[0]
        if len(parts) == 1:
            return any(debate.glob("**/adjudication.json"))
        round_of = debate / parts[1] if parts[1].startswith("round-") else debate
        return (round_of / "adjudication.json").is_file()

    return closed


def written_in(directory: Path) -> Callable[[str], bool]:
    """Whether anything is there already: what is written once is never changed."""

    def written(path: str) -> bool:
        return directory.joinpath(*PurePosixPath(path).parts[1:]).exists()

    return written


def state_store_backend(root: Path) -> CompositeBackend:
    """The routing table of F§7 over a state store.

    Args:
        root: `state_store/`.
    """

    def files(name: str) -> FilesystemBackend:
        (root / name).mkdir(parents=True, exist_ok=True)
        return FilesystemBackend(root_dir=root / name, virtual_mode=True)

    def free(name: str) -> GuardedBackend:
        return GuardedBackend(files(name), unrestricted, f"/{name}")

    modules, packs = root / "modules", root / "context_packs"
    kept = ImmutableArtifactBackend(files("modules"), shipped_in(modules), "/modules")
    return CompositeBackend(
        default=GuardedBackend(files("project"), nothing),
        routes={
            "/project/": free("project"),
            "/artifacts/": ImmutableArtifactBackend(
                files("artifacts"), shipped_artifacts_in(root / "artifacts"), "/artifacts"
            ),
            "/modules/": OpaqueEnforcementBackend(kept, sealed_in(modules), "/modules"),
            "/debates/": ImmutableArtifactBackend(files("debates"), closed_in(root / "debates"), "/debates"),
            "/context_packs/": ImmutableArtifactBackend(
                files("context_packs"), written_in(packs), "/context_packs"
            ),
            "/exceptions/": free("exceptions"),
            "/escalations/": free("escalations"),
        },
    )


def _is_shipped(envelope: Path) -> bool:
    """Whether an envelope says so; one that cannot be read is left alone too."""
    try:
        given = ArtifactEnvelope.model_validate(canonical_json.loads(envelope.read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError, InputError):
        return True
    return given.status in {ArtifactStatus.SHIPPED, ArtifactStatus.DEPRECATED}
