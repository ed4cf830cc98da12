"""`releases/{release_id}/acceptance.json`: every criterion of the approved spec, and what showed it (design: release).

A reference is the path of a file below `state_store/`, and after a `#` a JSON pointer into it. What is gathered, and from
where, is decided elsewhere; `acceptance_page` renders the report for a person.

`releases/{release_id}/acceptance.md`: the acceptance report for a person (design: release).
"""

from collections import Counter
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, computed_field

from agent_wire import canonical_json
from ship_gate.base.record import OmittedIfEmpty, Record, SemVer, Text
from specwright.domain.base.document import Document
from specwright.errors import InputError

VERSION = 1
"""Of the document, as `--json` has it."""

JUDGED_BY_MODELS = "no example, property or test names it: judged by models"

Reference = Annotated[str, StringConstraints(pattern=r"^[^/#][^#]*(#(/.*)?)?$")]
"""`modules/MM-0a1b2c3d/1.0.0/ship.json#/gate/6`."""


class CriterionStatus(StrEnum):
    """What is known of a criterion."""

    SHOWN = "SHOWN"
    """An approved example or property shows it, and nothing that shows it fails."""
    TESTED = "TESTED"
    """Tests pass of which a role said that they show it; nobody approved that."""
    FAILED = "FAILED"
    """Something that shows it fails."""
    SET_ASIDE = "SET_ASIDE"
    """The Arbiter ruled that no test can show it (design: unshown-criteria)."""
    JUDGED = "JUDGED"
    """No code shows it; models judged it."""
    AMENDED = "AMENDED"
    """A person replaced it while its task was halted (design: escalation)."""
    UNRELEASED = "UNRELEASED"
    """No module of its task is part of the release."""


EvidenceKind = Literal["example", "property", "module_test", "falsifying_test"]
"""What shows a criterion."""


class CriterionEvidence(Record):
    """Something that shows a criterion.

    Args:
        kind: Of the approved spec, of the module, or of its Challenger.
        name: A title, or the name of a test.
        result: What came of it; NOT_RUN if nothing ran it.
        detail: Where it ran, or how it failed.
        author: Who wrote an example or a property.
        stated_in: Where it is written.
        named_in: Where the criterion is named for it.
        ran_in: What is proof that it ran.
    """

    kind: EvidenceKind
    name: str
    result: Literal["PASS", "FAIL", "NOT_RUN"]
    detail: str = ""
    author: Literal["researcher", "person"] | None = None
    stated_in: Reference
    named_in: Reference
    ran_in: list[Reference] = Field(default_factory=list)


class CriterionRulingReport(Record):
    """A ruling that set a criterion aside, and what a person answered; `answer` is empty if nobody did."""

    reason: Text
    answer: str
    ruling: Reference
    question: Reference
    answered_in: Reference | None = None


class CriterionReport(Record):
    """A criterion of the spec.

    Args:
        criterion: Its number in the task, from 1.
        text: As it was approved.
        stated_in: Where.
        executable: Whether the spec has an example or a property that shows it.
        status: What is known of it.
        reason: Why it is not shown, in a sentence; empty if it is.
        evidence: What shows it.
        ruling: That it was set aside.
    """

    criterion: int
    text: str
    stated_in: Reference
    executable: bool
    status: CriterionStatus
    reason: str = ""
    evidence: list[CriterionEvidence] = Field(default_factory=list)
    ruling: CriterionRulingReport | None = None


class ModuleReport(OmittedIfEmpty):
    """A sealed module of a task.

    Args:
        module_ref: `MM-...@x.y.z`.
        name: As it is imported.
        functions: Its entry points.
        contract: The locked one.
        source: The files of its implementation.
        tests: How many passed at the ship gate.
        execution_log: Their results.
        judged_in: What its Challenger said of the criteria.
        out_of_scope: The values of which its contract promises no more than a declared error or a value of the type.
    """

    omitted = ("out_of_scope",)

    module_ref: str
    name: str
    functions: list[str]
    contract: Reference
    source: list[Reference]
    tests: int
    execution_log: Reference
    judged_in: Reference | None = None
    out_of_scope: list[str] = Field(default_factory=list)


class PersonDecision(Record):
    """What a person decided when a task halted.

    Args:
        action: The answer, `APPROVE_OVERRIDE`.
        decided_by: Who decided.
        decided_at: When.
        rationale: Why; empty where no reason was asked for.
        stated_in: The file, below `state_store/`.
    """

    action: str
    decided_by: str
    decided_at: str
    rationale: str
    stated_in: str

    @property
    def sentence(self) -> str:
        """It in a sentence."""
        why = f": {self.rationale}" if self.rationale else ""
        return f"{self.action} by {self.decided_by}, {self.decided_at}{why}"


class TaskReport(OmittedIfEmpty):
    """A task of the spec, its criteria, the modules that it shipped, and what persons decided when it halted."""

    omitted = ("decided",)

    task_id: str
    name: str
    status: str
    criteria: list[CriterionReport]
    modules: list[ModuleReport]
    decided: list[PersonDecision] = Field(default_factory=list)


class AcceptanceReport(Document, schema="acceptance"):
    """The report of a release.

    Args:
        release_id: `REL-...`.
        spec_id: Of the approved spec.
        spec_version: Of the approved spec.
        spec: Where it is, unchangeable.
        manifest: That of the release.
        tasks: Every task of the spec, in declaration order.
    """

    release_id: str
    spec_id: str
    spec_version: SemVer
    spec: Reference
    manifest: Reference
    tasks: list[TaskReport]

    @computed_field
    @property
    def counts(self) -> dict[str, int]:
        """How many criteria there are, how many are executable, and how many have each status."""
        criteria = [one for task in self.tasks for one in task.criteria]
        found = Counter(one.status for one in criteria)
        executable = sum(one.executable for one in criteria)
        statuses = {status.value.lower(): found[status] for status in CriterionStatus}
        return {"criteria": len(criteria), "executable": executable, **statuses}

    @property
    def document(self) -> dict[str, Any]:
        """The content of `acceptance.json`."""
        return {"schema": self.schema_name, "version": VERSION, **self.to_json()}

    @classmethod
    def from_document(cls, data: bytes, where: str) -> Self:
        """Read `acceptance.json`; keys that a later version added are left out.

        Args:
            data: Its bytes.
            where: The file, for the message.

        Raises:
            InputError: it is no such document.
        """
        try:
            whole: Any = canonical_json.loads(data)
            known = {
                n: whole[n] for n, field in cls.model_fields.items() if field.is_required() or n in whole
            }
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"not an acceptance report: {error!r}", where=where) from error
        return cls.from_bytes(canonical_json.pretty(known), where)


KINDS = {
    "example": "approved example",
    "property": "approved property",
    "module_test": "test of the module",
    "falsifying_test": "falsifying test",
}
"""What each kind of evidence is called."""
