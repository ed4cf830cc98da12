"""The stages of the gate: what each observed, and those after the tests, side by side (design: ship-gate, testing).

Observation, strength and the contract fuzz wait for processes most of their time and need nothing of each other.
Their processes are started while tests and examples still run, so that they have loaded what they need when their turn
comes; where it does not come, they are stopped. Findings are reported in the order of the stages.
"""

import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import NamedTuple, Self

from ship_gate.errors import ShipGateError
from ship_gate.findings import Finding
from ship_gate.fuzz.check import FuzzBounds, examine_contract, is_repeatable
from ship_gate.fuzz.determinism import second_process
from ship_gate.runs import named_tests
from ship_gate.sandbox.exchange import ObservedEffect
from ship_gate.sandbox.pair import prepare
from ship_gate.sandbox.staging import Staged
from ship_gate.source.files import ParsedFiles
from ship_gate.strength.check import examine_strength, start_runner, uses_hypothesis
from ship_gate.strength.claims import assertions_of
from ship_gate.strength.observation import observe
from ship_gate.verdict import Candidate, StageReport, StageResult

STAGES = (
    "layout", "static", "surface", "imports", "obligations", "tests", "examples", "observation", "strength", "fuzz",
    "effects",
)  # fmt: skip
"""In the order in which their results are reported."""


class StageLog:
    """Collects the findings of a judgement, and what each stage observed.

    Args:
        skipped: Stages that the settings turn off, or that this judgement goes without.
    """

    def __init__(self, skipped: Collection[str]) -> None:
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self._skipped = skipped
        self._found: dict[str, tuple[int, float]] = {}
        self._observed: dict[str, dict[str, int]] = {}

    @contextmanager
    def stage(self, name: str) -> Generator[list[Finding], None, None]:
        """Time a stage; what is put into the list are its findings."""
        findings: list[Finding] = []
        began = time.monotonic()
        yield findings
        self.add(name, findings, time.monotonic() - began)

    def add(self, name: str, findings: Iterable[Finding], seconds: float = 0.0) -> None:
        """Note what a stage found; one that is noted twice has the sum of both."""
        before = len(self.findings)
        self.findings += findings
        count, total = self._found.get(name, (0, 0.0))
        self._found[name] = count + len(self.findings) - before, total + seconds

    def observe(self, name: str, **counts: int) -> None:
        """Note how much a stage looked at."""
        self._observed[name] = counts

    def report(self, name: str, found: StageReport, seconds: float = 0.0) -> None:
        """Note all that a measuring stage found."""
        self.add(name, found.findings, seconds)
        self.observe(name, **found.counts)
        self.notes.append(found.summary)

    def results(self) -> tuple[StageResult, ...]:
        """What each stage observed."""
        return tuple(map(self._result, STAGES))

    def _result(self, name: str) -> StageResult:
        if name in self._skipped:
            return StageResult(name, "SKIPPED")
        if name not in self._found:
            return StageResult(name, "NOT_RUN")
        findings, seconds = self._found[name]
        result, counts = "FAIL" if findings else "PASS", self._observed.get(name, {})
        return StageResult(name, result, findings, round(1000 * seconds, 3), counts)


class MeasuringBounds(NamedTuple):
    """What is run after the tests.

    Args:
        strength: The least share of mutants that must die; 0 leaves strength and the observation out.
        fuzz: How much is drawn; no examples leave the fuzz out.
        thorough: Whether the slow stages are run too, strength and fuzz.
    """

    strength: float
    fuzz: FuzzBounds
    thorough: bool


class MeasuringStages:
    """Observation, strength and fuzz of one candidate; used as a context manager, it leaves nothing running.

    Args:
        staged: Laid out by `stage`; its surface is the contract's.
        candidate: Its contract and those of its dependencies.
        files: As they would ship.
        claims: Of `read_claims`; nothing is wrong in them.
        bounds: What is run.
    """

    def __init__(
        self,
        staged: Staged,
        candidate: Candidate,
        files: ParsedFiles,
        claims: Mapping[str, tuple[str, ...]],
        bounds: MeasuringBounds,
    ) -> None:
        self._staged = staged
        self._candidate = candidate
        self._files = files
        self._claims = claims
        self._observed = bool(bounds.strength)
        self._strength = bounds.strength if bounds.thorough else 0.0
        self._fuzz = bounds.fuzz if bounds.thorough else bounds.fuzz._replace(examples=0)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._runner = self._repetition = self._pair = self._second = None
            if self._observed:
                self._repetition = stack.enter_context(prepare(self._staged, "variants.repetition"))
            if self._strength:
                self._runner = stack.enter_context(
                    start_runner(self._staged, draws=uses_hypothesis(self._files))
                )
            if self._fuzz.examples:
                self._pair = stack.enter_context(prepare(self._staged, "fuzz.runner"))
                if is_repeatable(self._candidate.contract):
                    self._second = stack.enter_context(second_process(self._staged))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def observed(self) -> tuple[ObservedEffect, ...]:
        """What the module did under the fuzz."""
        elsewhere = self._second.observed if self._second else ()
        return (*(self._pair.exchange.observed() if self._pair else ()), *elsewhere)

    def examine(self, tests_seconds: float, log: StageLog, shown: Collection[str]) -> None:
        """Run the stages; the tests have passed.

        Args:
            tests_seconds: How long they took.
            shown: Lines out of which exceptions came while tests and examples ran.
            log: Takes what the stages observe.

        Raises:
            ShipGateError: a process did not come up or broke off by itself, and nothing else is wrong.
        """
        stages: dict[str, Callable[[], StageReport]] = {}
        if self._observed:
            stages["observation"] = lambda: self._changed_answers(tests_seconds)
        if self._strength:
            stages["strength"] = lambda: self._mutants(tests_seconds)
        if self._fuzz.examples:
            stages["fuzz"] = lambda: self._contract_fuzz(shown)
        with ThreadPoolExecutor(len(stages) or 1) as pool:
            runs = {name: pool.submit(_timed, stage) for name, stage in stages.items()}
        broken: list[ShipGateError] = []
        for name, run in runs.items():
            try:
                examined, seconds = run.result()
            except ShipGateError as error:
                broken.append(error)
                continue
            log.report(name, examined, seconds)
        if broken and not log.findings:  # else what was found may be what broke it off
            raise broken[0]

    def _changed_answers(self, tests_seconds: float) -> StageReport:
        return observe(
            self._staged,
            self._candidate.contract,
            named_tests(self._files),
            self._claims,
            tests_seconds,
            self._repetition,
            assertions_of(self._files),
        )

    def _mutants(self, tests_seconds: float) -> StageReport:
        return examine_strength(
            self._staged,
            self._candidate.contract,
            self._files,
            threshold=self._strength,
            tests_seconds=tests_seconds,
            runner=self._runner,
        )

    def _contract_fuzz(self, shown: Collection[str]) -> StageReport:
        return examine_contract(
            self._staged, self._candidate, self._files, self._fuzz, self._pair, self._second, shown
        )


def _timed(stage: Callable[[], StageReport]) -> tuple[StageReport, float]:
    began = time.monotonic()
    return stage(), time.monotonic() - began
