"""A finding of the gate, explained by its code (design: ship-gate)."""

from typing import NamedTuple

from ship_gate.base.text import did_you_mean
from ship_gate.batch import UNREADABLE
from ship_gate.errors import InputError
from ship_gate.explanations import Explanation, explained
from ship_gate.findings import FindingCode, Severity

_UNREADABLE = Explanation(
    "The directory could not be judged at all: it is no module directory, its specwright.toml is wrong, a module that "
    "it calls is not there, or the sandbox could not be started.",
    "What was not judged did not pass.",
    ("Do what the message says; it names the place.",),
)


class ExplainedFinding(NamedTuple):
    """What there is to say of a code.

    Args:
        code: The finding's.
        severity: What it means for the rest of a judgement.
        means: What was observed.
        why: Why that refuses the module.
        steps: What to do.
    """

    code: str
    severity: str
    means: str
    why: str
    steps: tuple[str, ...]


def explain_finding(code: str) -> ExplainedFinding:
    """Explain a code of the gate.

    Raises:
        InputError: there is no such code.
    """
    if code == UNREADABLE:
        return ExplainedFinding(code, Severity.FATAL, *_UNREADABLE)
    found = explained(code)
    if found is None:
        known = [UNREADABLE, *map(str, FindingCode)]
        raise InputError(
            f"the gate has no finding {code[:100]!r}",
            remedy=f"{did_you_mean(code[:100], known)}a code stands in front of each finding, as tests.failed; "
            "docs/gate.md lists them",
        )
    return ExplainedFinding(code, FindingCode(code).severity, *found)
