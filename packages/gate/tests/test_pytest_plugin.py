"""The gate as tests of pytest: what is collected, how it fails, and that it stays out of the way."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest

from testkit.paths import GATE_MODULES, ROOT

PLUGIN = "ship_gate.pytest_plugin"


class Run(NamedTuple):
    """What pytest returned and printed."""

    code: int
    out: str


def pytest_in(place: Path, *options: str) -> Run:
    """pytest in a process of its own, with the plugin alone, by its entry point."""
    command = [sys.executable, "-P", "-m", "pytest", "--disable-plugin-autoload", "-p", "shipgate", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["XDG_CACHE_HOME"] = f"{place}.cache"
    ended = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    return Run(ended.returncode, ended.stdout + ended.stderr)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A repository with a test, a sound module and one whose contract cannot be read."""
    for name in ("sound", "broken"):
        module = Path(shutil.copytree(GATE_MODULES / "tally_words", tmp_path / "modules" / name))
        (module / "specwright.toml").write_text("gate_fuzz_examples = 50\n")
    (tmp_path / "modules/broken/contract.json").write_text("{")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_own.py").write_text("def test_own():\n    pass\n")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\ntestpaths = ["tests"]\nfilterwarnings = ["error"]\n'
        'shipgate_modules = ["modules"]\n'
    )
    return tmp_path


def collected(run: Run) -> list[str]:
    """The ids of what is collected."""
    return re.findall(r"^(\S+::\S+)$", run.out, re.MULTILINE)


@pytest.mark.slow
def test_each_module_directory_is_one_test(place: Path):
    """Beside the tests of the repository; a module's own tests are left to the gate (D-50-03)."""
    look = ("--collect-only", "-q")
    own, broken, sound = (
        "tests/test_own.py::test_own",
        "modules/broken/contract.json::gate",
        "modules/sound/contract.json::gate",
    )
    assert collected(pytest_in(place, *look)) == [own, broken, sound]
    assert collected(pytest_in(place, *look, "modules/sound")) == [sound]
    assert collected(pytest_in(place, *look, sound)) == [sound]
    assert collected(pytest_in(place, *look, "tests")) == [own]
    assert collected(pytest_in(place, *look, "-k", "broken")) == [broken]
    assert collected(pytest_in(place, *look, "tests", "--shipgate", "modules/sound")) == [own, sound]


@pytest.mark.slow
def test_a_module_fails_with_its_findings_and_a_sound_one_passes(place: Path):
    """Code, place, message and remedy, no traceback; what passed is not judged again until it changes; JUnit XML
    is that of pytest (D-50-03)."""
    run = pytest_in(place, "-v", "--junit-xml=j.xml")
    assert run.code == 1, run.out
    assert "2 passed, 1 failed" in run.out or "1 failed, 2 passed" in run.out
    assert "contract.invalid  contract.json" in run.out
    assert "do: correct contract.json" in run.out
    assert "Traceback" not in run.out
    assert 'tests="3"' in (place / "j.xml").read_text()
    assert 'failures="1"' in (place / "j.xml").read_text()
    assert result_of(place, run) == "PASS"
    assert result_of(place, pytest_in(place, "modules/sound", "--junit-xml=j.xml")) == "UNCHANGED"
    entry = place / "modules/sound/implementation/__init__.py"
    entry.write_text(entry.read_text().replace("if not words:", "if len(words) < 2:"))
    again = pytest_in(place, "modules/sound")
    assert again.code == 1
    assert "tests.failed  tests/test_tally_words.py" in again.out


@pytest.mark.slow
def test_a_digest_that_the_repository_holds_is_not_believed(place: Path):
    """What passed is noted in the user's cache: nothing of it is in the repository, and what lies there is not read
    (case pytest-cache-pass)."""
    pytest_in(place, "modules/sound")
    assert not (place / ".pytest_cache/d/shipgate").exists()
    noted = list(Path(f"{place}.cache").rglob("*.json"))
    assert len(noted) == 1
    name = sha256(str(place / "modules/sound/contract.json").encode()).hexdigest()[:16]
    (place / ".pytest_cache/d/shipgate").mkdir(parents=True)
    shutil.move(noted[0], place / f".pytest_cache/d/shipgate/{name}.json")
    assert result_of(place, pytest_in(place, "modules/sound", "--junit-xml=j.xml")) == "PASS"


def result_of(place: Path, run: Run) -> str:
    """What came of the sound module, as reports have it."""
    found = re.search(r'name="shipgate" value="(PASS|UNCHANGED)"', (place / "j.xml").read_text())
    assert found, run.out
    return found[1]


def test_a_place_that_is_no_directory_is_bad_usage(place: Path):
    """One line, and pytest's own exit code (D-50-03)."""
    run = pytest_in(place, "--shipgate", "nowhere")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "nowhere is no directory" in run.out
    assert "Traceback" not in run.out


def test_without_option_and_setting_nothing_is_added_or_loaded(place: Path):
    """It loads nothing of Specwright, and warns of nothing; module directories are then pytest's (D-50-03)."""
    (place / "pyproject.toml").write_text('[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n')
    (place / "conftest.py").write_text(
        "import sys\n"
        "def pytest_unconfigure(config):\n"
        "    loaded = [name for name in sys.modules if name.startswith('ship_gate.')]\n"
        "    print('LOADED', *loaded)\n"
        "    print('PLUGIN', config.pluginmanager.hasplugin('shipgate-modules'))\n"
    )
    run = pytest_in(place, "tests", "-s")
    assert run.code == 0, run.out
    assert f"LOADED {PLUGIN}\n" in run.out
    assert "PLUGIN False" in run.out


def test_it_is_announced_to_pytest_and_the_gate_itself_does_not_load_it():
    """By its entry point; within the sandbox plugins are not loaded (D-50-03)."""
    project = tomllib.loads((ROOT / "packages/gate/pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"shipgate": PLUGIN}
    from ship_gate.inside.test_runner import pytest_options

    assert "--disable-plugin-autoload" in pytest_options("tests")
