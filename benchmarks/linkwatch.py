"""How long the built command linkwatch takes for 10,000 links that were all checked already (docs/design.md#testing).

`python benchmarks/linkwatch.py` builds `examples/linkwatch` with its playbook, or takes `--wheel FILE`; writes 100 notes
with 100 links each, scans them, marks all as checked, and lets `linkwatch check` and `linkwatch scan` find that nothing is
due. It prints the seconds of each with the ratio to the limit of two seconds, and ends with 1 if one is above it.
"""

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

LINKWATCH = Path(__file__).parents[1] / "examples/linkwatch"
NOTES, LINKS = 100, 100
MOST_SECONDS = 2.0


def built(folder: Path) -> str:
    """The wheel that the playbook leads to."""
    command = [
        *(sys.executable, "-m", "specwright.cli", "run", str(folder), "--approve", "--json"),
        *("--spec", str(LINKWATCH / "SPEC.md"), "--model", f"playbook:{LINKWATCH / 'playbook'}"),
    ]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(told.stdout)["release"]["wheel"]


def seconds_of(wheel: str, folder: Path, words: Sequence[str]) -> tuple[float, dict[str, int]]:
    """How long a call of the command takes, start of Python included, and what it says."""
    started = time.perf_counter()
    told = subprocess.run(
        [sys.executable, "-m", "linkwatch", *words, "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": wheel},
        cwd=folder,
        check=True,
    )
    return time.perf_counter() - started, json.loads(told.stdout)


def main() -> None:
    """Measure."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--wheel")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        wheel = options.parse_args().wheel or built(folder / "project")
        notes = folder / "notes"
        notes.mkdir()
        for note in range(NOTES):
            lines = (
                f"- see [page {link}](https://host{link}.example/{note}) or not" for link in range(LINKS)
            )
            (notes / f"{note}.md").write_text("\n".join(lines))
        first, said = seconds_of(wheel, folder, ["scan", "notes"])
        assert said["new"] == NOTES * LINKS
        with closing(sqlite3.connect(notes / "linkwatch.db")) as database:
            database.execute("INSERT INTO checks SELECT url, '9999-01-01', 200, url, '', '', 0 FROM links")
            database.commit()
        again, _ = seconds_of(wheel, folder, ["scan", "notes"])
        checked, said = seconds_of(wheel, folder, ["check", "--db", "notes/linkwatch.db"])
        assert said["fresh"] == NOTES * LINKS
    print(f"{NOTES * LINKS:,} links, all checked already; limit {MOST_SECONDS:.0f} s")
    for name, seconds in (("first scan", first), ("scan again", again), ("check", checked)):
        print(f"{name:12}{seconds:8.2f} s  ratio to the limit {seconds / MOST_SECONDS:.2f}")
    sys.exit(0 if max(again, checked) <= MOST_SECONDS else 1)


if __name__ == "__main__":
    main()
