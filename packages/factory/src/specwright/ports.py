"""The ports: what the application needs from outside, as Protocols.

- `Journal`, `Scope`: answers are recorded when received and never requested again (design: journal)
- `StateStore`, `FileTree`: named bytes, published once or replaced atomically (design: store-layout)
- `CodeIndex`: search by meaning over the sealed modules (design: code-index)
- `WebSearch`: the researcher's web search (design: product-spec)
- `Progress`: events of a run, for display
- `Roles`, `StoreAccess`: assignments to the model roles and their answers (design: debate). A check takes an answer that
  fits its schema and returns its other problems, as sentences for the role.
- `Packager`: a release as an installable wheel (design: release)
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

    Opening a scope again starts at its first record. Each logical step (task, attempt, round, role) needs a name of its
    own, or it would read the records of another. The ids and the time of a step are drawn together, in one record; a
    deferred step writes that record in `record`, with the hashes of the files that use them.
    """

    @property
    def name(self) -> str:
        """The place in the run, for instance `TSK-003.1/split_evenly/round-1/proposer`."""
        ...

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """Return the recorded answer at this place; if there is none, call `live`, then record and fsync its answer.

        Args:
            kind: `model`, `tool`, `web`, `verdict`, `step` (ids, time, hashes of files) or `draw` (measured values).
            request: The complete request; its SHA-256 is recorded.
            live: Answers the request. If it raises, nothing is recorded.

        Raises:
            NonDeterminismError: the journal has another request at this place.
        """
        ...

    def record(self, files: Mapping[str, str] = MappingProxyType({})) -> None:
        """Record the ids and time of a deferred step, with the SHA-256 of each file that it will write, by path.

        Raises:
            NonDeterminismError: the journal has other files for this step.
        """
        ...

    def hex8(self) -> str:
        """Draw eight hex digits of a UUID4 that this journal has not drawn before (design: ids)."""
        ...

    def wire_id(self) -> str:
        """Draw the id of a new Wire, `wire_` + ULID."""
        ...

    def now(self) -> str:
        """Return the time of the step, ISO-8601 UTC with milliseconds."""
        ...


class Journal(Protocol):
    """The append-only record of a run."""

    def scope(self, name: str, *, deferred: bool = False) -> Scope:
        """Enter a step. A deferred one must call `record` before it writes anything."""
        ...

    def head(self, most: int | None = None) -> tuple[int, str]:
        """Return the number of records and the SHA-256 of their lines; at most of the first `most`."""
        ...

    def recorded(self, scope: str, kind: str) -> JsonValue:
        """Return the last recorded answer of a kind in a scope, or None."""
        ...

    def count(self, scope: str, kind: str) -> int:
        """Count the records of a kind in a scope."""
        ...


@contextmanager
def read_as_model_answer(where: str) -> Generator[None]:
    """Turn an error while reading a journalled model answer into a `CorruptionError`.

    Args:
        where: The answer's place.

    Raises:
        CorruptionError: the block failed to read the answer.
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
            "the journal has an answer that is not a model's",
            where=where,
            remedy="restore `.specwright/journal.jsonl` from a copy; `specwright verify` lists the damage",
        ) from error


def usage_of(answer: JsonValue) -> Usage:
    """Return the tokens of a journalled model answer; 0 where the provider reports none or a negative number."""
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
    """Return the number of characters in the request of a journalled model answer."""
    asked = cast(dict[str, int], cast(dict[str, Any], answer).get("asked") or {})
    return sum(asked.values())


def provider_of(answer: JsonValue) -> str:
    """Return the model of a journalled answer; empty if the answer is scripted."""
    return str(cast(dict[str, Any], answer).get("model") or "")


def author_of(answer: JsonValue) -> str:
    """Return the model of a journalled answer, or the model and date that its playbook states; empty if unknown."""
    said = cast(dict[str, Any], answer).get("message", {}).get("data", {}).get("response_metadata", {})
    return provider_of(answer) or str(said.get("model_name") or "")


def paid_for(answer: JsonValue) -> Decimal | None:
    """Return the recorded price of a journalled answer in US dollars; None if none is recorded."""
    usd = cast(dict[str, Any], answer).get("usd")
    return None if usd is None else Decimal(str(usd))


def _count(tokens: Any) -> int:
    return max(0, int(tokens or 0))


class FileTree(Protocol):
    """Files of a project, by POSIX paths. Writes are atomic."""

    @property
    def address(self) -> str:
        """The location of the files, for messages."""
        ...

    def directory(self, path: str) -> Path:
        """Return a local directory with the files below `path`, for other programs."""
        ...

    def publish(self, path: str, data: bytes) -> None:
        """Write a file that never changes; publishing the same bytes again does nothing.

        Raises:
            RefusedError: the file exists with other bytes.
        """
        ...

    def replace(self, path: str, data: bytes) -> None:
        """Write or replace a file atomically."""
        ...

    def read(self, path: str) -> bytes:
        """Return a file's bytes.

        Raises:
            CorruptionError: there is no such file.
        """
        ...

    def exists(self, path: str) -> bool:
        """Whether the file exists."""
        ...

    def names(self, path: str) -> list[str]:
        """Return the sorted names in a directory; empty if it does not exist."""
        ...

    def tree(self, path: str) -> dict[str, bytes]:
        """Return every file below a directory, by relative path."""
        ...

    def publish_tree(self, path: str, files: Mapping[str, bytes]) -> None:
        """Publish several files below a directory."""
        ...

    def move(self, path: str, to: str) -> None:
        """Move a directory atomically. Do nothing if `path` does not exist or `to` does."""
        ...


class StateStore(FileTree, Protocol):
    """`state_store/`, with the definitions that Wires refer to (design: projection).

    `replace` raises `RefusedError` except for the few files that may change (design: store-layout).
    """

    def define(self, data: bytes) -> str:
        """Publish bytes under their SHA-256 and return it."""
        ...

    def definition(self, sha256: str) -> bytes:
        """Return the bytes of a definition.

        Raises:
            CorruptionError: the definition is missing, or its bytes have another hash.
        """
        ...


class IndexQuery(NamedTuple):
    """A search of the Code Index. Agents cannot set the fields from `module_ids` on.

    An entry must match at least one value of each filter list exactly; an empty list filters nothing.

    Args:
        query: The purpose, in plain words.
        tags: Tags of the module.
        input_types: Types of the contract's inputs, as written or in the spelling of contracts (`searched_types`).
        output_types: Types of its outputs, likewise.
        include_inactive: Also find DEPRECATED and SUPERSEDED entries.
        top_k: The number of results, at least 1.
        module_ids: Ids of modules.
        statuses: Statuses of entries; overrides `include_inactive`.
        version_from: The lowest version, inclusive.
        version_below: The upper bound of versions, exclusive.
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
    """An append-only registry: no deletion, no reuse of keys, status changes in one direction only (design: code-index)."""

    def add(self, entry: CodeIndexEntry) -> None:
        """Append an entry with its embedding. Adding the same entry again does nothing, even once it is retired.

        Raises:
            RefusedError: another entry has the key (module id, version), or the entry is not SHIPPED.
        """
        ...

    def search(self, query: IndexQuery) -> list[SearchHit]:
        """Return the `top_k` nearest entries, best first, whatever their score.

        Raises:
            InputError: `top_k` below 1, or a version bound that is not `major.minor.patch`.
        """
        ...

    def get(self, module_id: str, version: str) -> CodeIndexEntry | None:
        """Return the entry of a key, or None."""
        ...

    def entries(self) -> list[CodeIndexEntry]:
        """Return all entries, oldest first."""
        ...

    def retire(self, decided: Deprecation) -> None:
        """Mark an entry DEPRECATED or SUPERSEDED and append to its notes, in one transaction (design: deprecation).

        Repeating the same retirement does nothing, so that a resumed run can repeat it.

        Raises:
            RefusedError: there is no such entry, or it is no longer SHIPPED.
        """
        ...


class SearchResult(NamedTuple):
    """One result of a web search."""

    url: str
    title: str
    snippet: str


class WebSearch(Protocol):
    """Searches the web."""

    def search(self, query: str, max_results: int) -> list[SearchResult]:
        """Return at most `max_results` results, best first.

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
    """A role answered. Tokens count live calls, or recorded calls if there were no live ones (`replayed`)."""

    run_id: str
    calls: int
    input_tokens: int
    output_tokens: int
    replayed: bool
    kept: int = 0
    """The number of calls answered from the journal."""


class RequestSent(NamedTuple):
    """A request was sent to a role's model; `RequestDone` follows in any case.

    Args:
        run_id: The invocation.
        model: The model's name, as in the journal.
        first: Whether the project has no answer of this model yet.
        tokens: The approximate size of the request.
    """

    run_id: str
    model: str
    first: bool
    tokens: int = 0


class RequestDone(NamedTuple):
    """The model answered, or failed after all retries."""

    run_id: str


class AnswerBought(NamedTuple):
    """A paid answer was journalled.

    Args:
        cost: The cost of the answer.
        total: The cost of the project so far.
        budget: The project's budget.
    """

    cost: Cost
    total: Cost
    budget: Budget


ProgressEvent = RunEvent | RoleStarted | RoleDone | RequestSent | RequestDone | AnswerBought


class Progress(Protocol):
    """Shows events; never raises."""

    def note(self, event: ProgressEvent) -> None:
        """Show an event."""
        ...


A = TypeVar("A", bound=Record)

Files = Mapping[str, bytes]
"""POSIX paths to bytes."""


class Role(StrEnum):
    """The model roles; the only callers of a model (design: debate, role-access)."""

    RESEARCHER = "researcher"
    PLANNER = "planner"
    PROPOSER = "proposer"
    CHALLENGER = "challenger"
    ARBITER = "arbiter"


def run_of(task: str, attempt: int, resumed: int = 0, change: str = "") -> str:
    """Return the id of a run: `TSK-003.1` for attempt 1, `TSK-003.1r1` once it was resumed in place, and
    `TSK-003.ICE-1a2b3c4d-1` for an interface change to a shipped module of the task."""
    return f"{task}.{change}" if change else f"{task}.{attempt}" + (f"r{resumed}" if resumed else "")


class Place(NamedTuple):
    """The place in a run where a role is invoked.

    Args:
        task: The task's id in the spec (`TSK-003`), empty for the researcher.
        attempt: The attempt at the task, from 1; for the researcher the number of the restart.
        subject: The module's name, `contracts` in the contract debate, `plan` for the planner.
        stage: `round-1`, ..., or `amended-1`, ... while the amendments of that round are applied.
        role: The role.
        resumed: How often the attempt was resumed in place.
        change: The id of the interface change exception being carried out, and the number of its approval.
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
        """The round, from 1; always 1 for the researcher."""
        number = self.stage.rpartition("-")[2]
        return int(number) if number.isdecimal() else 1

    @property
    def run_id(self) -> str:
        """The invocation's id: unique in the project and stable across repeated runs."""
        run = run_of(self.task or "product", self.attempt, self.resumed, self.change)
        parts = (run, self.subject, self.stage)
        return "/".join((*filter(None, parts), self.role))


class StoreAccess(Protocol):
    """The artifact store as one role invocation sees it, limited by its context pack (design: artifact-lifecycle,
    role-access).

    A RefusedError has a message for the role; any other error is a defect of the store.
    """

    def listed(self) -> JsonValue:
        """List the artifacts that the role may query."""
        ...

    def query(self, ref: str) -> JsonValue:
        """Return the part of the artifact `id@version` that the pack permits."""
        ...

    def create(self, draws: Scope, kind: ArtifactType, body: Files, revises: str) -> str:
        """Register a draft of the role's deliverable and return its new id.

        Args:
            draws: The source of the id and the time.
            kind: The type of the deliverable.
            body: The draft's files.
            revises: The previous draft of the same invocation; empty for the first.
        """
        ...

    @property
    def upstream(self) -> Sequence[str]:
        """The shipped dependencies that the role may raise an exception against (design: interface-changes)."""
        ...

    def raise_exception(self, draws: Scope, raw: JsonValue, files: Files) -> str:
        """Record an interface change exception and return its id.

        Args:
            draws: The source of the id.
            raw: The role's answer.
            files: The files of the role's directory. The exception must not quote them, because judges read it.

        Raises:
            RefusedError: the exception is not valid, with a line for each problem; nothing was written.
        """
        ...


class Assignment(NamedTuple, Generic[A]):
    """A request to a role.

    Args:
        place: The place in the run.
        answer: The type of the answer.
        message: The text of the request, limited by the role table (design: role-access).
        pack: The files in the role's directory.
        writable: The path prefixes that the role may write.
        store: The artifact store, for roles that have tools for it.
        before: The answer to correct, as JSON text; the role may then answer with a patch.
        is_change: Whether the role changes the files of a sealed module, which are in its directory.
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
    """An answer, the files that the role wrote, and its searches of the Code Index."""

    answer: A
    files: Files
    searched: frozenset[str] = frozenset()


class ResearchSource(NamedTuple):
    """One `web_search` and the URLs that it found."""

    query: str
    urls: tuple[str, ...]


class Research(NamedTuple):
    """The researcher's result: the spec as submitted, and the sources that it consulted."""

    spec: dict[str, Any]
    sources: tuple[ResearchSource, ...]


class Roles(Protocol):
    """Asks the models. Every answer fits its schema and passed its check.

    Raises (each method):
        AnswerError: the role gave no such answer within its attempts; the raw answers are kept.
        ModelUnavailableError: the endpoint cannot be reached or rejected the request.
        NonDeterminismError: a repeated request differs from the journalled one.
        ChangeRaisedError: the role raised an interface change exception instead of answering.
    """

    def research(
        self,
        assignment: Assignment[ProductSpecDraft],
        feedback: Sequence[str],
        checks: Sequence[Callable[[Any], Sequence[str]]],
    ) -> Research:
        """Expand a SPEC.md into a product spec. Each `feedback` continues the same conversation; `checks` has one check for
        the first draft and one for the draft after each feedback (design: approval)."""
        ...

    def is_scripted(self, role: Role) -> bool:
        """Whether a role's answers come from a playbook, or a worker asks for them."""
        ...

    def require_script(self, place: Place, answered: int = 0, request: str = "", after: str = "") -> None:
        """Raise unless the playbook, if there is one, has the next answer for a place.

        Args:
            place: The place of the next answer.
            answered: How many answers were given there.
            request: The requested change of the product.
            after: The released version that the change follows.

        Raises:
            InputError: the playbook has no such answer, or is for another change or one that is already released.
        """
        ...

    def ask(self, assignment: Assignment[A], check: Callable[[A, Files], Sequence[str]]) -> Answered[A]:
        """Ask a role until the check finds no problem in its answer and files, and return both."""
        ...


class ProductModule(NamedTuple):
    """A sealed module.

    `implementation` maps POSIX paths below `implementation/` to bytes, `tests` maps names of test files to bytes, and
    `examples` is the text of `examples.md`.
    """

    contract: MicroModuleContract
    implementation: Mapping[str, bytes]
    examples: str
    tests: Mapping[str, bytes] = MappingProxyType({})


class ApprovedExample(NamedTuple):
    """An example of the approved spec, as a user of the package would call it.

    Args:
        task_id: The task whose criteria it shows, `TSK-001`.
        example: The example, with the criteria in its heading.
    """

    task_id: str
    example: Example


class ApprovedProperty(NamedTuple):
    """A property of the approved spec, over calls as a user of the package would make them.

    Args:
        task_id: The task whose criteria it shows, `TSK-001`.
        property: The property, with the criteria in its heading.
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
        task_facing: The modules whose public names the package exports.
        provided: The public names of the spec, exported from whichever module has them.
        requires: Requirements on third-party packages (design: contracts).
        notes: What each version added, changed and removed, as Markdown.
        approved: The approved examples; they do not go into the wheel.
        properties: The approved properties.
        interface: The document from which the product's interfaces run; None for a product without any.
        guide: How to use the interfaces, as Markdown.
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
    """A wheel: its file name, bytes and SHA-256, the names that its package exports, and the source tree, from which the
    wheel can be built without Specwright."""

    file_name: str
    content: bytes
    sha256: str
    exports: tuple[str, ...]
    source: Mapping[str, bytes] = MappingProxyType({})


class ExampleOutcome(NamedTuple):
    """The result of an example, a property or an interface call against the installed package; `detail` is empty on success.

    `module` is the module or task that the example belongs to, or the program.
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
    """Builds the wheel of a product and tests it."""

    def build(self, product: ProductPackage) -> BuiltWheel:
        """Build the wheel; the same product gives the same bytes on every machine.

        Raises:
            RefusedError: the product cannot be packaged.
        """
        ...

    def exercise(self, wheel: BuiltWheel, product: ProductPackage) -> ExerciseReport:
        """Install a wheel into a fresh environment, import it, and run every example and property against it.

        If the wheel cannot be installed, imported or called, the report is a FAIL; nothing is raised.

        Raises:
            SpecwrightError: no environment could be made, or there is no sandbox.
        """
        ...
