"""Which paths of the state store are shipped or sealed, as the backends ask it (F§7 routing, D20)."""

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from deepagents.backends import CompositeBackend, FilesystemBackend
from deepagents.backends.protocol import BackendProtocol

from specwright.storage.guarded_backend import (
    GuardedBackend,
    ImmutableArtifactBackend,
    OpaqueEnforcementBackend,
)

__all__ = ["sealed_in", "shipped_in", "state_store_backend"]

_VERSION_PARTS = 2  # {module_id}/{version} below modules/, {artifact_id}/{version} below artifacts/{pillar}/
_HIDDEN = ("implementation", "tests")


def shipped_in(modules: Path) -> Callable[[str], bool]:
    """Whether a path below `modules/` is, lies in, or holds a sealed version (one with its ship.json)."""

    def shipped(path: str) -> bool:
        parts = PurePosixPath(path).parts[1:]
        if len(parts) >= _VERSION_PARTS:
            return (modules / parts[0] / parts[1] / "ship.json").is_file()
        return any(modules.joinpath(*parts).glob("**/ship.json"))

    return shipped


def sealed_in(modules: Path) -> Callable[[str], bool]:
    """Whether a path below `modules/` is, or lies in, the implementation or tests of a sealed version."""

    def sealed(path: str) -> bool:
        parts = PurePosixPath(path).parts[1:]
        return (
            len(parts) > _VERSION_PARTS
            and parts[2] in _HIDDEN
            and (modules / parts[0] / parts[1] / "ship.json").is_file()
        )

    return sealed


def state_store_backend(root: Path, artifact_shipped: Callable[[str], bool]) -> BackendProtocol:
    """The routing table of F§7 over a state store. `code_index/` is reachable by no route.

    Args:
        root: `state_store/`.
        artifact_shipped: Whether a path below `artifacts/` belongs to something shipped.
    """

    def files(name: str) -> FilesystemBackend:
        (root / name).mkdir(parents=True, exist_ok=True)
        return FilesystemBackend(root_dir=root / name, virtual_mode=True)

    modules = ImmutableArtifactBackend(files("modules"), shipped_in(root / "modules"))
    return CompositeBackend(
        default=GuardedBackend(files("project"), lambda operation, path: "there is nothing here."),
        routes={
            "/project/": files("project"),
            "/artifacts/": ImmutableArtifactBackend(files("artifacts"), artifact_shipped),
            "/modules/": OpaqueEnforcementBackend(modules, sealed_in(root / "modules")),
            "/debates/": files("debates"),
            "/context_packs/": files("context_packs"),
            "/exceptions/": files("exceptions"),
            "/escalations/": files("escalations"),
        },
    )
