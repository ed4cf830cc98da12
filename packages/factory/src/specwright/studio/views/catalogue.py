"""The catalogue: the sealed modules of a project, and the search in its Code Index (design: code-index, studio)."""

from pathlib import Path
from typing import NamedTuple

from specwright.application.factory import ProjectView
from specwright.application.history.provenance import planned_modules
from specwright.bootstrap.views.reading import search_index
from specwright.ports.code_index import IndexQuery

PER_PAGE = 100
_HITS = 20


class ModuleRow(NamedTuple):
    """A module in a list: sealed or planned, what it does, its tests; `match` is that of a search."""

    ref: str
    name: str
    purpose: str
    tests: int
    standing: str
    tags: tuple[str, ...]
    match: str = ""


class CataloguePage(NamedTuple):
    """A page of the modules, or what a search found."""

    rows: list[ModuleRow]
    planned: list[ModuleRow]
    query: str
    number: int
    pages: int
    total: int


def catalogue_page(view: ProjectView, directory: Path, query: str = "", number: int = 1) -> CataloguePage:
    """The modules of a project; with a query those that the Code Index finds."""
    if query.strip():
        hits = search_index(directory, IndexQuery(query.strip()[:400], (), (), (), True, _HITS))
        rows = [
            _sealed_row(view, hit.entry.ref, f"{hit.similarity_score:.2f}")
            for hit in hits
            if view.modules.is_sealed(hit.entry.ref)
        ]
        return CataloguePage(rows, [], query, 1, 1, len(rows))
    refs = view.modules.refs()
    pages = max(1, -(-len(refs) // PER_PAGE))
    number = min(max(1, number), pages)
    shown = refs[(number - 1) * PER_PAGE : number * PER_PAGE]
    return CataloguePage(
        [_sealed_row(view, ref) for ref in shown], _unsealed(view), "", number, pages, len(refs)
    )


def _sealed_row(view: ProjectView, ref: str, match: str = "") -> ModuleRow:
    contract, summary = view.modules.contract(ref), view.modules.evidence(ref).execution_log.summary
    retired = view.projection.deprecations.get(ref)
    standing = retired.status.value if retired else "sealed"
    return ModuleRow(
        ref, contract.name, contract.purpose, summary.total, standing, tuple(contract.tags), match
    )


def _unsealed(view: ProjectView) -> list[ModuleRow]:
    """The modules that were planned, and of which no version is sealed."""
    sealed = {ref.partition("@")[0] for ref in view.modules.refs()}
    newest = {one.contract.module_id: one.contract for one in planned_modules(view)}
    return [
        ModuleRow(
            contract.ref,
            contract.name,
            contract.purpose,
            0,
            "halted" if view.drafts.exists(name) else "unfinished",
            tuple(contract.tags),
        )
        for name, contract in newest.items()
        if name not in sealed
    ]
