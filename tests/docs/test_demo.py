"""The demo ends as docs/tutorial.md says, and its wheel does what that page shows."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agent_wire.reducer import reduce_wires
from testkit.cli.commands import specwright
from testkit.examples.tabkeeper_playbook import python
from testkit.paths import ROOT
from testkit.postgres import postgres, postgres_once
from testkit.shared_fixtures import made_once
from wire_testkit.tables import expected_rows, reduced_rows, tables

__all__ = ["postgres", "postgres_once"]

PRODUCT = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8").partition("\n## The demo\n")[2]


DEMO = "specwright-demo"


def test_the_demo_of_its_page_lies_where_its_command_writes_it():
    """What can be copied works after `specwright demo`, which the README shows first (D-S9-04)."""
    assert f"[default: {DEMO}]" in " ".join(specwright("demo", "--help").out.split())
    places = re.findall(r"[\w./-]*/state_store/releases", PRODUCT)
    assert len(places) == 3
    assert all(f"{DEMO}/" in place for place in places)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> tuple[Path, str]:
    """The directory of a demo and what it printed, run as `make demo` runs it."""
    assert "/specwright demo $(DEMO)\n" in (ROOT / "Makefile").read_text()

    def make(directory: Path) -> None:
        start = [sys.executable, "-c", "from specwright.cli.main import run; run()"]
        done = subprocess.run(
            [*start, "demo", str(directory / DEMO)],
            cwd=ROOT,
            env={
                name: value for name, value in os.environ.items() if name != "COLUMNS"
            },  # a pipe of any width
            capture_output=True,
            text=True,
            timeout=280,
        )
        assert done.returncode == 0, done.stderr
        (directory / "told").write_text(done.stdout)

    made = made_once(tmp_path_factory, worker_id, "demo", make)
    return made / DEMO, (made / "told").read_text()


@pytest.mark.slow
def test_the_demo_ends_with_the_lines_of_its_page(demo: tuple[Path, str]):
    """What the page shows is what is printed, but for ids and places (D-S6-02)."""
    shown = re.search(r"^```text\n(Shipped: .*?)^```$", PRODUCT, re.MULTILINE | re.DOTALL)
    assert shown

    assert len(demo[1].splitlines()) == 7
    assert _placeless(demo[1]) == _placeless(shown[1])


@pytest.mark.slow
def test_the_change_that_the_demo_names_is_released(demo: tuple[Path, str], tmp_path: Path):
    """One task of six is built again, and the wheel reads what the old one refuses (D-38-06, D-S6-02)."""
    command = demo[1].splitlines()[-1].partition("specwright change ")[2]
    directory, *request = shlex.split(command)
    assert directory.endswith(DEMO)
    project = Path(shutil.copytree(demo[0], tmp_path / DEMO))
    for _ in range(2):  # whoever gave it up may ask again
        waiting = specwright("change", project, *request)
        told = specwright("change", project, "--abandon")
        assert (waiting.code, told.code) == (3, 0)
    checked = specwright("verify", project)
    assert (checked.code, "waits for your approval" in checked.err) == (0, False)
    waiting = specwright("change", project, *request)
    assert waiting.code == 3
    for shown in ("changed: TSK-001\n", "untouched: 5 tasks", '+>>> parse_money("CHF 12.50")'):
        assert shown in waiting.out
    assert specwright("approve", project).code == 0
    (wheel,) = project.glob("state_store/releases/*/tabkeeper-1.1.0-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "wheel")
    program = "from tabkeeper import parse_money; print(parse_money('CHF 12.50'))"
    assert python(["-c", program], tmp_path / "wheel").strip() == "12.50"
    assert "Try:" not in specwright("demo", project).out


@pytest.mark.slow
def test_every_criterion_of_the_demo_is_shown_by_code(demo: tuple[Path, str]):
    """By an example or a property that was approved with its spec (D-41-06)."""
    (report,) = demo[0].glob("state_store/releases/*/acceptance.md")
    assert "24 criteria, 24 with an approved example or property" in report.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_demo_is_the_same_in_every_read_model(demo: tuple[Path, str], tmp_path: Path, postgres: str):
    """Mirrored to SQLite and to Postgres, and rebuilt in each: the same rows, which are what the reducer says (D-47-02)."""
    urls = [f"sqlite:///{tmp_path / 'model.db'}", postgres]
    live = [_mirrored(demo[0], url) for url in urls]
    rebuilt = [_mirrored(demo[0], url, "--rebuild") for url in urls]

    assert live[0] == live[1] == rebuilt[0] == rebuilt[1]
    wires = [row["wire"] for row in specwright("wire", "log", demo[0], "--json").document["wires"]]
    assert [reduced_rows(url) for url in urls] == [expected_rows(reduce_wires(wires))] * 2
    assert len(live[0]["wire_events"]) == len(wires) > 40


def _mirrored(project: Path, url: str, *options: str) -> dict[str, Any]:
    assert specwright("mirror", project, "--to", url, "--once", *options).code == 0
    return tables(url)


@pytest.mark.slow
def test_the_wheel_settles_the_tab_of_its_page(demo: tuple[Path, str]):
    """The call on the page gives the result that stands below it; the product needs nothing but Python."""
    call = re.search(r"bin/python -c '(.*?)'\n# (.*)$", PRODUCT, re.MULTILINE | re.DOTALL)
    assert call
    (wheel,) = demo[0].glob("state_store/releases/*/tabkeeper-1.0.0-py3-none-any.whl")

    printed = subprocess.run(
        # a pure wheel can be imported as it is; that it installs was seen by the release itself
        [sys.executable, "-S", "-c", call[1]],
        env={"PYTHONPATH": str(wheel), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert printed.stdout.strip() == call[2].splitlines()[0]


def _placeless(text: str) -> str:
    return re.sub(r"REL-[0-9a-f.]+", "REL", re.sub(rf"\S*{DEMO}", DEMO, text))
