"""Measures the gate on the functions of published libraries: verdicts, seconds, and every function that it calls wrong.

    .venv/bin/python docs/measure_packages.py FOLDER [SECONDS]

FOLDER gets the source distributions, an environment with the libraries and pytest, and a document for each library; what is
there already is not fetched or measured again. A library is cut off after SECONDS, 120 if left out. Nothing of a library is
copied into the repository. The figures go by hand to docs/gate.md, with what a person found out about each that is wrong.
"""

import json
import os
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

LIBRARIES = (
    "cachetools", "humanfriendly", "more-itertools", "natsort", "pyhumps", "python-slugify", "roman", "semver",
    "textdistance", "w3lib",
)  # fmt: skip
"""Not those with which the gate was written; chosen before the first of them was measured."""


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Fetch, measure, and print the table."""
    folder, seconds = Path(arguments[0]).resolve(), arguments[1] if arguments[1:] else "120"
    folder.mkdir(parents=True, exist_ok=True)
    environment = folder / "environment"
    if not environment.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        _pip(environment, "install", "pytest", *LIBRARIES)
    say("| library | functions | WRONG | NOT SHOWN | SHOWN | seconds |\n|---|---|---|---|---|---|")
    for name in LIBRARIES:
        try:
            found = _measured(folder, environment, name, seconds)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            say(f"| {name} | not measured: {str(error)[:100]} |")
            continue
        counts = Counter(one["verdict"] for one in found["functions"])
        row = [counts["WRONG"], counts["NOT SHOWN"], counts["SHOWN"], f"{found['seconds']:.0f}"]
        say(f"| {name} | {len(found['functions'])} | {' | '.join(map(str, row))} |")
        for one in found["functions"]:
            for finding in one["findings"]:
                say(f"    {one['name']}  {finding['where']}  {finding['message']!r}")
    return 0


def _pip(environment: Path, *arguments: str) -> None:
    subprocess.run([environment / "bin/pip", "-q", "--disable-pip-version-check", *arguments], check=True)


def _measured(folder: Path, environment: Path, name: str, seconds: str) -> Any:
    result = folder / f"{name}.json"
    if not result.exists():
        source = folder / name
        if not source.exists():
            _pip(environment, "download", "--no-deps", "--no-binary", ":all:", "-d", str(source), name)
        (archive,) = source.glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(source, filter="data")
        (place,) = (one for one in source.iterdir() if one.is_dir())
        command = [
            Path(sys.executable).with_name("shipgate"),
            "package",
            place,
            "--seconds",
            seconds,
            "--json",
        ]
        done = subprocess.run(
            command,
            env={**os.environ, "VIRTUAL_ENV": str(environment)},
            capture_output=True,
            text=True,
            check=False,
        )
        json.loads(done.stdout)
        result.write_text(done.stdout, encoding="utf-8")
    return json.loads(result.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
