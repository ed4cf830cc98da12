"""Writes docs/images: pages of the studio, as docs/studio.md shows them, of runs of the examples.

Run by `.venv/bin/python docs/make_images.py` after a change of what these pages show; it takes some minutes, and Chromium
(`apt install chromium`). The projects lie in a directory of their own, so that no path says where the pictures were made,
and times are left out, so that none says when. Ids of a run differ each time.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parent / "images"
WIDTH = 1120
"""Of each picture, in pixels."""

_CHROMIUM = "/usr/bin/chromium"
_OPTIONS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
_ROOT = "work"
"""The directory of the projects, as the pages name it."""
_LEAVE_OUT_TIMES = "document.querySelectorAll('time').forEach(time => time.remove())"


def _whole(page: Page) -> None:
    """The page from its beginning."""


def _last_round(page: Page) -> None:
    """The last round of a debate."""
    card = page.locator(".card").filter(has=page.get_by_role("heading", name="Round 2")).last
    card.evaluate("card => card.scrollIntoView()")


class Image(NamedTuple):
    """A picture.

    Args:
        path: Of the page.
        height: In pixels.
        scheme: Of its colours.
        show: Brings into sight what is shown.
    """

    path: str
    height: int
    scheme: Literal["light", "dark"] = "light"
    show: Callable[[Page], None] = _whole


PICTURES = {
    "studio-needs-you": Image("/", 700),
    "studio-spec": Image("/p/nameplate/spec", 1000),
    "studio-run": Image("/p/tabkeeper/run", 900, "dark"),
    "studio-debate": Image("/p/demo/module/split_evenly", 860, show=_last_round),
}
"""By the names of their files."""


def make_projects(place: Path) -> None:
    """One that is released, one that is halted, and one whose spec waits for approval."""
    _run(place, "demo", "demo")
    _run(place, "init", "tabkeeper", "--example", "tabkeeper")
    shutil.copytree(place / "tabkeeper/stubborn", place / "tabkeeper/playbook", dirs_exist_ok=True)
    _run(place, "run", "tabkeeper", "--approve")
    _run(place, "init", "nameplate", "--example", "nameplate")
    _run(place, "run", "nameplate")


def _run(place: Path, *words: str) -> None:
    command = [sys.executable, "-m", "specwright", *words]
    ended = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 3):  # 3: it waits for a person
        raise RuntimeError(f"{' '.join(words)} failed: {ended.stdout}{ended.stderr}")


@contextmanager
def _studio(place: Path) -> Generator[str]:
    """The address of a studio over the projects of a directory."""
    command = [sys.executable, "-m", "specwright", "studio", _ROOT, "--port", "0", "--no-token"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[4].rstrip("/")
        finally:
            process.kill()


def picture(browser: Browser, address: str, image: Image) -> bytes:
    """A picture of a page, as PNG."""
    page = browser.new_page(color_scheme=image.scheme, viewport={"width": WIDTH, "height": image.height})
    page.goto(address + image.path)
    image.show(page)
    page.evaluate(_LEAVE_OUT_TIMES)
    return page.screenshot()


def main() -> None:
    """Make the projects, and take each picture."""
    with TemporaryDirectory() as temporary:
        place = Path(temporary) / _ROOT
        place.mkdir()
        make_projects(place)
        with _studio(place.parent) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=[*_OPTIONS])
            for name, image in PICTURES.items():
                (IMAGES / f"{name}.png").write_bytes(picture(browser, address, image))
            browser.close()


if __name__ == "__main__":
    main()
