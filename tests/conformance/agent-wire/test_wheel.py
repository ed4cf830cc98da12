"""What ships: contracts, schemas and fixtures travel inside the wheel and the source distribution of the wire package."""

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from agent_wire import tables
from wire_testkit.story import CONTRACTS, FIXTURES, ROOT, SCHEMAS

KINDS = {"contracts": CONTRACTS, "fixtures": FIXTURES, "schemas": SCHEMAS}
PROGRAM = """
import json, sys
from agent_wire import tables
from agent_wire.documents import validate_document
expectations = json.loads(tables.fixtures()["expectations.json"])
valid = [validate_document(tables.fixtures()[name]).rejection is None for name in expectations["valid"]]
print(json.dumps([tables.__file__, sorted(tables.schemas()), sorted(tables.fixtures()), all(valid), len(valid)]))
"""


def test_an_editable_installation_reads_the_files_at_the_root():
    """Links beside the package's data lead to the directories at the root of the repository (W-1-01, D-S2-05)."""
    assert tables.fixtures() == {path.name: path.read_bytes() for path in FIXTURES.glob("*.json")}
    assert set(tables.schemas()) == {path.name for path in SCHEMAS.glob("*.json")}
    assert all(tables.contract(path.stem)["version"] == "1.1" for path in CONTRACTS.glob("*.json"))


def build(kind: str, source: Path, target: Path) -> Path:
    """Build a distribution of a source tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)]
    made = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    (found,) = (path for path in target.iterdir() if path.is_file())
    return found


@pytest.fixture(scope="module", params=["checkout", "source distribution"])
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built from it and from its source distribution."""
    source = ROOT / "packages" / "wire"
    if request.param == "source distribution":
        with tarfile.open(build("sdist", source, tmp_path_factory.mktemp("sdist"))) as archive:
            unpacked = tmp_path_factory.mktemp("unpacked")
            archive.extractall(unpacked, filter="data")
        (source,) = unpacked.iterdir()
    return build("wheel", source, tmp_path_factory.mktemp("wheel"))


@pytest.mark.slow
def test_the_wheel_holds_every_contract_schema_and_fixture_byte_for_byte(wheel: Path):
    """They are package data of `agent_wire.tables` (W-1-01, D-S2-05)."""
    with zipfile.ZipFile(wheel) as archive:
        for kind, directory in KINDS.items():
            base = f"agent_wire/data/{kind}/v1.1/"
            shipped = {
                name.removeprefix(base): archive.read(name)
                for name in archive.namelist()
                if name.startswith(base)
            }
            assert shipped == {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.slow
def test_what_is_unpacked_from_the_wheel_works_without_the_checkout(wheel: Path, tmp_path: Path):
    """Its own copies are read, and they judge the fixtures that came with them (W-1-01, D-S2-05, W-7-07)."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    file, schemas, fixtures, valid, count = json.loads(run.stdout)
    assert Path(file).is_relative_to(tmp_path / "site")
    assert schemas == sorted(path.name for path in SCHEMAS.iterdir())
    assert fixtures == sorted(path.name for path in FIXTURES.iterdir())
    assert valid
    assert count > 30
