"""What came of adopting functions: what each draft states and on whose word, and what it lacks (design: adoption)."""

from enum import StrEnum
from typing import NamedTuple


class AdoptionStatus(StrEnum):
    """How far a draft has come."""

    COMPLETE = "COMPLETE"
    """Nothing is missing that the adoption knows of; the gate may still find something."""
    INCOMPLETE = "INCOMPLETE"
    """There is a draft, and somebody has to write what is missing."""
    INEXPRESSIBLE = "INEXPRESSIBLE"
    """No contract can say what the function does as it stands."""


class Origin(StrEnum):
    """On whose word a contract states something."""

    SIGNATURE = "signature"
    DOCSTRING = "docstring"
    SOURCE = "source"
    """A statement of the function's body, such as a `raise`."""
    EXAMPLE = "example"
    """A type that nobody states, and that every documented example has."""
    DRAFTED = "drafted"
    """A model drafted it, and a run bore it out."""


class Evidence(StrEnum):
    """What shows a statement."""

    RUN = "run"
    """It was seen when the function ran in the sandbox."""
    READ = "read"
    """The source can mean nothing else: a name, a type, a default."""
    CLAIMED = "claimed"
    """It was never seen."""


class Statement(NamedTuple):
    """Something that a draft says.

    Args:
        pointer: JSON pointer into the contract.
        text: What it says.
        origin: On whose word.
        evidence: What shows it.
    """

    pointer: str
    text: str
    origin: Origin
    evidence: Evidence


class Gap(NamedTuple):
    """Something that a draft lacks.

    Args:
        what: What is missing.
        where: File and line of the source that it concerns.
        write: What to write into the source or its tests, and where.
        refuted: Whether a run showed that something which the source says is not so.
        in_module: What may be written instead into the module directory that was made; empty if there is no such way.
    """

    what: str
    where: str
    write: str
    refuted: bool = False
    in_module: str = ""

    @property
    def instructions(self) -> str:
        """What to write, into the source or into the module directory."""
        return "; or ".join(filter(None, (self.write, self.in_module)))


class Obstacle(NamedTuple):
    """Something in the source that no contract can say, with its file and line."""

    what: str
    where: str


class IgnoredTest(NamedTuple):
    """A test of the source that calls the function and was not used: its name, file and line, and the reason."""

    name: str
    where: str
    why: str


class AdoptedFunction(NamedTuple):
    """One function of the source.

    Args:
        name: Dotted, `package.module.function`.
        where: File and line of its definition.
        status: How far its draft has come.
        directory: The module directory that was written; empty if none was.
        statements: What the draft says.
        gaps: What it lacks.
        obstacles: What no contract can say; with one there is no draft.
        remarks: What was read otherwise than it is written, such as a narrower type.
        examples: How many stand in `examples.md`.
        tests: How many were taken over or made of examples.
        documented: How many examples of documents are true; the others are what was observed.
        taken: How many tests of the source were taken over.
        ignored: Those that call it and need more of the source than it.
    """

    name: str
    where: str
    status: AdoptionStatus
    directory: str = ""
    statements: tuple[Statement, ...] = ()
    gaps: tuple[Gap, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    remarks: tuple[str, ...] = ()
    examples: int = 0
    tests: int = 0
    documented: int = 0
    taken: int = 0
    ignored: tuple[IgnoredTest, ...] = ()

    @property
    def short_name(self) -> str:
        """The function's own name."""
        return self.name.rpartition(".")[2]

    @property
    def is_stated(self) -> bool:
        """Whether its documents state anything that could be otherwise: an example, an error, a limit."""
        return self.documented > 0 or any(
            one.origin is Origin.DOCSTRING and one.pointer.startswith("/error_surfaces/")
            for one in self.statements
        )


class AdoptionReport(NamedTuple):
    """Everything that came of one source.

    Args:
        source: As it was named.
        functions: Its public functions, in the order of their files.
    """

    source: str
    functions: tuple[AdoptedFunction, ...]

    def counts(self) -> dict[str, int]:
        """How many functions came how far."""
        return {str(status): sum(one.status is status for one in self.functions) for status in AdoptionStatus}
