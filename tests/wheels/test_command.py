"""The command of a product: rendered from contracts, installed, called, called wrongly, interrupted (D45)."""

import json
import signal
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from specwright.domain.interfaces.records import Interfaces
from specwright.wheels.wheel import build_wheel
from testkit.interfaces.notebook import STAMP, notebook
from testkit.wheels.packaged import exercised, unpacked


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the wheel is unpacked."""
    return unpacked(notebook(), tmp_path_factory.mktemp("site"))


class Console:
    """Calls the command with nothing but Python, in a folder."""

    def __init__(self, site: Path, folder: Path) -> None:
        self.site, self.folder = site, folder

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """A process of the command."""
        code = "from notebook._shell.command import main; sys.exit(main())"
        return subprocess.Popen(
            [
                sys.executable,
                "-I",
                "-S",
                "-c",
                f"import sys; sys.path.insert(0, {str(self.site)!r}); {code}",
                *words,
            ],
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"LC_ALL": "C.UTF-8"},
        )

    def __call__(self, *words: str, stdin: bytes = b"") -> tuple[int, str, str]:
        process = self.start(*words)
        stdout, stderr = process.communicate(stdin, timeout=30)
        return process.returncode, stdout.decode(), stderr.decode()


@pytest.fixture
def console(site: Path, tmp_path: Path) -> Console:
    """A folder with two notes and settings."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("a tree\nA TREE\n")
    (tmp_path / "notes/b.md").write_text("none\n!lost\x1b[31m\n")
    (tmp_path / "s.toml").write_text('title = "T"\nskip = ["none"]\n[limits]\nlines = 3\n')
    return Console(site, tmp_path)


def test_two_renders_give_the_same_bytes_and_no_requirement():
    """The wheel with its shell is reproducible and needs nothing but Python (D-45-02, D-45-03)."""
    first, second = build_wheel(notebook()), build_wheel(notebook())

    assert first.content == second.content
    with zipfile.ZipFile(BytesIO(first.content)) as archive:
        names = {name: archive.read(name).decode() for name in archive.namelist()}
    assert "notebook=notebook._shell.command:main" in names["notebook-1.2.0.dist-info/entry_points.txt"]
    assert "Requires-Dist" not in names["notebook-1.2.0.dist-info/METADATA"]
    assert (
        "### `notebook find DIR WORD ... [--case CASE] [--weight DECIMAL] [--strict] [--json]`"
        in (names["notebook-1.2.0.dist-info/METADATA"])
    )


def test_a_product_without_interfaces_has_no_shell():
    """The wheel is what it was (D-45-01)."""
    plain = notebook()._replace(interface=None, guide="")

    with zipfile.ZipFile(BytesIO(build_wheel(plain).content)) as archive:
        assert [name for name in archive.namelist() if "_shell" in name or "__main__" in name] == []


def test_help_comes_from_the_contracts(console: Console):
    """Purposes, constraints, choices, defaults, and the exit code of each error (D-45-04, D-45-05)."""
    code, told, _ = console("find", "--help")

    assert code == 0
    for part in (
        "Find 100% of the words in the notes of a folder.",
        " DIR ",
        " is a folder\n",
        "--case CASE",
        " one of keep, fold\n",
        "--strict, --no-strict",
        "1   the result is not empty",
        "3   BadPattern: a word is empty",
        "2   wrong usage or input",
    ):
        assert part in told, told
    code, told, _ = console("--help")
    assert all(f"    {name}" in told for name in ("find", "summary", "stamp"))
    assert console("--version")[1] == "notebook 1.2.0\n"


def test_results_are_tables_and_json(console: Console):
    """A list of records is a table, and JSON has its fields; the exit code says that there is something (D-45-04)."""
    code, told, _ = console("find", "notes", "tree", "--case", "fold")

    assert code == 1
    assert told.splitlines() == [
        "path        line  text",
        "notes/a.md  1     a tree",
        "notes/a.md  2     A TREE",
    ]
    code, told, _ = console("find", "notes", "lost", "--json")
    assert json.loads(told) == [{"path": "notes/b.md", "line": 2, "text": "!lost\x1b[31m"}]
    assert "\x1b" not in console("find", "notes", "lost")[1]
    assert console("find", "notes", "nowhere") == (0, "", "")


def test_settings_are_a_record_in_toml(console: Console):
    """Known keys of the right types are read, defaults apply; anything else is refused with file and key (D-45-06)."""
    arguments = ("summary", "notes/b.md", "--day", "2026-01-31", "--settings")
    assert console(*arguments, "s.toml") == (5, "1\n!lost\\x1b[31m\n", "")
    told = json.loads(console(*arguments, "s.toml", "--json")[1])
    assert told == {"title": "T", "day": "2026-01-31", "lines": 1, "missing": ["!lost\x1b[31m"]}

    for text, problem in {
        'title = "T"\nskip = []\nlimit = 3': "s.toml: limit: there is no such key; known are title, limits, skip",
        'title = "T"\nskip = []\n[limits]\nlines = "3"': "s.toml: limits.lines: expected a whole number, found '3'",
        'title = "T"\nskip = [1]\n[limits]': "s.toml: skip[0]: expected a text, found 1",
        "title = 'T'\nskip = []": "s.toml: limits: it is missing",
        "title = ": "s.toml is not TOML: ",
    }.items():
        (console.folder / "s.toml").write_text(text)
        code, said, complaint = console(*arguments, "s.toml")
        assert (code, said) == (2, "")
        assert problem in complaint, complaint
    assert "missing.toml cannot be read: No such file or directory" in console(*arguments, "missing.toml")[2]


def test_declared_errors_have_their_exit_codes_and_a_fault_has_one_of_its_own(console: Console):
    """Messages go to stderr in one line without control characters; there is no traceback (D-45-05)."""
    assert console("find", "notes", "") == (3, "", "notebook: a word is empty\\x1b[31m\n")
    assert console("find", "notes", "boom") == (70, "", "notebook: fault in find: KeyError: 'boom'\n")
    assert console("stamp", "out.txt") == (4, "", "notebook: there are no lines\n")
    assert console("stamp", "no/out.txt", stdin=b"x\n")[:2] == (1, "")


FIND, SUMMARY = ("find", "notes", "x"), ("summary", "notes/a.md", "--settings", "s.toml")
WRONG_USAGE = [
    ((), "the following arguments are required: SUBCOMMAND"),
    (("fin",), "invalid choice: 'fin'"),
    (("find",), "the following arguments are required: DIR, WORD"),
    ((*FIND, "--case", "loud"), "--case: 'loud' is none of keep, fold"),
    ((*FIND, "--weight", "\x1b[1m"), "--weight: '\\x1b[1m' is not a number"),
    ((*FIND, "--cas", "keep"), "unrecognized arguments: --cas keep"),
    ((*FIND, "--\x1b[1m"), "unrecognized arguments: --\\x1b[1m"),
    (("find", "", "x"), "DIR: '' is not a path"),
    ((*SUMMARY, "--day", "20260131"), "'20260131' is not a date"),
    (("summary", "notes", *SUMMARY[2:]), "FILE: notes cannot be read: Is a directory"),
    (("stamp",), "the following arguments are required: TARGET"),
    ((*FIND, "--weight", "-1e5"), "expected one argument; write a value that begins with - after an"),
]


def test_wrong_usage_ends_with_2_and_a_line(console: Console):
    """Whatever stands on the line (D-45-05)."""
    for words, problem in WRONG_USAGE:
        code, told, complaint = console(*words)
        assert (code, told) == (2, ""), words
        assert problem in complaint
        assert complaint.startswith("usage: notebook")
        assert "Traceback" not in complaint


def test_stdin_is_a_parameter_and_a_reader_that_leaves_is_no_fault(console: Console):
    """Lines come from stdin; a closed pipe ends the command quietly (D-45-04)."""
    assert console("stamp", "out.txt", stdin=b"a\nb\n") == (0, "2\n", "")
    assert (console.folder / "out.txt").read_text() == "a\nb\n"
    (console.folder / "notes/c.md").write_text("tree\n" * 100_000)
    with console.start("find", "notes", "tree") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(30) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_streams_that_are_full_or_closed(console: Console):
    """What cannot be written or read is told in a line, with the exit code of an error of the system (D-45-05)."""
    start = "from notebook._shell.command import main; sys.exit(main())"
    program = f"import sys; sys.path.insert(0, {str(console.site)!r}); {start}"
    unwritten = "notebook: the result cannot be written: "
    for redirection, words, code, complaint in (
        (">/dev/full", "find notes tree", 3, f"{unwritten}No space left on device\n"),
        (">&-", "find notes tree", 3, f"{unwritten}Bad file descriptor\n"),
        ("<&-", "stamp out.txt", 2, "notebook stamp: LINES: - cannot be read: Bad file descriptor\n"),
        ("2>&-", "find notes", 2, ""),
    ):
        call = ["sh", "-c", f'exec "$0" -I -S -c "$1" {words} {redirection}', sys.executable, program]
        ended = subprocess.run(
            call, cwd=console.folder, capture_output=True, text=True, timeout=30, check=False
        )
        assert (ended.returncode, ended.stdout) == (code, ""), redirection
        assert ended.stderr.endswith(complaint)
        assert "Traceback" not in ended.stderr
        assert "Exception ignored" not in ended.stderr


ENDLESS_STAMP = '''
from __future__ import annotations

from pathlib import Path

__all__ = ["stamp"]


def stamp(target: Path, lines: list[str]) -> object:
    """Give what no page holds."""
    value: object = 10**5000
    if lines:
        for _ in range(5000):
            value = [value]
    return value
'''


def test_a_result_that_cannot_be_printed_is_a_fault(tmp_path: Path):
    """It is reported in a line, without a traceback; a function that ends the program decides no exit code (D-45-05)."""
    stamp = Console(unpacked(notebook(stamp=ENDLESS_STAMP), tmp_path / "endless"), tmp_path)
    for given, told in ((b"", "Exceeds the limit (4300 digits)"), (b"x", "it is nested too deeply")):
        for options in ((), ("--json",)):
            code, printed, complaint = stamp("stamp", "out.txt", *options, stdin=given)
            assert (code, printed) == (70, "")
            assert complaint.startswith(f"notebook: the result of stamp cannot be printed: {told}")
            assert complaint.count("\n") == 1
    leaving = "    if lines:\n        raise SystemExit(0)\n    if not lines:"
    ending = notebook(stamp=STAMP.replace("    if not lines:", leaving))
    ended = Console(unpacked(ending, tmp_path / "ending"), tmp_path)("stamp", "out.txt", stdin=b"x")
    assert ended == (70, "", "notebook: fault in stamp: SystemExit: 0\n")


def test_an_interruption_ends_with_130(console: Console):
    """Ctrl-C while it waits for its input leaves one line and no traceback (D-45-08)."""
    with console.start("stamp", "out.txt") as process:
        assert process.stdin is not None
        process.stdin.write(b"x\n" * 200_000)  # more than a pipe holds: from here on the command reads
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b"notebook: interrupted\n"
    assert not (console.folder / "out.txt").exists()


ALONE = Interfaces.model_validate(
    {
        "command": {
            "name": "find-notes",
            "calls": "find",
            "parameters": [
                {"parameter": "words", "place": "option", "name": "word", "short": "w"},
                {"parameter": "case", "name": "c"},
                {"parameter": "strict", "short": "s"},
            ],
            "exits": [{"code": 1, "when": "filled"}],
        }
    }
)


def test_a_command_that_calls_one_function_and_letters_of_options(console: Console, tmp_path: Path):
    """`find-notes DIR -w WORD` needs no subcommand; help, version and wrong usage are those of the command
    (D-45-01, D-45-04, D-45-05)."""
    alone = Console(unpacked(notebook(interfaces=ALONE), tmp_path / "alone"), console.folder)

    assert alone("notes", "-w", "tree", "-sc", "fold") == alone(
        "notes", "--word", "tree", "--c", "fold", "--strict"
    )
    code, told, _ = alone("notes", "-w", "tree", "-w", "none")
    assert (code, len(told.splitlines())) == (1, 3)
    code, told, _ = alone("--help")
    assert code == 0
    for part in (
        "usage: find-notes",
        "-w TEXT, --word TEXT",
        "-c CASE, --c CASE",
        "-s, --strict, --no-strict",
    ):
        assert part in told, told
    assert alone("--version")[1] == "find-notes 1.2.0\n"
    code, told, complaint = alone("notes", "-w", "tree", "-c", "loud")
    assert (code, told) == (2, "")
    assert complaint.endswith("find-notes: -c/--c: 'loud' is none of keep, fold\n")


def test_an_error_has_another_exit_code_than_a_result(console: Console, tmp_path: Path):
    """1 is what the spec says of a result, so that an error, declared or of the system, ends with 3; a spec may say
    otherwise (D-45-05)."""
    alone = Console(unpacked(notebook(interfaces=ALONE), tmp_path / "alone"), console.folder)
    assert alone("notes", "-w", "tree")[0] == 1
    assert alone("notes", "-w", "")[0] == 3
    (console.folder / "notes/x.md").mkdir()
    assert alone("notes", "-w", "tree")[0] == 3
    assert ALONE.command is not None
    stated = ALONE.command.model_copy(update={"errors": {"BadPattern": 5, "*": 9}})
    (entry,) = document_of(ALONE.model_copy(update={"command": stated}))["command"]["uses"]
    assert (entry["errors"], entry["other_errors"]) == ({"BadPattern": 5}, 9)


def document_of(interfaces: Interfaces) -> Mapping[str, Any]:
    """What is rendered for the notebook."""
    document = notebook(interfaces=interfaces).interface
    assert document is not None
    return document


@pytest.mark.slow
def test_a_release_tries_the_command():
    """Installed, started, called wrongly (D-45-08)."""
    report = exercised(notebook())

    assert report.result == "PASS", report.detail
    assert "examples run: 3, uses of the command: " in report.detail
    tried = [one.heading for one in report.examples if one.kind == "command"]
    for heading in ("notebook summary --help", "notebook find --no-such-option"):
        assert heading in tried


@pytest.mark.slow
def test_a_command_that_prints_what_it_should_not_fails_the_product():
    """Each use that ends otherwise is told with what it printed (D-45-08)."""
    report = exercised(notebook(stamp=f"{STAMP}\nprint('loud')\n"))

    assert report.result == "FAIL"
    failed = {one.heading: one.detail for one in report.examples if not one.passed}
    assert failed["notebook --version"] == "it prints 'loud\\nnotebook 1.2.0\\n'"
