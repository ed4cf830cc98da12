"""What the tests of a module must show, derived from its contract, and who says that they do (design: contracts,
role-access).

One obligation per input constraint (a default is one: leaving the argument out), output invariant, error
surface, statement for all surfaces of an error class, field of an error and effect, and the happy path.
`tests/obligations.json` maps tests to their JSON pointers into the contract. A class statement is no obligation, nor is
the base of an error class or how a parameter is passed: the surface is compared with them. Nor is how many items an
iterable has at most, which the gate counts.

A test is named by its function, `test_x`; where two files or classes have the same name, by the end of its
node id, `test_file.py::TestClass::test_x`. A parametrised test is named once, without brackets."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from ship_gate import canonical_json
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples import same_error
from ship_gate.contract.rules import is_read_from_code, is_scope_limit, is_untested, raised_errors
from ship_gate.contract.statements import OF_SLOTS, Statement, StatementKind, statements
from ship_gate.contract.types import is_item_bound
from ship_gate.findings import Finding

CLAIMS_FILE = "tests/obligations.json"
"""The file of a module that names what its tests show."""


def obligations(contract: MicroModuleContract) -> tuple[Statement, ...]:
    """Every statement of a contract that a test must show, in its order, after the happy path, whose pointer is empty;
    definitions of fields alone have none."""
    return () if is_untested(contract) else tuple(_derived(contract))


def _derived(contract: MicroModuleContract) -> Iterator[Statement]:
    raised, slot_type = raised_errors(contract), ""
    yield Statement("", StatementKind.HAPPY_PATH, "", contract.purpose)
    for one in statements(contract):
        if one.kind in (StatementKind.INPUT, StatementKind.OUTPUT):
            slot_type = one.text
        elif one.kind in OF_SLOTS:
            is_due = not (is_read_from_code(one.text) or is_scope_limit(one.text))
            yield from [one] if is_due and not is_item_bound(slot_type, one.text) else []
        elif one.kind is StatementKind.EFFECT or (one.kind in _OF_ERRORS and one.name in raised):
            yield one


_OF_ERRORS = (StatementKind.ERROR_SURFACE, StatementKind.ERROR_CLASS, StatementKind.ERROR_FIELD)


def read_claims(data: bytes) -> dict[str, tuple[str, ...]]:
    """Read `tests/obligations.json`.

    Returns:
        Test names with the pointers that they claim.

    Raises:
        ValueError: not a JSON object of lists of texts; the message says what it is instead.
    """
    value = canonical_json.loads(data)
    if not isinstance(value, dict):
        raise ValueError(  # noqa: TRY004 - it is the file's content that is wrong
            'not an object; write {"test_name": ["", "/inputs/0/constraints/0"]}'
        )
    return {name: _pointers(name, pointers) for name, pointers in cast("dict[str, Any]", value).items()}


def _pointers(name: str, claimed: object) -> tuple[str, ...]:
    pointers = cast("list[object]", claimed) if isinstance(claimed, list) else [None]
    texts = [pointer for pointer in pointers if isinstance(pointer, str)]
    if len(texts) != len(pointers):
        raise ValueError(f"{name!r} has no list of JSON pointers; write a list, empty if it shows nothing")
    return tuple(texts)


def matching_tests(name: str, collected: Iterable[str]) -> list[str]:
    """The collected tests, `test_file.py::test_x`, that a claim's name means."""
    wanted = name.removeprefix("tests/").partition("[")[0].split("::")
    return [test for test in collected if test.split("::")[-len(wanted) :] == wanted]


def claims_faults(
    claims: Mapping[str, tuple[str, ...]], collected: Iterable[str], contract: MicroModuleContract
) -> list[Finding]:
    """What is wrong with the claims of a module's tests.

    Args:
        claims: Of `read_claims`.
        collected: The tests that exist, without parameters: `test_file.py::test_x`.
        contract: The locked one.
    """
    tests = list(collected)
    due = {obligation.pointer: obligation for obligation in obligations(contract)}
    faults: list[Finding] = []
    covered: set[str] = set()
    for name, pointers in claims.items():
        matches = matching_tests(name, tests)
        if not matches:
            message = f"{name!r} is no test of this module; correct the name"
            faults.append(Finding("obligations.unknown_test", CLAIMS_FILE, message))
        elif len(matches) > 1:
            message = f"{name!r} means {matches}; name the file as well"
            faults.append(Finding("obligations.ambiguous_test", CLAIMS_FILE, message))
        else:
            covered.update(pointers)
        for pointer in pointers:
            if pointer not in due:
                message = (
                    f"{name} claims {pointer!r}, which is no obligation of the contract; remove or correct it"
                )
                faults.append(Finding("obligations.unknown_pointer", CLAIMS_FILE, message))
    for pointer, obligation in due.items():
        if pointer not in covered:
            message = (
                f"no test for {obligation.kind}: {obligation.sentence} ({pointer or 'the empty pointer'}); "
                "write one and name it in tests/obligations.json"
            )
            faults.append(Finding("obligations.uncovered", CLAIMS_FILE, message, pointer))
    return faults


def unseen_faults(
    claims: Mapping[str, tuple[str, ...]],
    observed: Mapping[str, Iterable[tuple[str, ...]]],
    contract: MicroModuleContract,
) -> list[Finding]:
    """Error surfaces whose tests pass although that error never came out of the module (design: ship-gate).

    Args:
        claims: Of `read_claims`.
        observed: What came out of the entry points while each test ran: of an exception the names of its class
            and bases, of a returned code its name alone. Tests are named without parameters.
        contract: The locked one.
    """
    faults: list[Finding] = []
    for one in (due for due in obligations(contract) if due.kind is StatementKind.ERROR_SURFACE):
        tests = [
            t
            for name, pointers in claims.items()
            if one.pointer in pointers
            for t in matching_tests(name, observed)
        ]
        if not any(same_error(one.name, names) for test in tests for names in observed[test]):
            message = (
                f"no test that claims {one.pointer} has seen {one.name} come out of the module; "
                f"trigger it: {one.text}"
            )
            faults.append(Finding("obligations.unseen", CLAIMS_FILE, message, one.pointer))
    return faults
