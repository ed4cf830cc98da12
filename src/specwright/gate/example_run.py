"""Executes the examples of a candidate and compares what they give with what they say (F§12.4, D-S8.1-06)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specwright.domain.examples_file import Example, Outcome, mismatch
from specwright.gate.bounded_process import Ran, run_bounded
from specwright.gate.staging import Staged
from specwright.ports.gate import Finding

__all__ = ["run_examples"]

_SCRIPT = Path(__file__).with_name("child_examples.py")


def run_examples(
    staged: Staged, examples: tuple[Example, ...], timeout_seconds: float
) -> tuple[Finding, ...]:
    """Execute examples, one process for all, a fresh directory for each.

    Args:
        staged: Laid out by `stage`.
        examples: Those that are well-formed.
        timeout_seconds: For all of them.
    """
    if not examples:
        return ()
    scratch = staged.scratch / "examples"
    scratch.mkdir()
    listing = staged.root / "examples.json"
    listing.write_text(json.dumps([example.code for example in examples]), encoding="utf-8")
    ran = run_bounded(_SCRIPT, [str(staged.lib), str(listing)], cwd=scratch, timeout_seconds=timeout_seconds)
    return tuple(_findings(ran, examples, staged, timeout_seconds))


def _findings(
    ran: Ran, examples: tuple[Example, ...], staged: Staged, timeout_seconds: float
) -> Iterator[Finding]:
    outcomes = {event.get("place"): event for event in ran.events}
    for place, example in enumerate(examples):
        if place not in outcomes:
            how = {
                "timeout": f"did not end within {timeout_seconds:g} seconds",
                "output": "printed more than 4 MiB",
                "exited": "ended the process",
            }[ran.ended]
            yield Finding("examples.broken", example.heading, f"the example {how}; correct it or the module")
            # those behind it were never reached
            return
        if problem := mismatch(example, _outcome(outcomes[place], staged)):
            yield Finding("examples.false", example.heading, f"{problem}; correct the example or the module")


def _outcome(event: dict[str, Any], staged: Staged) -> Outcome:
    value: object = event.get("value")
    if isinstance(value, str):
        return Outcome(value=value)
    names: list[object] = event.get("errors") or ["nothing"]
    return Outcome(errors=tuple(map(str, names)), message=staged.anonymous(str(event.get("message", ""))))
