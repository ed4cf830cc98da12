"""The routing table of F§7: which backend stands behind each prefix of the state store."""

from pathlib import Path

import pytest

from specwright.domain.artifact import ArtifactEnvelope, ArtifactStatus, Author
from specwright.domain.ids import ArtifactType
from specwright.storage.guarded_backend import ImmutableArtifactBackend, OpaqueEnforcementBackend
from specwright.storage.seals import state_store_backend

OLD = "as it was"


@pytest.mark.parametrize(
    ("prefix", "changes"),
    [
        ("/project/state_machine.json", True),
        ("/artifacts/words/IMPL-00000001/1.0.0/body/notes.md", True),
        ("/artifacts/words/IMPL-00000002/1.0.0/body/notes.md", False),
        ("/artifacts/words/IMPL-00000003/1.0.0/envelope.json", False),
        ("/modules/MM-00000001/1.0.0/examples.md", True),
        ("/modules/MM-00000002/1.0.0/examples.md", False),
        ("/debates/PROP-00000001/round-2/proposal.json", True),
        ("/debates/PROP-00000001/round-1/proposal.json", False),
        ("/debates/PROP-00000002/proposal.json", False),
        ("/context_packs/CP-00000001.json", False),
        ("/exceptions/ICE-00000001.json", True),
        ("/escalations/ESC-00000001.json", True),
    ],
)
def test_each_prefix_has_its_behaviour(tmp_path: Path, prefix: str, changes: bool):
    """Readable everywhere; changed only where F§7 lets it be (F-7-09, F-7-11, F-6-04)."""
    _store(tmp_path)
    backend = state_store_backend(tmp_path)
    before = (tmp_path / prefix[1:]).read_text()
    assert (backend.read(prefix).error, before) == (None, before)
    for refused in (backend.write(prefix, "other").error, backend.edit(prefix, "other", before).error):
        assert (refused is None) is changes
    assert (backend.delete(prefix).error is None) is changes
    assert (tmp_path / prefix[1:]).exists() is not changes


@pytest.mark.parametrize(
    "path", ["/code_index/index.db", "/definitions/0", "/drafts/x", "/releases/x", "/x", "//project/x"]
)
def test_what_is_not_in_the_table_is_reached_by_no_route(tmp_path: Path, path: str):
    """The index is written by the index alone; a default that shared the tree would be a way round (F-7-10, D-S7-04)."""
    _store(tmp_path)
    (tmp_path / path.strip("/")).parent.mkdir(exist_ok=True)
    (tmp_path / path.strip("/")).write_text(OLD)
    backend = state_store_backend(tmp_path)
    assert backend.read(path).error == f"there is nothing at '{path}'."
    assert backend.write(path, "x").error
    assert backend.edit(path, OLD, "x").error
    assert backend.delete(path).error
    assert (tmp_path / path.strip("/")).read_text() == OLD
    assert backend.ls(path.rpartition("/")[0] or "/x").entries == []


def test_the_root_lists_the_routes_and_nothing_else(tmp_path: Path):
    """What no route leads to does not appear (F-7-09, F-7-10)."""
    _store(tmp_path)
    listed = [entry["path"] for entry in state_store_backend(tmp_path).ls("/").entries or []]
    prefixes = ("project", "artifacts", "modules", "debates", "context_packs", "exceptions", "escalations")
    assert listed == sorted(f"/{name}/" for name in prefixes)


def test_modules_are_opaque_over_immutable(tmp_path: Path):
    """The wrappers of F§7, one over the other (F-7-09)."""
    routes = state_store_backend(tmp_path).routes
    modules = routes["/modules/"]
    assert isinstance(modules, OpaqueEnforcementBackend)
    assert isinstance(modules._inner, ImmutableArtifactBackend)
    assert isinstance(routes["/artifacts/"], ImmutableArtifactBackend)


def test_an_artifact_is_fixed_from_the_moment_its_envelope_says_shipped(tmp_path: Path):
    """The status of the envelope decides, and a later status never opens it again (F-6-04)."""
    _store(tmp_path)
    backend = state_store_backend(tmp_path)
    path = "/artifacts/words/IMPL-00000001/1.0.0/body/notes.md"
    for status in ArtifactStatus:
        _envelope(tmp_path, "IMPL-00000001", status)
        fixed = status in {ArtifactStatus.SHIPPED, ArtifactStatus.DEPRECATED}
        assert bool(backend.write(path, "x").error) is fixed
        assert bool(backend.delete("/artifacts/words").error) is True  # its neighbours are shipped
    (tmp_path / "artifacts/words/IMPL-00000001/1.0.0/envelope.json").write_text("not json")
    assert backend.write(path, "x").error


def _envelope(root: Path, name: str, status: ArtifactStatus) -> None:
    envelope = ArtifactEnvelope(
        artifact_id=name,
        artifact_type=ArtifactType.IMPLEMENTATION,
        status=status,
        created_at="2026-01-01T00:00:00Z",
        created_by=Author(role="proposer", run_id="TSK-001.1/shorten/round-1/proposer"),
        context_pack_ref="CP-00000001",
    )
    path = root / f"artifacts/words/{name}/1.0.0/envelope.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(envelope.to_bytes())


def _store(root: Path) -> None:
    _envelope(root, "IMPL-00000001", ArtifactStatus.DRAFT)
    _envelope(root, "IMPL-00000002", ArtifactStatus.SHIPPED)
    _envelope(root, "IMPL-00000003", ArtifactStatus.DEPRECATED)
    for name in (
        "project/state_machine.json",
        "artifacts/words/IMPL-00000001/1.0.0/body/notes.md",
        "artifacts/words/IMPL-00000002/1.0.0/body/notes.md",
        "modules/MM-00000001/1.0.0/examples.md",
        "modules/MM-00000002/1.0.0/examples.md",
        "modules/MM-00000002/1.0.0/ship.json",
        "debates/PROP-00000001/round-1/proposal.json",
        "debates/PROP-00000001/round-1/adjudication.json",
        "debates/PROP-00000001/round-2/proposal.json",
        "debates/PROP-00000002/proposal.json",
        "debates/PROP-00000002/adjudication.json",
        "context_packs/CP-00000001.json",
        "exceptions/ICE-00000001.json",
        "escalations/ESC-00000001.json",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(OLD)
