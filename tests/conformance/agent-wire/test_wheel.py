"""What ships: contracts, schemas and fixtures travel inside the wheel and are read from there (DESIGN §2)."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from specwright.wire import data
from testkit.wire.story import CONTRACTS, FIXTURES, ROOT, SCHEMAS

KINDS = {"contracts": CONTRACTS, "fixtures": FIXTURES, "schemas": SCHEMAS}
PROGRAM = """
import json, sys
from specwright.wire import data
from specwright.wire.documents import validate_document
expectations = json.loads(data.fixtures()["expectations.json"])
valid = [validate_document(data.fixtures()[name]).rejection is None for name in expectations["valid"]]
print(json.dumps([data.__file__, sorted(data.schemas()), sorted(data.fixtures()), all(valid), len(valid)]))
"""


def test_a_checkout_reads_its_fixtures_at_its_root():
    """From a checkout the loader falls back to the repository (W-1-01, D-S2-05)."""
    assert data.fixtures() == {path.name: path.read_bytes() for path in FIXTURES.glob("*.json")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    made = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    (found,) = target.glob("*.whl")
    return found


@pytest.mark.slow
def test_the_wheel_holds_every_contract_schema_and_fixture_byte_for_byte(wheel: Path):
    """They are package data of `specwright.wire.data` (W-1-01, D-S2-05)."""
    with zipfile.ZipFile(wheel) as archive:
        for kind, directory in KINDS.items():
            base = f"specwright/wire/data/{kind}/v1.1/"
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
