"""What the tests of a module must show, derived from its contract, and who says that they do (design: obligations,
role-access).

One obligation per input constraint (a default is one: leaving the argument out), output invariant, error
surface, statement for all surfaces of an error class, field of an error and effect, and the happy path.
`tests/obligations.json` maps tests to their JSON pointers into the contract. A class statement is no obligation, nor is
the base of an error class or how a parameter is passed: the surface is compared with them. Nor is how many items an
iterable has at most, which the gate counts.

A test is named by its function, `test_x`; where two files or classes have the same name, by the end of its
node id, `test_file.py::TestClass::test_x`. A parametrised test is named once, without brackets."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from ship_gate import canonical_json
from ship_gate.contract.boundary.lazy_types import is_item_bound
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples_file import same_error
from ship_gate.contract.rules import (
    is_read_from_code,
    is_scope_limit,
    is_untested,
    raised_surfaces,
)
from ship_gate.findings import Finding

CLAIMS_FILE = "tests/obligations.json"
"""The file of a module that names what its tests show."""


class Obligation(NamedTuple):
    """Something that a test must show.

    Args:
        pointer: JSON pointer into the contract; `""` is the happy path.
        category: What kind, as docs/design.md#obligations names it.
        text: What is to be shown, for the message.
    """

    pointer: str
    category: str
    text: str


def obligations(contract: MicroModuleContract) -> tuple[Obligation, ...]:
    """Every obligation of a contract, in its order; definitions of fields alone have none."""
    return () if is_untested(contract) else tuple(_derived(contract))


def _derived(contract: MicroModuleContract) -> Iterator[Obligation]:
    yield Obligation("", "happy path", contract.purpose)
    for index, parameter in enumerate(contract.inputs):
        for place, text in _sentences(parameter.type, parameter.constraints):
            yield Obligation(
                f"/inputs/{index}/constraints/{place}", "input constraint", f"{parameter.name}: {text}"
            )
    for index, output in enumerate(contract.outputs):
        for place, text in _sentences(output.type, output.invariants):
            yield Obligation(
                f"/outputs/{index}/invariants/{place}", "output invariant", f"{output.name}: {text}"
            )
    for index, error in raised_surfaces(contract).items():
        yield Obligation(f"/error_surfaces/{index}", "error surface", f"{error.name}: {error.when}")
        if error.shared:
            pointer = f"/error_surfaces/{index}/shared"
            yield Obligation(pointer, "error class", f"{error.name}: {error.shared}")
        for place, field in enumerate(error.fields):
            pointer = f"/error_surfaces/{index}/fields/{place}"
            yield Obligation(pointer, "error field", f"{error.name}.{field.name}: {field.type}")
    for index, effect in enumerate(contract.effects):
        yield Obligation(
            f"/effects/{index}", "effect", f"{effect.type} {effect.target}: {effect.description}"
        )


def _sentences(slot_type: str, texts: list[str]) -> Iterator[tuple[int, str]]:
    return (
        (place, text)
        for place, text in enumerate(texts)
        if not (is_read_from_code(text) or is_scope_limit(text) or is_item_bound(slot_type, text))
    )


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
                f"no test for {obligation.category}: {obligation.text} ({pointer or 'the empty pointer'}); "
                "write one and name it in tests/obligations.json"
            )
            faults.append(Finding("obligations.uncovered", CLAIMS_FILE, message))
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
    for index, error in raised_surfaces(contract).items():
        pointer = f"/error_surfaces/{index}"
        tests = [
            t
            for name, pointers in claims.items()
            if pointer in pointers
            for t in matching_tests(name, observed)
        ]
        if not any(same_error(error.name, names) for test in tests for names in observed[test]):
            message = (
                f"no test that claims {pointer} has seen {error.name} come out of the module; "
                f"trigger it: {error.when}"
            )
            faults.append(Finding("obligations.unseen", CLAIMS_FILE, message))
    return faults
