"""What the tools take and give: the schemas that a client is shown are made of these (design: mcp-server)."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from specwright.domain.base.record import Record

PathText = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
ModuleDirectoryText = Annotated[
    PathText,
    Field(
        description="A module directory, which holds contract.json, implementation/, tests/ and examples.md; relative to "
        "a root of the server, or absolute and below one."
    ),
]


class GateArguments(Record):
    """What `gate` takes."""

    directories: Annotated[
        list[PathText],
        Field(
            min_length=1,
            max_length=200,
            description="Module directories, or directories with module directories below them; relative to a root of "
            "the server, or absolute and below one.",
        ),
    ]
    seconds: Annotated[
        float | None,
        Field(
            default=None,
            gt=0,
            le=86_400,
            description="Begin no further module after so many; what was not judged in time is UNJUDGED. Left out: half "
            "of the server's time limit.",
        ),
    ]


class FoundProblem(Record):
    """A finding: what is wrong, where, and what to do about it."""

    code: Annotated[str, Field(description="Stable; the tool `explain` says what it means.")]
    where: Annotated[str, Field(description="The place, as the gate names it.")]
    file: Annotated[str, Field(description="Relative to the module's directory; empty if it is no one file.")]
    line: Annotated[int | None, Field(description="In that file.")]
    message: Annotated[str, Field(description="What was observed, and what to change.")]
    do: Annotated[str, Field(description="What to do about findings of this code.")]


class JudgedDirectory(Record):
    """What came of a module."""

    directory: str
    name: str
    result: Annotated[
        Literal["PASS", "FAIL", "UNCHANGED", "UNJUDGED"],
        Field(
            description="UNCHANGED: it passed before and nothing of it has changed. UNJUDGED: the time was over."
        ),
    ]
    seconds: float
    tests_passed: int | None
    tests: Annotated[int | None, Field(description="None if none were run now.")]
    findings: list[FoundProblem]
    findings_left_out: Annotated[int, Field(description="How many there are beside those listed.")]


class GateResult(Record):
    """What `gate` gives."""

    verdict: Annotated[Literal["PASS", "FAIL"], Field(description="PASS only if every module passes.")]
    modules: list[JudgedDirectory]
    next: Annotated[str, Field(description="What to do now.")]


class GatePackageArguments(Record):
    """What `gate_package` takes."""

    directory: Annotated[
        PathText,
        Field(
            description="The folder of a package, or one with packages in it or in its `src`; relative to a root of the "
            "server, or absolute and below one."
        ),
    ]
    functions: Annotated[
        list[str],
        Field(
            default=[],
            max_length=100,
            description="Names of functions, dotted or not, to judge these alone; all public ones if left out.",
        ),
    ]
    seconds: Annotated[
        float | None,
        Field(
            default=None,
            gt=0,
            le=86_400,
            description="Begin no further function after so many. Left out: half of the server's time limit.",
        ),
    ]


class SourceFinding(Record):
    """Something that is wrong with a function, or not shown of it."""

    code: str
    where: Annotated[str, Field(description="File and line of the source or of its tests.")]
    message: Annotated[str, Field(description="What was observed, and what to write.")]
    is_wrong: Annotated[
        bool, Field(description="Whether something is not as it is stated; else nobody shows it.")
    ]


class JudgedFunction(Record):
    """What came of a function that is not shown."""

    name: str
    where: Annotated[str, Field(description="File and line of its definition.")]
    result: Annotated[
        Literal["SHOWN", "UNSTATED", "UNSHOWN", "WRONG", "INEXPRESSIBLE", "UNJUDGED"],
        Field(
            description="UNSTATED: nothing but types is stated that could be shown. UNSHOWN: tests, examples or types are "
            "missing or too weak. INEXPRESSIBLE: no contract can say what it does, so nothing is said of it. UNJUDGED: the "
            "time was over."
        ),
    ]
    findings: list[SourceFinding]
    cannot: Annotated[list[str], Field(description="What no contract can say, with file and line.")]
    accepted: Annotated[str, Field(description="Why pyproject.toml accepts that it is not judged.")]


class CountedTests(Record):
    """The tests of the tree that call these functions, and the cases that were run of them and of examples."""

    found: int
    used: int
    run: int
    passed: int


class GatePackageResult(Record):
    """What `gate_package` gives."""

    verdict: Annotated[
        Literal["PASS", "PARTIAL", "FAIL"],
        Field(
            description="PASS if every function is shown or accepted as not judged. PARTIAL: nothing fails, and of some "
            "nothing is said."
        ),
    ]
    counts: Annotated[dict[str, int], Field(description="Functions by their result.")]
    shown: Annotated[list[str], Field(description="The functions of which everything is shown.")]
    functions: Annotated[
        list[JudgedFunction], Field(description="The others, if the same was not told before.")
    ]
    unchanged: Annotated[
        str, Field(description="The others of which the last call told the same, in a line; empty if none.")
    ]
    functions_left_out: Annotated[int, Field(description="How many there are beside those listed.")]
    tests: CountedTests
    tests_not_used: Annotated[list[str], Field(description="Tests that call one of them, and why not.")]
    next: Annotated[str, Field(description="What to do now.")]


class FixArguments(Record):
    """What `fix_docstring` takes."""

    directory: ModuleDirectoryText


class FixResult(Record):
    """What `fix_docstring` gives."""

    written: Annotated[
        str,
        Field(description="The file whose docstring was written; empty if it was the contract's already."),
    ]
    module: Annotated[JudgedDirectory, Field(description="The module, judged with that docstring.")]


class ExplainArguments(Record):
    """What `explain` takes."""

    code: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description="As in a finding: tests.vacuous; or `docstring`: how one states types, limits, errors, examples.",
        ),
    ]


class ExplainResult(Record):
    """What `explain` gives."""

    code: str
    severity: Annotated[str, Field(description="What such a finding means for the rest of a judgement.")]
    means: Annotated[str, Field(description="What was observed.")]
    why: Annotated[str, Field(description="Why that refuses the module.")]
    steps: Annotated[list[str], Field(description="What to do, the usual case first.")]


class SearchArguments(Record):
    """What `search_index` takes."""

    directory: Annotated[
        PathText,
        Field(
            description="The directory of a Specwright project; relative to a root, or absolute and below one."
        ),
    ]
    query: Annotated[
        str,
        Field(min_length=1, max_length=1000, description="What a module should do, in plain words."),
    ]
    tags: Annotated[
        list[str], Field(default=[], max_length=20, description="Only modules with one of these tags.")
    ]
    input_types: Annotated[
        list[str], Field(default=[], max_length=20, description="Only modules that take one of these types.")
    ]
    output_types: Annotated[
        list[str],
        Field(default=[], max_length=20, description="Only modules that return one of these types."),
    ]
    top: Annotated[int, Field(default=10, ge=1, le=50, description="How many at most.")]


class FoundModule(Record):
    """A sealed module of the Code Index."""

    module_ref: str
    name: str
    purpose: str
    similarity_score: Annotated[float, Field(description="0 to 1, of meaning, not of fitness.")]
    directory: Annotated[
        str,
        Field(description="Of its files; `read_module` shows them, if the project is kept in a directory."),
    ]
    io_summary: dict[str, Any]


class SearchResult(Record):
    """What `search_index` gives."""

    matches: Annotated[list[FoundModule], Field(description="The best first.")]


class AdoptArguments(Record):
    """What `adopt` takes."""

    source: Annotated[
        PathText,
        Field(
            description="A Python file, `file.py:function`, or the folder of a package; relative to a root of the "
            "server, or absolute and below one."
        ),
    ]
    out: Annotated[
        PathText,
        Field(description="The directory in which a module directory for each function is made."),
    ]


class MissingPart(Record):
    """Something that a draft lacks."""

    what: str
    where: Annotated[str, Field(description="File and line of the source.")]
    write: Annotated[str, Field(description="What to write, and where.")]
    refuted: Annotated[bool, Field(description="Whether a run showed that what the source says is not so.")]


class ClaimedStatement(Record):
    """Something that a draft states and that no run bore out."""

    pointer: Annotated[str, Field(description="Into contract.json.")]
    text: str


class AdoptedSource(Record):
    """What came of a function."""

    name: str
    where: Annotated[str, Field(description="File and line of its definition.")]
    status: Annotated[
        Literal["COMPLETE", "INCOMPLETE", "INEXPRESSIBLE"],
        Field(
            description="COMPLETE: nothing is missing that the adoption knows of. INEXPRESSIBLE: no contract can say what "
            "it does as it stands, and nothing was written."
        ),
    ]
    directory: Annotated[str, Field(description="The module directory that was made; empty if none was.")]
    missing: list[MissingPart]
    cannot: Annotated[list[str], Field(description="What no contract can say, with file and line.")]
    claimed: list[ClaimedStatement]
    remarks: list[str]


class AdoptResult(Record):
    """What `adopt` gives."""

    functions: list[AdoptedSource]
    functions_left_out: Annotated[int, Field(description="How many there are beside those listed.")]
    next: Annotated[str, Field(description="What to do now.")]
