"""Entries of the Code Index and their search text (design: code-index); the record of a deprecation
(design: deprecation)."""

import ast
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, NamedTuple, Self

import orjson
from pydantic import StringConstraints, model_validator

from ship_gate.base.ids import ModuleId, ModuleRefText
from ship_gate.base.record import Record, SemVer, Text, Timestamp
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.types import normal_type
from ship_gate.syntax_tree import parse_expression


class IndexStatus(StrEnum):
    """The status of an entry: SHIPPED, later DEPRECATED or SUPERSEDED, never back (design: code-index)."""

    SHIPPED = "SHIPPED"
    DEPRECATED = "DEPRECATED"
    SUPERSEDED = "SUPERSEDED"


class IoSummary(Record):
    """The five dimensions as short strings."""

    inputs: list[str]
    outputs: list[str]
    error_surfaces: list[str]
    effects: list[str]
    modes: list[str]


class CodeIndexEntry(Record):
    """The entry of one module version (design: code-index). References are paths below `state_store/`."""

    module_id: ModuleId
    version: SemVer
    name: str
    purpose: Text
    tags: list[str]
    contract_ref: str
    examples_ref: str
    ship_ref: str
    io_summary: IoSummary
    dependencies: list[str]
    status: IndexStatus = IndexStatus.SHIPPED
    superseded_by: ModuleRefText | None = None
    notes: str = ""

    @property
    def ref(self) -> str:
        """`MM-...@x.y.z`."""
        return f"{self.module_id}@{self.version}"

    def retired(self, decided: "Deprecation") -> Self:
        """Return the entry after a deprecation (design: deprecation)."""
        notes = "\n".join(filter(None, (self.notes, decided.notice)))
        changes = {"status": decided.status, "superseded_by": decided.replacement, "notes": notes}
        return self.model_copy(update=changes)


class SearchHit(NamedTuple):
    """An entry with its similarity in [0, 1]."""

    entry: CodeIndexEntry
    similarity_score: float


def embedding_text(entry: CodeIndexEntry) -> str:
    """Return the text to embed: purpose, tags, compact io_summary (design: code-index)."""
    io_summary = orjson.dumps(entry.io_summary.to_json()).decode()
    return f"{entry.purpose}\n{', '.join(entry.tags)}\n{io_summary}"


def summarise(contract: MicroModuleContract, notes: str = "") -> CodeIndexEntry:
    """Build the entry of a shipped module from its contract."""
    base = f"modules/{contract.module_id}/{contract.module_version}"
    return CodeIndexEntry(
        module_id=contract.module_id,
        version=contract.module_version,
        name=contract.name,
        purpose=contract.purpose,
        tags=contract.tags,
        contract_ref=f"{base}/contract.json",
        examples_ref=f"{base}/examples.md",
        ship_ref=f"{base}/ship.json",
        io_summary=io_summary(contract),
        dependencies=[d.ref for d in contract.dependencies],
        notes=notes,
    )


def io_summary(contract: MicroModuleContract) -> IoSummary:
    """Return the five dimensions of a contract as short strings."""
    return IoSummary(
        inputs=[_line(f"{i.name}: {i.type}", i.constraints) for i in contract.inputs],
        outputs=[_line(f"{o.name}: {o.type}", o.invariants) for o in contract.outputs],
        error_surfaces=[f"{e.name}: {e.when}" for e in contract.error_surfaces],
        effects=[f"{e.type} {e.target}: {e.description}" for e in contract.effects],
        modes=contract.modes.names,
    )


def _line(head: str, details: list[str]) -> str:
    return f"{head} ({'; '.join(details)})" if details else head


def type_key(text: str) -> str:
    """Return the normal spelling of a type, for comparison (design: module-directory); text that is not an expression is
    returned unchanged."""
    return _spelling(text.strip()) or " ".join(text.split())


def searched_types(texts: Iterable[str]) -> list[str]:
    """Return the spellings of a query's types that entries may use: `decimal.Decimal` is `Decimal` in a contract, and
    `Optional[int]` is `int | None`."""
    return list(dict.fromkeys(key for text in texts for key in (type_key(text), type_key(normal_type(text)))))


def declared_types(lines: Iterable[str]) -> list[str]:
    """Return the types in the input or output lines of an io_summary, as `type_key` spells them.

    This inverts `summarise`, exactly for every type that a contract may have: the type is the shortest text after the name
    that is a Python expression and ends at ` (` or the end of the line. In a normalised type, ` (` occurs only inside
    brackets or quotes, or after an operator, so the text before it is not an expression.
    """
    return [_declared_type(line) for line in lines]


def _declared_type(line: str) -> str:
    _, _, rest = line.partition(": ")
    pieces = (rest[: match.start()] for match in re.finditer(r" \(", rest))
    return type_key(next(filter(_spelling, pieces), rest))


def _spelling(text: str) -> str:
    """Return an expression in Python's normal spelling; empty if the text is not an expression."""
    try:
        return ast.unparse(parse_expression(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


LONGEST_NOTE = 2_000
"""The length limit of a reason or a migration note."""

_Note = Annotated[Text, StringConstraints(max_length=LONGEST_NOTE)]


class DeprecationRequest(Record):
    """A request to deprecate a module version.

    Args:
        module_ref: The version.
        reason: The reason.
        migration_note: What its users should do instead.
        replacement: The version that replaces it, if any.
    """

    module_ref: ModuleRefText
    reason: _Note
    migration_note: _Note
    replacement: ModuleRefText | None = None

    @model_validator(mode="after")
    def _another_version(self) -> Self:
        if self.replacement == self.module_ref:
            raise ValueError("a module version cannot replace itself")
        return self


class Deprecation(DeprecationRequest):
    """The record of a deprecation. `consumers` are the versions in the Code Index that depended on it at the time."""

    decided_at: Timestamp
    decided_by: str
    consumers: list[ModuleRefText]
    status: IndexStatus = IndexStatus.DEPRECATED

    @property
    def notice(self) -> str:
        """The note for the Code Index, with the time."""
        return f"{self.status.capitalize()} {self.decided_at}: {self.reason} Migration: {self.migration_note}"


class UndoneDeprecation(Record):
    """The record of an undone deprecation: the files of the version are sealed again as the next version."""

    module_ref: ModuleRefText
    reason: _Note
