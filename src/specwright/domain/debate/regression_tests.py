"""Falsifying tests that are kept with a sealed version, and which of them count for the next one (design:
falsifying-tests).

A criterion is kept by its text: its number may be another one once the spec has changed.
"""

from collections.abc import Iterable, Sequence

from pydantic import Field

from specwright.domain.answers.answers import FalsifyingTest
from specwright.domain.base.ids import ModuleRefText
from specwright.domain.base.record import Record, Sha256
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.falsifying import TriedTest

_LOOKED_AT = {
    "outputs": ("inputs", "outputs", "modes"),
    "error_surfaces": ("inputs", "error_surfaces", "modes"),
    "effects": ("inputs", "effects", "modes"),
}
"""What a test of a statement looks at, by the dimension of the statement: it calls the module, and sees that dimension."""

_ALL = ("purpose", "inputs", "outputs", "error_surfaces", "effects", "modes")


class RegressionTest(Record):
    """A falsifying test that a sealed version passed and that nobody struck.

    Args:
        contract_sha256: Of the whole contract that it was written against.
        criteria: The acceptance criteria that it tries, as they read then.
        since: The first version that it was kept with.
    """

    name: str
    obligation: str
    source: str
    contract_sha256: Sha256
    criteria: list[str] = Field(default_factory=list)
    since: ModuleRefText

    @property
    def test(self) -> FalsifyingTest:
        """As the gate runs it."""
        return FalsifyingTest(name=self.name, obligation=self.obligation, source=self.source)

    @property
    def about(self) -> str:
        """What it tries, in words."""
        named = "".join(f" and the criterion {text!r}" for text in self.criteria)
        return f"{self.obligation or 'the purpose'}{named}"


class RegressionTests(Record):
    """The falsifying tests beside a sealed version.

    Args:
        contract_sha256: Of the version's contract; under another one they say nothing.
        tests: The earliest first.
    """

    contract_sha256: Sha256
    tests: list[RegressionTest]


def as_regression_tests(
    tried: Iterable[TriedTest], criteria: Sequence[str], since: str
) -> list[RegressionTest]:
    """The tests of a debate as they are kept.

    Args:
        tried: Active when the version was sealed.
        criteria: Of the task.
        since: The version.
    """
    return [
        RegressionTest(
            name=one.name,
            obligation=one.obligation,
            source=one.source,
            contract_sha256=one.contract_sha256,
            criteria=[criteria[number - 1] for number in one.criteria if number <= len(criteria)],
            since=since,
        )
        for one in tried
    ]


def still_counting(
    tests: Iterable[RegressionTest], before: MicroModuleContract, after: MicroModuleContract
) -> list[RegressionTest]:
    """The kept tests that count for a later version: nothing that they look at has changed in the contract.

    Args:
        tests: Of the version before.
        before: Its contract.
        after: That of the later version.
    """
    was, now = before.to_json(), after.to_json()

    def untouched(test: RegressionTest) -> bool:
        looked_at = _LOOKED_AT.get(test.obligation.split("/")[1] if test.obligation else "", _ALL)
        return all(was[field] == now[field] for field in looked_at)

    return [test for test in tests if untouched(test)]
