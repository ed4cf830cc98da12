"""Whether a module's tests are real: they fail on stubs, and most mutants die (design: ship-gate, module-directory).

    tests.vacuous       a test passes on both stubs
    strength.weak       fewer than the threshold of all mutants die
    strength.function   the same for one function that has at least five: strong error tests hide weak happy ones
    strength.idiom      an expression could be another that is often taken for it, such as `a // b + 1` for `-(-a // b)`
    strength.slow       the tests take so long that not even a few mutants can be run
    obligations.unseen  a limit that a constraint states could be another one
    strength.unstable   the tests fail on the unchanged module when they are run again, before, among or after the mutants

A mutant that cannot be imported counts for neither side. The findings name the survivors: place and change.

Left out: mutants that behave as the original does; the threshold leaves room for them.

Where a condition before a `raise` compares with a number that a constraint names, the comparison's fault at its edge, and
the number's by one, must be noticed, however many other mutants die. Of a constraint with two ends one must be noticed
both ways, and the other one way at least. Limits in patterns, and numbers that are worked out, are left out.
"""

import ast
import json
import os
import secrets  # noqa: TID251 - what tests must not foretell is no input
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Literal, NamedTuple

from ship_gate.contract.class_statement import ClassStatement
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.obligations import CLAIMS_FILE
from ship_gate.contract.rules import DEFAULT, OUT_OF_SCOPE, own_statements
from ship_gate.contract.statements import StatementKind, statements
from ship_gate.contract.types import is_lazy
from ship_gate.errors import ShipGateError
from ship_gate.findings import Finding, FindingCode
from ship_gate.fuzz.hints import numbers
from ship_gate.sandbox.exchange import Ledger
from ship_gate.sandbox.pair import Pair, prepare_variants
from ship_gate.sandbox.staging import Staged
from ship_gate.source.files import ParsedFiles, with_body
from ship_gate.strength.claims import unstable_finding
from ship_gate.strength.mutants import MODULE_LEVEL, Mutant, mutants_of, sampled
from ship_gate.verdict import ENTRY_FILE, StageReport

_JOBS = 4
_WALL_SECONDS = 600.0
_BUDGET_SECONDS = 150.0
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
    budget: float = _BUDGET_SECONDS,
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
        return [_variant_run(events[0])]
    if len(events) != len(variants):
        raise ShipGateError(
            f"the run of the mutants broke off after {len(events)} of {len(variants)} ({ended.how}): {ended.output[-500:]}",
            where="gate",
            remedy="run it again on a machine with less load, or turn the strength stage off to see the other findings",
        )
    return [_variant_run(events[place]) for place in range(len(variants))]


def _variant_run(event: dict[str, Any]) -> VariantRun:
    return VariantRun(event["outcome"], tuple(event["passed"]), tuple(event["failed"]), event["seconds"])


def unshown_limits(
    judged: Iterable[Mutant], alive: Iterable[Mutant], contract: MicroModuleContract
) -> Iterator[Finding]:
    """A finding for each constraint of which a limit that the source guards could be another one.

    Args:
        judged: The mutants that were run.
        alive: Those of them that no test noticed.
        contract: States the constraints.
    """
    moved = [mutant for mutant in alive if mutant.limit]
    noticed = {float(mutant.limit) for mutant in judged if mutant.limit and mutant not in moved}
    guarded = {float(mutant.limit) for mutant in moved} | noticed
    for one in statements(contract):
        # nothing is promised of values out of scope; and a default is no end of what may be given
        if one.kind is StatementKind.CONSTRAINT and not one.text.startswith((OUT_OF_SCOPE, DEFAULT)):
            stated = guarded.intersection(map(float, numbers([one.text])))
            found = [mutant for mutant in moved if float(mutant.limit) in stated]
            limits = {float(mutant.limit) for mutant in found}
            if limits and (limits == stated or limits - noticed):
                faults = "; ".join(f"{mutant.location}: {mutant.listed}" for mutant in found)
                message = (
                    f"no test shows where the limit of the {one.kind} {one.sentence} ({one.pointer}) is; call it "
                    f"with the value at the limit and with the next one beyond it, and assert what comes of both. The "
                    f"tests pass with {faults}"
                )
                yield Finding(FindingCode.OBLIGATIONS_UNSEEN, CLAIMS_FILE, message, one.pointer)


_MOST_MUTANTS = 120
"""Mutants that are run of one module; of more, a fixed sample."""

_LEAST_IN_A_FUNCTION = 5
_IN_A_FUNCTION = 0.75
"""Of the share that is due in all. A function has few mutants, and of those that no test can fail on a guard that only saves
time has three at once; what hides behind strong tests of other functions is noticed far less."""
_MOST_TESTS_SECONDS = 4.0
_MOST_SHOWN = 40
"""Survivors that a finding lists, from each function as many."""
_MOST_OTHERS = 12
_LEAST_SECONDS = 10.0
_SAMPLES = (60, 30)
"""So many mutants are run of a module whose slow tests leave no time for more."""
_LEAST_IN_A_FUNCTION_OF_FEWER = 10
_TIMES_THE_TESTS = 10
_STUB = "_specwright_stub"
_STUBBED = (ast.Raise(ast.Name("NotImplementedError", ast.Load()), None), ast.Return(ast.Constant(None)))


def examine_strength(
    staged: Staged,
    contract: MicroModuleContract,
    files: Mapping[str, bytes],
    *,
    threshold: float = 0.8,
    tests_seconds: float = 0.0,
    runner: Pair | None = None,
    budget: float = _BUDGET_SECONDS,
) -> StageReport:
    """Run the tests of a staged candidate, which have passed, on stubs and mutants.

    Args:
        staged: Laid out by `stage`.
        contract: Names the entry points.
        files: The candidate's files as they would ship.
        threshold: The least share of mutants that must die in all; in each function of five or more, three quarters of it.
        tests_seconds: How long the tests took before; a mutant may take ten times as long.
        runner: Of `start_runner`, if it was started before; the caller stops it.
        budget: Processor time for all mutants; where the tests are too slow for it, fewer are run.

    Raises:
        ShipGateError: the runner itself did not come up.
    """
    files = ParsedFiles.of(files)
    mutants = mutants_of(files)
    taken = sampled(mutants, _MOST_MUTANTS)
    entries = [entry.name for entry in entry_points(contract)]
    # written anew as the mutants are, so that nothing but the fault differs between it and them
    unchanged = Variant(ENTRY_FILE, ast.unparse(files.tree(ENTRY_FILE)), whole=True)
    made = [one for one in own_statements(contract).values() if one.has_code]
    both = [Variant(ENTRY_FILE, source, whole=True) for source in stubs(files, entries, made)]
    faulty = [Variant(m.path, m.source, tier=tier) for m, tier in _tiers(taken)]
    # the module as it is once more among the mutants, at a place that no test can foretell, and after them
    place = secrets.randbelow(len(faulty) + 1)
    variants = [unchanged, *both, *faulty[:place], unchanged, *faulty[place:], unchanged]
    seconds = max(_LEAST_SECONDS, _TIMES_THE_TESTS * tests_seconds)
    started = nullcontext(runner) if runner else start_runner(staged, draws=uses_hypothesis(files))
    with started as own:
        runs = run_variants(staged, contract.name, variants, own, seconds=seconds, budget=budget)
    same = [runs[0]]
    if len(runs) == len(variants):
        same += [runs.pop(), runs.pop(3 + place)]
    return _judged(mutants, taken, runs, same, threshold, seconds, contract)


def _judged(
    mutants: list[Mutant],
    taken: list[Mutant],
    runs: Sequence[VariantRun],
    same: Sequence[VariantRun],
    threshold: float,
    seconds: float,
    contract: MicroModuleContract,
) -> StageReport:
    """What the runs show: of both stubs, of the mutants that were taken, and of the module as it is, again and again."""
    first = runs[0]
    if first.outcome == "passed":
        first = next((run for run in same if run.outcome == "failed"), first)
    tried = [pair for pair in zip(taken, runs[3:], strict=False) if pair[1].outcome != "left_out"]
    judged = [pair for pair in tried if pair[1].outcome != "stillborn"]
    alive = [mutant for mutant, run in judged if run.outcome == "passed"]
    is_slow = (bool(taken) and not tried) or (first.outcome == "stopped" and first.seconds > 0.9 * seconds)
    findings = [*(_slow(first) if is_slow else _unstable(first, contract))]
    if len(runs) > 1:
        findings += vacuous_findings(runs[1].passed, runs[2].passed)
    if first.outcome == "passed":
        findings += weak_findings(judged, threshold, fewer=len(tried) < len(taken))
        findings += unshown_limits([mutant for mutant, _ in judged], alive, contract)
        findings += map(_idiom, (mutant for mutant in alive if mutant.value))
    every, killed = len(mutants), len(judged) - len(alive)
    part = f"a sample of {len(tried)} of {every}" if every > len(tried) else f"all {every}"
    summary = f"{killed} of {len(judged)} mutants died ({part} mutants taken, threshold {threshold:g})"
    counts = {"mutants": every, "run": len(judged), "killed": killed}
    return StageReport(tuple(findings), summary, counts)


def _tiers(taken: list[Mutant]) -> Iterator[tuple[Mutant, int]]:
    """Each with the size of the smallest sample that it is part of."""
    tiers = dict.fromkeys((mutant.source for mutant in taken), _MOST_MUTANTS)
    chosen = taken
    for most in _SAMPLES:
        chosen = sampled(chosen, most)
        tiers |= dict.fromkeys((mutant.source for mutant in chosen), most)
    return ((mutant, tiers[mutant.source]) for mutant in taken)


def uses_hypothesis(files: Mapping[str, bytes]) -> bool:
    """Whether the tests draw their examples."""
    return any(b"hypothesis" in data for path, data in files.items() if path.startswith("tests/"))


def _slow(first: VariantRun) -> Iterator[Finding]:
    message = (
        f"the tests take {first.seconds:.1f} s of processor time, and they are run again for each of at least "
        f"{_SAMPLES[-1]} small faults put into the module; let them take less than "
        f"{_MOST_TESTS_SECONDS:g} s in all: draw fewer examples, or give smaller inputs"
    )
    yield Finding(FindingCode.STRENGTH_SLOW, "tests", message)


def _idiom(mutant: Mutant) -> Finding:
    message = f"the tests pass with {mutant.listed}; assert what comes of {mutant.value}"
    return Finding(FindingCode.STRENGTH_IDIOM, mutant.location, message)


def _unstable(first: VariantRun, contract: MicroModuleContract) -> Iterator[Finding]:
    if first.outcome != "passed":
        names = ", ".join(first.failed[:5]) or first.outcome
        is_any_lazy = any(is_lazy(output.type) for output in contract.outputs)
        hint = "; here tests get the items themselves, so let the module not change what it has yielded"
        yield unstable_finding(names, hint if is_any_lazy else "")


def weak_findings(
    judged: Sequence[tuple[Mutant, VariantRun]], threshold: float, *, fewer: bool = False
) -> Iterator[Finding]:
    """Where too few mutants are noticed: in all, and in functions with several of them (design: ship-gate).

    Args:
        judged: The mutants that were run, with what became of each.
        threshold: The least share that must die in all; three quarters of it must in each function.
        fewer: Whether the tests were too slow for all mutants.
    """
    least = _LEAST_IN_A_FUNCTION_OF_FEWER if fewer else _LEAST_IN_A_FUNCTION
    whole = list(_below(judged, threshold, FindingCode.STRENGTH_WEAK, "tests", "the module"))
    scopes: dict[str, list[tuple[Mutant, VariantRun]]] = {}
    for mutant, run in judged:
        scopes.setdefault(mutant.scope, []).append((mutant, run))
    found, due = dict[str, Finding](), round(_IN_A_FUNCTION * threshold, 6)
    for scope, own in sorted(scopes.items()):
        if scope != MODULE_LEVEL and len(own) >= least:
            for finding in _below(own, due, FindingCode.STRENGTH_FUNCTION, own[0][0].location, scope):
                found[scope] = finding
    if found and not whole:
        last, finding = found.popitem()
        others = _other_survivors(judged, {*found, last})
        found[last] = finding._replace(message=f"{finding.message}{others}")
    yield from (*whole, *found.values())


def _other_survivors(judged: Sequence[tuple[Mutant, VariantRun]], found: Collection[str]) -> str:
    """What tests do not notice of the functions of which they notice enough: the next draft is tested by other tests, and
    who writes them sees all at once."""
    alive = [m for m, run in judged if run.outcome == "passed" and m.scope not in found]
    named = [f"{mutant.location} in {mutant.scope}: {mutant.listed}" for mutant in alive[:_MOST_OTHERS]]
    more = f"; and {len(alive) - _MOST_OTHERS} more" if len(alive) > _MOST_OTHERS else ""
    return f"\nNot noticed either, where enough is: {'; '.join(named)}{more}" if named else ""


def _spread(alive: Sequence[Mutant]) -> list[Mutant]:
    """As many as are listed, from each function as many, in the order of the source."""
    places: dict[str, list[int]] = {}
    for place, mutant in enumerate(alive):
        places.setdefault(mutant.scope, []).append(place)
    turns = sorted((turn, place) for own in places.values() for turn, place in enumerate(own))
    return [alive[place] for place in sorted(place for _, place in turns[:_MOST_SHOWN])]


def _below(
    judged: Sequence[tuple[Mutant, VariantRun]], threshold: float, code: str, location: str, what: str
) -> Iterator[Finding]:
    alive = [mutant for mutant, run in judged if run.outcome == "passed"]
    killed = len(judged) - len(alive)
    if judged and killed < threshold * len(judged):
        lines = [f"  {mutant.location}: {mutant.listed}" for mutant in _spread(alive)]
        lines += [f"  and {len(alive) - _MOST_SHOWN} more"] * (len(alive) > _MOST_SHOWN)
        listing = "\n".join(lines)
        yield Finding(
            code,
            location,
            f"the tests notice {killed} of {len(judged)} small faults put into {what}, and {threshold:.0%} are due; "
            f"write tests that fail on these, and delete or make plainer what no test can fail on:\n{listing}",
        )


def stubs(
    files: Mapping[str, bytes], entries: Iterable[str], classes: Iterable[ClassStatement] = ()
) -> tuple[str, str]:
    """The source of the entry file with the bodies of the entry points, and of what classes check and derive, replaced,
    once each way."""
    tree, names = ParsedFiles.of(files).tree(ENTRY_FILE), set(entries)
    patches = [patch for one in classes for patch in _patches(one)]
    raising, returning = (_stub(tree, names, body, patches) for body in _STUBBED)
    return raising, returning


def _patches(statement: ClassStatement) -> Iterator[str]:
    """Statements that put a stub in place of what a class checks and derives, in whatever file it is."""
    yield f"{statement.name}.__post_init__ = {_STUB}"
    yield from (f"{statement.name}.{one.name} = property({_STUB})" for one in statement.properties)


def _stub(tree: ast.Module, entries: set[str], body: ast.stmt, patches: Sequence[str]) -> str:
    statements = list(tree.body)
    for place, node in enumerate(statements):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in entries:
            docstring = node.body[:1] if ast.get_docstring(node) else []
            statements[place] = with_body(node, [*docstring, body])
    if patches:
        function = ast.parse(f"def {_STUB}(self): pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        statements += [with_body(function, [body]), *(ast.parse(patch).body[0] for patch in patches)]
    return ast.unparse(ast.fix_missing_locations(ast.Module(statements, [])))


def vacuous_findings(passed_raising: Iterable[str], passed_returning: Iterable[str]) -> list[Finding]:
    """A finding for each test that passed on both stubs."""
    both = sorted(set(passed_raising) & set(passed_returning))
    message = (
        "the test passes on a module that only raises NotImplementedError and on one that only returns None; "
        "assert what the entry point returns, changes or raises"
    )
    return [Finding(FindingCode.TESTS_VACUOUS, f"tests/{name}", message) for name in both]
