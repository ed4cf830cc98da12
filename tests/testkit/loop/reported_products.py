"""A product with a fault that its gate does not notice, and the report of it: words that a tab parts are one word.

The playbook is that of `changed_products`; the second attempt at the first task answers the repair.
"""

import shutil
from pathlib import Path

import pytest

from testkit.cli.commands import Told, specwright
from testkit.loop.changed_products import banner_product
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.shared_fixtures import made_once

__all__ = ["POINTER", "TAB", "example", "faulty", "faulty_product", "report", "source_of"]

POINTER = "/outputs/0/invariants/0"
"""The statement that the fault breaks."""

TAB = r'"ada\tlovelace"'


@pytest.fixture(scope="session")
def faulty(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A playbook, the product with the fault, and the product as it is repaired; only copied."""
    playbook = faulty_product(tmp_path_factory.mktemp("reports") / "playbook")

    def make(base: Path) -> None:
        shutil.copytree(playbook, base / "playbook")
        options = ("--spec", NAMEPLATE_SPEC, "--model", f"playbook:{playbook}", "--approve")
        built = specwright("run", base / "released", *options)
        assert built.code == 0, built
        shutil.copytree(base / "released", base / "repaired")
        repaired = report(base / "repaired", example(base / "tab.md"), POINTER)
        assert repaired.code == 0, repaired

    return made_once(tmp_path_factory, worker_id, "reports", make)


def faulty_product(directory: Path) -> Path:
    """The playbook of the product; its first attempt parts words at spaces alone, its second one is right."""
    banner_product(directory)
    task = directory / "TSK-001"
    shutil.copytree(task, directory / "repair")
    shutil.move(directory / "repair", task / "attempt-2")
    source = source_of(task)
    text = source.read_text()
    assert "name.split()" in text
    source.write_text(text.replace("name.split()", 'name.split(" ")'))
    return directory


def source_of(task: Path) -> Path:
    """The source of the module, as an attempt proposes it first."""
    return task / "initials/round-1/deliverable/implementation/__init__.py"


def example(path: Path, given: str = TAB, expected: str = "'AL'", module: str = "initials") -> Path:
    """The file of a report."""
    path.write_text(
        "## Words that a tab parts\n\nA tab stands between two words.\n\n"
        f"```python\nfrom modules.{module} import {module}\n\n{module}({given})\n```\n\n```text\n{expected}\n```\n"
    )
    return path


def report(project: Path, file: Path, pointer: str = "", *options: object) -> Told:
    """`specwright report` about the first module."""
    pointed = ("--pointer", pointer) if pointer else ()
    return specwright("report", "initials", project, "--example", file, *pointed, *options)
