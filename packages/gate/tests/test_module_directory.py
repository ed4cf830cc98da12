"""A module directory is read as plain files: links, pipes and floods in the place of its contract are told."""

import os
import shutil
from pathlib import Path

import pytest

from gate_testkit.judging import MODULES
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.errors import InputError
from ship_gate.module_directory import read_module


@pytest.fixture
def module(tmp_path):
    """A directory that can be changed."""
    return shutil.copytree(MODULES / "shorten", tmp_path / "shorten")


def test_a_contract_that_is_a_link_is_not_followed(module):
    """D-S8-15: what it leads to is none of the directory's, so nothing of it is shown."""
    contract = module / "contract.json"
    contract.rename(module.parent / "elsewhere.json")
    contract.symlink_to(module.parent / "elsewhere.json")
    read = read_module(module)
    assert read.candidate is None
    assert [finding.code for finding in read.findings] == ["contract.invalid"]
    assert "no plain file" in read.findings[0].message


def test_a_contract_that_is_too_large_is_told_as_such(module):
    """D-S8-15: it is not read to its end."""
    (module / "contract.json").write_bytes(b" " * (1024 * 1024 + 1))
    assert "larger than 1 MiB" in read_module(module).findings[0].message


def test_a_pipe_beside_the_module_is_not_waited_for(module):
    """D-S8-15: dependencies are looked for beside it, in files alone."""
    (module.parent / "other").mkdir()
    os.mkfifo(module.parent / "other/contract.json")
    contract = module / "contract.json"
    needs = '"dependencies": [{"ref": "MM-0000dead@1.0.0", "why": "to see"}]'
    text = contract.read_text(encoding="utf-8")
    assert '"dependencies": []' in text
    contract.write_text(text.replace('"dependencies": []', needs), encoding="utf-8")
    with pytest.raises(Exception, match="MM-0000dead"):
        read_module(module)


def _contract(path: Path, **changes) -> None:
    contract = MicroModuleContract.from_bytes(path.read_bytes(), "contract")
    path.write_bytes(MicroModuleContract.model_validate({**contract.to_json(), **changes}).to_bytes())


@pytest.mark.parametrize(
    ("reference", "beside", "serves"),
    [
        ("^0.2.0", "0.3.0", False),
        ("^0.2.0", "0.2.5", True),
        ("1.0.0", "1.2.0", True),
        ("^1.1.0", "1.0.9", False),
        ("^1.0.0", "2.0.0", False),
        ("latest", "1.0.0", False),
    ],
)
def test_a_directory_and_a_release_agree_on_what_serves_a_reference(module, reference, beside, serves):
    """D-S8-15, F-15-03: the version that is named, or a compatible later one; in 0.x a minor breaks."""
    _contract(module / "contract.json", dependencies=[{"ref": f"MM-0000dead@{reference}", "why": "to see"}])
    other = shutil.copytree(MODULES / "tally_words", module.parent / "tally_words")
    _contract(other / "contract.json", module_id="MM-0000dead", module_version=beside)
    if serves:
        assert read_module(module).candidate.dependencies[0].contract.module_version == beside
    else:
        with pytest.raises(InputError, match="MM-0000dead"):
            read_module(module)


def test_the_version_that_is_named_comes_before_a_later_one(module):
    """D-S8-15: both lie beside the module."""
    _contract(module / "contract.json", dependencies=[{"ref": "MM-0000dead@1.0.0", "why": "to see"}])
    for version in ("1.0.0", "1.2.0"):
        other = shutil.copytree(MODULES / "tally_words", module.parent / f"tally-{9 - int(version[2])}")
        _contract(other / "contract.json", module_id="MM-0000dead", module_version=version)
    assert read_module(module).candidate.dependencies[0].contract.module_version == "1.0.0"
