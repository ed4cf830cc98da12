"""The gate before a commit and on a build server: `--changed`, the pre-commit hook, the GitHub Action."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ship_gate.batch import BatchResult, JudgedModule
from ship_gate.findings import Finding
from ship_gate.module_directory import DirectoryVerdict
from ship_gate.reports import line_of, markdown_report
from testkit.cli.commands import ROOT, specwright

MODULES = ROOT / "packages/gate/tests/modules"
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a sound module, and one whose contract cannot be read."""
    for name in ("sound", "broken"):
        module = Path(shutil.copytree(MODULES / "tally_words", tmp_path / "modules" / name))
        (module / "specwright.toml").write_text("gate_fuzz_examples = 50\n")
    (tmp_path / "modules/broken/contract.json").write_text("{")
    (tmp_path / "other.py").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def judged(*files: str) -> dict[str, str]:
    """What came of each module in which files changed, by its directory."""
    document = specwright("gate", "--changed", *files, "--seconds", "0", "--json").document
    return {one["directory"]: one["result"] for one in document["modules"]}


def test_files_that_changed_lead_to_their_modules(place: Path):
    """Each module once; a file that is gone counts, one outside of any is passed over (D-50-03)."""
    entry, gone = "modules/sound/implementation/__init__.py", "modules/sound/implementation/deep/gone.py"
    assert judged(entry, gone, "modules/sound/examples.md", "other.py") == {"modules/sound": "UNJUDGED"}
    assert set(judged(entry, "modules/broken/contract.json")) == {"modules/sound", "modules/broken"}
    assert set(judged(str(place / entry))) == {str(place / "modules/sound")}
    told = specwright("gate", "--changed", "other.py", "gone.py")
    assert (told.code, told.out) == (0, "")
    assert "None of the files is in a module directory" in told.err
    assert judged("other.py") == {}
    assert specwright("gate", "--changed", "modules/broken/contract.json").code == 1


def test_the_hook_runs_the_gate_on_files_of_modules():
    """Its command is one that exists, and its pattern takes what a verdict depends on (D-50-03)."""
    assert HOOK["entry"].split() == ["shipgate", "judge", "--changed"]
    assert (HOOK["language"], HOOK["id"], HOOK["require_serial"]) == ("system", "shipgate", True)
    takes = re.compile(HOOK["files"])
    module = MODULES / "tally_words"
    files = [path.relative_to(ROOT).as_posix() for path in module.rglob("*") if path.is_file()]
    assert [name for name in files if "__pycache__" not in name and not takes.search(name)] == []
    assert not takes.search("README.md")
    assert not takes.search("src/contract.json.bak")


def step(name: str) -> dict[str, Any]:
    """A step of the action."""
    (found,) = (one for one in ACTION["runs"]["steps"] if one.get("name") == name)
    return found


def run_gate(place: Path, directories: str, **more: str) -> tuple[int, str, dict[str, str], str]:
    """The action's own step, in a shell as a runner has it: exit code, what it printed, outputs, summary."""
    temporary = place / "runner"
    temporary.mkdir(exist_ok=True)
    files = {"GITHUB_OUTPUT": temporary / "output", "GITHUB_STEP_SUMMARY": temporary / "summary"}
    for path in files.values():
        path.write_text("")
    scripts = temporary / "bin"
    scripts.mkdir(exist_ok=True)
    program = scripts / "shipgate"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m ship_gate "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{scripts}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(temporary),
        **{name: str(path) for name, path in files.items()},
        "DIRECTORIES": directories,
        "SECONDS_LIMIT": "",
        "JOBS": "",
        "PACKAGE": "",
        **more,
    }
    # as a runner starts the shell `bash`
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("gate")["run"]]
    ended = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return (ended.returncode, ended.stdout + ended.stderr, outputs, files["GITHUB_STEP_SUMMARY"].read_text())


@pytest.mark.slow
def test_the_action_judges_reports_and_fails(place: Path):
    """Outputs and summary are written whether it passes or not, and the exit code is the gate's (D-50-03)."""
    code, out, outputs, summary = run_gate(place, "modules\n\n")
    assert code == 1, out
    assert outputs["verdict"] == "FAIL"
    results = json.loads(Path(outputs["sarif"]).read_text())["runs"][0]["results"]
    assert {one["ruleId"] for one in results} == {"contract.invalid"}
    assert "1 of 2 modules pass" in summary
    assert "`contract.invalid` contract.json" in summary
    code, out, outputs, summary = run_gate(place, "modules/sound\n", JOBS="1", SECONDS_LIMIT="60")
    assert (code, outputs["verdict"]) == (0, "PASS"), out
    assert "| UNCHANGED |" in summary


def test_the_action_says_what_is_wrong_with_its_inputs(place: Path):
    """A name is never a command or an option, and no report is named that is not there (D-50-03)."""
    for hostile in ("$(touch hacked); touch hacked", "--fix"):
        code, out, outputs, summary = run_gate(place, hostile)
        assert (code, outputs, summary) == (2, {"verdict": "FAIL"}, ""), out
        assert "there is no such directory" in out
    assert not (place / "hacked").exists()


@pytest.mark.slow
def test_the_action_judges_a_package_where_it_is(place: Path):
    """A call that contradicts a documented example fails the job, and stands in both reports (D-50-03)."""
    code = 'def add(a: int, b: int) -> int:\n    """Add.\n\n    >>> add(2, 3)\n    {}\n    """\n    return a + b\n'
    results: dict[str, Any] = {}
    for gives in ("5", "6"):
        (place / "sums.py").write_text(code.format(gives))
        ended, _, outputs, summary = run_gate(place, ".", PACKAGE="sums.py", SECONDS_LIMIT="30")
        reported = json.loads(Path(outputs["sarif"]).read_text())["runs"][0]["results"]
        levels = [one["level"] for one in reported if one["level"] == "error"]
        results[gives] = (ended, outputs["verdict"], levels, "add" in summary)
    assert results == {"5": (0, "PASS", [], True), "6": (1, "FAIL", ["error"], True)}


def test_the_steps_of_the_action_are_shell_and_take_inputs_as_variables():
    """No expression stands within a script, every output is one that the step writes (D-50-03)."""
    scripts = [one["run"] for one in ACTION["runs"]["steps"] if "run" in one]
    assert len(scripts) == 3
    for script in scripts:
        assert "${{" not in script
        subprocess.run(["bash", "-n", "-c", script], check=True)
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.gate.outputs.{name} }}}}"
        assert f"{name}=" in step("gate")["run"]
    used = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(ACTION["inputs"])


def test_a_summary_shows_what_a_module_says_as_text():
    """Messages hold parts of code that nobody has read: no link, image, mention or tag comes of them (D-50-03)."""
    finding = Finding("tests.failed", "tests/a.py", "<img src=x> [x](http://e) ![](y) @all | `b`\nnext")
    verdict = DirectoryVerdict("a|b", (finding,))
    text = markdown_report([JudgedModule(Path("a"), BatchResult.FAIL, verdict, 1.0)])
    line = next(line for line in text.splitlines() if line.startswith("- "))
    assert line.startswith(
        "- `tests.failed` tests/a.py: &lt;img src=x&gt; \\[x\\](http://e) \\!\\[\\](y) &#64;all \\| \\`b\\` next"
    )
    assert "| FAIL | a a\\|b | 1 | 1.0 |" in text
    module = JudgedModule(Path("b"), BatchResult.FAIL, verdict, 1.0)
    assert line_of(module).split() == ["FAIL", "b", "a|b", "1.0", "s"]


@pytest.mark.slow
def test_the_hook_as_it_is_run(place: Path):
    """With the names of files after its command, as pre-commit gives them (D-50-03)."""
    words = HOOK["entry"].split()[1:]
    command = [sys.executable, "-P", "-m", "ship_gate", *words, "modules/sound/examples.md", "other.py"]
    ended = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended
    assert ended.stdout.startswith("PASS")
