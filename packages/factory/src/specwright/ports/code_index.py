"""The Code Index port: a search by meaning over the shipped modules (design: code-index)."""

from typing import NamedTuple, Protocol

from specwright.domain.modules.code_index import CodeIndexEntry, IndexStatus, SearchHit


class IndexQuery(NamedTuple):
    """The input of `search_code_index`, and further filters that agents are not offered.

    An entry must match at least one value of each filter list; an empty list filters nothing.

    Args:
        query: The purpose, in plain words.
        tags: Compared whole.
        input_types: Types of the contract, compared whole as written or in the spelling of a contract, see
            `searched_types`.
        output_types: The same.
        include_inactive: Also DEPRECATED and SUPERSEDED entries.
        top_k: How many results, at least 1.
        module_ids: Compared whole; not offered to agents, nor are the fields below.
        statuses: Overrides `include_inactive`.
        version_from: The lowest version, included.
        version_below: The upper bound, excluded.
    """

    query: str
    tags: tuple[str, ...] = ()
    input_types: tuple[str, ...] = ()
    output_types: tuple[str, ...] = ()
    include_inactive: bool = False
    top_k: int = 10
    module_ids: tuple[str, ...] = ()
    statuses: tuple[IndexStatus, ...] = ()
    version_from: str = ""
    version_below: str = ""


class CodeIndex(Protocol):
    """An append-only registry: no deletion, no key reuse, status goes one way (design: code-index)."""

    def add(self, entry: CodeIndexEntry) -> None:
        """Append an entry with its embedding; adding the same entry again does nothing, even after its retirement.

        Raises:
            RefusedError: the key (module id, version) is taken by another entry, or the entry is not SHIPPED.
        """
        ...

    def search(self, query: IndexQuery) -> list[SearchHit]:
        """The `top_k` nearest entries, best first, whatever their score.

        Raises:
            InputError: `top_k` below 1, or a version bound that is not `major.minor.patch`.
        """
        ...

    def get(self, module_id: str, version: str) -> CodeIndexEntry | None:
        """One entry by its key."""
        ...

    def entries(self) -> list[CodeIndexEntry]:
        """All entries in the order of their addition."""
        ...

    def retire(
        self, module_id: str, version: str, status: IndexStatus, superseded_by: str | None, note: str
    ) -> None:
        """Mark an entry DEPRECATED or SUPERSEDED and append to its notes, in one transaction (design: deprecation).

        The same retirement again does nothing, so that a resumed run can repeat it.

        Raises:
            RefusedError: unknown entry, no longer SHIPPED, or SUPERSEDED by nothing.
            InputError: `superseded_by` is not a reference to another module version.
        """
        ...
