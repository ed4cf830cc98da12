"""Whether a module's tests are real: they fail on stubs, and most mutants die (DESIGN §8, §8.1, D-S8-07, D-S8-08,
F-11.3-03).

    tests.vacuous       a test passes on both stubs
    strength.weak       fewer than the threshold of all mutants die
    strength.function   the same for one function that has at least five: strong error tests hide weak happy ones
    strength.slow       the tests take so long that not even a few mutants can be run
    strength.unstable   the tests fail on the unchanged module when they are run again

A mutant that cannot be imported counts for neither side. The findings name the survivors: place and change.

Left out: mutants that behave as the original does; the threshold leaves room for them.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from specwright.domain.contract import MicroModuleContract
from specwright.domain.docstring import entry_points
from specwright.gate.sandbox.bounded_process import Started
from specwright.gate.staging import Staged
from specwright.gate.strength.mutants import MODULE_LEVEL, Mutant, made_mutants, sampled
from specwright.gate.strength.run import BUDGET_SECONDS, Variant, VariantRun, run_variants, start_runner
from specwright.gate.strength.vacuity import stubs, vacuous_findings
from specwright.gate.top_level import parse_source
from specwright.ports.gate import Finding

__all__ = ["MOST_MUTANTS", "Strength", "draws_examples", "examine_strength"]

MOST_MUTANTS = 120
"""Mutants that are run of one module; of more, a fixed sample."""

_ENTRY = "implementation/__init__.py"
_LEAST_IN_A_FUNCTION = 5
_MOST_TESTS_SECONDS = 4.0
_MOST_SHOWN = 12
_LEAST_SECONDS = 10.0
_SAMPLES = (60, 30)
"""So many mutants are run of a module whose slow tests leave no time for more."""
_LEAST_IN_A_FUNCTION_OF_FEWER = 10
_TIMES_THE_TESTS = 10


class Strength(NamedTuple):
    """What the stubs and mutants showed.

    Args:
        findings: What is wrong with the tests.
        made: How many mutants the source has.
        taken: How many of them were run.
        run: How many of these could be imported.
        killed: How many of these the tests noticed.
        threshold: The least share of them.
        survivors: Place and change of the others.
    """

    findings: tuple[Finding, ...]
    made: int
    taken: int
    run: int
    killed: int
    threshold: float
    survivors: tuple[str, ...]

    def shown(self) -> str:
        """One line for the evidence."""
        part = f"a sample of {self.taken} of {self.made}" if self.made > self.taken else f"all {self.made}"
        return (
            f"{self.killed} of {self.run} mutants died ({part} mutants taken, threshold {self.threshold:g})"
        )


def examine_strength(
    staged: Staged,
    contract: MicroModuleContract,
    files: Mapping[str, bytes],
    *,
    threshold: float = 0.8,
    tests_seconds: float = 0.0,
    runner: Started | None = None,
    budget: float = BUDGET_SECONDS,
) -> Strength:
    """Run the tests of a staged candidate, which have passed, on stubs and mutants.

    Args:
        staged: Laid out by `stage`.
        contract: Names the entry points.
        files: The candidate's files as they would ship.
        threshold: The least share of mutants that must die, in all and in each function of five or more.
        tests_seconds: How long the tests took before; a mutant may take ten times as long.
        runner: Of `start_runner`, if it was started before; the caller stops it.
        budget: Processor time for all mutants; where the tests are too slow for it, fewer are run.

    Raises:
        SpecwrightError: the runner itself did not come up.
    """
    mutants = made_mutants(files)
    taken = sampled(mutants, MOST_MUTANTS)
    entries = [entry.name for entry in entry_points(contract)]
    # written anew as the mutants are, so that nothing but the fault differs between it and them
    unchanged = Variant(_ENTRY, ast.unparse(parse_source(files[_ENTRY], _ENTRY)), whole=True)
    both = [Variant(_ENTRY, source, whole=True) for source in stubs(files, entries)]
    variants = [unchanged, *both, *(Variant(m.path, m.source, tier=tier) for m, tier in _tiers(taken))]
    seconds = max(_LEAST_SECONDS, _TIMES_THE_TESTS * tests_seconds)
    started = nullcontext(runner) if runner else start_runner(staged, draws=draws_examples(files))
    with started as own:
        runs = run_variants(staged, contract.name, variants, own, seconds=seconds, budget=budget)
    return _judged(mutants, taken, runs, threshold, seconds)


def _judged(
    mutants: list[Mutant], taken: list[Mutant], runs: Sequence[VariantRun], threshold: float, seconds: float
) -> Strength:
    """What the runs show: of the module as it is, of both its stubs, and of the mutants that were taken."""
    first = runs[0]
    tried = [pair for pair in zip(taken, runs[3:], strict=False) if pair[1].outcome != "left_out"]
    judged = [pair for pair in tried if pair[1].outcome != "stillborn"]
    alive = [mutant for mutant, run in judged if run.outcome == "passed"]
    is_slow = (bool(taken) and not tried) or (first.outcome == "stopped" and first.seconds > 0.9 * seconds)
    findings = [*(_slow(first) if is_slow else _unstable(first))]
    if len(runs) > 1:
        findings += vacuous_findings(runs[1].passed, runs[2].passed)
    if first.outcome == "passed":
        findings += _weak(judged, threshold, fewer=len(tried) < len(taken))
    return Strength(
        tuple(findings),
        len(mutants),
        len(tried),
        len(judged),
        len(judged) - len(alive),
        threshold,
        tuple(f"{mutant.where}: {mutant.change}" for mutant in alive),
    )


def _tiers(taken: list[Mutant]) -> Iterator[tuple[Mutant, int]]:
    """Each with the size of the smallest sample that it is part of."""
    tiers = dict.fromkeys((mutant.source for mutant in taken), MOST_MUTANTS)
    chosen = taken
    for most in _SAMPLES:
        chosen = sampled(chosen, most)
        tiers |= dict.fromkeys((mutant.source for mutant in chosen), most)
    return ((mutant, tiers[mutant.source]) for mutant in taken)


def draws_examples(files: Mapping[str, bytes]) -> bool:
    """Whether the tests draw their examples."""
    return any(b"hypothesis" in data for path, data in files.items() if path.startswith("tests/"))


def _slow(first: VariantRun) -> Iterator[Finding]:
    message = (
        f"the tests take {first.seconds:.1f} s of processor time, and they are run again for each of at least "
        f"{_SAMPLES[-1]} small faults put into the module; let them take less than "
        f"{_MOST_TESTS_SECONDS:g} s in all: draw fewer examples, or give smaller inputs"
    )
    yield Finding("strength.slow", "tests", message)


def _unstable(first: VariantRun) -> Iterator[Finding]:
    if first.outcome != "passed":
        names = ", ".join(first.failed[:5]) or first.outcome
        message = (
            f"the tests passed once and not when they were run again on the same module ({names}); "
            "make them independent of chance, time and one another"
        )
        yield Finding("strength.unstable", "tests", message)


def _weak(judged: list[tuple[Mutant, VariantRun]], threshold: float, *, fewer: bool) -> Iterator[Finding]:
    least = _LEAST_IN_A_FUNCTION_OF_FEWER if fewer else _LEAST_IN_A_FUNCTION
    yield from _below(judged, threshold, "strength.weak", "tests", "the module")
    scopes: dict[str, list[tuple[Mutant, VariantRun]]] = {}
    for mutant, run in judged:
        scopes.setdefault(mutant.scope, []).append((mutant, run))
    for scope, own in sorted(scopes.items()):
        if scope != MODULE_LEVEL and len(own) >= least:
            yield from _below(own, threshold, "strength.function", own[0][0].where, scope)


def _below(
    judged: list[tuple[Mutant, VariantRun]], threshold: float, code: str, where: str, what: str
) -> Iterator[Finding]:
    alive = [mutant for mutant, run in judged if run.outcome == "passed"]
    killed = len(judged) - len(alive)
    if judged and killed < threshold * len(judged):
        shown = [f"  {mutant.where}: {mutant.change}" for mutant in alive[:_MOST_SHOWN]]
        shown += [f"  and {len(alive) - _MOST_SHOWN} more"] * (len(alive) > _MOST_SHOWN)
        told = "\n".join(shown)
        yield Finding(
            code,
            where,
            f"the tests notice {killed} of {len(judged)} small faults put into {what}, and {threshold:.0%} are due; "
            f"write tests that fail on these:\n{told}",
        )
