"""Runs a candidate's tests on variants of its source (D-S8-07, D-S8-08).

This is what a sandbox hosts: it gets a staged candidate and whole files to put in place of its own, and says of each
variant how the tests ended. Every variant has a process of its own, so that none sees what another did.
"""

import json
import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

from specwright.errors import SpecwrightError
from specwright.gate.sandbox.bounded_process import Started, start_bounded
from specwright.gate.staging import Staged

__all__ = ["BUDGET_SECONDS", "Variant", "VariantRun", "run_variants", "start_runner"]

_SCRIPT = Path(__file__).with_name("child.py")
_JOBS = 4
_WALL_SECONDS = 600.0
BUDGET_SECONDS = 150.0
"""Of processor time, for all variants together as the tests take it on the module as it is."""
_SLOW_SECONDS = 0.3
"""Of processor time; tests that take more can use up the time of a run on a machine that is not busy."""
_LISTING = "plan.json"


class Variant(NamedTuple):
    """One file in place of the candidate's own.

    Args:
        path: `implementation/__init__.py`, or another file below `implementation/`.
        source: The whole file.
        whole: Run all tests, not only up to the first that fails.
        tier: Where the budget does not reach for all, those of a lower tier are run; those of tier 0 always.
    """

    path: str
    source: str
    whole: bool = False
    tier: int = 0


class VariantRun(NamedTuple):
    """How the tests ended on a variant.

    Args:
        outcome: All passed; some failed; the module cannot be imported; the run was stopped or broke off; or the
            budget did not reach for it.
        passed: The tests that passed, as far as they were run.
        failed: Those that failed.
        seconds: Of processor time.
    """

    outcome: Literal["passed", "failed", "stillborn", "stopped", "left_out"]
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    seconds: float


def start_runner(staged: Staged, *, draws: bool) -> Started:
    """Start what runs variants; it loads pytest and waits.

    Args:
        staged: Laid out by `stage`.
        draws: Whether the tests draw their examples with Hypothesis: these are then the same in every run.

    Raises:
        SpecwrightError: the process could not be started, or there is no sandbox.
    """
    scratch = staged.scratch / "variants"
    scratch.mkdir()
    return start_bounded(
        _SCRIPT,
        [str(staged.lib), str(staged.tests), str(scratch / _LISTING), "draws" if draws else ""],
        cwd=scratch,
        timeout_seconds=_WALL_SECONDS,
        reads=(staged.lib, staged.tests),
        sandbox=staged.sandbox,
        forks=True,
    )


def run_variants(
    staged: Staged,
    name: str,
    variants: list[Variant],
    runner: Started,
    *,
    seconds: float,
    budget: float = BUDGET_SECONDS,
) -> list[VariantRun]:
    """Run the tests of a staged candidate once for each variant.

    Args:
        staged: Laid out by `stage`.
        name: The module's.
        variants: What to put in place.
        runner: Of `start_runner`.
        seconds: Processor time that a variant may take at most; ten times as much by the clock. The first variant is
            the module as it is; what it takes bounds the others further, and their number.
        budget: Processor time for all, as far as the first variant tells it.

    Returns:
        One run per variant, in their order; only the first if there was no time for the others.

    Raises:
        SpecwrightError: the runner itself did not come up, or did not come to its end.
    """
    plan = {
        "name": name,
        "lib": str(staged.lib),
        "jobs": min(
            _JOBS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        ),
        "seconds": seconds,
        "budget": budget,
        "variants": [variant._asdict() for variant in variants],
    }
    (staged.scratch / "variants" / _LISTING).write_text(json.dumps(plan), encoding="utf-8")
    ran = runner.run()
    told = {int(event["place"]): event for event in ran.events if event.get("event") == "variant"}
    if ran.ended == "timeout" and 0 in told and told[0]["seconds"] > _SLOW_SECONDS:
        return [_run(told[0])]
    if len(told) != len(variants):
        raise SpecwrightError(
            f"the run of the mutants broke off after {len(told)} of {len(variants)} ({ran.ended}): {ran.output[-500:]}",
            where="gate",
            remedy="run it again on a machine with less load, or turn the strength stage off to see the other findings",
        )
    return [_run(told[place]) for place in range(len(variants))]


def _run(event: dict[str, Any]) -> VariantRun:
    return VariantRun(event["outcome"], tuple(event["passed"]), tuple(event["failed"]), event["seconds"])
