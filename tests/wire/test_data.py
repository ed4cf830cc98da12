"""The contracts and schemas as package data, as a checkout and as a wheel have them (DESIGN §2)."""

import shutil
import subprocess
import sys
from pathlib import Path

import specwright
from specwright.wire import data
from testkit.wire.story import CONTRACTS, ROOT, SCHEMAS

PROGRAM = """
from specwright.wire.reducer import reduce_wires
from specwright.wire import data
print(data.__file__, len(data.schemas()), reduce_wires([{}]).rejected[0].rejection.code)
"""


def test_an_installed_package_reads_its_own_copies(tmp_path: Path):
    """They ship inside the wheel, and work without the checkout (W-1-01)."""
    package = tmp_path / "site" / "specwright"
    shutil.copytree(Path(specwright.__file__).parent, package)
    shutil.copytree(ROOT / "contracts" / "agent-wire", package / "wire" / "data" / "contracts")
    shutil.copytree(ROOT / "schemas" / "agent-wire", package / "wire" / "data" / "schemas")

    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    file, schemas, code = run.stdout.split()
    assert Path(file).is_relative_to(tmp_path)
    assert (int(schemas), code) == (len(data.schemas()), "wire.schema")


def test_a_checkout_reads_the_files_at_its_root():
    """From a checkout the loader falls back to the repository root (DESIGN §2)."""
    assert set(data.schemas()) == {path.name for path in SCHEMAS.glob("*.json")}
    assert all(data.contract(path.stem)["version"] == "1.1" for path in CONTRACTS.glob("*.json"))
