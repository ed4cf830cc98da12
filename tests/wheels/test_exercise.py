"""A wheel in an environment of its own: installed, imported, called (D28)."""

import os
import sys
import time
from pathlib import Path

import pytest

from ship_gate.contract.examples import Example
from ship_gate.contract.independent_tests import Property
from ship_gate.ship_gate import SandboxedShipGate
from specwright.bounded_process import run_bounded
from specwright.ports import ApprovedExample, ApprovedProperty, ProductPackage
from specwright.wheels import FlitPackager
from specwright.wheels.environment import own_pip
from specwright.wheels.wheel import build_wheel
from testkit.wheels.packaged import example, exercised

GATE = SandboxedShipGate()


def with_examples(product: ProductPackage, *examples: str) -> ProductPackage:
    """A product of the first module alone, with these examples."""
    first = product.modules[0]._replace(examples="".join(examples))
    return product._replace(modules=(first,), task_facing=("clean",))


def test_a_sound_product_installs_into_an_empty_environment_and_runs_all_its_examples(
    product: ProductPackage,
) -> None:
    """Sync, async, errors and files, against the package instead of `modules` (D-28-02, D-21-04)."""
    report = exercised(product)
    assert report.detail == (
        "text_tools-1.2.0-py3-none-any.whl installs into an empty environment and imports as `text_tools`; "
        "exported names: 4, examples run: 5."
    )
    assert report.result == "PASS"
    assert [(outcome.module, outcome.heading) for outcome in report.examples] == [
        ("clean", "Blanks"),
        ("slugify", "A title"),
        ("slugify", "Awaited"),
        ("slugify", "Nothing"),
        ("save", "A file"),
    ]


def test_examples_set_the_clock_of_a_product(product: ProductPackage) -> None:
    """Issue 22: as in a module's own gate, and a sleep takes no time."""
    sets = "from modules.testing import clock\nimport time\nclock.set('2024-05-01T12:00:00+00:00')"
    later = example(
        "A day",
        f"{sets}\ntime.sleep(86400)\n(time.ctime(), clock.slept)",
        "('Thu May  2 12:00:00 2024', [86400.0])",
    )
    report = exercised(with_examples(product, later))
    assert (report.result, [outcome.detail for outcome in report.examples]) == ("PASS", [""])


@pytest.mark.slow
def test_examples_that_come_out_otherwise_make_the_product_fail_with_both_sides_told(
    product: ProductPackage,
) -> None:
    """The detail names module, example, what was expected and what came; the others still ran (D-28-02)."""
    head = "from modules.clean import clean\n"
    report = exercised(
        with_examples(
            product,
            example("Right", f"{head}clean(' a')", "'a'"),
            example("Wrong", f"{head}clean(' a')", "'b'"),
            example("No error", f"{head}clean(' a')", "ValueError: empty"),
            example("Hangs", "import select\nselect.select((), (), (), 60)\n1", "1"),
            example("Leaves", "import os\nos._exit(3)\n1", "1"),
            example("A missing file", "open('nowhere')", "OSError: [Errno 2]"),
        ),
        example=3.0,
    )
    assert report.result == "FAIL"
    assert {outcome.heading: outcome.detail for outcome in report.examples} == {
        "Right": "",
        "Wrong": "it gives \"'a'\", the text block says \"'b'\"",
        "No error": "it gives \"'a'\", the text block says 'ValueError: empty'",
        "Hangs": "it was not done after 3 s",
        "Leaves": "the process ended without a report",
        "A missing file": "",
    }
    assert report.detail == (
        "4 of 6 trials fail against the installed package. "
        "clean, example 'Wrong': it gives \"'a'\", the text block says \"'b'\". "
        "clean, example 'No error': it gives \"'a'\", the text block says 'ValueError: empty'. "
        "clean, example 'Hangs': it was not done after 3 s."
    )


def test_modules_that_are_wrong_together_are_told_by_task_and_criterion(product: ProductPackage) -> None:
    """What was approved is tried on the whole package, as a user imports it (D-41-01)."""
    code = "from text_tools import slugify\nslugify(' A b ')"
    approved = [
        ApprovedExample("TSK-002", Example(heading, heading, code, gives, 1))
        for heading, gives in (("criterion 1, Cleaned", "'a-b'"), ("criterion 2, Kept", "'A-b'"))
    ]
    report = exercised(product._replace(modules=product.modules, approved=tuple(approved)))
    assert report.result == "FAIL"
    assert report.detail == (
        "1 of 7 trials fail against the installed package. "
        "TSK-002, example 'criterion 2, Kept': it gives \"'a-b'\", the text block says \"'A-b'\"."
    )


def test_a_property_is_tried_on_the_whole_package(product: ProductPackage) -> None:
    """With values that no example has; the detail names task, criterion, values and what came out (D-41-01)."""
    code = "from text_tools import slugify\nslugify(text)"
    approved = [
        ApprovedProperty("TSK-002", Property(heading, f"{code} {holds}", {"text": "str"}, ("EmptyTitle",)))
        for heading, holds in (
            ("criterion 1, No blank", ".find(' ') < 0"),
            ("criterion 2, Ascii", ".isascii()"),
        )
    ]
    report = exercised(product._replace(properties=tuple(approved)))
    assert report.result == "FAIL"
    assert report.detail.startswith(
        "1 of 7 trials fail against the installed package. TSK-002, property 'criterion 2, Ascii': for text="
    )
    assert "its code gives False." in report.detail


@pytest.mark.slow
def test_a_property_whose_call_does_not_end_fails(product: ProductPackage, make_module) -> None:
    """A hang is a counterexample (D-41-01)."""
    module = make_module(
        "lone", '__all__ = ["lone"]\ndef lone(n):\n    while n == 3:\n        pass\n    return n\n'
    )
    one = Property("criterion 1, Itself", "from text_tools import lone\nlone(n) == n", {"n": "int"})
    spoilt = product._replace(
        modules=(module,), task_facing=("lone",), properties=(ApprovedProperty("TSK-001", one),)
    )
    assert "for n=3 a call does not end" in exercised(spoilt).detail


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("import socket\nsocket.socket()\n", "PermissionError"),
        pytest.param("open('/etc/passwd')\n", "FileNotFoundError", marks=pytest.mark.slow),
        pytest.param("import subprocess\nsubprocess.run(['/bin/true'])\n", "Error", marks=pytest.mark.slow),
    ],
)
def test_a_wheel_that_reaches_out_when_it_is_imported_makes_the_product_fail(
    product: ProductPackage, make_module, does: str, says: str
) -> None:
    """The sandbox is around the installed package as it is around a module (D-41-01)."""
    module = make_module("lone", f'__all__ = ["lone"]\n{does}def lone(text): return text\n')
    report = exercised(product._replace(modules=(module,), task_facing=("lone",)))
    assert report.result == "FAIL"
    assert report.detail.startswith("`import text_tools` fails: ")
    assert says in report.detail


def test_an_example_sees_a_fresh_directory_no_environment_and_the_hash_seed_of_the_gate(
    product: ProductPackage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was true at the ship gate is true here, whoever runs it (D-28-02)."""
    monkeypatch.setenv("SPECWRIGHT_SECRET", "x")
    monkeypatch.setenv("PYTHONHASHSEED", "12345")
    seeded = [sys.executable, "-c", "print(hash('a'))"]
    gate = run_bounded(seeded, cwd=Path.cwd(), env={"PYTHONHASHSEED": "0"}, seconds=30, most=100)
    look = "import os, sys\nos.environ.get('SPECWRIGHT_SECRET'), os.listdir(), sys.path[0] == os.getcwd()"
    report = exercised(
        with_examples(
            product,
            example("Seed", "hash('a')", gate.stdout.decode().strip()),
            example("Surroundings", look, "(None, [], False)"),
        )
    )
    assert report.detail.endswith("examples run: 2.")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import no_such_package\n", "`import text_tools` fails: ModuleNotFoundError"),
        pytest.param(
            "raise SystemExit(0)\n", "`import text_tools` fails: SystemExit: 0", marks=pytest.mark.slow
        ),
        pytest.param(
            "import os\nos._exit(0)\n",
            "`import text_tools` fails: the process ended without a report",
            marks=pytest.mark.slow,
        ),
        pytest.param("import sys\nsys.stdout.write('{}')\n", "", marks=pytest.mark.slow),
    ],
)
def test_a_wheel_that_does_not_import_makes_the_product_fail(
    product: ProductPackage, make_module, source: str, reason: str
) -> None:
    """A FAIL with the error, never a traceback of ours; printing on import is no report (D-28-02)."""
    module = make_module("lone", f'__all__ = ["lone"]\n{source}def lone(text): return text\n')
    report = exercised(product._replace(modules=(module,), task_facing=("lone",)))
    assert report.result == ("FAIL" if reason else "PASS")
    assert report.detail.startswith(reason)


@pytest.mark.slow
def test_a_package_that_is_not_what_the_product_says_fails(product: ProductPackage, make_module) -> None:
    """Another version, an export that is missing or cannot be called (D-28-02)."""
    wheel = FlitPackager(GATE).build(product)
    missing = wheel._replace(exports=(*wheel.exports, "ghost"))
    assert FlitPackager(GATE).exercise(missing, product).detail == "`text_tools` does not export ghost"
    later = product._replace(version="1.3.0")
    assert FlitPackager(GATE).exercise(wheel, later).detail == "the version is 1.3.0, the package says 1.2.0"
    constant = make_module("lone", '__all__ = ["lone"]\nlone = 3\n')
    report = exercised(product._replace(modules=(constant,), task_facing=("lone",)))
    assert report.detail == "`text_tools` exports what cannot be called: lone"


@pytest.mark.slow
def test_a_file_that_is_no_wheel_makes_the_product_fail(product: ProductPackage) -> None:
    """pip's last words are the detail (D-28-02)."""
    wheel = FlitPackager(GATE).build(product)._replace(content=b"not a zip")
    report = FlitPackager(GATE).exercise(wheel, product)
    assert report.result == "FAIL"
    assert report.detail.startswith("text_tools-1.2.0-py3-none-any.whl cannot be installed: ")


@pytest.mark.slow
def test_the_environment_gets_a_pip_of_its_own_where_this_interpreter_has_none(
    product: ProductPackage,
) -> None:
    """The factory may run from an environment without pip (D-28-02)."""
    report = FlitPackager(GATE).exercise(build_wheel(product), product, with_own_pip=False)
    assert report.result == "PASS"


@pytest.mark.slow
def test_a_requirement_that_cannot_be_had_makes_the_product_fail(
    product: ProductPackage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requirements are installed as the person's pip is set up, here to look nowhere (D-23-02)."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    report = exercised(product._replace(requires=("no-such-package-of-ours",)))
    assert report.result == "FAIL"
    assert "what the product requires cannot be installed" in report.detail
    assert "no-such-package-of-ours" in report.detail


@pytest.mark.skipif(os.name != "posix", reason="process groups are a POSIX notion")
@pytest.mark.parametrize(
    ("most", "says"), [(1000, "printed more than 1,000 bytes"), (1 << 40, r"did not finish within 0\.5 s")]
)
def test_a_process_that_floods_and_forks_is_bounded_and_leaves_nothing_behind(
    tmp_path: Path, most: int, says: str
) -> None:
    """Time and output are bounded, and what it started ends with it (rule 4 of §1)."""
    script = (
        f"sleep 30 & echo $! > {tmp_path}/child; "
        "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"
    )
    with pytest.raises(OSError, match=says):
        run_bounded(["/bin/sh", "-c", script], cwd=tmp_path, env={"PATH": os.defpath}, seconds=0.5, most=most)
    assert not alive(int((tmp_path / "child").read_text()))


def alive(pid: int) -> bool:
    """Whether a process still runs a moment later; one that only waits to be reaped does not."""
    for _ in range(50):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.02)
    return True


def test_this_interpreter_tells_whether_it_has_pip() -> None:
    """The quick way is taken only where there is one (D-28-02)."""
    pip = [sys.executable, "-m", "pip", "--version"]
    assert own_pip() is (run_bounded(pip, cwd=Path.cwd(), env={}, seconds=30, most=100).returncode == 0)
