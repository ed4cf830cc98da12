"""The documents of code that exists: what came of adopting it, and of judging a package (design: adoption, package)."""

from typing import Literal

from typing_extensions import TypedDict

from specwright.cli.documents.parts import Document, Finding


class AdoptedStatement(TypedDict):
    """What a draft says: where, on whose word, and what shows it."""

    pointer: str
    text: str
    origin: Literal["signature", "docstring", "source", "example", "drafted"]
    evidence: Literal["run", "read", "claimed"]


class AdoptionGap(TypedDict):
    """What a draft lacks, and what to write; `refuted` if a run showed that something which the source says is not so."""

    what: str
    where: str
    write: str
    refuted: bool


class AdoptionObstacle(TypedDict):
    """What no contract can say."""

    what: str
    where: str


class IgnoredTest(TypedDict):
    """A test that calls a function and was not used, and why."""

    name: str
    where: str
    why: str


class AdoptedFunction(TypedDict):
    """A function with its draft; `directory` is empty if there is none."""

    name: str
    where: str
    status: Literal["COMPLETE", "INCOMPLETE", "INEXPRESSIBLE"]
    directory: str
    statements: list[AdoptedStatement]
    gaps: list[AdoptionGap]
    obstacles: list[AdoptionObstacle]
    remarks: list[str]
    examples: int
    tests: int
    documented: int
    taken: int
    ignored: list[IgnoredTest]


class Adoption(Document):
    """What came of adopting the functions of a source."""

    source: str
    counts: dict[str, int]
    functions: list[AdoptedFunction]


class FunctionTests(TypedDict):
    """Tests of the source that call a function, and what was run of them and of its examples, case by case."""

    found: int
    used: int
    run: int
    passed: int
    ignored: list[IgnoredTest]


class FunctionVerdict(TypedDict):
    """What came of a function of a package."""

    name: str
    where: str
    result: Literal["SHOWN", "UNSTATED", "UNSHOWN", "WRONG", "INEXPRESSIBLE", "UNJUDGED"]
    shown: list[str]
    claimed: list[str]
    unshown: list[Finding]
    wrong: list[Finding]
    obstacles: list[AdoptionObstacle]
    seconds: float
    is_unchanged: bool
    accepted: str
    tests: FunctionTests


class Package(Document):
    """The gate's verdicts on the functions of a package."""

    verdict: Literal["PASS", "PARTIAL", "FAIL"]
    package: str
    counts: dict[str, int]
    functions: list[FunctionVerdict]
    needless: list[str]
