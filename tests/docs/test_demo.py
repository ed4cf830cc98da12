"""The demo ends as the README says, and its wheel does what the README shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from testkit.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The directory of a demo and what it printed, run as `make demo` runs it."""
    directory = tmp_path_factory.mktemp("demo") / "build/demo"
    recipe = re.search(r"/specwright run \$\(DEMO\) (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    start = [sys.executable, "-c", "from specwright.cli.main import run; run()"]
    done = subprocess.run(
        [*start, "run", str(directory), *recipe[1].split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return directory, done.stdout


@pytest.mark.slow
def test_the_demo_ends_with_the_five_lines_of_the_readme(demo: tuple[Path, str]):
    """What the README shows is what is printed, but for ids and places (D-S6-02)."""
    shown = re.search(r"^```text\n(Shipped: .*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert shown

    assert len(demo[1].splitlines()) == 5
    assert _placeless(demo[1]) == _placeless(shown[1])


@pytest.mark.slow
def test_the_wheel_settles_the_tab_of_the_readme(demo: tuple[Path, str]):
    """The call in the README gives the result that stands below it; the product needs nothing but Python."""
    call = re.search(r"bin/python -c '(.*?)'\n# (.*)$", README, re.MULTILINE | re.DOTALL)
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
    return re.sub(r"REL-[0-9a-f.]+", "REL", re.sub(r"\S*build/demo", "build/demo", text))
