"""How soon a page of the studio follows a command, and how soon the first page is there (D48, docs/design.md#benchmarks).

`python benchmarks/studio_follow.py [--rounds N]` brings the example `nameplate` to its approval. Each round starts a studio
over a copy, opens its first page in a Chromium that was never there, then opens the trace and approves with a command. Of
each entry of the log it takes the time from its consensus timestamp to the moment at which the page has it. It prints ratios
to the limits: 1 s to follow, 300 ms and 300 kB for the first page. Nothing is asserted, since machines differ.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from playwright.sync_api import Browser, sync_playwright

from testkit.browser import CHROMIUM, OPTIONS, served
from testkit.cli.commands import PLAYBOOK, SMALL, command, in_own_process

LIMIT_TO_FOLLOW = 1000.0
LIMIT_OF_FIRST_PAGE = 300.0
LIMIT_OF_TRANSFER = 300_000

_NOTE_ENTRIES = """() => {
  window.entriesShown = {};
  const note = () => {
    for (const one of document.querySelectorAll("[id^=entry-]")) window.entriesShown[one.id.slice(6)] ??= Date.now();
  };
  note();
  new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
}"""

_FIRST_PAGE = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"


class Round(NamedTuple):
    """What one round took.

    Args:
        ready: Milliseconds of the first page.
        worked: Of these the processor time of the studio, which no other load of the machine changes.
        transferred: Its bytes, with everything that it loads.
        delays: Milliseconds of each entry of the log, from its timestamp to the page.
    """

    ready: float
    worked: float
    transferred: int
    delays: list[float]


def measured(chromium: Browser, waiting: Path, directory: Path) -> Round:
    """One round over a copy of a project that waits for approval."""
    shutil.copytree(waiting, directory, symlinks=True)
    with served(directory) as studio:
        page, sizes = chromium.new_context().new_page(), list[int]()
        page.on("response", lambda one: sizes.append(0 if "/events" in one.url else len(one.body())))
        before = _processor_time(studio.process.pid)
        page.goto(studio.address)
        ready, transferred = page.evaluate(_FIRST_PAGE), sum(sizes)
        worked = _processor_time(studio.process.pid) - before

        page.goto(f"{studio.address}/p/{directory.name}/trace")
        page.evaluate(_NOTE_ENTRIES)
        with subprocess.Popen(
            command("approve", directory), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as run:
            while run.poll() is None:
                page.wait_for_timeout(50)
        written = dict(_timestamps(directory))
        page.wait_for_selector(f"#entry-{max(written)}", timeout=10_000)
        shown: dict[str, float] = page.evaluate("window.entriesShown")
        page.context.close()
    return Round(ready, worked, transferred, [shown[str(number)] - written[number] for number in written])


def _processor_time(process: int) -> float:
    """Milliseconds of processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def _timestamps(directory: Path) -> Iterator[tuple[int, float]]:
    """The number of each entry of the log with its consensus timestamp, in milliseconds."""
    for one in in_own_process("wire", "log", directory, "--json").document["wires"]:
        hcs = one["hcs"]
        # of the nine digits of a second `fromisoformat` takes six
        moment = datetime.fromisoformat(hcs["consensus_timestamp"][:26] + "+00:00")
        yield hcs["sequence_number"], moment.timestamp() * 1000


def main() -> None:
    """Lay out, measure, print the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        waiting = Path(place) / "waiting"
        run = in_own_process("run", waiting, "--spec", SMALL / "SPEC.md", "--model", PLAYBOOK)
        assert run.code == 3, run
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[*OPTIONS])
        rounds = [
            measured(chromium, waiting, Path(place) / f"round-{number}") for number in range(options.rounds)
        ]
        chromium.close()
    delays = sorted(delay for one in rounds for delay in one.delays)
    figures = {
        "entries": len(delays),
        "median delay to limit": statistics.median(delays) / LIMIT_TO_FOLLOW,
        "95th percentile to limit": delays[int(len(delays) * 0.95)] / LIMIT_TO_FOLLOW,
        "longest delay to limit": delays[-1] / LIMIT_TO_FOLLOW,
        "first page to limit": statistics.median(one.ready for one in rounds) / LIMIT_OF_FIRST_PAGE,
        "its processor time to limit": statistics.median(one.worked for one in rounds) / LIMIT_OF_FIRST_PAGE,
        "transfer to limit": max(one.transferred for one in rounds) / LIMIT_OF_TRANSFER,
    }
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}, indent=1))


if __name__ == "__main__":
    main()
