"""How fast the studio's pages are, and how large (D48, docs/design.md#testing; targets: 300 ms and 300 kB, 10,000 tasks).

`python benchmarks/studio.py [--tasks N] [--directory DIR]` lays out a project of many tasks in a chain, has a few of them
shipped by a stub, serves it, and asks for pages as a browser does: not for those of tasks and modules, which need evidence
that the stub does not leave. It prints, for each page, the median time to its last byte and its size; and with Chromium what
the browser itself says of the first page, everything that it loads included.
Nothing is asserted, since machines differ.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from playwright.sync_api import sync_playwright

from specwright.application.factory import Factory
from specwright.application.tasks import Task
from testkit.browser import CHROMIUM, OPTIONS, served
from testkit.loop.project_workbench import ProjectWorkbench, chain_spec, seal_stub

SHIPPED = 30
ROUNDS = 5


class EnoughError(Exception):
    """As many tasks are shipped as shall be."""


def lay_out(count: int, directory: Path) -> None:
    """A project of many tasks, of which the first ones are shipped."""
    done = 0

    def work(factory: Factory, task: Task) -> dict[str, Any]:
        nonlocal done
        done += 1
        if done > min(SHIPPED, count):
            raise EnoughError
        return seal_stub(factory, task)

    with ProjectWorkbench(directory, work) as bench:
        bench.approve(chain_spec(count))
        try:
            bench.run()
        except EnoughError:
            return


def ask(address: str) -> tuple[float, int]:
    """The median milliseconds of a page, and its bytes."""
    taken, size = list[float](), 0
    for _ in range(ROUNDS):
        start = time.perf_counter()
        with urllib.request.urlopen(address) as answer:
            size = len(answer.read())
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken), size


def in_a_browser(address: str) -> None:
    """What Chromium says of a page that it has never seen."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[*OPTIONS])
        page, sizes = chromium.new_page(), list[int]()
        page.on("response", lambda one: sizes.append(len(one.body())))
        page.goto(address, wait_until="networkidle")
        ready = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        print(
            f"  in Chromium      {ready:9.0f} ms to ready {sum(sizes) / 1000:9.0f} kB in {len(sizes)} answers"
        )
        chromium.close()


def main() -> None:
    """Lay out, serve, ask."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--directory", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as place:
        directory = Path(place) / "chain"
        lay_out(options.tasks, directory)
        print(f"{options.tasks:,} tasks")
        with served(directory) as studio:
            last = -(-options.tasks // 100)
            pages = (
                "run",
                "tasks",
                f"tasks/{last}",
                "spec",
                "modules",
                "log",
                "costs",
            )
            for name in ("/", *(f"/p/chain/{page}" for page in pages)):
                taken, size = ask(studio.address + name)
                print(f"  {name:<24}{taken:9.0f} ms {size / 1000:9.0f} kB")
            if shutil.which(CHROMIUM):
                in_a_browser(studio.address)


if __name__ == "__main__":
    main()
