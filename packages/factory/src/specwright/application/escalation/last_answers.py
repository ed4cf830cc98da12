"""What a person needs beside a finding to decide about it: what the Proposer answered last, and the sentence of the contract
that the finding is about (design: escalation)."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from ship_gate.base.text import first_sentences, one_line
from ship_gate.contract.contract_text import contract_text
from specwright.application.debate.implementation import claims_of
from specwright.application.escalation.fix import FailedDraft, failed_drafts
from specwright.application.factory import ProjectView
from specwright.application.plan.stored_plans import load_plan
from specwright.application.tasks import task_at
from specwright.domain.debate.answer_rules import checks_still_shown, named_tests
from specwright.domain.debate.debate import Proposal
from specwright.domain.escalation import EscalationArtifact
from specwright.errors import InputErrors, RefusedErrors
from specwright.ports import Files

_CLAIM = 110
"""Characters of a claim; the debate has the rest."""

_FILES = 4
"""Changed files that are named."""

_SENTENCES = 3
_POINTER = re.compile(
    r"/(?:purpose|inputs|outputs|error_surfaces|error_cases|effects|modes|dependencies)\b(?:/[a-z]+|/\d+)*"
)


def last_answers(view: ProjectView, escalation: EscalationArtifact) -> list[str]:
    """What the Proposer answered last of each failed module: its reason, and what it changed."""
    return [
        f"The Proposer on {name}: {_claim(view, escalation, name)}{_changed(view, escalation, name, draft)}"
        for name, draft in _drafts(view, escalation).items()
    ]


def contract_sentences(
    view: ProjectView, escalation: EscalationArtifact, findings: Iterable[str]
) -> list[str]:
    """The statements of the failed modules' contracts that findings cite by their pointers, each after its pointer.

    Args:
        view: The project.
        escalation: The halt.
        findings: What failed, and what shows it.
    """
    found: dict[str, None] = {}
    for text in findings:
        for pointer in _POINTER.findall(text):
            found |= dict.fromkeys(_statements(view, escalation, pointer))
    return [*found][:_SENTENCES]


def last_checks(escalation: EscalationArtifact, proposals: Sequence[Proposal], files: Files) -> list[str]:
    """What the Proposer said last of the criteria, by their numbers: in an answer that was refused, else in the proposal
    that was judged last; as far as a person's files still hold the tests that it names.

    Args:
        escalation: The halt.
        proposals: Of the module's debate.
        files: All that the module is to have.
    """
    tests = set(claims_of(files))
    alone = len(escalation.details.get("failed", {})) == 1  # else nobody knows whose answers they were
    raw_answers = cast("list[str]", escalation.details.get("raw_answers", []) if alone else [])
    said: list[list[str]] = [checks for raw in reversed(raw_answers) for checks in _checks_in(raw)]
    said += [proposals[-1].acceptance_checks] if proposals else []
    told = (checks_still_shown(checks, tests) for checks in said if not tests.isdisjoint(named_tests(checks)))
    return next((kept for kept in told if kept), list[str]())


def _checks_in(raw: str) -> Iterator[list[str]]:
    """The checks of an answer, or of each part of a shared one."""
    try:
        given: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return
    for answer in cast("list[Any]", given if isinstance(given, list) else [given]):
        checks = cast("dict[str, Any]", answer).get("acceptance_checks") if isinstance(answer, dict) else None
        if isinstance(checks, list):
            yield [check for check in cast("list[Any]", checks) if isinstance(check, str)]


def _statements(view: ProjectView, escalation: EscalationArtifact, pointer: str) -> Iterator[str]:
    for name, lines in _contracts(view, escalation).items():
        for line in lines:
            if line.startswith(f"{pointer} "):
                yield f"The contract of {name}, {pointer}: {one_line(line.removeprefix(pointer).strip())}"


def _contracts(view: ProjectView, escalation: EscalationArtifact) -> Mapping[str, list[str]]:
    """The contracts of the failed modules by line; of a halt before any module, those of the plan."""
    plan_id = escalation.details.get("resume", {}).get("plan_id")
    if plan_id is None:
        return {}
    contracts = load_plan(view.artifacts, task_at(view, escalation.task_id).folder, plan_id).contracts
    failed = set(escalation.details.get("failed", {})) & contracts.keys()
    return {
        name: contract_text(contracts[name]).splitlines()
        for name in contracts
        if name in (failed or contracts)
    }


def _drafts(view: ProjectView, escalation: EscalationArtifact) -> dict[str, FailedDraft]:
    try:
        return failed_drafts(view, escalation)
    except (*InputErrors, *RefusedErrors):  # nothing was made yet
        return {}


def _claim(view: ProjectView, escalation: EscalationArtifact, name: str) -> str:
    """Its words: of the answer that was refused, else of the proposal that was judged last."""
    raw = [*escalation.details.get("raw_answers", [])]
    said = _claim_in(raw[-1]) if raw and len(escalation.details.get("failed", {})) == 1 else ""
    if not said and (debate := escalation.details["resume"].get("debates", {}).get(name)):
        proposals = view.debates.records(debate).history().proposals
        said = proposals[-1].claim if proposals else ""
    return f'"{first_sentences(said, _CLAIM)}" ' if said else ""


def _claim_in(raw: str) -> str:
    try:
        answer: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    claim = cast("dict[str, Any]", answer).get("claim") if isinstance(answer, dict) else None
    return claim if isinstance(claim, str) else ""


def _changed(view: ProjectView, escalation: EscalationArtifact, name: str, draft: FailedDraft) -> str:
    """What its last answer changed, by file with the lines that came and went."""
    judged = escalation.details["resume"].get("judged", {}).get(name, {})
    if not judged.get("version_id"):
        return "Its first draft, which nobody judged."
    if draft.files != draft.base:
        return f"Refused before it was judged; against the version that was: {_difference(draft.base, draft.files)}."
    task, records = task_at(view, escalation.task_id), view.debates.records(judged["debate_id"])
    versions = [*dict.fromkeys(one.target_artifact_id for one in records.history().proposals)]
    if judged["version_id"] not in versions[1:]:
        return "It was never revised."
    before = view.artifacts.body(task.folder, versions[versions.index(judged["version_id"]) - 1])
    return f"Changed in its last revision: {_difference(before, draft.base)}."


def _difference(before: Files, after: Files) -> str:
    rows = [
        f"{path} ({_count(before.get(path, b''), after.get(path, b''))})"
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    ]
    more = f", and {len(rows) - _FILES} more files" if len(rows) > _FILES else ""
    return ", ".join(rows[:_FILES]) + more if rows else "nothing"


def _count(before: bytes, after: bytes) -> str:
    """The lines that came and went, `+3 -1`."""
    old, new = (data.decode(errors="replace").splitlines() for data in (before, after))
    lines = [*difflib.unified_diff(old, new, n=0, lineterm="")][2:]
    came, went = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return f"+{came} -{went}"
