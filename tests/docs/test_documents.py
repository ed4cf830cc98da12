"""The documents agree with the repository: links, files, decisions, graphs."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from ship_gate.contract.examples import parse_examples
from ship_gate.contract.rules import problems
from specwright.application.loop import DELIVERABLE_LOOP, END, TASK_LOOP, Leave, Step
from specwright.domain.answers import PlanAnswer
from specwright.domain.plan import KnownModules, assign, plan_problems
from specwright.graphs.graphs import debate_graph, engineering_graph
from testkit.paths import ROOT, SOURCES

PACKAGES = [package for source in SOURCES for package in source.iterdir() if package.is_dir()]
DECISIONS = sorted((ROOT / "docs/adr").glob("0*.md"))
DOCUMENTS = [
    path for folder in ("*.md", "packages/*/*.md", "docs/**/*.md") for path in sorted(ROOT.glob(folder))
]

LOOPS: dict[str, Any] = {"engineering": TASK_LOOP, "debate": DELIVERABLE_LOOP}
LOOP_GRAPHS = {"engineering": engineering_graph, "debate": debate_graph}

_LINK = re.compile(r"\]\((?!https?://)([^)#]+)\)")
_ANCHOR = re.compile(r"\]\((?!https?://)([^)#]*\.md|)#([^)]+)\)")
_SOURCE = re.compile(r"`((?:[a-z_]+/)+[a-z_]*(?:\.py)?)`")


def test_what_a_document_leads_to_is_there():
    """A relative link names a file, a path such as `gate/findings.py` one of the package or of the repository, and an
    anchor a heading, named as hosted git pages and mkdocs name it."""
    missing: list[tuple[str, str]] = []
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        missing += [(path.name, link) for link in _LINK.findall(text) if not (path.parent / link).exists()]
        for source in _SOURCE.findall(text):
            ours = source.endswith(".py") and not source.startswith(
                "implementation/"
            )  # of a module, not ours
            if ours and not any(
                (base / source).exists() for base in (*PACKAGES, ROOT, ROOT / "tests", *SOURCES)
            ):
                missing.append((path.name, source))
        for page, anchor in _ANCHOR.findall(text):
            if anchor not in _headings(path.parent / page if page else path):
                missing.append((path.name, f"{page}#{anchor}"))
    assert missing == []


def _headings(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


_DATED = r"^Date: 20\d\d-\d\d-\d\d(, revised 20\d\d-\d\d-\d\d)?\. Status: (proposed|accepted|superseded by \d{4})\.$"


def test_a_decision_has_its_parts_and_names_files_that_exist():
    """A record has a date, a status and four sections, weighs at least two options, and names files that are there."""
    sections = ["Context", "Options considered", "Decision", "Consequences"]
    for path in DECISIONS:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {path.name[:4]} "), path
        assert re.search(_DATED, text, re.MULTILINE), path
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == sections, path
        options = text.partition("## Options considered")[2].partition("\n## ")[0]
        assert len(re.findall(r"^\| (?!---|option |considered )", options, re.MULTILINE)) >= 2, path
        bases = (*PACKAGES, ROOT, *SOURCES)
        missing = [n for n in _SOURCE.findall(text) if not any((base / n).exists() for base in bases)]
        assert missing == [], path


def test_the_list_of_decisions_is_complete():
    """docs/adr/README.md lists every record in order, with its title, and no number is there twice."""
    text = (ROOT / "docs/adr/README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| ([0-9]{4}) \| \[(.+?)\]\((.+?)\) \|", text, re.MULTILINE)
    there = [
        (path.name[:4], path.read_text(encoding="utf-8").splitlines()[0][len("# 0000 ") :], path.name)
        for path in DECISIONS
    ]

    assert listed == there
    numbers = [number for number, _, _ in there]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("name", ["engineering", "debate"])
def test_the_graphs_are_drawn_as_they_are(name: str):
    """docs/design.md draws every node of both loops, and no edge that is not there (F-3.4-07)."""
    graph = LOOP_GRAPHS[name](
        cast(Any, None)
    ).get_graph()  # a graph asks its factory for nothing until it runs
    drawn = _drawn(name)

    nodes = {node for edge in drawn for node in edge} - {"END"}
    assert nodes == {_bare(node) for node in graph.nodes} - {"START", "END"}
    unusable = {edge for edge in _edges(name) if edge[1] == "halt" and LOOPS[name][edge[0]].asks}
    assert _edges(name) - unusable <= drawn <= _edges(name)


def _edges(name: str) -> set[tuple[str, str]]:
    """What can follow what in a loop's table; a debate that halts leaves its node for another."""
    edges: set[tuple[str, str]] = set()
    for step, row in LOOPS[name].items():
        if isinstance(row, Step):
            edges |= {(step, "END" if to == END else to) for to in row.destinations}
    left = {("debate", row.to) for row in DELIVERABLE_LOOP.values() if isinstance(row, Leave)}
    return edges | (left if name == "engineering" else set())


def _bare(node: str) -> str:
    return node.strip("_").upper() if node.startswith("__") else node


def _drawn(name: str) -> set[tuple[str, str]]:
    """The edges of a Mermaid drawing: `a --> b`, `a -- why --> b`, and chains of them."""
    text = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    body = re.search(rf"^  subgraph {name}\n(.*?)^  end$", text, re.MULTILINE | re.DOTALL)
    assert body, f"docs/design.md draws no graph {name}"
    edges: set[tuple[str, str]] = set()
    for line in body[1].splitlines():
        chain = re.split(r" -->|-- [^>]+ -->", line)
        nodes = [node.strip() for node in chain]
        edges |= set(pairwise(nodes))
    return edges


def test_the_plan_and_the_example_in_the_playbook_guide_are_some():
    """A plan that a planner could submit, contracts included, and an examples.md that can be read (D-S6-02, D-S8.1-06)."""
    text = (ROOT / "docs/writing-a-playbook.md").read_text(encoding="utf-8")
    block = re.search(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert block
    plan = PlanAnswer.model_validate_json(block[1])
    known = KnownModules({"to_cents": "MM-11111111@1.0.0"}, frozenset({"MM-11111111@1.0.0"}))
    assert plan_problems(plan, known) == []
    _, contracts = assign(plan, "MP-00000000", "T-a@1.0.0", known, lambda: "MM-00000000")
    assert {name: problems(contract) for name, contract in contracts.items()} == {"split_evenly": []}
    block = re.search(r"^````markdown\n(.*?)^````$", text, re.MULTILINE | re.DOTALL)
    assert block
    examples, faults = parse_examples(block[1])
    assert (len(examples), faults) == (1, ())


def test_a_path_or_name_in_a_table_of_the_guides_is_in_the_code():
    """A row such as "`ATTEMPTS` in `roles/team.py`" and every path of a table lead to what they say."""
    wrong: list[str] = []
    for path in (ROOT / "docs/design.md", ROOT / "CONTRIBUTING.md"):
        rows = "\n".join(
            line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")
        )
        wrong += [
            f"{path.name}: {source}"
            for source in re.findall(r"`([a-z_]+/[a-z_/.-]+)`", rows)
            if not any((base / source).exists() for base in (ROOT, *SOURCES, *PACKAGES))
        ]
        for names, source in re.findall(r"((?:`[A-Za-z_.]+`(?:, )?)+) in `([a-z_/]+\.py)`", rows):
            files = [
                file
                for base in (*SOURCES, *PACKAGES)
                for file in base.rglob(Path(source).name)
                if str(file).endswith(source)
            ]
            code = "".join(file.read_text(encoding="utf-8") for file in files)
            wrong += [
                f"{path.name}: {name} in {source}"
                for name in re.findall(r"`([A-Za-z_.]+)`", names)
                if not all(re.search(rf"\b{part}\b", code) for part in name.split("."))
            ]
    assert wrong == []
