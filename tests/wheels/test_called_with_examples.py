"""The examples of a product by its command, its HTTP API and its MCP server, and `kill -9` in a call (D45)."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from ship_gate.contract.examples import parse_examples
from ship_gate.ship_gate import SandboxedShipGate
from specwright.domain.interfaces.document import ProductHead, interface_document
from specwright.domain.interfaces.records import Interfaces
from specwright.ports import ExampleOutcome, ProductModule, ProductPackage
from specwright.wheels.exercise import InterfaceTrials
from specwright.wheels.product_run import InstalledProduct, Kind
from testkit.interfaces.market import market
from testkit.interfaces.notebook import EXAMPLE, STAMP, contract, notebook
from testkit.loop.products import replace
from testkit.sampling import slow, spread
from testkit.wheels.packaged import example, unpacked

Change = tuple[str, str, str]
"""A file of the shell, a text in it, and what stands there instead."""


def examples(name: str, *given: tuple[str, str, str]) -> str:
    """The examples of a module: titles, code and results."""
    head = f"from modules.{name} import *\n"
    return "".join(example(title, f"{head}{code}", gives) for title, code, gives in given)


NOTES = {
    "find": examples(
        "find",
        (
            "A tree",
            "from pathlib import Path\nPath('n').mkdir()\nPath('n/a.md').write_text('a tree')\n"
            "find(Path('n'), ['tree', '-x'], Case.FOLD, strict=True)",
            "[Hit(path=PosixPath('n/a.md'), line=1, text='a tree')]",
        ),
        ("An empty word", "from pathlib import Path\nfind(Path('n'), [''])", "BadPattern: a word"),
        ("No word", "from pathlib import Path\nfind(Path('n'), [])", "[]"),
    ),
    "summary": examples(
        "summary",
        (
            "Settings",
            "from datetime import date\nsummary('!b', Settings('T', Limits(3), []), date(2026, 1, 31)).lines",
            "1",
        ),
    ),
    "stamp": examples(
        "stamp",
        (
            "Two lines",
            "from pathlib import Path\nstamp(Path('o.txt'), ['a', 'b']), Path('o.txt').read_text()",
            "(2, 'a\\nb\\n')",
        ),
        ("No lines", "from pathlib import Path\nstamp(Path('o.txt'), [])", "ValueError: there are"),
    ),
}

GOODS = {
    "quote": examples(
        "quote",
        ("Milk", "quote('milk', 3, ['a', 'b']).total", "Decimal('3.30')"),
        ("Saffron", "quote('saffron')", "NoSuchItem: there is no saffron"),
        ("Two calls", "[quote(one).item for one in ('é ?', '-b')]", "['é ?', '-b']"),
        ("A part of a path", "quote('a/b').item", "'a/b'"),
    ),
    "settle": examples(
        "settle",
        (
            "A bill",
            "from datetime import date, timedelta\nfrom decimal import Decimal\n"
            "settle([Bill(Decimal('2.50'), date(2999, 1, 31))], Mode.DOWN, timedelta(days=1), date(2026, 1, 1))",
            "{'2999-02': Decimal('-2.50')}",
        ),
        (
            "Another day",
            "from datetime import timedelta\nsettle([], Mode.UP, timedelta())",
            "TypeError: settle() missing",
        ),
    ),
    "keep": examples("keep", ("Two lines", "keep('a')\nkeep('b')\nopen('kept.txt').read()", "'a\\nb\\n'")),
}


def tried(
    product: ProductPackage, given: Mapping[str, str], kind: Kind, folder: Path, *changes: Change
) -> list[ExampleOutcome]:
    """What became of the examples of a product by one of its interfaces.

    Args:
        product: Without them.
        given: The examples of each module.
        kind: Of the interface.
        folder: To install it in.
        changes: Of its shell.
    """
    shell = unpacked(product, folder / "site") / product.import_name / "_shell"
    for file, old, new in changes:
        replace(shell / file, old, new)
    known = [one for text in given.values() for one in parse_examples(text)[0]]
    installed = InstalledProduct(folder / "site", folder / "scratch", product, SandboxedShipGate(), 30.0)
    trials = InterfaceTrials(installed, known)
    last = {
        "command": trials.of_command()[-1:],
        "http": trials.of_servers()[1:2],
        "mcp": trials.of_servers()[-1:],
    }
    (trial,) = last[kind]
    return list(trial())


def test_the_command_is_called_with_examples(tmp_path: Path):
    """Words, files and standard input; values, exit codes of results and of declared errors; a settings file and an empty
    list have no such form (D-45-08)."""
    found = tried(notebook(), NOTES, "command", tmp_path)

    assert [(one.heading, one.detail) for one in found] == [
        ("example: A tree", ""),
        ("example: An empty word", ""),
        ("example: Two lines", ""),
        ("example: No lines", ""),
        ("kill -9 in the example: Two lines", ""),
    ]
    assert {(one.module, one.kind) for one in found} == {("notebook", "command")}


COUNT = """
from collections.abc import Iterator

__all__ = ["count"]


def count(start: int) -> Iterator[int]:
    if start < 0:
        raise ValueError("it is negative")
    yield start
    yield from count(start - 1) if start else ()
"""


def counter() -> ProductPackage:
    """A product of a function that calls itself and gives an iterator."""
    own = contract(
        "count",
        "Count down.",
        [("start", "int")],
        ("numbers", "Iterator[int]"),
        ("ValueError", "it is negative"),
    )
    stated = Interfaces.model_validate({"command": {"name": "counter", "calls": "count"}})
    document = interface_document(stated, [own], ProductHead("counter", "counter", "1.0.0", "Counts."))
    module = ProductModule(own, {"__init__.py": COUNT.encode()}, EXAMPLE)
    return ProductPackage("counter", "counter", "1.0.0", "Counts.", (module,), ("count",), interface=document)


def test_a_function_that_calls_itself_and_gives_an_iterator_is_called_by_the_shell_once(tmp_path: Path):
    """The example takes the items as it would take them from the function (D-45-08)."""
    given = {
        "count": examples(
            "count",
            ("Three", "numbers = count(2)\n(next(numbers), list(numbers))", "(2, [1, 0])"),
            ("Below zero", "list(count(-1))", "ValueError: it is negative"),
        )
    }
    found = tried(counter(), given, "command", tmp_path)

    assert [(one.heading, one.detail) for one in found] == [
        ("example: Three", ""),
        ("example: Below zero", ""),
        ("kill -9 in the example: Three", ""),
    ]


@pytest.mark.parametrize("kind", spread(["http", "mcp"], fast=2))
def test_a_server_is_called_with_examples(tmp_path: Path, kind: Kind):
    """Paths, queries, objects; values, and declared errors with their status (D-45-08, D-45-12, D-45-11)."""
    found = tried(market(), GOODS, kind, tmp_path)

    in_paths = ["example: A part of a path"] if kind == "mcp" else []
    assert [(one.heading, one.detail) for one in found] == [
        ("example: Milk", ""),
        ("example: Saffron", ""),
        ("example: Two calls", ""),
        *((one, "") for one in in_paths),
        ("example: A bill", ""),
        ("example: Two lines", ""),
        ("kill -9 in the example: Two lines", ""),
    ]


@pytest.mark.parametrize(
    ("kind", "change", "heading", "told"),
    [
        (
            "http",
            ("http_api.py", 'one.use["errors"][outcome.error]', "418"),
            "Saffron",
            'quote is answered with {"status": 418, "body": {"error": "NoSuchItem", "message": "there is no saffron"}}, '
            'not with {"status": 404, ',
        ),
        (
            "command",
            ("command.py", 'one["errors"][name]', "9"),
            "An empty word",
            'find is answered with {"code": 9, "stdout": "", ',
        ),
        slow(
            "http",
            ("results.py", "return _container(value)", "return None"),
            "Milk",
            'quote is answered with {"status": 200, "body": null}, not with {"status": 200, "body": {"item": "milk-a-b"',
        ),
        slow(
            "mcp",
            (
                "models.py",
                "return {str(one.alias): getattr(model, name) for",
                "return {str(one.alias): 'tea' for",
            ),
            "A part of a path",
            "it gives \"'tea'\", the text block says \"'a/b'\"",
        ),
        slow(
            "mcp",
            ("mcp_server.py", 'f"{outcome.error}: {outcome.text}"', '"sorry"'),
            "Saffron",
            'quote is answered with {"error": "sorry", "result": null}, not with {"error": "NoSuchItem: ',
        ),
        slow(
            "http",
            ("http_api.py", "others = values.pop(_REST, None)", "raise KeyError"),
            "A bill",
            "settle is not called; the answer is ",
        ),
        slow(
            "command",
            ("calls.py", 'return int(rule["code"])', "return 0"),
            "A tree",
            'find is answered with {"code": 0, ',
        ),
    ],
)
def test_an_interface_that_answers_wrongly_is_refused(
    tmp_path: Path, kind: Kind, change: Change, heading: str, told: str
):
    """Another status or exit code, another value, another argument, another error, no call at all (D-45-05, D-45-08)."""
    product, given = (notebook(), NOTES) if kind == "command" else (market(), GOODS)
    wrong = {one.heading: one.detail for one in tried(product, given, kind, tmp_path, change) if one.detail}
    assert wrong[f"example: {heading}"].startswith(told)


WRITES = """    with target.open("w") as file:
        file.write("".join(f"{line}\\n" for line in lines))
"""
HALVES = """    with target.open("w") as file:
        for line in lines:
            file.write(f"{line}\\n")
"""
MOVES = """    part = target.with_suffix(".part")
    with part.open("w") as file:
        for line in lines:
            file.write(f"{line}\\n")
    part.replace(target)
"""
LOCKS = """    lock = Path("lock")
    if lock.exists():
        raise KeyError("a process that has ended")
    lock.write_text("x")
    target.write_text("".join(f"{line}\\n" for line in lines))
    lock.unlink()
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (HALVES, "it leaves o.txt half written"),
        (MOVES, ""),
        (LOCKS, "after that the same call ends with a fault: "),
    ],
)
def test_a_command_that_is_killed_leaves_whole_files_and_starts_again(tmp_path: Path, body: str, told: str):
    """A file is as before the call or as after it, and nothing that is left over keeps the next call from its work
    (D-45-08)."""
    assert WRITES in STAMP
    *_, killed = tried(notebook(stamp=STAMP.replace(WRITES, body)), NOTES, "command", tmp_path)

    assert killed.heading == "kill -9 in the example: Two lines"
    assert killed.detail.startswith(told)
    assert bool(killed.detail) == bool(told)
