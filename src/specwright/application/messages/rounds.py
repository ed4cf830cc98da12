"""The rounds of a debate as text: records, failures, and why there is a round (design: role-access, debate).

None of it is source: what the gate quotes is left out for the roles that judge.
"""

import re
from collections.abc import Sequence

from specwright import canonical_json
from specwright.application.store.debates import Cause, DebateHistory
from specwright.domain.answers.answers import Amendment, Failure
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.debate import Adjudication, Challenge, Proposal


def rounds_of(history: DebateHistory) -> list[str]:
    """The debate, oldest round first."""
    blocks: list[str] = []
    for number in range(1, len(history.proposals) + 2):
        blocks += [_why(cause) for cause in history.causes if cause.round == number]
        for proposal in history.proposals[number - 1 : number]:
            about = proposal.target_artifact_id  # a round without a ruling must not take the next one's
            records = (
                ("proposal", proposal),
                *(("challenge", one) for one in history.challenges if one.target_artifact_id == about),
                *(("adjudication", one) for one in history.adjudications if one.target_artifact_id == about),
            )
            blocks += [
                as_block(f"Round {number}: {kind}", _record_text(record), "json") for kind, record in records
            ]
    return blocks


def without_source(failure: Failure) -> Failure:
    """What the gate found, for those who never see source: it quotes that in ticks, or from the second line on."""
    return failure.model_copy(update={"evidence": _CODE.sub("...", failure.evidence.partition("\n")[0])})


def _why(cause: Cause) -> str:
    listed = "\n".join(f"- {failure.invariant}: {failure.evidence}" for failure in cause.failures)
    return f"# Why there is a round {cause.round}\n\n{listed}"


_CODE = re.compile(r"`[^`]*`")


def _record_text(record: Proposal | Challenge | Adjudication) -> str:
    """A record of the debate; of falsifying tests only those that failed are shown, without what binds them."""
    if not isinstance(record, Challenge) or not record.falsifying_tests:
        return as_json(record)
    data = record.to_json()
    data["falsifying_tests"] = [
        {name: value for name, value in tried.to_json().items() if name != "contract_sha256"}
        for tried in record.counterexamples
    ]
    data["falsifying_tests_passed"] = [tried.name for tried in record.falsifying_tests if not tried.failed]
    return canonical_json.pretty(data).decode()


def as_list(failures: Sequence[Failure]) -> str:
    """Failures, numbered."""
    return "\n".join(f"{n}. {f.invariant}\n{_shown(f)}" for n, f in enumerate(failures, start=1))


def _shown(failure: Failure) -> str:
    """Evidence and change, or once what is both: a ruling's rationale, a finding of the gate."""
    evidence = "" if failure.evidence == failure.required_change else f"   Evidence: {failure.evidence}\n"
    return f"{evidence}   Required: {failure.required_change}"


def as_json(record: Proposal | Challenge | Adjudication | MicroModuleContract) -> str:
    """A record, for reading."""
    return canonical_json.pretty(record.to_json()).decode()


def as_block(title: str, text: str, language: str) -> str:
    """A titled text, fenced."""
    return f"# {title}\n\n````{language}\n{text.rstrip()}\n````"


def as_amendments(amendments: Sequence[Amendment]) -> str:
    """Amendments by their index."""
    return "\n".join(f"{i}. {a.action} {a.target}: {a.detail}" for i, a in enumerate(amendments))
