"""The stages after tests and examples, silence, strength and contract fuzz, side by side (DESIGN §8, §11).

All wait for processes most of their time, and need nothing of each other. Their processes are started while tests and
examples still run, so that they have loaded what they need when their turn comes; where it does not come, they are
stopped. What they find is told in the order of the stages.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import NamedTuple, Self

from specwright.gate.fuzz.check import FuzzBounds, Fuzzed, examine_contract, is_repeatable
from specwright.gate.fuzz.elsewhere import prepare_elsewhere
from specwright.gate.sandbox.pair import prepare
from specwright.gate.silence import prepare_silence, silence_findings
from specwright.gate.staging import Staged
from specwright.gate.strength.check import Strength, draws_examples, examine_strength
from specwright.gate.strength.run import start_runner
from specwright.gate.test_run import named_tests
from specwright.ports.gate import Candidate, Finding

__all__ = ["LastStages", "Seen"]


class Seen(NamedTuple):
    """What the stages found, and a line of each for the evidence."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


class LastStages:
    """Strength and fuzz of one candidate; used as a context manager, it leaves nothing running.

    Args:
        staged: Laid out by `stage`; its surface is the contract's.
        candidate: Its contract and those of its dependencies.
        files: As they would ship.
        strength: The least share of mutants that must die; 0 leaves the stage out.
        fuzz: How much is drawn; no examples leave the stage out.
    """

    def __init__(
        self,
        staged: Staged,
        candidate: Candidate,
        files: Mapping[str, bytes],
        *,
        strength: float,
        fuzz: FuzzBounds,
    ) -> None:
        self._staged = staged
        self._candidate = candidate
        self._files = files
        self._strength = strength
        self._fuzz = fuzz
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            draws = draws_examples(self._files)
            self._runner = (
                stack.enter_context(start_runner(self._staged, draws=draws)) if self._strength else None
            )
            self._pair = (
                stack.enter_context(prepare(self._staged, "fuzz_runner")) if self._fuzz.examples else None
            )
            is_repeated = self._fuzz.examples and is_repeatable(self._candidate.contract)
            self._elsewhere = stack.enter_context(prepare_elsewhere(self._staged)) if is_repeated else None
            self._silent = stack.enter_context(prepare_silence(self._staged)) if self._strength else None
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def examine(self, tests_seconds: float) -> Seen:
        """Run the stages; the tests have passed.

        Args:
            tests_seconds: How long they took.

        Raises:
            SpecwrightError: a process did not come up or broke off by itself.
        """
        with ThreadPoolExecutor(2) as pool:
            fuzzed = pool.submit(self._examined_contract)
            silence = pool.submit(self._examined_silence, tests_seconds)
            strength = self._examined_strength(tests_seconds)
            seen = [of for of in (strength, fuzzed.result()) if of is not None]
        findings = [*silence.result(), *(finding for of in seen for finding in of.findings)]
        return Seen(tuple(findings), tuple(of.shown() for of in seen))

    def _examined_silence(self, tests_seconds: float) -> tuple[Finding, ...]:
        if self._silent is None:
            return ()
        contract, named = self._candidate.contract, named_tests(self._files)
        return silence_findings(self._staged, contract, named, tests_seconds, self._silent)

    def _examined_strength(self, tests_seconds: float) -> Strength | None:
        if self._runner is None:
            return None
        return examine_strength(
            self._staged,
            self._candidate.contract,
            self._files,
            threshold=self._strength,
            tests_seconds=tests_seconds,
            runner=self._runner,
        )

    def _examined_contract(self) -> Fuzzed | None:
        if self._pair is None:
            return None
        return examine_contract(
            self._staged, self._candidate, self._files, self._fuzz, self._pair, self._elsewhere
        )
