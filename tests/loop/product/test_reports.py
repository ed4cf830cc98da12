"""A bug of a released product is reported by an example: what is tried, asked and refused (D39). `test_repairs` has what
comes of it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from testkit.cli.commands import everything, specwright
from testkit.loop.reported_products import POINTER, example, report
from testkit.sampling import slow, spread
from testkit.stores import answered
from testkit.wires_heard import logged

pytestmark = pytest.mark.timeout(600)
"""The first test of a session builds a product."""

WRONG = '"ada lovelace"', "'XX'"
"""An example that fails."""


@pytest.fixture
def released(shop: Path, tmp_path: Path) -> Path:
    """A released product."""
    return Path(shutil.copytree(shop / "released", tmp_path / "released"))


def test_an_example_that_holds_changes_nothing(released: Path, tmp_path: Path) -> None:
    """It is said; log and store are as they were (D-39-01)."""
    before = logged(released), everything(released / "state_store"), {*answered(released)}
    told = report(released, example(tmp_path / "example.md", '"ada lovelace"'), POINTER, "--json")
    assert told.code == 0, told
    assert (told.document["holds"], told.document["exit_code"]) == (True, 0)
    assert (logged(released), everything(released / "state_store"), {*answered(released)}) == before


def test_who_asks_for_the_statements_is_shown_them(released: Path, tmp_path: Path) -> None:
    """Outcome, statements of the contract, criteria and the command are shown, and nothing is written: that is no
    error (D-39-02)."""
    before = logged(released), everything(released / "state_store")
    file = example(tmp_path / "example.md", *WRONG)
    told = report(released, file, "?")
    assert told.code == 0, told
    for shown in (
        "it gives",
        "'XX'",
        POINTER,
        "/error_surfaces/0",
        "criterion 1",
        f"--example {file} --pointer POINTER",
    ):
        assert shown in " ".join(told.out.split())
    document = report(released, file, "?", "--json").document
    assert (document["schema"], document["exit_code"]) == ("statements", 0)
    assert "'XX'" in document["observed"]
    assert POINTER in [row["pointer"] for row in document["statements"]]
    assert (logged(released), everything(released / "state_store")) == before


def test_what_no_statement_promises_becomes_a_change_request(
    shop: Path, released: Path, tmp_path: Path
) -> None:
    """It waits at the gate, with the example in it (D-39-05)."""
    told = report(released, example(tmp_path / "example.md", *WRONG), "", "--json")
    assert told.code == 3, told
    assert "initials(\"ada lovelace\")\n```\n\n```text\n'XX'" in told.document["change"]["request"]
    assert {*answered(released)} == {*answered(shop / "released")} | {"change-1.1/researcher"}


def text(content: str | bytes) -> Callable[[Path], Path]:
    """A file with this content."""

    def write(path: Path) -> Path:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def wrong(path: Path) -> Path:
    """An example that fails."""
    return example(path, *WRONG)


def call(given: str, before: str = "", module: str = "initials") -> Callable[[Path], Path]:
    """An example of this call."""

    def write(path: Path) -> Path:
        example(path, given, module=module)
        path.write_text(path.read_text().replace(f"{module}({given})", f"{before}{module}({given})"))
        return path

    return write


CASES: dict[str, tuple[Callable[[Path], Path], str, str]] = {
    "no file": (lambda path: path, POINTER, "cannot be read"),
    "a directory": (lambda path: path.parent, POINTER, "it is a directory"),
    "empty": (text("\n"), POINTER, "is empty"),
    "not text": (text(b"\xff\xfe\x00"), POINTER, "save it as UTF-8"),
    "huge": (text("x" * 8_001), POINTER, "8,001 bytes"),
    "no example": (text("It does not work.\n"), POINTER, "there is no example"),
    "no block": (text("## It fails\n\nAlways.\n"), POINTER, "one `python` block"),
    "not Python": (call("("), POINTER, "not Python"),
    "a placeholder": (call('"..."'), POINTER, "is a placeholder"),
    "two examples": (
        lambda path: text(example(path).read_text() + example(path).read_text().replace("parts", "part"))(
            path
        ),
        POINTER,
        "there are 2 examples",
    ),
    "two calls": (call('"ada"', 'initials("eve") + '), POINTER, "calls initials 2 times"),
    "no call": (call('"ada"', "len(str(initials)) or str"), POINTER, "does not call initials"),
    "another module": (call('"ada"', module="banner"), POINTER, "imports modules.banner"),
    "an unknown name": (call("nobody"), POINTER, "names that nothing defines: nobody"),
    "a wrong import": (call('"ada\\tl"', "__import__('nowhere') or "), POINTER, "errs by itself"),
    "too many arguments": (call('"ada", 1'), POINTER, "too many positional arguments"),
    "an unknown argument": (call('name="ada", loud=True'), POINTER, "unexpected keyword argument 'loud'"),
    "no argument": (call(""), POINTER, "missing a required argument: 'name'"),
    "a pointer to nothing": (wrong, "/outputs/7", "nothing stands at '/outputs/7'"),
    "no statement": (wrong, "/module_id", "nothing stands at '/module_id'"),
    "no such criterion": (wrong, "criterion 9", "nothing stands at 'criterion 9'"),
    "no pointer": (wrong, "outputs", "nothing stands at 'outputs'"),
}
"""By name: the file of a report, what it points at, and why it is refused."""


@pytest.fixture(scope="module")
def untouched(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A released product, which refused reports leave as it is."""
    return Path(shutil.copytree(shop / "released", tmp_path_factory.mktemp("refused") / "project"))


@pytest.mark.parametrize("case", spread(CASES, fast=6, slow=3))
def test_a_malformed_report_gets_one_message_and_changes_nothing(
    untouched: Path, tmp_path: Path, case: str
) -> None:
    """What, where, what to do; exit 2 (D-39-06)."""
    write, pointer, why = CASES[case]
    before = logged(untouched), everything(untouched / "state_store")
    report(untouched, write(tmp_path / "example.md"), pointer).refuses(why)
    assert (logged(untouched), everything(untouched / "state_store")) == before


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("nobody", "no module 'nobody'"),
        slow("MM-00000000", "no module"),
        slow("MM-00000000@1.0.0", "no module"),
    ],
)
def test_a_report_names_a_module_of_the_product(
    untouched: Path, tmp_path: Path, module: str, why: str
) -> None:
    """One message that names those that there are (D-39-06)."""
    file = example(tmp_path / "example.md")
    told = specwright("report", module, untouched, "--example", file, "--pointer", POINTER)
    told.refuses(why)
    assert "banner, initials" in told.err


def test_without_a_product_there_is_nothing_to_report(tmp_path: Path) -> None:
    """One message, and no directory (D-39-06)."""
    report(tmp_path / "gone", example(tmp_path / "example.md")).refuses("there is no such directory")
    assert not (tmp_path / "gone").exists()
