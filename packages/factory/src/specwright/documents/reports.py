"""Documents of commands that check, report and move (design: command-line)."""

from pathlib import Path
from typing import Any, Literal, Self

from ship_gate.base.record import Record
from specwright.application.change import reportable
from specwright.application.factory import ProjectView
from specwright.application.interface_change import exceptions, shown_sha256
from specwright.application.stages.release import (
    ChangedModule,
    changed_modules,
    compared,
    source_changes,
    spec_changes,
)
from specwright.bootstrap.costs import Division, costs, prices_in, refused_cost, total_cost
from specwright.bootstrap.views import AtWork, at_work
from specwright.domain.base.document import Document, Part
from specwright.domain.costs import Cost, money
from specwright.domain.interface_change import (
    ExceptionDecision,
    ExceptionOutcome,
    ExceptionStatus,
    InterfaceChangeException,
)

Verdict = Literal["PASS", "FAIL"]


class Complaint(Part):
    """What failed, where, and what to do; what a model answered last, if it gave up."""

    what: str
    where: str
    do: str
    answer: str | None = None


class Error(Document, schema="error"):
    """A command that failed."""

    error: Complaint
    exit_code: int


class CostSum(Record):
    """What was asked of models; `usd` is null as soon as one price is not known, `money` says it in words."""

    requests: int
    characters: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    unpriced: int
    money: str

    @classmethod
    def of(cls, cost: Cost) -> Self:
        """A sum for a program."""
        fields: dict[str, Any] = cost._asdict()
        fields["usd"] = None if cost.unpriced else float(round(cost.usd, 6))
        return cls(**fields, money=money(cost))


class Costs(Document, schema="costs"):
    """What was asked of models, by part; `refused` are answers of the total that were not accepted, so that the role was
    asked again; `waiting` is the request that has no answer yet."""

    by: Division
    parts: dict[str, CostSum]
    total: CostSum
    refused: CostSum
    waiting: AtWork | None

    @property
    def refusals(self) -> str:
        """The share of refused answers in words; empty without any."""
        lost, whole = (one.input_tokens + one.output_tokens for one in (self.refused, self.total))
        if not self.refused.requests:
            return ""
        share = f", {lost:,} tokens, {lost / whole:.0%} of all" if whole else ""
        return f"Refused answers, which were asked for again: {self.refused.requests:,} of {self.total.requests:,}{share}."

    @classmethod
    def of(cls, directory: Path, by: Division) -> Self:
        """The costs of a project."""
        prices, working = prices_in(directory), at_work(directory)
        return cls(
            by=by,
            parts={part: CostSum.of(cost) for part, cost in costs(directory, by, prices).items()},
            total=CostSum.of(total_cost(directory, prices)),
            refused=CostSum.of(refused_cost(directory, prices)),
            waiting=working if working and working.waits_for else None,
        )


class ReleaseDifference(Document, schema="release-difference"):
    """What differs between two releases: versions and ids of both, the spec and the code as patches, and each module that
    is another one."""

    old: str
    new: str
    old_release: str
    new_release: str
    spec: list[str]
    modules: list[ChangedModule]
    source: list[str]
    exit_code: int = 0

    @classmethod
    def of(cls, view: ProjectView, old: str = "", new: str = "") -> Self:
        """The difference of two versions, by default of the newest from the one before it."""
        releases = compared(view, old, new)
        return cls(
            old=releases[0].spec_version,
            new=releases[1].spec_version,
            old_release=releases[0].release_id,
            new_release=releases[1].release_id,
            spec=spec_changes(view, *releases),
            modules=[*changed_modules(view, *releases)],
            source=source_changes(view, *releases),
        )

    def lines(self) -> list[str]:
        """All of it as one patch: the spec first, then contracts, then code."""
        modules = [line for one in self.modules for line in (f"@@ {one.step} @@", *one.contract)]
        parts = {"spec": self.spec, "contracts": modules, "code": self.source}
        told = f"From {self.old} ({self.old_release}) to {self.new} ({self.new_release})"
        return [
            told,
            *(
                line
                for name, part in parts.items()
                for line in ("", f"The {name}:", *(part or ["  the same"]))
            ),
        ]


class Report(Document, schema="report"):
    """A bug report whose example holds."""

    holds: bool = True
    module_ref: str
    name: str
    example: str
    exit_code: int = 0


class Statement(Record):
    """What a report may point at: a statement of the contract, a criterion or a decision of the task."""

    pointer: str
    text: str


class Statements(Document, schema="statements"):
    """Everything that a report of a module may point at; with an example that fails its title and what it gave, else two
    empty texts."""

    module_ref: str
    name: str
    statements: list[Statement]
    example: str = ""
    observed: str = ""
    exit_code: int = 0

    @classmethod
    def of(cls, view: ProjectView, module: str, example: str = "", observed: str = "") -> Self:
        """What a report of a module may point at."""
        contract, stated = reportable(view, module)
        statements = [Statement(pointer=pointer, text=text) for pointer, text in stated]
        return cls(
            module_ref=contract.ref,
            name=contract.name,
            statements=statements,
            example=example,
            observed=observed,
        )


class Init(Document, schema="init"):
    """A directory that was made ready for a project."""

    directory: str
    made: list[str]
    kept: list[str]
    exit_code: int = 0


class ShownException(InterfaceChangeException):
    """An interface change exception, and what was decided."""

    status: ExceptionStatus
    sha256: str
    escalation: str
    decisions: list[ExceptionDecision]
    outcomes: list[ExceptionOutcome]


class Exceptions(Document, schema="exceptions"):
    """Every interface change exception."""

    exceptions: list[ShownException]

    @classmethod
    def of(cls, view: ProjectView) -> Self:
        """The exceptions of a project."""
        shown = [
            ShownException(
                **dict(known.record),
                status=known.status,
                sha256=shown_sha256(view, known.record.exception_id),
                escalation=known.escalation,
                decisions=known.decisions,
                outcomes=known.outcomes,
            )
            for known in exceptions(view)
        ]
        return cls(exceptions=shown)


class Checkout(Document, schema="checkout"):
    """Failed modules that were laid out, each with its directory."""

    escalation_id: str
    modules: dict[str, str]
    exit_code: int = 0


class Finding(Record):
    """What is wrong, and where."""

    code: str
    where: str
    message: str


class Gate(Document, schema="gate"):
    """The gate's verdict on a module directory; `ship_gate` makes it, as the two below."""

    verdict: Verdict
    findings: list[Finding]
    tests: list[dict[str, Any]]
    stages: list[dict[str, Any]]
    notes: list[str]
    fingerprint: str


class JudgedModule(Part):
    """A module of many; `judged` is there unless it passed before or the time was over."""

    directory: str
    name: str
    result: Literal["PASS", "FAIL", "UNCHANGED", "UNJUDGED"]
    seconds: float
    judged: dict[str, Any] | None = None


class Gates(Document, schema="gates"):
    """The gate's verdicts on many module directories."""

    verdict: Verdict
    modules: list[JudgedModule]


class Explanation(Document, schema="explanation"):
    """What a finding of the gate means; `severity` is its effect on the verdict."""

    code: str
    severity: str
    means: str
    why: str
    steps: list[str]


class Verified(Document, schema="verified"):
    """What was checked of a project: what nothing proves because a run was cut short, what waits for approval, which
    files of the source tree its owner edited, and whether SPEC.md was."""

    verdict: Literal["PASS", "INCOMPLETE", "FAIL"]
    findings: list[Finding]
    checked: dict[str, int]
    unbound: list[str]
    waiting: list[str]
    edited: list[str]
    spec_edited: bool


class WireRow(Record):
    """A Wire with its proof."""

    hcs: dict[str, Any]
    wire: dict[str, Any]


class WireLog(Document, schema="wire-log"):
    """The Wires of a project."""

    wires: list[WireRow]


class LogVerified(Document, schema="log-verified"):
    """Whether the log holds what was written."""

    intact: bool
    findings: list[dict[str, Any]]


class HederaRead(Document, schema="hedera-read"):
    """The messages of a topic."""

    placed: int
    messages: list[dict[str, Any]]
    reduction: dict[str, Any]


class Mirror(Document, schema="mirror"):
    """How far the log is mirrored."""

    to: str
    log_id: str
    position: int
    running_hash: str
    log_end: int
    lag: int
    lag_seconds: float


class Trusted(Document, schema="trusted"):
    """The decisive settings of a project that are trusted: of its file, and of its last run."""

    directory: str
    settings: dict[str, Any]
    options: dict[str, Any]
    exit_code: int = 0


class ExportedPages(Document, schema="export-html"):
    """The studio's pages as files."""

    directory: str
    pages: int
    bytes: int
    exit_code: int = 0
