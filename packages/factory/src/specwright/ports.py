"""The journal port: an answer that was received is recorded and never requested again (design: journal).

The state store port: named bytes, published write-once or replaced atomically (design: store-layout, journal).

The Code Index port: a search by meaning over the shipped modules (design: code-index).

The web search port (design: product-spec).

The progress port: events of a run, for display.

The roles port: the assignment of each model role and its answer (design: debate).

An assignment names its place in the run, where its answers are journalled. A check examines an answer that fits its
schema and returns its other problems, as sentences for the role.

The packaging port: a release as an installable wheel (design: release).
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, cast

from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType
from ship_gate.base.record import Record
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples import Example
from ship_gate.contract.independent_tests import Property
from specwright.domain.costs import Budget, Cost, Usage
from specwright.domain.modules.code_index import CodeIndexEntry, Deprecation, IndexStatus, SearchHit
from specwright.domain.spec.product_spec import ProductSpecDraft
from specwright.errors import CorruptionError


class Scope(Protocol):
    """A named step of the run; its records are identified by their order within it.

    A scope is opened again each time its step is entered, and starts at its first record. Its name must be unique for each
    logical step (task, attempt, round, role), or it would read the records of another. The ids and the time of a step are
    drawn together, in one record; in a deferred step that record waits until `record` adds the files that they are in.
    """

    @property
    def name(self) -> str:
        """The place in the run, for instance `TSK-003.1/split_evenly/round-1/proposer`."""
        ...

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """The recorded answer at this place, or what `live` answers now, recorded and fsynced.

        Args:
            kind: `model`, `tool`, `web`, `verdict`, `step` (ids, time, hashes of files) or `draw` (measured values).
            request: The complete request; its SHA-256 is recorded.
            live: Answers the request. Its exceptions pass through and nothing is recorded.

        Raises:
            NonDeterminismError: another request was recorded at this place.
        """
        ...

    def record(self, files: Mapping[str, str] = MappingProxyType({})) -> None:
        """Record what was drawn in a deferred step, with the SHA-256 of each file that it is about to write, by path.

        Raises:
            NonDeterminismError: the step noted other files when it ran before.
        """
        ...

    def hex8(self) -> str:
        """The first eight hex digits of a new UUID4 that no other of this journal begins with (design: ids)."""
        ...

    def wire_id(self) -> str:
        """The id of a new Wire, `wire_` + ULID."""
        ...

    def now(self) -> str:
        """The time of the step, ISO-8601 UTC in milliseconds."""
        ...


class Journal(Protocol):
    """The append-only record of a run."""

    def scope(self, name: str, *, deferred: bool = False) -> Scope:
        """Enter a step; a deferred one calls `record` before it writes anything."""
        ...

    def head(self, most: int | None = None) -> tuple[int, str]:
        """How many records there are, and the SHA-256 of their lines; of the first ones if there are more than `most`."""
        ...

    def recorded(self, scope: str, kind: str) -> JsonValue:
        """The last record of a kind in a scope, without asking for one; None if there is none."""
        ...

    def count(self, scope: str, kind: str) -> int:
        """How many records of a kind a scope has."""
        ...


@contextmanager
def read_as_model_answer(where: str) -> Generator[None]:
    """Report a journalled answer that cannot be read as one of a model.

    Args:
        where: Its place.

    Raises:
        CorruptionError: it cannot.
    """
    try:
        yield
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        NotImplementedError,
    ) as error:
        raise CorruptionError(
            "the journal has an answer that is none of a model",
            where=where,
            remedy="restore `.specwright/journal.jsonl` from a copy; `specwright verify` lists the damage",
        ) from error


def usage_of(answer: JsonValue) -> Usage:
    """The tokens of a journalled model answer; zeros where the provider reports none, or less than none."""
    message = cast(dict[str, Any], cast(dict[str, Any], answer)["message"])
    usage = cast(dict[str, Any], message.get("data", {}).get("usage_metadata") or {})
    cached = cast(dict[str, Any], usage.get("input_token_details") or {})
    return Usage(
        _count(usage.get("input_tokens")),
        _count(usage.get("output_tokens")),
        _count(cached.get("cache_read")),
        _count(cached.get("cache_creation")),
    )


def characters_of(answer: JsonValue) -> int:
    """The characters of the request that a journalled model answer answers."""
    asked = cast(dict[str, int], cast(dict[str, Any], answer).get("asked") or {})
    return sum(asked.values())


def provider_of(answer: JsonValue) -> str:
    """The model that a journalled answer was bought from; empty if it was scripted."""
    return str(cast(dict[str, Any], answer).get("model") or "")


def author_of(answer: JsonValue) -> str:
    """The model that a journalled answer was bought from, or the playbook and the day it was written; empty of a person."""
    said = cast(dict[str, Any], answer).get("message", {}).get("data", {}).get("response_metadata", {})
    return provider_of(answer) or str(said.get("model_name") or "")


def paid_for(answer: JsonValue) -> Decimal | None:
    """The US dollars that a journalled answer cost when it was bought; None if that is not recorded."""
    usd = cast(dict[str, Any], answer).get("usd")
    return None if usd is None else Decimal(str(usd))


def _count(tokens: Any) -> int:
    return max(0, int(tokens or 0))


class FileTree(Protocol):
    """Files of a project, by posix paths. Writes are atomic."""

    @property
    def address(self) -> str:
        """Where they are, for messages."""
        ...

    def directory(self, path: str) -> Path:
        """A directory on this machine with the files below `path`, for programs that read them."""
        ...

    def publish(self, path: str, data: bytes) -> None:
        """Write a file once; the same bytes again change nothing.

        Raises:
            RefusedError: the file is published with other bytes.
        """
        ...

    def replace(self, path: str, data: bytes) -> None:
        """Write a file, or replace it atomically."""
        ...

    def read(self, path: str) -> bytes:
        """A file's bytes.

        Raises:
            CorruptionError: there is no such file.
        """
        ...

    def exists(self, path: str) -> bool:
        """Whether the file exists."""
        ...

    def names(self, path: str) -> list[str]:
        """The names in a directory, sorted; empty if it does not exist."""
        ...

    def tree(self, path: str) -> dict[str, bytes]:
        """Every file below a directory by its path relative to it."""
        ...

    def publish_tree(self, path: str, files: Mapping[str, bytes]) -> None:
        """Publish several files below a directory."""
        ...

    def move(self, path: str, to: str) -> None:
        """Move a directory at once; nothing happens if it is not there, or if something is at the new place."""
        ...


class StateStore(FileTree, Protocol):
    """`state_store/`, with the definitions that Wires refer to (design: projection).

    `replace` is refused but for the files that change (design: store-layout).
    """

    def define(self, data: bytes) -> str:
        """Publish bytes under their SHA-256 and return it."""
        ...

    def definition(self, sha256: str) -> bytes:
        """The bytes of a definition.

        Raises:
            CorruptionError: missing, or its bytes have another hash.
        """
        ...


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

    def retire(self, decided: Deprecation) -> None:
        """Mark an entry DEPRECATED or SUPERSEDED and append to its notes, in one transaction (design: deprecation).

        The same retirement again does nothing, so that a resumed run can repeat it.

        Raises:
            RefusedError: unknown entry, or no longer SHIPPED.
        """
        ...


class SearchResult(NamedTuple):
    """One ranked result."""

    url: str
    title: str
    snippet: str


class WebSearch(Protocol):
    """Searches the web."""

    def search(self, query: str, max_results: int) -> list[SearchResult]:
        """The best results, best first.

        Raises:
            RefusedError: no search is configured, or the service failed.
        """
        ...


class RunEvent(NamedTuple):
    """An event of the run, of a kind such as `task`, `module`, `sealed`, `halted`, `gate` or `release`."""

    kind: str
    task: str
    text: str


class RoleStarted(NamedTuple):
    """A role was invoked."""

    run_id: str
    role: str
    task: str
    subject: str
    stage: str


class RoleDone(NamedTuple):
    """A role answered. Tokens are those of live calls; if there were none (`replayed`), those of recorded calls."""

    run_id: str
    calls: int
    input_tokens: int
    output_tokens: int
    replayed: bool
    kept: int = 0
    """Calls that the journal answered."""


class RequestSent(NamedTuple):
    """A role's model was asked; `RequestDone` follows, whether it answers or not.

    Args:
        run_id: The invocation.
        model: As the journal names it.
        first: Whether the project has no answer of this model yet.
        tokens: About as many as the request has.
    """

    run_id: str
    model: str
    first: bool
    tokens: int = 0


class RequestDone(NamedTuple):
    """The model that was asked has answered, or has failed for good."""

    run_id: str


class AnswerBought(NamedTuple):
    """An answer was bought and journalled.

    Args:
        cost: Its cost.
        total: That of the project so far.
        budget: The project's.
    """

    cost: Cost
    total: Cost
    budget: Budget


ProgressEvent = RunEvent | RoleStarted | RoleDone | RequestSent | RequestDone | AnswerBought


class Progress(Protocol):
    """Receives events; never fails the run."""

    def note(self, event: ProgressEvent) -> None:
        """Show an event."""
        ...


A = TypeVar("A", bound=Record)

Files = Mapping[str, bytes]
"""Posix paths to bytes."""


class Role(StrEnum):
    """The model roles; the only callers of a model (design: debate, role-access)."""

    RESEARCHER = "researcher"
    PLANNER = "planner"
    PROPOSER = "proposer"
    CHALLENGER = "challenger"
    ARBITER = "arbiter"


def run_of(task: str, attempt: int, resumed: int = 0, change: str = "") -> str:
    """The id of a run of an attempt, `TSK-003.1`; after it was resumed in place once, `TSK-003.1r1`; of a change to one
    of its modules after it shipped, `TSK-003.ICE-1a2b3c4d-1`."""
    return f"{task}.{change}" if change else f"{task}.{attempt}" + (f"r{resumed}" if resumed else "")


class Place(NamedTuple):
    """Where in a run a role is invoked.

    Args:
        task: The spec's id of the task (`TSK-003`), empty for the researcher.
        attempt: The attempt at the task, from 1; for the researcher the number of the restart.
        subject: The module's name, `contracts` in the contract debate, `plan` for the planner.
        stage: `round-1`, ..., or `amended-1`, ... after the round whose amendments are applied.
        role: Who is asked.
        resumed: How often a person's answer resumed the attempt in place.
        change: The approved interface change exception that is carried out, and which approval of it.
    """

    task: str
    attempt: int
    subject: str
    stage: str
    role: Role
    resumed: int = 0
    change: str = ""

    @property
    def round(self) -> int:
        """The round, from 1; of the researcher always the first."""
        number = self.stage.rpartition("-")[2]
        return int(number) if number.isdecimal() else 1

    @property
    def run_id(self) -> str:
        """The invocation's id: unique in the project, and the same when the run is repeated."""
        run = run_of(self.task or "product", self.attempt, self.resumed, self.change)
        parts = (run, self.subject, self.stage)
        return "/".join((*filter(None, parts), self.role))


class StoreAccess(Protocol):
    """The artifact store as one role invocation sees it, limited by its context pack (design: artifact-lifecycle,
    role-access).

    A refusal is a RefusedError whose message is for the role; any other error is a defect of the store.
    """

    def listed(self) -> JsonValue:
        """What may be queried."""
        ...

    def query(self, ref: str) -> JsonValue:
        """One `id@version`, as far as the pack shows it."""
        ...

    def create(self, draws: Scope, kind: ArtifactType, body: Files, revises: str) -> str:
        """Register a draft of the role's own deliverable; returns the id that was drawn for it.

        Args:
            draws: Where its id and time come from.
            kind: What it is a draft of.
            body: Its files.
            revises: The draft before it, of the same invocation; empty for the first.
        """
        ...

    @property
    def upstream(self) -> Sequence[str]:
        """The shipped dependencies whose contracts the role may find wrong (design: interface-changes)."""
        ...

    def raise_exception(self, draws: Scope, raw: JsonValue, files: Files) -> str:
        """Record an interface change exception; returns its id.

        Args:
            draws: Where its id comes from.
            raw: What the role says of it.
            files: What the role has in its directory; judges are shown the exception, so that it must not quote them.

        Raises:
            RefusedError: it is not valid, with a line for each problem; nothing was written.
        """
        ...


class Assignment(NamedTuple, Generic[A]):
    """The request to a role.

    Args:
        place: Where in the run.
        answer: What it is asked for: the model of the answer.
        message: The request, with everything that the role table allows (design: role-access).
        pack: The files in the role's directory.
        writable: The prefixes that it may write.
        store: The artifact store, for a role that has tools for it.
        before: The answer that is corrected, as JSON text: the role may hand in what changes in it.
        is_change: Whether the files in its directory are those of a sealed module.
    """

    place: Place
    answer: type[A]
    message: str
    pack: Files = MappingProxyType({})
    writable: tuple[str, ...] = ()
    store: StoreAccess | None = None
    before: str = ""
    is_change: bool = False


class Answered(NamedTuple, Generic[A]):
    """An answer, the files that the role has written, and the queries by which it searched the Code Index."""

    answer: A
    files: Files
    searched: frozenset[str] = frozenset()


class ResearchSource(NamedTuple):
    """One `web_search` and the addresses that it found."""

    query: str
    urls: tuple[str, ...]


class Research(NamedTuple):
    """The researcher's product: the spec as it was emitted, and what was consulted."""

    spec: dict[str, Any]
    sources: tuple[ResearchSource, ...]


class Roles(Protocol):
    """Asks models. Every answer fits its schema and passed its check.

    Raises (each method):
        AnswerError: no such answer within the bounded attempts; the raw answers are kept.
        ModelUnavailableError: the endpoint cannot be reached or refuses.
        NonDeterminismError: a repeated request differs from the journalled one.
        ChangeRaisedError: it raised an interface change exception instead of an answer.
    """

    def research(
        self,
        assignment: Assignment[ProductSpecDraft],
        feedback: Sequence[str],
        checks: Sequence[Callable[[Any], Sequence[str]]],
    ) -> Research:
        """Expand a SPEC.md into a product spec; each `feedback` continues the same conversation.
        `checks` are for the first draft, and for that after each feedback (design: approval)."""
        ...

    def is_scripted(self, role: Role) -> bool:
        """Whether a role's answers come from a script, or nothing is asked of it here."""
        ...

    def require_script(self, place: Place, answered: int = 0, request: str = "", after: str = "") -> None:
        """Refuse to begin, or go on, at a place of which scripted answers hold no further one.

        Args:
            place: Where the next answer is asked for.
            answered: How many were given there.
            request: The change of the product that is asked for.
            after: The version that is released, which a change follows.

        Raises:
            InputError: they hold none, are for another change, or for one that is released.
        """
        ...

    def ask(self, assignment: Assignment[A], check: Callable[[A, Files], Sequence[str]]) -> Answered[A]:
        """Ask a role for its answer, and for the files that the check finds nothing wrong with."""
        ...


class ProductModule(NamedTuple):
    """A sealed module.

    `implementation` maps posix paths below the version's `implementation/` (`__init__.py`) to their bytes, `tests` the names
    of test files to theirs; `examples` is the text of its `examples.md`.
    """

    contract: MicroModuleContract
    implementation: Mapping[str, bytes]
    examples: str
    tests: Mapping[str, bytes] = MappingProxyType({})


class ApprovedExample(NamedTuple):
    """An example of the approved spec, as a user of the package calls it.

    Args:
        task_id: Of the task whose criteria it shows, `TSK-001`.
        example: With the criteria in its heading.
    """

    task_id: str
    example: Example


class ApprovedProperty(NamedTuple):
    """A property of the approved spec, over calls as a user of the package makes them.

    Args:
        task_id: Of the task whose criteria it shows, `TSK-001`.
        property: With the criteria in its heading.
    """

    task_id: str
    property: Property


class ProductPackage(NamedTuple):
    """The content of one wheel.

    Args:
        distribution: The name for installation: the slug of the spec's title.
        import_name: The name for imports.
        version: `spec_version`, or a post-release of it.
        summary: Cut to one line.
        modules: One version per module, one module per name.
        task_facing: The names of the modules of which the package exports all.
        provided: The names of the spec that the package exports, whichever module has them.
        requires: Requirements on third-party packages (design: contracts).
        notes: What each version added, changed and removed, as Markdown.
        approved: The examples that the person approved; they do not go into the wheel.
        properties: What the person approved for all values.
        interface: The document that the shell of the product reads; None of a product without one.
        guide: How its interfaces are used, as Markdown.
        license: An SPDX expression; empty if none is stated.
    """

    distribution: str
    import_name: str
    version: str
    summary: str
    modules: tuple[ProductModule, ...]
    task_facing: tuple[str, ...]
    provided: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    notes: str = ""
    approved: tuple[ApprovedExample, ...] = ()
    properties: tuple[ApprovedProperty, ...] = ()
    interface: Mapping[str, Any] | None = None
    guide: str = ""
    license: str = ""


class BuiltWheel(NamedTuple):
    """A wheel: its file name, its bytes with their SHA-256, and the names that its package exports; beside it the source
    tree, which builds such a wheel without Specwright: files by their posix paths."""

    file_name: str
    content: bytes
    sha256: str
    exports: tuple[str, ...]
    source: Mapping[str, bytes] = MappingProxyType({})


class ExampleOutcome(NamedTuple):
    """The result of an example, a property or a use of an interface against the installed package; `detail` is empty if it
    passed.

    `module` is the name of the module that has it, the task whose spec has it, or the program.
    """

    module: str
    heading: str
    passed: bool
    detail: str
    kind: Literal["example", "property", "command", "http", "mcp"] = "example"


class ExerciseReport(NamedTuple):
    """The result of trying the installed wheel; `detail` is a sentence or two for the manifest."""

    result: Literal["PASS", "FAIL"]
    detail: str
    examples: tuple[ExampleOutcome, ...]


class Packager(Protocol):
    """Makes the wheel of a product and tests it."""

    def build(self, product: ProductPackage) -> BuiltWheel:
        """Make the wheel; the same product gives the same bytes anywhere.

        Raises:
            RefusedError: this product cannot be packaged.
        """
        ...

    def exercise(self, wheel: BuiltWheel, product: ProductPackage) -> ExerciseReport:
        """Install a wheel into an environment of its own, import it, and run every example and property against it.

        A wheel that cannot be installed, imported or called is a FAIL, not an error.

        Raises:
            SpecwrightError: no environment could be made, or there is no sandbox.
        """
        ...
