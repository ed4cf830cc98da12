"""Which tests of a debate are kept with a sealed version, and which of them count for the next one (design:
falsifying-tests)."""

from collections.abc import Iterable, Sequence

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.falsifying_tests import RegressionTest
from specwright.domain.debate.falsifying import TriedTest

_LOOKED_AT = {
    "outputs": ("inputs", "outputs", "modes"),
    "error_surfaces": ("inputs", "error_surfaces", "modes"),
    "effects": ("inputs", "effects", "modes"),
}
"""What a test of a statement looks at, by the dimension of the statement: it calls the module, and sees that dimension."""

_ALL = ("purpose", "inputs", "outputs", "error_surfaces", "effects", "modes")


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
