"""Executes the examples of a candidate and compares what they give with what they say (design: role-access,
module-directory).

They run as tests do: beside the module's process, not in it (`suite_run`)."""

from collections.abc import Iterator
from typing import Any

from ship_gate.contract.examples import Example, Outcome, mismatch
from ship_gate.findings import Finding, FindingCode
from ship_gate.sandbox.pair import Pair, started
from ship_gate.sandbox.staging import Staged
from ship_gate.sandbox.stream import Ledger, RunEnd


def run_examples(
    staged: Staged,
    examples: tuple[Example, ...],
    timeout_seconds: float,
    pair: Pair | None = None,
    advice: str = "; correct the example or the module",
) -> tuple[Finding, ...]:
    """Execute examples, one pair of processes for all, a fresh directory for each.

    Args:
        staged: Laid out by `stage`.
        examples: Those that are well-formed.
        timeout_seconds: For all of them.
        pair: Processes that were started before for this run, of the role `example_runner`; the caller stops them.
        advice: What to do about a false one, behind what is false.

    Raises:
        ShipGateError: the processes did not come up, or there is no sandbox.
    """
    if not examples:
        return ()
    ledger, job = _Ledger(), {"examples": [example.code for example in examples]}
    with started(staged, "example_runner", pair) as own:
        ended = own.exchange.run(job, dict(staged.surface), ledger, timeout_seconds)
    return tuple(_findings(ledger, ended, examples, staged, timeout_seconds, advice))


class _Ledger(Ledger):
    """What came out of the examples, in their order (a `Ledger`)."""

    def __init__(self) -> None:
        self.outcomes: list[dict[str, Any]] = []
        self.changed: set[int] = set()

    def reported(self, header: dict[str, Any]) -> None:
        """An outcome; one that is not the next one's is none."""
        if header.get("event") == "example" and header.get("place") == len(self.outcomes):
            self.outcomes.append(header)

    def replied(self, header: dict[str, Any], payload: bytes) -> None:
        """Whether the module left its arguments alone."""
        if header.get("changed") is not False:
            self.changed.add(len(self.outcomes))


def _findings(
    ledger: _Ledger,
    ended: RunEnd,
    examples: tuple[Example, ...],
    staged: Staged,
    timeout_seconds: float,
    advice: str,
) -> Iterator[Finding]:
    for place, example in enumerate(examples):
        if place >= len(ledger.outcomes):
            message = f"the example {_how(ended, timeout_seconds)}; correct it or the module"
            yield Finding(FindingCode.EXAMPLES_BROKEN, example.heading, staged.anonymous(message))
            # those behind it were never reached
            return
        if problem := mismatch(example, _outcome(ledger.outcomes[place], staged)):
            yield Finding(FindingCode.EXAMPLES_FALSE, example.heading, f"{problem}{advice}")
        elif place in ledger.changed:
            message = "the module changed an argument that it was given; work on a copy"
            yield Finding(FindingCode.EXAMPLES_ARGUMENT_CHANGED, example.heading, message)
    if ended.how != "finished":
        message = f"the example {_how(ended, timeout_seconds)}; correct it or the module"
        yield Finding(FindingCode.EXAMPLES_BROKEN, examples[-1].heading, staged.anonymous(message))


def _how(ended: RunEnd, timeout_seconds: float) -> str:
    match ended.how:
        case "timeout":
            return (
                f"was stopped: {ended.message}"
                if ended.message
                else f"did not end within {timeout_seconds:g} seconds"
            )
        case "processor":
            return f"was stopped: {ended.message}"
        case "output":
            return "printed or sent too much"
        case "disk":
            return "wrote too many or too large files"
        case "unloaded":
            return f"cannot run, since the module cannot be imported: {ended.message}"
        case "boundary" | "forged":
            return f"was stopped: {ended.message}"
        case _:
            return "ended the process"


def _outcome(event: dict[str, Any], staged: Staged) -> Outcome:
    value: object = event.get("value")
    if isinstance(value, str):
        return Outcome(value=value)
    names: list[object] = event.get("errors") or ["nothing"]
    return Outcome(errors=tuple(map(str, names)), message=staged.anonymous(str(event.get("message", ""))))
