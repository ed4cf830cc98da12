"""A module directory is read as plain files: links, pipes and floods in the place of its contract are told."""

import os
import shutil

import pytest

from gate.judging import MODULES
from specwright.gate.module_directory import read_module


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
