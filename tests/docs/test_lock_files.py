"""What is installed is pinned by its bytes, and fetched from wherever this machine fetches (DESIGN §10, F§18.6)."""

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from testkit.paths import ROOT, SOURCES

LOCK_FILES = sorted((ROOT / "requirements").glob("*.txt"))
RUNNABLE = [path for path in LOCK_FILES if path.name != "docs.txt"]
"""Those with which Specwright runs; the site is built without importing it."""
ROOT_PROJECT, FACTORY, GATE, WIRE = (
    tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))
    for folder in ("", "packages/factory", "packages/gate", "packages/wire")
)

_PINNED = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>[^ ;]+)(?: ; [^\n]+?)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n"
)


def pinned(path: Path) -> dict[str, Version]:
    """The packages of a lock file; all of its text must be read so."""
    text = path.read_text(encoding="utf-8")
    assert _PINNED.sub("", text) == "", "something is pinned without a hash, or is no package at all"
    return {found["name"]: Version(found["version"]) for found in _PINNED.finditer(text)}


@pytest.mark.parametrize("path", LOCK_FILES, ids=lambda path: path.name)
def test_a_lock_file_holds_names_versions_and_hashes_and_nothing_else(path: Path):
    """No index, no address, no path of anybody's machine; every package by the hashes of its files (D-S10-01)."""
    assert len(pinned(path)) > (50 if path in RUNNABLE else 30)
    assert not re.search(r"://|^-|index-url|find-links|file:", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_what_the_project_asks_for_is_what_is_locked():
    """Each dependency stands in the lock file in a version that the project accepts; make installs by hash (D-S10-01)."""
    asked = [
        requirement
        for project in (FACTORY, GATE, WIRE)
        for requirement in map(Requirement, project["project"]["dependencies"])
        if not requirement.name.startswith("specwright-")
    ]
    groups = ROOT_PROJECT["dependency-groups"]
    assert [path.name for path in LOCK_FILES] == ["dev.txt", "docs.txt", "runtime.txt"]
    for path in LOCK_FILES:
        locked = pinned(path)
        group = [Requirement(entry) for entry in groups.get(path.stem, []) if isinstance(entry, str)]
        for requirement in [*group, *(asked if path in RUNNABLE else [])]:
            assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement
    installs = re.findall(r"pip install.*-r .*", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert len(installs) == 1
    # with its dependencies an older pip looks for `google-auth[requests]` beside the pinned `google-auth`
    assert {"--require-hashes", "--no-deps"} <= set(installs[0].split())


def test_the_lock_files_leave_nothing_out():
    """What is installed from them, without a look for more, has all that its packages need (D-S10-01)."""
    checked = subprocess.run(
        [sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


def test_canonical_json_is_made_by_the_library_that_is_named_for_it():
    """rfc8785, from 0.1.4 on, is asked for, is locked, and what canonical bytes of both packages come from (F-18-05)."""
    (asked,) = (r for r in map(Requirement, WIRE["project"]["dependencies"]) if r.name == "rfc8785")
    assert not asked.specifier.contains("0.1.3")
    for path in RUNNABLE:
        assert pinned(path)["rfc8785"] >= Version("0.1.4")
    users = [
        path.name
        for folder in SOURCES
        for path in folder.rglob("*.py")
        if re.search(r"^(?:import|from) rfc8785\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert users == ["canonical_json.py", "canonical_json.py"]


def test_the_first_two_commands_need_python_and_make_alone(tmp_path: Path):
    """D-61-02: CI runs both on the machine as it is, before anything is installed; each sets up what it needs, by programs
    that every machine has and those of its own environment."""
    commands = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    installs = next(n for n, line in enumerate(commands) if re.search(r"\binstall\b", line))
    first = ["make demo", "make test"]
    assert [line for line in commands[:installs] if line.startswith("make ")] == first
    shown = ["--no-print-directory", "-n", f"VENV={tmp_path}/venv", "PYTHON=python3"]
    for command in first:
        done = subprocess.run(
            [*command.split(), *shown], cwd=ROOT, capture_output=True, text=True, check=True
        )
        used = {program for line in done.stdout.splitlines() for program in programs(line)}
        used -= {f"{tmp_path}/venv/bin/{one}" for one in ("python", "specwright")}
        assert used <= {"echo", "exit", "python3", "rm", "test", "touch"}, command


def programs(line: str) -> Iterator[str]:
    """The first word of each command of a line of a shell."""
    begins = True
    for token in shlex.shlex(line, posix=True, punctuation_chars=True):
        if token in (";", "&&", "||", "{", "}"):
            begins = True
        elif begins and "=" not in token:
            yield token
            begins = False


@pytest.mark.nightly
def test_each_package_works_alone_within_its_megabytes():
    """D-61-01: in an empty environment, with its own commands."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools/installations.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
