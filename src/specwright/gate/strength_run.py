"""Runs a candidate's tests on variants of its source (D-S8-07, D-S8-08).

This is what a sandbox hosts: it gets a staged candidate and whole files to put in place of its own, and says of each
variant how the tests ended. Every variant has a process of its own, so that none sees what another did.
"""

import json
import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

from specwright.errors import SpecwrightError
from specwright.gate.bounded_process import run_bounded
from specwright.gate.staging import Staged

__all__ = ["Variant", "VariantRun", "run_variants"]

_SCRIPT = Path(__file__).with_name("strength_child.py")
_JOBS = 4
_WALL_SECONDS = 120.0


class Variant(NamedTuple):
    """One file in place of the candidate's own.

    Args:
        path: `implementation/__init__.py`, or another file below `implementation/`.
        source: The whole file.
        whole: Run all tests, not only up to the first that fails.
    """

    path: str
    source: str
    whole: bool = False


class VariantRun(NamedTuple):
    """How the tests ended on a variant.

    Args:
        outcome: All passed; some failed; the module cannot be imported; or the run was stopped or broke off.
        passed: The tests that passed, as far as they were run.
        failed: Those that failed.
    """

    outcome: Literal["passed", "failed", "stillborn", "stopped"]
    passed: tuple[str, ...]
    failed: tuple[str, ...]


def run_variants(
    staged: Staged, name: str, variants: list[Variant], *, seconds: float, hypothesis: bool
) -> list[VariantRun]:
    """Run the tests of a staged candidate once for each variant.

    Args:
        staged: Laid out by `stage`.
        name: The module's.
        variants: What to put in place.
        seconds: Processor time that a variant may take at most; ten times as much by the clock. The first variant is
            the module as it is; what it takes bounds the others further.
        hypothesis: Whether the tests draw their examples: these are then the same in every run.

    Returns:
        One run per variant, in their order.

    Raises:
        SpecwrightError: the runner itself did not come up, or did not come to its end.
    """
    scratch = staged.scratch / "variants"
    scratch.mkdir()
    plan = {
        "name": name,
        "lib": str(staged.lib),
        "tests": str(staged.tests),
        "jobs": min(
            _JOBS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        ),
        "seconds": seconds,
        "hypothesis": hypothesis,
        "variants": [variant._asdict() for variant in variants],
    }
    listing = scratch / "plan.json"
    listing.write_text(json.dumps(plan), encoding="utf-8")
    ran = run_bounded(
        _SCRIPT,
        [str(listing)],
        cwd=scratch,
        timeout_seconds=_WALL_SECONDS,
        reads=(staged.lib, staged.tests),
        sandbox=staged.sandbox,
        forks=True,
    )
    told = {int(event["place"]): event for event in ran.events if event.get("event") == "variant"}
    if len(told) != len(variants):
        raise SpecwrightError(
            f"the run of the mutants broke off after {len(told)} of {len(variants)} ({ran.ended}): {ran.output[-500:]}",
            where="gate",
            remedy="run it again on a machine with less load, or turn the strength stage off to see the other findings",
        )
    return [_run(told[place]) for place in range(len(variants))]


def _run(event: dict[str, Any]) -> VariantRun:
    return VariantRun(event["outcome"], tuple(event["passed"]), tuple(event["failed"]))
