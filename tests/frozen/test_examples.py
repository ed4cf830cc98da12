"""The examples give what they gave when they were frozen: wheels, contracts, exit codes and documents."""

import hashlib
import io
import shlex
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import specwright
from testkit.examples.built import NAMES, built
from testkit.frozen import hold, normalised

__all__ = ["built"]

READS = ("status", "tasks", "modules", "costs", "escalations", "exceptions list", "verify", "trace TSK-001")


def sha256(data: bytes) -> str:
    """In hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", NAMES)
def test_an_example_gives_what_was_frozen(
    name: str, built: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-28-01: the same wheel byte for byte, the same fingerprints, exit codes and documents."""
    monkeypatch.setenv("COLUMNS", "100")
    project = built(name)
    hold(name, {"wheels": wheels(project), "contracts": contracts(project), **documents(project)})


def wheels(project: Path) -> dict[str, Any]:
    """The digest of each wheel and of its members."""
    found: dict[str, Any] = {}
    for path in project.glob("state_store/releases/*/*.whl"):
        data = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: sha256(archive.read(name)) for name in archive.namelist()}
        found[path.name] = {"sha256": sha256(data), "members": members}
    return found


def contracts(project: Path) -> dict[str, str]:
    """The fingerprint of each sealed contract."""
    rows = specwright("modules", project, "--json").document["modules"]
    return {f"{row['name']} {row['version']}": row["interface_fingerprint"] for row in rows}


def documents(project: Path) -> dict[str, Any]:
    """The exit codes and documents of the commands that read."""
    codes: dict[str, int] = {}
    shown: dict[str, Any] = {}
    modules = specwright("modules", project, "--json").document["modules"]
    for words in (*READS, *(f"module {one['name']}" for one in modules)):
        told = specwright(*shlex.split(words), project, "--json")
        codes[words] = told.code
        shown[words] = normalised(told.document, project)
    shown["costs"] = {role: part["requests"] for role, part in shown["costs"]["parts"].items()}
    return {"exit_codes": codes, "documents": shown}
