"""Writes build/spec-map.md: every requirement, the modules that cite its part of the design, the tests that cite it.

Run by `make pages`; `make docs` puts the page on the site. Requirements come from docs/requirements.tsv: a line
`# title<TAB>anchors of docs/design.md` opens a section, every other line is `id<TAB>short title`. A third column names a
decision: `withdrawn by ADR 0046` of a row that no longer counts, `as in ADR 0101` of one that holds in other words. A test
is a function `test_...`, or a rule or invariant of a state machine, whose docstring cites ids: `F-12-03`,
`F-12-03 to F-12-06`, `F-4.2-01..04`. `docs/requirements-open.txt` lists the requirements that no test cites; `--open`
writes it.

Left out: whether a test really shows what it cites. That is for its reader.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MAP = ROOT / "build" / "spec-map.md"
OPEN = ROOT / "docs" / "requirements-open.txt"

_SECTION = r"(?P<section>[FWD]-[A-Z0-9][A-Z0-9.]*)"
_CITED = re.compile(rf"\b{_SECTION}-(?P<first>[0-9]+)(?:(?: to (?P=section)-|\.\.|–)(?P<last>[0-9]+))?")
_CITATION = re.compile(r"\bdesign:\s+([a-z0-9][^()]*)\)")
_LINK = re.compile(r"design\.md#([a-z0-9-]+)")
_STEPS = {"rule", "invariant", "initialize"}

HEAD = """\
# Requirements

Written from `docs/requirements.tsv` and the docstrings of the tests.

Each section names its part of [the design](design.md), the modules that cite that part, and its
requirements with the tests that cite them. A requirement without a test is not built yet, or nothing
shows it.

{covered} of {total} requirements are cited by a test.
"""


class Row(NamedTuple):
    """A requirement, and the decision that withdrew it or says in which words it holds."""

    name: str
    title: str
    decision: str

    @property
    def withdrawn(self) -> bool:
        """Whether it no longer counts."""
        return self.decision.startswith("withdrawn by ")


class Section(NamedTuple):
    """A section: the anchors of the design that it belongs to, and its requirements."""

    title: str
    anchors: tuple[str, ...]
    rows: list[Row]


def read_sections(text: str) -> list[Section]:
    """The sections of `requirements.tsv`, in its order."""
    sections: list[Section] = []
    for line in text.splitlines():
        name, _, rest = line.partition("\t")
        if name.startswith("# "):
            sections.append(Section(name.removeprefix("# "), tuple(rest.split("; ")), []))
        else:
            title, _, decision = rest.partition("\t")
            sections[-1].rows.append(Row(name, title, decision))
    return sections


def cited_ids(text: str) -> list[str]:
    """The ids that a text cites, ranges written out, each once."""
    ids: dict[str, None] = {}
    for match in _CITED.finditer(text):
        first, last = match["first"], match["last"] or match["first"]
        for number in range(int(first), int(last) + 1):
            ids[f"{match['section']}-{number:0{len(first)}}"] = None
    return list(ids)


def cited_anchors(text: str) -> list[str]:
    """The sections of the design that a text cites: `(design: debate, ids)`, `docs/design.md#debate`.

    Behind an anchor may stand where in the section: `(design: planning, checks 3-6)`.
    """
    names = _LINK.findall(text)
    for citation in _CITATION.findall(text):
        first, *others = (part.strip().removeprefix("design:").strip() for part in re.split("[,;]", citation))
        names += [first.split()[0].strip(":"), *(part for part in others if re.fullmatch("[a-z0-9-]+", part))]
    return list(dict.fromkeys(name.removesuffix("'s") for name in names))


def tests_by_id(root: Path) -> dict[str, list[str]]:
    """For each cited id the tests that cite it, as `file::test`, in the order of files and lines.

    Args:
        root: With the folders `tests` and `packages/*/tests`.
    """
    citing: defaultdict[str, list[str]] = defaultdict(list)
    for path in _python_files(root, "tests"):
        for name, docstring in _tests(ast.parse(path.read_text(encoding="utf-8"))):
            for cited in cited_ids(docstring):
                citing[cited].append(f"{path.relative_to(root).as_posix()}::{name}")
    return dict(citing)


def _python_files(root: Path, folder: str) -> Iterator[Path]:
    """The Python files of a folder of the root and of each package."""
    for base in (root / folder, *sorted(root.glob(f"packages/*/{folder}"))):
        yield from sorted(base.rglob("*.py"))


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


def modules_by_anchor(root: Path) -> dict[str, list[str]]:
    """For each section of the design the modules that cite it."""
    citing: defaultdict[str, list[str]] = defaultdict(list)
    for path in _python_files(root, "src"):
        for anchor in cited_anchors(path.read_text(encoding="utf-8")):
            citing[anchor].append(path.as_posix().rpartition("/src/")[2])
    return dict(citing)


def open_ids(root: Path) -> list[str]:
    """The requirements that count and that no test cites, in their order."""
    sections = read_sections((root / "docs" / "requirements.tsv").read_text(encoding="utf-8"))
    tests = tests_by_id(root)
    rows = [row for section in sections for row in section.rows]
    return [row.name for row in rows if not row.withdrawn and row.name not in tests]


def spec_map(root: Path) -> str:
    """The page."""
    sections = read_sections((root / "docs" / "requirements.tsv").read_text(encoding="utf-8"))
    tests, modules = tests_by_id(root), modules_by_anchor(root)
    total = [row.name for section in sections for row in section.rows if not row.withdrawn]
    parts = [HEAD.format(covered=sum(name in tests for name in total), total=len(total))]
    parts += [_section(section, tests, modules) for section in sections]
    return "\n".join(parts)


def _section(section: Section, tests: Mapping[str, list[str]], modules: Mapping[str, list[str]]) -> str:
    citing = sorted({module for anchor in section.anchors for module in modules.get(anchor, ())})
    rows = [f"| {row.name} | {row.title} | {_shown(row, tests)} |" for row in section.rows]
    links = ", ".join(f"[{anchor}](design.md#{anchor})" for anchor in section.anchors)
    return "\n".join(
        [
            f"## {section.title}",
            "",
            f"Design: {links}. Modules: {', '.join(f'`{module}`' for module in citing) or 'none yet'}.",
            "",
            "| id | requirement | tests |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _shown(row: Row, tests: Mapping[str, list[str]]) -> str:
    """The decision about a row, and the tests that cite it."""
    cited = [f"`{test}`" for test in tests.get(row.name, ())]
    return "<br>".join([*filter(None, [row.decision]), *cited]) or "-"


if __name__ == "__main__":
    if "--open" in sys.argv:
        OPEN.write_text("".join(f"{name}\n" for name in open_ids(ROOT)), encoding="utf-8")
    else:
        MAP.parent.mkdir(exist_ok=True)
        MAP.write_text(spec_map(ROOT), encoding="utf-8")
