"""Which obligations the tests show: each by a test that claims it and notices a change of what it is about (design:
obligations).

    happy path         what a call returned, or wrote, is read
    output invariant   the same, of the output that the invariant is about
    error surface      an exception of that class came out of a call, and the test fails where a value comes instead; a
                       code came back, and is read
    effect             the files that a call wrote are read back; of an effect without files, anything of the call
    input constraint   what a call returned, raised or wrote is read

A change that a test notices is one that it fails by.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from specwright.domain.contract.contract import EffectType, MicroModuleContract, SurfaceKind
from specwright.domain.contract.examples_file import same_error
from specwright.domain.contract.obligations import Obligation, matching_tests, obligations
from specwright.gate.findings import FindingCode
from specwright.gate.strength.perturbations import Aspect, Perturbation
from specwright.ports.gate import Finding

_CLAIMS = "tests/obligations.json"
_READS = {Aspect.VALUE, Aspect.FILES, Aspect.PRINTED}


class Claims(NamedTuple):
    """What is due, and who claims to show it.

    Args:
        contract: The locked one.
        due: The obligations by their pointers.
        by_test: The pointers that each test claims; tests are named without parameters.
    """

    contract: MicroModuleContract
    due: Mapping[str, Obligation]
    by_test: Mapping[str, frozenset[str]]

    def of(self, test: str) -> frozenset[str]:
        """The pointers that a test claims."""
        return self.by_test.get(test, frozenset())

    def shows(self, pointer: str, one: Perturbation) -> bool:
        """Whether a test that notices this change shows the obligation."""
        kind, _, rest = pointer.removeprefix("/").partition("/")
        place = int(rest.partition("/")[0] or 0)
        match kind:
            case "outputs":
                part = None if len(self.contract.outputs) == 1 else place
                # None is a value of the declared type, or it is none
                nothing = {Aspect.KIND} if "None" in self.contract.outputs[place].type else set[Aspect]()
                return one.part == part and one.aspect in {Aspect.VALUE, *nothing}
            case "error_surfaces":
                return self._shows_error(place, one)
            case "effects":
                is_written = self.contract.effects[place].type is EffectType.WRITE
                return one.aspect in ({Aspect.FILES} if is_written else {*_READS, Aspect.ERROR})
            case "inputs":
                return one.aspect in {*_READS, Aspect.ERROR}
            case _:
                return one.aspect in _READS

    def _shows_error(self, place: int, one: Perturbation) -> bool:
        surface = self.contract.error_surfaces[place]
        if surface.surface is SurfaceKind.EXCEPTION:
            return one.aspect is Aspect.ERROR and same_error(surface.name, one.answer.errors)
        parts = self._code_parts(surface.name) or [one.part]
        came = surface.name.encode() in one.answer.payload
        return came and one.aspect is Aspect.VALUE and one.part in parts

    def _code_parts(self, code: str) -> list[int]:
        """The parts of the result that carry a code by their types."""
        outputs = self.contract.outputs
        return [at for at, output in enumerate(outputs) if len(outputs) > 1 and code in output.type]

    def parts(self, pointers: Iterable[str]) -> list[int]:
        """The parts of the result that are to be changed by themselves for these obligations."""
        found: set[int] = set()
        for pointer in pointers if len(self.contract.outputs) > 1 else ():
            kind, _, place = pointer.removeprefix("/").partition("/")
            if kind == "outputs":
                found.add(int(place.partition("/")[0]))
            elif kind == "error_surfaces":
                found.update(self._code_parts(self.contract.error_surfaces[int(place)].name))
        return sorted(found)


def claims_of(
    contract: MicroModuleContract, claims: Mapping[str, tuple[str, ...]], named: Iterable[str]
) -> Claims:
    """Resolve what was read from `tests/obligations.json`, in which nothing is wrong."""
    tests = list(named)
    by_test = {test: frozenset[str]() for test in tests}
    for name, pointers in claims.items():
        for test in matching_tests(name, tests):
            by_test[test] |= frozenset(pointers)
    return Claims(contract, {one.pointer: one for one in obligations(contract)}, by_test)


def unshown_finding(claims: Claims, pointer: str, *, apart: bool = False) -> Finding:
    """Names the tests that claim an obligation and do not show it, and what to write.

    Args:
        claims: Who claims what.
        pointer: The obligation's.
        apart: Whether they show something, which shows another invariant of the same output already.
    """
    obligation = claims.due[pointer]
    tests = [name for name, pointers in claims.by_test.items() if pointer in pointers]
    subject = f"{', '.join(tests)} claim{'s' * (len(tests) == 1)} {obligation.category}: {obligation.text}"
    message = (
        f"{subject} ({pointer or 'the empty pointer'}), but {_APART if apart else _missing(claims, pointer)}"
    )
    return Finding(FindingCode.OBLIGATIONS_UNSEEN, _CLAIMS, message)


_APART = (
    "no assertion shows it beside the other invariants of that output; give it an assertion of its own, or compare the "
    "whole result with what is expected"
)


def _missing(claims: Claims, pointer: str) -> str:
    kind, _, rest = pointer.removeprefix("/").partition("/")
    place = int(rest.partition("/")[0] or 0)
    match kind:
        case "outputs":
            name = claims.contract.outputs[place].name
            return f"passes whatever {name} is; assert what it is for inputs where the invariant could break"
        case "error_surfaces":
            surface = claims.contract.error_surfaces[place]
            if surface.surface is SurfaceKind.EXCEPTION:
                return (
                    f"passes although no {surface.name} comes out of the module; put the one call that raises it, and "
                    f"nothing else, below `with pytest.raises({surface.name})`: {surface.when}"
                )
            return f"passes whether {surface.name} comes back or not; assert it: {surface.when}"
        case "effects":
            target = claims.contract.effects[place].target
            return f"passes whatever the call leaves in {target}; read it back after the call and assert all of it"
        case "inputs":
            return (
                "passes whatever the call returns or raises; call it with a value at the limit and with one beyond it, "
                "and assert what comes of both"
            )
        case _:
            return "passes whatever the call returns; assert the result of a call that succeeds"
