"""Writes docs/spec-map.md: every requirement, the modules that cite its section, the tests that cite it.

Run by `make pages`. Requirements come from docs/requirements.tsv: a line `# title<TAB>citations` opens a
section, every other line is `id<TAB>short title`. A test is a function `test_...`, or a rule or invariant of a
state machine, whose docstring cites ids: `F-12-03`, `F-12-03 to F-12-06`, `F-4.2-01..04`.

Left out: whether a test really shows what it cites. That is for its reader.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MAP = ROOT / "docs" / "spec-map.md"

_SECTION = r"(?P<section>[FWD]-[A-Z0-9][A-Z0-9.]*)"
_CITED = re.compile(rf"\b{_SECTION}-(?P<first>[0-9]+)(?:(?: to (?P=section)-|\.\.|–)(?P<last>[0-9]+))?")
_DECISIONS = re.compile(r"\bD([0-9]+)-D([0-9]+)\b")
_STEPS = {"rule", "invariant", "initialize"}

HEAD = """\
# Spec map

Written by `make pages` from `docs/requirements.tsv` and the docstrings of the tests; do not edit it.

Each section of the sources with the modules of `src/specwright` that cite it, and its requirements with the
tests (below `tests/`) that cite them. A requirement without a test is not built yet, or nothing shows it.

{covered} of {total} requirements are cited by a test.
"""


class Section(NamedTuple):
    """A section of the sources: how code cites it, and its requirements as id and short title."""

    title: str
    citations: tuple[str, ...]
    rows: list[tuple[str, str]]


class Source(NamedTuple):
    """A module's text, and the requirements that it cites."""

    text: str
    ids: frozenset[str]


def read_sections(text: str) -> list[Section]:
    """The sections of `requirements.tsv`, in its order."""
    sections: list[Section] = []
    for line in text.splitlines():
        name, _, rest = line.partition("\t")
        if name.startswith("# "):
            sections.append(Section(name.removeprefix("# "), tuple(rest.split("; ")), []))
        else:
            sections[-1].rows.append((name, rest))
    return sections


def cited_ids(text: str) -> list[str]:
    """The ids that a text cites, ranges written out, each once."""
    found: dict[str, None] = {}
    for match in _CITED.finditer(text):
        first, last = match["first"], match["last"] or match["first"]
        for number in range(int(first), int(last) + 1):
            found[f"{match['section']}-{number:0{len(first)}}"] = None
    return list(found)


def tests_by_id(tests: Path) -> dict[str, list[str]]:
    """For each cited id the tests that cite it, as `file::test`, in the order of files and lines."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(tests.rglob("*.py")):
        for name, docstring in _tests(ast.parse(path.read_text(encoding="utf-8"))):
            for cited in cited_ids(docstring):
                found[cited].append(f"{path.relative_to(tests).as_posix()}::{name}")
    return dict(found)


def _tests(node: ast.AST, outer: str = "") -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _tests(child, f"{outer}{child.name}::")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and _is_test(child):
            yield outer + child.name, ast.get_docstring(child) or ""


def _is_test(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    called = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return function.name.startswith("test_") or any(
        isinstance(d, ast.Name) and d.id in _STEPS for d in called
    )


def citing_modules(section: Section, sources: Mapping[str, Source]) -> list[str]:
    """The modules whose text cites a section or one of its requirements."""
    ids = {name for name, _ in section.rows}
    return [
        name
        for name, source in sources.items()
        if ids & source.ids or any(_cites(source.text, citation) for citation in section.citations)
    ]


def _cites(text: str, citation: str) -> bool:
    # `§8` is neither `F§8` nor `§8.1`; the plain search is there for speed
    return citation in text and bool(re.search(rf"(?<![\w§]){re.escape(citation)}(?!\.?[0-9])", text))


def read_sources(package: Path) -> dict[str, Source]:
    """The modules of a package; `D29-D33` is written out as five decisions."""
    sources: dict[str, Source] = {}
    for path in sorted(package.rglob("*.py")):
        text = _DECISIONS.sub(_written_out, path.read_text(encoding="utf-8"))
        sources[path.relative_to(package).as_posix()] = Source(text, frozenset(cited_ids(text)))
    return sources


def _written_out(match: re.Match[str]) -> str:
    return ", ".join(f"D{number}" for number in range(int(match[1]), int(match[2]) + 1))


def spec_map(root: Path) -> str:
    """The map as it should stand in `docs/spec-map.md`."""
    sections = read_sections((root / "docs" / "requirements.tsv").read_text(encoding="utf-8"))
    tests, sources = tests_by_id(root / "tests"), read_sources(root / "src" / "specwright")
    total = [name for section in sections for name, _ in section.rows]
    parts = [HEAD.format(covered=sum(name in tests for name in total), total=len(total))]
    for section in sections:
        modules = ", ".join(f"`{name}`" for name in citing_modules(section, sources)) or "no module yet"
        rows = [
            f"| {name} | {title} | {'<br>'.join(f'`{test}`' for test in tests.get(name, ())) or '-'} |"
            for name, title in section.rows
        ]
        heading = f"## {section.title} ({', '.join(section.citations)})"
        parts.append(
            "\n".join([heading, "", modules, "", "| id | requirement | tests |", "|---|---|---|", *rows, ""])
        )
    return "\n".join(parts)


if __name__ == "__main__":
    MAP.write_text(spec_map(ROOT), encoding="utf-8")
