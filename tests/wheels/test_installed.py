"""Specwright itself as a wheel, installed where nothing else of the checkout is: the examples come along."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from testkit.paths import ROOT

EXAMPLES = ROOT / "examples"


def _built(package: str, target: Path) -> Path:
    """The wheel of a package of this checkout."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(build, cwd=ROOT / "packages" / package, capture_output=True, text=True, check=True)
    (found,) = target.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The factory's wheel."""
    return _built("factory", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment that has our three wheels, and of this environment only what they depend on."""
    wheels = [wheel, *(_built(package, tmp_path_factory.mktemp(package)) for package in ("gate", "wire"))]
    place = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = ["-m", "pip", "install", "-q", "--no-deps", "--no-index", "--force-reinstall", *map(str, wheels)]
    subprocess.run([str(place / "bin/python"), *pip], check=True, capture_output=True)
    return place / "bin/specwright"


def _said(program: Path, *arguments: object, cwd: Path) -> str:
    bare = {"PATH": os.defpath, "HOME": str(cwd), "NO_PROXY": "*", "PIP_NO_INDEX": "1"}
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(
        command, cwd=cwd, env=bare, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_wheel_holds_the_examples_byte_for_byte(wheel: Path) -> None:
    """They are in the repository once (D-S9-05)."""
    with zipfile.ZipFile(wheel) as archive:
        base = "specwright/examples/"
        shipped = {
            name.removeprefix(base): archive.read(name)
            for name in archive.namelist()
            if name.startswith(base)
        }
    assert shipped == {
        path.relative_to(EXAMPLES).as_posix(): path.read_bytes()
        for path in EXAMPLES.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_an_installed_package_begins_with_its_own_examples(installed: Path, tmp_path: Path) -> None:
    """`init --example` copies one that runs, and `demo` builds one to a wheel, without the repository (D-S9-05,
    D-S9-17)."""
    said = _said(installed, "init", "tab", "--example", "tabkeeper", cwd=tmp_path)
    assert "made  tab/SPEC.md" in said
    assert (tmp_path / "tab/SPEC.md").read_bytes() == (EXAMPLES / "tabkeeper/SPEC.md").read_bytes()
    python = installed.with_name("python")
    where = subprocess.run(
        [python, "-c", "import specwright; print(specwright.__file__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(installed.parents[1]))
    said = _said(installed, "demo", cwd=tmp_path)
    assert said.startswith("Shipped:  Tabkeeper 1.0.0, 6 tasks, 7 modules")
    assert list(tmp_path.glob("specwright-demo/state_store/releases/*/tabkeeper-1.0.0-py3-none-any.whl"))
