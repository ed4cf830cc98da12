"""The roles port: the assignment of each model role and its answer (design: debate).

An assignment names its place in the run, where its answers are journalled. A check examines an answer that fits its
schema and returns its other problems, as sentences for the role.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType
from ship_gate.base.record import Record
from specwright.domain.spec.product_spec import ProductSpecDraft
from specwright.domain.spec.spec_markdown import ResearchSource
from specwright.ports.journal import Scope

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

    def raise_exception(self, draws: Scope, raw: JsonValue) -> str:
        """Record an interface change exception; returns its id.

        Args:
            draws: Where its id comes from.
            raw: What the role says of it.

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
    """

    place: Place
    answer: type[A]
    message: str
    pack: Files = MappingProxyType({})
    writable: tuple[str, ...] = ()
    store: StoreAccess | None = None
    before: str = ""


class Answered(NamedTuple, Generic[A]):
    """An answer, and the files that the role has written."""

    answer: A
    files: Files


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
        check: Callable[[Any], Sequence[str]],
    ) -> Research:
        """Expand a SPEC.md into a product spec; `feedback` continues the same conversation (design: approval)."""
        ...

    def require_script(self, place: Place, answered: int = 0) -> None:
        """Refuse to begin, or go on, at a place of which scripted answers hold no further one.

        Args:
            place: Where the next answer is asked for.
            answered: How many were given there.

        Raises:
            InputError: they hold none.
        """
        ...

    def ask(self, assignment: Assignment[A], check: Callable[[A, Files], Sequence[str]]) -> Answered[A]:
        """Ask a role for its answer, and for the files that the check finds nothing wrong with."""
        ...
