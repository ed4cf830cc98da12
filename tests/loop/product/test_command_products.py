"""A product with a command, from its SPEC.md to what the installed command prints (D45)."""

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage

from specwright.bootstrap.project import Silent, open_project
from specwright.domain.interfaces.records import VALUES
from specwright.ports import Place, Role
from specwright.settings import Settings
from testkit.cli.commands import specwright
from testkit.loop.acceptance_reports import report_of
from testkit.loop.products import replace
from testkit.paths import PRODUCTS
from testkit.roles.overheard import RequestRecorder

TALLY = PRODUCTS / "tally"
"""A product with a command of three subcommands and an HTTP API: one task, three modules."""
SPEC = (TALLY / "SPEC.md").read_text()
QUOTE = "It should have a window with buttons."


def playbook(directory: Path, quote: str = QUOTE) -> Path:
    """The playbook, whose researcher says of this sentence of SPEC.md that it is not built."""
    shutil.copytree(TALLY / "playbook", directory)
    replace(directory / "researcher/spec.json", QUOTE, quote)
    return directory


def run(directory: Path, *options: str, quote: str = QUOTE):
    """A run of the playbook."""
    (directory / "SPEC.md").write_text(SPEC)
    model = f"playbook:{playbook(directory / 'playbook', quote)}"
    return specwright(
        "run", directory / "project", "--spec", directory / "SPEC.md", "--model", model, *options
    )


def test_the_person_reads_first_what_is_not_built(tmp_path: Path):
    """In the terminal, on the page, and for a program; then the command (D-45-09, D-45-01)."""
    told = run(tmp_path)

    assert told.code == 3, told
    page = " ".join(told.out.split())
    assert page.startswith(
        "NOT BUILT: SPEC.md asks for this, and it will be missing (1 in all). "
        f'"{QUOTE}": No graphical interface is built; the command comes nearest. Tally: 1 task'
    )
    assert (
        "To start: the command tally: find, join, longest; the HTTP API tally-http: /longest, /find_marked"
        in page
    )
    document = specwright("status", tmp_path / "project", "--json").document
    assert document["outside"] == [
        {"quote": QUOTE, "why": "No graphical interface is built; the command comes nearest."}
    ]


def test_a_sentence_that_spec_md_does_not_have_is_refused(tmp_path: Path):
    """The researcher is told, and nothing waits for approval (D-45-09)."""
    told = run(tmp_path, quote="It should have many windows.")

    assert told.code == 1, told
    assert (
        "'It should have many windows.' does not stand in SPEC.md; quote its sentence to the letter"
        in told.err
    )


class PlannerAsked(BaseException):
    """Ends a run at the first request to its planner, which it holds."""


class UpToThePlanner(RequestRecorder):
    """Lets a run go on up to its planner."""

    def record(self, place: Place, messages: list[BaseMessage], tools: object) -> None:
        if place.role is Role.PLANNER:
            raise PlannerAsked(messages[-1].text)


def test_the_planner_reads_what_calls_what_it_plans(tmp_path: Path):
    """The command, the API, and what they pass and print (D-45-01)."""
    (tmp_path / "project").mkdir()
    settings = Settings(model=f"playbook:{playbook(tmp_path / 'playbook', QUOTE)}")
    heard = UpToThePlanner(tmp_path / "project", lambda place, project: None)
    opened = open_project(tmp_path / "project", settings, Silent(), SPEC, heard.composition)
    with opened as factory:
        factory.driver.advance()
        with pytest.raises(PlannerAsked) as asked:
            factory.driver.advance({"action": "APPROVE", "by": "human:operator"})
    told = str(asked.value)
    assert "# What calls it\n\nCode makes this, no module:\n\n" in told
    assert "- the command `tally longest` calls `longest`\n" in told
    assert "- the route `/longest` calls `longest`\n" in told
    assert VALUES in told


@pytest.mark.nightly
def test_an_example_that_fails_is_a_question_and_without_it_the_command_works_where_it_is_installed(
    tmp_path: Path,
):
    """The release names criterion, call and outcome; struck by the person, the wheel is released, and its command runs on
    files (D-45-08, D-45-02)."""
    project = tmp_path / "project"
    told = run(tmp_path, "--approve")
    assert told.code == 1, told
    (escalation,) = specwright("escalations", project, "--json").document["escalations"]
    (broken,) = escalation["details"]["broken"]
    assert {name: broken[name] for name in ("task", "criteria", "title", "call", "outcome", "modules")} == {
        "task": "TSK-001",
        "criteria": [2],
        "title": "A wrong word",
        "call": "from tally import join_lines, longest\nlongest([join_lines(['a', 'bc'])])",
        "outcome": "it gives \"'a, bc'\", the text block says \"'a'\"",
        "modules": ["join_lines", "longest"],
    }

    draft = specwright("escalations", escalation["escalation_id"], project, "--draft", "AMEND_SPEC").out
    (tmp_path / "answer.json").write_text(draft.replace('"..."', '"It was wrong."'))
    answer = (
        "resolve",
        escalation["escalation_id"],
        "AMEND_SPEC",
        project,
        "--payload",
        tmp_path / "answer.json",
    )
    assert "resolved" in specwright(*answer).err  # the release that failed is still the last one
    told = specwright("release", project, "--json")
    assert told.code == 0, told
    detail = told.document["manifest"]["product"]["detail"]
    assert ("uses of the command: " in detail, "uses of the HTTP API: " in detail) == (True, True)
    shown = report_of(project)["tasks"][0]["criteria"][1]
    assert shown["status"] == "SHOWN"
    kinds = [(one["kind"], one["name"], one["result"]) for one in shown["evidence"]][:1]
    assert kinds == [("example", "Words", "PASS")]

    venv.EnvBuilder(with_pip=False, symlinks=True).create(tmp_path / "env")
    python, wheel = tmp_path / "env/bin/python", told.document["wheel"]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--quiet", wheel]
    subprocess.run(pip, check=True)
    (tmp_path / "list.txt").write_text("a\n?b\n")
    (tmp_path / "s.toml").write_text('mark = "?"\nmost = 1\n')
    for words, code, out in (
        (("find", "list.txt", "--settings", "s.toml"), 1, "line  text\n2     ?b\n"),
        (("find", "list.txt", "--settings", "s.toml", "--json"), 1, [{"line": 2, "text": "?b"}]),
        (("longest", "a", "\x1b[1m", "--json"), 0, "\x1b[1m"),
        (("longest", "--", "--json"), 0, "--json\n"),
        (("find", "list.txt", "--settings", "list.txt"), 2, ""),
    ):
        command = [python.with_name("tally"), *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code, done
        is_json = words[-1] == "--json" and "--" not in words
        assert (json.loads(done.stdout) if is_json else done.stdout) == out
        assert "Traceback" not in done.stderr
