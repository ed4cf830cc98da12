"""A product with a command: notes in a folder, searched, counted and stamped."""

from typing import Any

from ship_gate.contract.contract import MicroModuleContract
from specwright.application.pages import interface_guide
from specwright.domain.interfaces.document import ProductHead, functions_of, interface_document
from specwright.domain.interfaces.records import Interfaces
from specwright.ports import ProductModule, ProductPackage

__all__ = ["EXAMPLE", "INTERFACES", "contract", "contracts", "notebook"]

FIND = '''
from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path

__all__ = ["BadPattern", "Case", "Hit", "find"]


class BadPattern(ValueError):
    """Named by the contract."""


class Case(Enum):
    """Named by the contract."""

    KEEP = "keep"
    FOLD = "fold"


@dataclass(frozen=True)
class Hit:
    """Named by the contract."""

    path: Path
    line: int
    text: str


def find(
    folder: Path,
    words: list[str],
    case: Case = Case.KEEP,
    weight: Decimal | None = None,
    strict: bool = False,
) -> list[Hit]:
    """Find words in the notes of a folder."""
    if "" in words:
        raise BadPattern("a word is empty\\x1b[31m")
    if "boom" in words:
        raise KeyError("boom")
    hits = []
    for path in sorted(folder.glob("*.md")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            text = line.lower() if case is Case.FOLD else line
            if any(word in text for word in words):
                hits.append(Hit(path, number, line))
    return hits
'''

SUMMARY = '''
from __future__ import annotations

from dataclasses import dataclass
from datetime import date

__all__ = ["Limits", "Settings", "Summary", "summary"]


@dataclass(frozen=True)
class Limits:
    """Named by the contract."""

    lines: int = 10


@dataclass(frozen=True)
class Settings:
    """Named by the contract."""

    title: str
    limits: Limits
    skip: list[str]


@dataclass(frozen=True)
class Summary:
    """Named by the contract."""

    title: str
    day: date
    lines: int
    missing: list[str]


def summary(text: str, settings: Settings, day: date) -> Summary:
    """Sum a text up."""
    lines = [line for line in text.splitlines() if line not in settings.skip][: settings.limits.lines]
    return Summary(settings.title, day, len(lines), [line for line in lines if line.startswith("!")])
'''

STAMP = '''
from __future__ import annotations

from pathlib import Path

__all__ = ["stamp"]


def stamp(target: Path, lines: list[str]) -> int:
    """Write lines to a file."""
    if not lines:
        raise ValueError("there are no lines")
    with target.open("w") as file:
        file.write("".join(f"{line}\\n" for line in lines))
    return len(lines)
'''

EXAMPLE = """
## One

It is one.

```python
1
```

```text
1
```
"""

INTERFACES = Interfaces.model_validate(
    {
        "command": {
            "name": "notebook",
            "subcommands": [
                {
                    "name": "find",
                    "calls": "find",
                    "parameters": [
                        {"parameter": "folder", "name": "DIR"},
                        {"parameter": "words", "name": "WORD"},
                    ],
                    "exits": [{"code": 1, "when": "filled"}],
                    "errors": {"BadPattern": 3},
                },
                {
                    "name": "summary",
                    "calls": "summary",
                    "parameters": [
                        {"parameter": "text", "content": "text", "name": "FILE"},
                        {"parameter": "settings", "place": "option", "content": "toml"},
                        {"parameter": "day", "default": "today"},
                    ],
                    "shows": ["lines", "missing"],
                    "exits": [{"code": 5, "when": "filled", "of": "missing"}],
                },
                {
                    "name": "stamp",
                    "calls": "stamp",
                    "parameters": [{"parameter": "lines", "place": "stdin", "content": "lines"}],
                    "errors": {"ValueError": 4},
                },
            ],
        }
    }
)


def contract(
    name: str,
    purpose: str,
    inputs: list[tuple[Any, ...]],
    output: tuple[Any, ...],
    error: tuple[str, str] = ("", ""),
) -> MicroModuleContract:
    """A contract in short: of each slot its name, its type, and what else is said of it."""
    surfaces = [{"name": error[0], "when": error[1], "surface": "exception"}] if error[0] else []
    return MicroModuleContract.model_validate(
        {
            "module_id": f"MM-{sum(name.encode()):08x}",
            "name": name,
            "purpose": purpose,
            "inputs": [{"name": one, "type": kind, "constraints": said} for one, kind, *said in inputs],
            "outputs": [{"name": output[0], "type": output[1], "invariants": list(output[2:])}],
            "error_surfaces": surfaces,
            "effects": [],
            "modes": {"sync": True, "async": False},
        }
    )


def contracts() -> list[MicroModuleContract]:
    """Those of the product."""
    return [
        contract(
            "find",
            "Find 100% of the words in the notes of a folder.",
            [
                ("folder", "Path", "is a folder"),
                ("words", "list[str]"),
                ("case", "Case", "Case is an Enum: KEEP='keep', FOLD='fold'", "defaults to None"),
                ("weight", "Decimal | None", "defaults to None"),
                ("strict", "bool", "defaults to False"),
            ],
            ("hits", "list[Hit]", "in order", "Hit is a frozen dataclass: path: Path, line: int, text: str"),
            ("BadPattern", "a word is empty"),
        ),
        contract(
            "summary",
            "Sum a text up.",
            [
                ("text", "str"),
                (
                    "settings",
                    "Settings",
                    "Settings is a frozen dataclass: title: str, limits: Limits, skip: list[str]",
                    "Limits is a frozen dataclass: lines: int = 10",
                ),
                ("day", "date"),
            ],
            (
                "summary",
                "Summary",
                "Summary is a frozen dataclass: title: str, day: date, lines: int, missing: list[str]",
            ),
        ),
        contract(
            "stamp",
            "Write lines to a file.",
            [("target", "Path"), ("lines", "list[str]")],
            ("count", "int"),
            ("ValueError", "there are no lines"),
        ),
    ]


def notebook(*, stamp: str = STAMP, interfaces: Interfaces = INTERFACES) -> ProductPackage:
    """The product.

    Args:
        stamp: The source of the module `stamp`.
        interfaces: As they were approved.
    """
    sources = {"find": FIND, "summary": SUMMARY, "stamp": stamp}
    modules = [
        ProductModule(one, {"__init__.py": sources[one.name].encode()}, EXAMPLE) for one in contracts()
    ]
    head = ProductHead("notebook", "notebook", "1.2.0", "Notes in a folder.")
    return ProductPackage(
        "notebook",
        "notebook",
        "1.2.0",
        "Notes in a folder.",
        tuple(modules),
        ("find", "stamp", "summary"),
        interface=interface_document(interfaces, contracts(), head),
        guide=interface_guide(interfaces, functions_of(interfaces, contracts()), "notebook"),
    )
