"""The Code Index port: every shipped module, found by meaning (F§14)."""

from typing import NamedTuple, Protocol

from specwright.domain.code_index import CodeIndexEntry, IndexStatus, SearchHit

__all__ = ["CodeIndex", "IndexQuery"]


class IndexQuery(NamedTuple):
    """The input of `search_code_index` (F§14.3), and the further filters of F§14.1.

    An entry must meet at least one value of each filter list that is given; an empty list filters nothing.

    Args:
        query: The purpose that is wanted, in plain words.
        tags: Compared whole.
        input_types: Types of the contract, compared whole in the spelling of `type_key`.
        output_types: The same.
        include_inactive: Also DEPRECATED and SUPERSEDED entries.
        top_k: How many results, at least 1.
        module_ids: Not offered to agents, as the fields that follow.
        statuses: If given, it alone decides which statuses are found.
        version_from: The lowest version, itself included.
        version_below: The first version that is too high.
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
    """An append-only registry: no deletion, no key reuse, status goes one way (F§19.5)."""

    def add(self, entry: CodeIndexEntry) -> None:
        """Append an entry with its embedding; adding the same again does nothing, even once it is retired.

        Raises:
            RefusedError: the key (module id, version) is taken by another entry, or the entry is not SHIPPED.
        """
        ...

    def search(self, query: IndexQuery) -> list[SearchHit]:
        """The nearest entries, best first, `top_k` of them whatever their score.

        Raises:
            InputError: `top_k` below 1, or a version bound that is not `major.minor.patch`.
        """
        ...

    def get(self, module_id: str, version: str) -> CodeIndexEntry | None:
        """One entry by its key."""
        ...

    def entries(self) -> list[CodeIndexEntry]:
        """All entries in the order in which they were added."""
        ...

    def retire(
        self, module_id: str, version: str, status: IndexStatus, superseded_by: str | None, note: str
    ) -> None:
        """Mark an entry DEPRECATED or SUPERSEDED and append the note to its notes, in one transaction (D27).

        Repeating the very same retirement does nothing, so that a resumed run may.

        Raises:
            RefusedError: unknown entry, no longer SHIPPED, or SUPERSEDED by nothing.
            InputError: `superseded_by` is not another module version's reference.
        """
        ...
