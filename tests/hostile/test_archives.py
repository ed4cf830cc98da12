"""An export that somebody sends writes nothing but a project, and a project exports nothing but itself (cases
import-tar, import-dotgit, export-links)."""

import io
import shutil
import tarfile
from pathlib import Path

import pytest

from specwright.bootstrap import transfer
from specwright.bootstrap.transfer import export_project, import_project
from specwright.errors import InputError, RefusedError

STORE = "files/state_store"


def of_type(name: str, kind: bytes = tarfile.REGTYPE, **values: str) -> tarfile.TarInfo:
    """A member without content."""
    member = tarfile.TarInfo(name)
    member.type = kind
    for field, value in values.items():
        setattr(member, field, value)
    return member


ADDED = {
    "git": [of_type(f"{STORE}/.git/config")],
    "hidden": [of_type(f"{STORE}/product/.hidden")],
    "runtime": [of_type("files/.specwright/checkpoints.db")],
    "junk": [of_type("notes.txt")],
    "beside": [of_type(".specwright/run.json")],
    "dotdot": [of_type(f"{STORE}/../../x")],
    "absolute": [of_type("files//tmp/x")],
    "backslash": [of_type(f"{STORE}/..\\x")],
    "control": [of_type(f"{STORE}/a\x1b]0;x")],
    "symlink": [of_type(f"{STORE}/link", tarfile.SYMTYPE, linkname="/etc")],
    "hard link": [of_type(f"{STORE}/link", tarfile.LNKTYPE, linkname="specwright.json")],
    "fifo": [of_type(f"{STORE}/fifo", tarfile.FIFOTYPE)],
    "device": [of_type(f"{STORE}/device", tarfile.CHRTYPE)],
    "directory": [of_type(f"{STORE}/folder", tarfile.DIRTYPE)],
    "duplicate": [of_type(f"{STORE}/product/SPEC.md")],
    "case": [of_type(f"{STORE}/product/spec.MD")],
    "case of a folder": [of_type(f"{STORE}/PRODUCT/x")],
    "file and folder": [of_type(f"{STORE}/a"), of_type(f"{STORE}/a/b")],
}


@pytest.fixture
def good(released_once: Path, tmp_path: Path) -> Path:
    """An export of a finished project."""
    export_project(str(released_once), tmp_path / "good.tar")
    return tmp_path / "good.tar"


def changed(good: Path, added: list[tarfile.TarInfo], replaced: dict[str, bytes] | None = None) -> Path:
    """The same export with members added or replaced."""
    file = good.with_name("changed.tar")
    with tarfile.open(good) as source, tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as target:
        for member in source:
            content = source.extractfile(member)
            assert content is not None
            data = (replaced or {}).get(member.name, content.read())
            member.size = len(data)
            target.addfile(member, io.BytesIO(data))
        for member in added:
            target.addfile(member, io.BytesIO())
    return file


def refused(file: Path, place: Path, *names: str) -> None:
    """It is no export, which the message says of a member, and nothing is at the place afterwards."""
    with pytest.raises(InputError) as caught:
        import_project(str(place), file)
    assert not names or any(repr(name)[1:-1] in caught.value.where for name in names), caught.value
    assert not [one for one in place.rglob("*") if one.is_file()]


def test_a_member_that_no_export_has_is_refused(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All of it or nothing: files would be written before the log's rows are refused; over a bound, the size that a member
    claims counts, before it is read (cases import-dotgit, import-tar) (D-62-03)."""
    for attack, added in ADDED.items():
        names = [one.name.removeprefix("files/") for one in added if attack != "file and folder"]
        refused(changed(good, added), tmp_path / attack, *names)
    for number, rows in enumerate(
        (
            b'{"table":"entry","row":[[1],{"base64":"AA=="},null,3,4,5]}\n',
            b'{"table":"topic","row":["0.0.1001"]}\n',
            b"[" * 200_000 + b"\n",
        )
    ):
        refused(changed(good, [], {"rows.jsonl": rows}), tmp_path / str(number))
    for bound in ("MOST_MEMBERS", "LARGEST_MEMBER", "LARGEST_PROJECT"):
        with monkeypatch.context() as low:
            low.setattr(transfer, bound, 10)
            refused(good, tmp_path / bound)


def test_an_unchanged_export_is_imported(good: Path, tmp_path: Path):
    """The rules refuse none of what a project has."""
    import_project(str(tmp_path / "place"), good)
    export_project(str(tmp_path / "place"), tmp_path / "again.tar")
    assert (tmp_path / "again.tar").read_bytes() == good.read_bytes()


@pytest.mark.parametrize("name", ["state_store/product/notes.md", "project/link", ".specwright/run.json"])
def test_a_link_out_of_the_project_is_not_exported(released_once: Path, tmp_path: Path, name: str):
    """Nor is such a project driven; the message names the link (case export-links)."""
    project = shutil.copytree(released_once, tmp_path / "sent")
    (tmp_path / "secret").write_text("{}")
    (project / name).unlink(missing_ok=True)
    (project / name).symlink_to(tmp_path / "secret")
    with pytest.raises(RefusedError, match="a link leads out of the project") as raised:
        export_project(str(project), tmp_path / "x.tar")
    assert raised.value.where == str(project / name)
    assert not (tmp_path / "x.tar").exists()


def test_a_runtime_folder_that_is_a_link_is_refused(released_once: Path, tmp_path: Path):
    """Exporting and running clear a folder in it, which would be somebody's own (case export-links)."""
    project = shutil.copytree(released_once, tmp_path / "sent")
    home = Path(shutil.move(project / ".specwright", tmp_path / "home"))
    (home / "unfinished").mkdir(exist_ok=True)
    (home / "unfinished/mine").write_text("mine")
    (project / ".specwright").symlink_to(home)
    with pytest.raises(RefusedError, match="a link leads out of the project"):
        export_project(str(project), tmp_path / "x.tar")
    assert (home / "unfinished/mine").exists()
