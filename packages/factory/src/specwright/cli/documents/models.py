"""The documents of `--json`, as types from which their JSON Schemas are made (design: command-line).

Each is an object with its `schema`, the name of its type here, and a `version`. Within a version keys are added, never
renamed and never taken away, so that a program ignores the keys that it does not know.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from ship_gate.contract.contract import MicroModuleContract
from specwright.application.history.provenance import DebateRounds
from specwright.cli.documents.parts import Document, Finding, Verdict
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.interfaces.records import OutsideScope
from specwright.domain.modules.acceptance_report import TaskReport
from specwright.domain.modules.code_index import CodeIndexEntry, Deprecation
from specwright.domain.modules.evidence import ShipEvidence
from specwright.domain.modules.release import ReleaseManifest
from specwright.domain.spec.completeness import Deficiency
from specwright.domain.tasks.project_state import TaskEntry

Stage = Literal[
    "new", "approval", "running", "halted", "stalled", "release_due", "release_failed", "released"
]
"""Where a run stopped."""


class Complaint(TypedDict):
    """What failed, where, and what to do; what a model said last, if it gave up."""

    what: str
    where: str
    do: str
    answer: NotRequired[str]


class Error(Document):
    """A command that failed."""

    error: Complaint
    exit_code: int


class CostSum(TypedDict):
    """What was asked of models; `usd` is null as soon as one price is not known."""

    requests: int
    characters: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    unpriced: int


class CallsUsed(TypedDict):
    """What a command asked of models."""

    calls: int
    calls_from_journal: int
    tokens: int
    usd: float | None


class Estimate(TypedDict):
    """What an approval will cost."""

    tokens: int
    tokens_range: list[int]
    usd: float | None
    usd_range: list[float] | None


class DecisionOfSpec(TypedDict):
    """What was decided of a case that SPEC.md leaves open."""

    number: int
    text: str
    tasks: list[str]


class Release(TypedDict):
    """A release, with its wheel if it has one."""

    release_id: str
    wheel: str | None
    manifest: ReleaseManifest
    install: NotRequired[str]
    import_name: NotRequired[str]
    exports: NotRequired[list[str]]


class AtWork(TypedDict):
    """What a run is doing now, and since when; `waits_for` names the model whose answer is awaited."""

    since: str
    task: str | None
    role: str | None
    subject: str | None
    stage: str | None
    waits_for: str | None
    first_answer: bool


class Stop(Document):
    """Where a driving command stopped."""

    where: Stage
    exit_code: int
    scripted: bool
    tasks: dict[str, int]
    escalations: list[EscalationArtifact]
    advice: NotRequired[str]
    usage: NotRequired[CallsUsed]
    spec: NotRequired[str]
    warnings: NotRequired[list[Deficiency]]
    sha256: NotRequired[str]
    spec_edited: NotRequired[bool]
    outside: NotRequired[list[OutsideScope]]
    decisions: NotRequired[list[DecisionOfSpec]]
    changes: NotRequired[list[str]]
    change: NotRequired[dict[str, Any] | None]
    estimate: NotRequired[Estimate | None]
    release: NotRequired[Release]


class CauseOfStop(Document):
    """What stopped the last run before its next stop."""

    kind: Literal["budget", "credit", "access", "gave_up", "script", "unavailable", "failed"]
    reason: str
    where: str
    remedy: str
    options: str
    at: str
    exit_code: int


class Status(Stop):
    """Where a project stands, what stopped it, and who drives it; `missing` before the first run."""

    stop: CauseOfStop | None

    driven_by: str | None
    at_work: AtWork | None
    queue: dict[str, Any] | None
    under_way: list[str]
    asked: CostSum | None
    missing: NotRequired[list[Literal["spec", "model"]]]


class Queued(Document):
    """What was left to workers."""

    where: Literal["queued"]
    exit_code: int
    queue: dict[str, Any] | None


class Report(Document):
    """An example that holds."""

    holds: bool
    module_ref: str
    example: str
    exit_code: int


class Statement(TypedDict):
    """What a report may point at: a statement of the contract, or a criterion of the task."""

    pointer: str
    text: str


class Statements(Document):
    """Everything that a report of a module may point at; with an example that fails its title and what came of it, else
    two empty texts."""

    module_ref: str
    name: str
    statements: list[Statement]
    example: str
    observed: str
    exit_code: int


class Acceptance(Document):
    """What showed each criterion of the spec of a release: the file `acceptance.json` beside its manifest."""

    release_id: str
    spec_id: str
    spec_version: str
    spec: str
    manifest: str
    tasks: list[TaskReport]
    counts: dict[str, int]


class ReleaseDocument(Release, Document):
    """A release that was made."""

    exit_code: int


class Costs(Document):
    """What was asked of models, by part."""

    by: Literal["role", "task", "module", "round", "content"]
    parts: dict[str, CostSum]
    total: CostSum
    waiting: AtWork | None


class Deprecated(Document):
    """A version that was deprecated."""

    name: str
    module_ref: str
    reason: str
    migration_note: str
    replacement: str | None
    decided_at: str
    decided_by: str
    consumers: list[str]
    status: str
    exit_code: int


class Init(Document):
    """A directory that was made ready."""

    directory: str
    made: list[str]
    kept: list[str]
    exit_code: int


class TaskRow(TaskEntry):
    """A task, and why it is not running."""

    task_id: str
    why: str


class Tasks(Document):
    """Every task, in declaration order."""

    tasks: list[TaskRow]


class ModuleRow(TypedDict):
    """A sealed module."""

    module_ref: str
    name: str
    purpose: str
    version: str
    interface_fingerprint: str
    tests: int
    ship_id: str
    deprecated: bool
    status: str


class Modules(Document):
    """Every sealed module."""

    modules: list[ModuleRow]


class Match(CodeIndexEntry):
    """A module that was found."""

    similarity_score: float


class Matches(Document):
    """What was found in the Code Index, the best match first."""

    matches: list[Match]


class Module(Document):
    """A sealed module."""

    contract: MicroModuleContract
    evidence: ShipEvidence
    examples: str
    deprecation: Deprecation | None


class Provenance(Document):
    """How a module came about."""

    evidence: ShipEvidence
    implementation: dict[str, Any]
    contract: dict[str, Any]
    plan: dict[str, Any]
    reuse: dict[str, Any]
    invocations: list[dict[str, Any]]
    exceptions: list[str]
    task: dict[str, Any]
    spec: dict[str, Any]


class Trace(Document):
    """What a text leads to: tasks with what shows their criteria."""

    text: str
    found_as: Literal["criterion", "task", "module"]
    tasks: list[TaskReport]


class Debates(Document):
    """What was said about a module."""

    module_ref: str
    name: str
    purpose: str
    standing: Literal["sealed", "halted", "unfinished"]
    contract_debates: list[DebateRounds]
    implementation_debates: list[DebateRounds]


class Exceptions(Document):
    """Every interface change exception, with what was decided."""

    exceptions: list[dict[str, Any]]


class WaitingEscalation(EscalationArtifact):
    """An escalation, a payload for each action that it takes, its hash, and the command of the recommended one."""

    actions: dict[str, dict[str, Any]]
    sha256: str
    command: str


class Escalations(Document):
    """What waits for a person."""

    escalations: list[WaitingEscalation]


class Checkout(Document):
    """Failed modules that were laid out, each with its directory."""

    escalation_id: str
    modules: dict[str, str]
    exit_code: int


class Gate(Document):
    """The gate's verdict on a module directory."""

    verdict: Verdict
    findings: list[Finding]
    tests: list[dict[str, Any]]
    stages: list[dict[str, Any]]
    notes: list[str]
    fingerprint: str


class JudgedModule(TypedDict):
    """A module of many; `judged` is there unless it passed before or the time was over."""

    directory: str
    name: str
    result: Literal["PASS", "FAIL", "UNCHANGED", "UNJUDGED"]
    seconds: float
    judged: NotRequired[dict[str, Any]]


class Gates(Document):
    """The gate's verdicts on many module directories."""

    verdict: Verdict
    modules: list[JudgedModule]


class Explanation(Document):
    """What a finding of the gate means; `severity` says what it means for the rest of a judgement."""

    code: str
    severity: str
    means: str
    why: str
    steps: list[str]


class Verified(Document):
    """What was checked of a project."""

    verdict: Verdict
    findings: list[Finding]
    checked: dict[str, int]
    unbound: list[str]


class Check(TypedDict):
    """One thing that a run needs."""

    name: str
    ok: bool
    detail: str
    do: str


class Doctor(Document):
    """Whether all is there that a run needs."""

    ok: bool
    checks: list[Check]
    not_checked: list[str]


class WireRow(TypedDict):
    """A Wire with its proof."""

    hcs: dict[str, Any]
    wire: dict[str, Any]


class WireLog(Document):
    """The Wires of a project."""

    wires: list[WireRow]


class LogVerified(Document):
    """Whether the log is what was written."""

    intact: bool
    findings: list[dict[str, Any]]


class HederaSubmitted(Document):
    """What was submitted to a topic."""

    submitted: int
    placed: int
    log_end: int


class HederaRead(Document):
    """What a topic holds."""

    placed: int
    messages: list[dict[str, Any]]
    reduction: dict[str, Any]


class Mirror(Document):
    """How far tables have come."""

    to: str
    log_id: str
    position: int
    running_hash: str
    log_end: int
    lag: int
    lag_seconds: float


class Moved(Document):
    """What an export or import moved."""

    files: int
    records: int
    wires: int
    exit_code: int


class Trusted(Document):
    """The decisive settings of a project that count from now on: of its file, and of its last run."""

    directory: str
    settings: dict[str, Any]
    options: dict[str, Any]
    exit_code: int


class ExportedPages(Document):
    """The studio's pages as files; `left_out` counts moments of the log that have none."""

    directory: str
    pages: int
    bytes: int
    left_out: int
    exit_code: int


DOCUMENTS: Mapping[str, type[Any]] = {
    "acceptance": Acceptance,
    "checkout": Checkout,
    "costs": Costs,
    "debates": Debates,
    "deprecated": Deprecated,
    "doctor": Doctor,
    "error": Error,
    "escalation": WaitingEscalation,
    "escalations": Escalations,
    "exceptions": Exceptions,
    "explanation": Explanation,
    "export-html": ExportedPages,
    "gate": Gate,
    "gates": Gates,
    "hedera-read": HederaRead,
    "hedera-submitted": HederaSubmitted,
    "init": Init,
    "log-verified": LogVerified,
    "matches": Matches,
    "mirror": Mirror,
    "module": Module,
    "modules": Modules,
    "moved": Moved,
    "queued": Queued,
    "release": ReleaseDocument,
    "report": Report,
    "statements": Statements,
    "status": Status,
    "stop": Stop,
    "tasks": Tasks,
    "trace": Trace,
    "trail": Provenance,
    "trusted": Trusted,
    "verified": Verified,
    "wire-log": WireLog,
}
"""By their `schema`."""
