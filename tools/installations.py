"""Installs each package alone from its wheel into an empty environment, uses it there, and prints what that took.

    python tools/installations.py

Exits 1 if a package is larger than its limit, brings a package that it must not bring, or does not work. Sizes count all
that was installed, without pip and setuptools. Packages come from wherever pip is set up to fetch them.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Package(NamedTuple):
    """A package, and what must hold for an environment that has only it.

    Args:
        folder: Below the root.
        needs: Folders of packages of this repository that it depends on.
        megabytes: The most that it may take; 0 for no limit.
        absent: Modules that must not be installed.
        uses: Commands that must succeed there; `{}` is a directory that holds `module`, which the gate passes, and
            `wires.jsonl`, the fixtures of a task from its creation to its end.
    """

    folder: str
    needs: tuple[str, ...]
    megabytes: int
    absent: tuple[str, ...]
    uses: tuple[tuple[str, ...], ...]


_FIXTURES = ROOT / "fixtures" / "agent-wire" / "v1.1"
_MODULE = ROOT / "packages" / "gate" / "tests" / "modules" / "tally_words"
_LIBRARIES_OF_MODELS = (
    "langchain",
    "langchain_core",
    "langgraph",
    "deepagents",
    "openai",
    "anthropic",
    "numpy",
)

PACKAGES = (
    Package(
        "packages/wire",
        (),
        25,
        (*_LIBRARIES_OF_MODELS, "pydantic", "sqlalchemy"),
        (
            ("agent-wire", "validate", *map(str, sorted(_FIXTURES.glob("*.valid*.json")))),
            ("agent-wire", "reduce", "{}/wires.jsonl"),
            ("agent-wire", "a2a", "{}/wires.jsonl"),
        ),
    ),
    Package(
        "packages/gate",
        (),
        60,
        (*_LIBRARIES_OF_MODELS, "agent_wire", "specwright"),
        (
            ("shipgate", "judge", "{}/module"),
            ("pytest", "-q", "{}/module", "--shipgate", "{}/module"),
        ),
    ),
    Package(
        "packages/factory", ("packages/wire", "packages/gate"), 0, (), (("specwright", "demo", "{}/demo"),)
    ),
)


class Installed(NamedTuple):
    """What an installation took, and what is wrong with it."""

    package: str
    seconds: float
    megabytes: float
    problems: list[str]


def install(package: Package, folder: Path) -> Installed:
    """Build the wheels, install them into an empty environment, and use them."""
    wheels, environment = folder / "wheels", folder / "environment"
    for source in (*package.needs, package.folder):
        _run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(ROOT / source)])
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    begun = time.perf_counter()
    _run([str(python), "-m", "pip", "install", "-q", *map(str, sorted(wheels.glob("*.whl")))])
    seconds = time.perf_counter() - begun
    (site,) = environment.glob("lib/python*/site-packages")
    problems = [f"{name} is installed" for name in package.absent if (site / name).exists()]
    megabytes = (
        sum(_size(entry) for entry in site.iterdir() if not entry.name.startswith(("pip", "setuptools")))
        / 1e6
    )
    if package.megabytes and megabytes > package.megabytes:
        problems.append(f"it takes {megabytes:.1f} MB, at most {package.megabytes} are allowed")
    for number, (program, *arguments) in enumerate(package.uses):
        place = folder / f"use-{number}"
        shutil.copytree(_MODULE, place / "module")
        (place / "wires.jsonl").write_text("".join(_task_of_the_fixtures()), encoding="utf-8")
        command = [
            str(environment / "bin" / program),
            *(word.replace("{}", str(place)) for word in arguments),
        ]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        if done.returncode:
            problems.append(
                f"{program} {arguments[0]} exits {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}"
            )
    return Installed(package.folder, seconds, megabytes, problems)


def _task_of_the_fixtures() -> Iterator[str]:
    """The Wires of a task, one a line."""
    expectations = json.loads((_FIXTURES / "expectations.json").read_text(encoding="utf-8"))
    last = "task-complete.valid.json"
    for name in (*expectations["valid"][last]["after"], last):
        yield json.dumps(json.loads((_FIXTURES / name).read_text(encoding="utf-8"))) + "\n"


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def _run(command: list[str]) -> None:
    subprocess.run([*command, "--disable-pip-version-check"], check=True, stderr=subprocess.DEVNULL)


def main() -> int:
    """Print the table; the problems below it."""
    problems = 0
    print("| package | seconds | MB |\n|---|---|---|")
    for package in PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            found = install(package, Path(folder))
        print(f"| `{found.package}` | {found.seconds:.0f} | {found.megabytes:.0f} |")
        for problem in found.problems:
            print(f"{found.package}: {problem}", file=sys.stderr)
        problems += len(found.problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
