"""Runs a candidate's tests on variants of its source (design: ship-gate).

This is what a sandbox hosts: it gets a staged candidate and whole files to put in place of its own, and says of each
variant how the tests ended. Every variant has a process of its own, so that none sees what another did.
"""

import json
import os
from typing import Any, Literal, NamedTuple

from ship_gate.errors import ShipGateError
from ship_gate.sandbox.pair import Pair, prepare_variants
from ship_gate.sandbox.staging import Staged
from ship_gate.sandbox.stream import Ledger

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


def start_runner(staged: Staged, *, draws: bool) -> Pair:
    """Start what runs variants; it loads pytest and waits.

    Args:
        staged: Laid out by `stage`.
        draws: Whether the tests draw their examples with Hypothesis: these are then the same in every run.

    Raises:
        ShipGateError: the process could not be started, or there is no sandbox.
    """
    return prepare_variants(staged, _LISTING, draws=draws, seconds=_WALL_SECONDS)


class _Outcomes(Ledger):
    """How the tests ended on each variant, by its place (a `Ledger`)."""

    def __init__(self) -> None:
        self.events: dict[int, dict[str, Any]] = {}

    def reported(self, header: dict[str, Any]) -> None:
        """An outcome."""
        if header.get("event") == "variant":
            self.events[int(header["place"])] = header


def run_variants(
    staged: Staged,
    name: str,
    variants: list[Variant],
    runner: Pair,
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
        ShipGateError: the runner itself did not come up, or did not come to its end.
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    work = {
        "name": name,
        "web": any("web" in of for of in staged.surface.values()),
        "lib": str(staged.lib),
        "jobs": min(_JOBS, processors),
        "seconds": seconds,
        "budget": budget,
        "variants": [variant._asdict() for variant in variants],
    }
    (runner.scratch / _LISTING).write_text(json.dumps(work), encoding="utf-8")
    outcomes = _Outcomes()
    ended = runner.exchange.run({}, {}, outcomes, _WALL_SECONDS)
    events = outcomes.events
    if ended.how == "timeout" and 0 in events and events[0]["seconds"] > _SLOW_SECONDS:
        return [_run(events[0])]
    if len(events) != len(variants):
        raise ShipGateError(
            f"the run of the mutants broke off after {len(events)} of {len(variants)} ({ended.how}): {ended.output[-500:]}",
            where="gate",
            remedy="run it again on a machine with less load, or turn the strength stage off to see the other findings",
        )
    return [_run(events[place]) for place in range(len(variants))]


def _run(event: dict[str, Any]) -> VariantRun:
    return VariantRun(event["outcome"], tuple(event["passed"]), tuple(event["failed"]), event["seconds"])
