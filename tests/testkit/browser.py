"""A studio in a process of its own, and Debian's Chromium in front of it."""

import os
import shutil
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from testkit.cli.commands import command

CHROMIUM = "/usr/bin/chromium"
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SECONDS = 90
"""How long a page may take to show something that a whole run leads to."""

__all__ = ["CHROMIUM", "OPTIONS", "SECONDS", "ServedStudio", "browser", "complaints", "served"]


class ServedStudio:
    """A studio that listens.

    Args:
        process: It.
        address: Of its first page.
    """

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address.rstrip("/")

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait(10)


@contextmanager
def served(*directories: Path, port: int = 0, token: bool = False) -> Generator[ServedStudio]:
    """A studio over some directories, on a port of its own; with a token, its address holds it."""
    words = ("studio", *directories, "--port", port, *(() if token else ("--no-token",)))
    with subprocess.Popen(command(*words), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://" in line, line
        try:
            yield ServedStudio(process, line.split()[4])
        finally:
            process.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, as long as its tests run: its event loop would stop other tests that start one. A user's machine may lack
    it, CI may not."""
    if not shutil.which(CHROMIUM):
        if os.environ.get("SPECWRIGHT_REQUIRE_SERVICES"):
            pytest.fail("Chromium is not installed: apt install chromium")
        pytest.skip("Chromium is not installed: apt install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[*OPTIONS])
        yield chromium
        chromium.close()


def complaints(page: Page) -> list[str]:
    """What axe-core finds serious or critical on a page, with where."""
    found = cast("list[dict[str, Any]]", Axe().run(page).response["violations"])
    return [
        f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:160]} {one['nodes'][0].get('failureSummary', '')[:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
