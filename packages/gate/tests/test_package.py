"""Functions judged where they are: right ones are never wrong, wrong ones are never shown (design: package-gate)."""

import json
import shutil
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from ship_gate.package.reports import REPORTS, document
from ship_gate.package.tree import installed_folders
from ship_gate.package.verdict import judge_package

ZOO = Path(__file__).with_name("package_zoo.txt")
NOT_SHOWN = {
    *("today_is", "listing", "split_bill", "unreached", "weak", "silent", "forged", "hangs", "waits"),
    *("half_as_float", "truth", "evens"),
}
WRONG = {"trebled", "doubled", "absent", "tested", "refused", "crashes", "measured"}


@pytest.mark.timeout(300)
@pytest.mark.slow
def test_what_is_known_of_each_function(tmp_path: Path):
    """F§11: a function is as its own module says that it is, judged in the folder of all; what is not shown is an error
    with --strict alone (D-60-01, D-60-02, D-60-05)."""
    for case in ZOO.read_text(encoding="utf-8").split("=== ")[1:]:
        name, _, text = case.partition("\n")
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    with chdir(tmp_path):
        report = judge_package(Path(), seconds=300)
    verdict = report.verdict
    found = {one.function.qualname: (str(one.verdict), one.basis, one.findings) for one in verdict.functions}
    due = {n: "WRONG" if n in WRONG else "NOT SHOWN" if n in NOT_SHOWN else "SHOWN" for n in found}
    assert {n: one for n, one in found.items() if one[0] != due[n]} == {}
    assert len(found) > 30
    notes = "\n".join(verdict.notes)
    for part in (
        "test_needs_a_host does not hold",
        "test_ends_the_process",
        "no_such_package_anywhere",
        "(the sandbox refuses",
    ):
        assert part in notes
    unshown = verdict._replace(functions=tuple(one for one in verdict.functions if not one.findings))
    calm = report._replace(verdict=unshown)
    for one in (calm, calm._replace(strict=True)):
        assert one.failed is one.strict
        assert ('"level": "error"' in REPORTS["sarif"](one)) is one.strict


def test_another_error_than_the_stated_one_is_named(tmp_path: Path):
    """The finding has what came, however long its traceback is (D-60-01)."""
    (tmp_path / "odd.py").write_text(
        'def odd(n: int) -> int:\n    """Refuse.\n\n    >>> odd(3)\n    Traceback (most recent call last):\n'
        '    ValueError: n\n    """\n    return deeper(n, 9)\n\n\n'
        "def deeper(n: int, times: int) -> int:\n    if not times:\n        raise TypeError('odd')\n"
        "    return deeper(n, times - 1)\n"
    )
    with chdir(tmp_path):
        (found,) = judge_package(Path(), seconds=100).verdict.functions[0].findings
    assert found.message == "odd(3)\ngives TypeError: odd; stated is ValueError: n"


def test_a_stated_error_is_joined_with_what_came(tmp_path: Path):
    """What the docstring states, the call, and the error that came in its place, or none (D-60-01)."""
    raises = "    Raises:\n        ValueError: if it is negative.\n"
    (tmp_path / "stated.py").write_text(
        f'def never(n: int) -> int:\n    """Add.\n\n{raises}    """\n    return n + 1\n\n\n'
        f'def other(n: int) -> int:\n    """Add.\n\n{raises}    """\n'
        "    if n < 0:\n        raise TypeError('negative')\n    return n + 1\n\n\n"
        f'def unseen(n: int) -> int:\n    """Add.\n\n{raises}    """\n'
        "    if n < 0:\n        raise KeyError(n)\n    return n + 1\n"
    )
    block = "    with pytest.raises(ValueError):\n"
    (tmp_path / "test_stated.py").write_text(
        "import pytest\nfrom stated import *\n\n"
        f"def test_never():\n{block}        never(-1)\n\ndef test_other():\n{block}        other(-1)\n\n"
        "def test_unseen():\n    assert unseen(1) == 2\n"
    )
    with chdir(tmp_path):
        never, other, unseen = judge_package(Path(), seconds=200).verdict.functions
    assert never.findings[0].message.endswith("raises no error; stated is ValueError, in its docstring too")
    said = "other(-1)\nraises TypeError: negative; stated is ValueError, in its docstring too"
    assert other.findings[0].message == said
    assert "nothing shows the stated ValueError, but unseen(-1) raises KeyError" in unseen.basis


def test_a_fault_at_a_boundary_counts_where_an_input_can_tell_it(tmp_path: Path):
    """A fault that no input tells from the function is left out; one that an input tells counts, and so does one that
    leaves something else behind; the call is named (D-60-02)."""
    (tmp_path / "bounds.py").write_text(
        "LOG: list[int] = []\n\n\n"
        'def clamp(x: int, low: int, high: int) -> int:\n    """Bring between."""\n'
        "    if low > high:\n        raise ValueError('order')\n"
        "    if x < low:\n        return low\n    if x > high:\n        return high\n    return x\n\n\n"
        'def below(n: int) -> int:\n    """Sum."""\n    if n <= 0:\n        return 0\n    return sum(range(n))\n\n\n'
        'def adult(age: int, limit: int) -> bool:\n    """Old enough."""\n'
        "    if age < limit:\n        return False\n    return True\n\n\n"
        'def noted(x: int, limit: int) -> int:\n    """Note a few."""\n'
        "    if x < limit:\n        LOG.append(x)\n    return x\n"
    )
    (tmp_path / "test_bounds.py").write_text(
        "import pytest\nfrom bounds import *\n\n"
        "def test_clamp():\n    assert [clamp(n, 2, 4) for n in (1, 2, 3, 4, 9)] == [2, 2, 3, 4, 4]\n"
        "    assert clamp(2, 2, 2) == 2\n    pytest.raises(ValueError, clamp, 1, 3, 2)\n\n"
        "def test_below():\n    assert [below(n) for n in (-1, 0, 3)] == [0, 0, 3]\n\n"
        "def test_adult():\n    assert adult(20, 18) is True\n    assert adult(10, 18) is False\n\n"
        "def test_noted():\n    assert (noted(1, 2), noted(3, 2)) == (1, 3)\n    assert LOG == [1]\n"
    )
    with chdir(tmp_path):
        report = judge_package(Path(), seconds=200)
    clamp, below, adult, noted = report.verdict.functions
    assert (clamp.verdict, len(clamp.equivalent), clamp.unnoticed) == ("SHOWN", 2, ())
    assert (below.verdict, len(below.equivalent)) == ("SHOWN", 2)
    assert "2 more give the same for every input" in clamp.basis
    assert (adult.verdict, adult.equivalent, len(adult.unnoticed)) == ("NOT SHOWN", (), 1)
    assert adult.unnoticed[0].told_by.endswith("gives True, with the fault False")
    assert (noted.equivalent, len(noted.unnoticed)) == ((), 1)
    assert [len(one["equivalent"]) for one in document(report)["functions"]] == [2, 2, 0, 0]


def test_code_that_cannot_be_loaded_is_an_error(tmp_path: Path):
    """What cannot be read or imported fails in each report, strict or not, and is named with its place; what can be
    is judged (D-60-01, D-60-05)."""
    function = 'def {}(n: int) -> int:\n    """Same."""\n    return n\n'
    files = {
        "sound/__init__.py": "",
        "sound/sub/__init__.py": "",
        "sound/sub/broken.py": "X = 1\ndef broken(\n",
        "sound/_private.py": "def unused(\n",
        "sound/right.py": 'def right(n: int) -> int:\n    """Same.\n\n    >>> right(1)\n    1\n    """\n    return n\n',
        "empty.py": "raise ValueError\n",
        "unread.py": "def broken(\n",
        "failing.py": f"raise OSError('no disk')\n{function.format('failing')}",
        "extra.py": f"import a_package_that_is_not_installed\n{function.format('extra')}",
        "ending.py": f"import os\nos._exit(3)\n{function.format('ending')}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with chdir(tmp_path):
        report = judge_package(Path(), seconds=100)
        alone = judge_package(Path("unread.py"), seconds=100)
        one = judge_package(Path(), function="right", seconds=100)
    found = {finding.where: finding.message for finding in report.verdict.findings}
    assert found == {
        "sound/sub/broken.py:2": "sound.sub.broken cannot be read: SyntaxError: '(' was never closed",
        "unread.py:1": "unread cannot be read: SyntaxError: '(' was never closed",
        "failing.py": "failing cannot be loaded here: OSError: no disk",
        "ending.py": "ending cannot be loaded here: it ended the process",
    }
    for name in ("empty", "extra"):
        assert any(note.startswith(f"{name} cannot be loaded here") for note in report.verdict.notes), name
    assert {one.function.qualname: str(one.verdict) for one in report.verdict.functions}["right"] == "SHOWN"
    assert (alone.failed, alone.word, len(alone.verdict.findings)) == (True, "NOT SHOWN", 1)
    assert (report.failed, one.failed) == (True, False)
    for shown in (json.dumps(document(alone)["findings"]), *(write(alone) for write in REPORTS.values())):
        assert "unread cannot be read" in shown
    assert '"level": "error"' in REPORTS["sarif"](alone)


def test_a_reason_that_several_modules_share_is_said_once(tmp_path: Path):
    """An import that fails is one finding with the number of modules, and one note with that of the test files (D-60-01)."""
    (tmp_path / "shared.py").write_text("raise OSError('no disk')\n")
    for name in ("one", "three", "two"):
        (tmp_path / f"{name}.py").write_text(
            f'import shared\n\ndef {name}(n: int) -> int:\n    """Same."""\n    return n\n'
        )
        (tmp_path / f"test_{name}.py").write_text(
            f"import {name}\n\ndef test_it():\n    assert {name}.{name}(1)\n"
        )
    with chdir(tmp_path):
        verdict = judge_package(Path(), seconds=100).verdict
    (found,), (tests, *_) = verdict.findings, [one for one in verdict.notes if "test_" in one]
    assert (found.where, found.message) == (
        "one.py",
        "one and 3 more cannot be loaded here: OSError: no disk",
    )
    assert tests.startswith("test_one.py and 2 more cannot be run here: ")


@pytest.mark.slow
def test_each_process_of_a_run_has_a_temporary_folder_of_its_own(tmp_path: Path):
    """The tests of a project run in several processes at a time, and none empties the `tmp_path` of another."""
    (tmp_path / "counts.py").write_text('def add(a: int, b: int) -> int:\n    """Sum."""\n    return a + b\n')
    (tmp_path / "test_counts.py").write_text(
        "import time\nfrom counts import add\n\n"
        "def test_slow(tmp_path):\n    time.sleep(1)\n    (tmp_path / 'a').write_text('a')\n    assert add(1, 2) == 3\n\n"
        "def test_quick(tmp_path):\n    time.sleep(0.5)\n    assert add(2, 2) == 4\n"
    )
    with chdir(tmp_path):
        assert judge_package(Path(), seconds=100).verdict.notes == ()


def test_what_a_project_brings_along_opens_nothing_outside_of_it(tmp_path: Path):
    """Its `.venv` counts, but neither a folder that a `.pth` file names elsewhere nor a link that leads there."""
    project, secret = tmp_path / "project", tmp_path / "secret"
    site = project / f".venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    for folder in (site, project / "src", secret):
        folder.mkdir(parents=True)
    (site / "paths.pth").write_text(f"{secret}\n../../../../src\n{project / 'src'}\n")
    found = {folder.resolve() for folder in installed_folders(project)}
    assert found == {site, project / "src"}
    shutil.rmtree(site)
    site.symlink_to(secret)
    assert not any(folder.resolve().is_relative_to(secret) for folder in installed_folders(project))
