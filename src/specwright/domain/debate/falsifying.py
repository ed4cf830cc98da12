"""Falsifying tests: their results, and which are active (design: falsifying-tests).

A test that fails on the module is a counterexample: it is reproducible and shows none of the module's source. It is
active until the Arbiter strikes it, in every later round and at the ship gate, as long as the contract is the one that it
was written against.
"""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from specwright.domain.answers.answers import Failure, FalsifyingTest, StruckTest, Verdict
from specwright.domain.base.record import Record, Sha256
from specwright.domain.contract.contract import MISSING, MicroModuleContract
from specwright.domain.debate.vague_text import MIN_WORDS, is_vague


class TriedTest(Record):
    """A falsifying test and what code saw when it ran.

    Args:
        contract_sha256: Of the whole contract that it was written against.
        message: What failed, as the test's process saw it; empty if nothing did.
    """

    name: str
    obligation: str
    source: str
    contract_sha256: Sha256
    result: Verdict
    message: Annotated[str, Field(max_length=4000)] = ""

    @property
    def failed(self) -> bool:
        """Whether it is a counterexample."""
        return self.result is Verdict.FAIL

    @property
    def test(self) -> FalsifyingTest:
        """As the Challenger wrote it."""
        return FalsifyingTest(name=self.name, obligation=self.obligation, source=self.source)


def counterexample(tried: TriedTest) -> Failure:
    """The failure that a failed test shows."""
    return Failure(
        invariant=f"{tried.obligation or 'the purpose'}: the falsifying test {tried.name} passes",
        evidence=f"{tried.name} fails when it is run:\n{tried.source.strip()}\n\n{tried.message.strip()}",
        required_change=f"Correct the module so that {tried.name} passes; keep what the contract says.",
    )


def is_counterexample(invariant: str) -> bool:
    """Whether a failure with this invariant was shown by a falsifying test."""
    return ": the falsifying test " in invariant


def named_in(failure: Failure, tests: Iterable[str]) -> list[str]:
    """The tests that a failure names in its text, by their whole name."""
    text = f"{failure.invariant} {failure.evidence} {failure.required_change}"
    return [name for name in tests if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def naming_problems(tests: Iterable[FalsifyingTest], earlier: Iterable[TriedTest]) -> list[str]:
    """Tests with the name of an earlier one, which is run again anyway."""
    taken = {tried.name for tried in earlier}
    return [
        f"falsifying_tests.{i}.name: {test.name} is a test of an earlier round; take another name, and do not repeat it"
        for i, test in enumerate(tests)
        if test.name in taken
    ]


def active_tests(
    tried: Iterable[TriedTest], struck: Iterable[StruckTest], contract_sha256: str
) -> list[TriedTest]:
    """The tests that a deliverable must still pass: those under the present contract that were not struck."""
    names = {one.test for one in struck}
    return [one for one in tried if one.name not in names and one.contract_sha256 == contract_sha256]


def strike_problems(
    struck: Iterable[StruckTest], failed: Iterable[TriedTest], contract: MicroModuleContract
) -> list[str]:
    """Why strikes are refused: no such test, no such statement in the contract, or no reason (design: falsifying-tests)."""
    names, problems = [one.name for one in failed], list[str]()
    for i, one in enumerate(struck):
        if one.test not in names:
            known = ", ".join(names) or "none"
            problems.append(
                f"struck_tests.{i}.test: {one.test!r} is no failed test of this round; these are: {known}"
            )
        if contract.at(one.contract_pointer) is MISSING:
            problems.append(
                f"struck_tests.{i}.contract_pointer: the contract of {contract.name} has no {one.contract_pointer}"
            )
        if is_vague(one.reason):
            problems.append(f"struck_tests.{i}.reason: say why, in {MIN_WORDS} words or more")
    return problems
