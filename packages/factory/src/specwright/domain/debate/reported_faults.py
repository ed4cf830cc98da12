"""Faults that a Proposer reports above its module: a statement of the contract that no test can show, or a wrong approved
example or property (design: debate, escalation). Also: submissions that quote source.

Code knows the results of the Proposer's tests on its draft. It refuses a report that they contradict, and confirms one
that they prove: a test of the statement met a limit of the boundary and none passed, or the approved call raises an error
that the contract declares. The Arbiter rules on the rest.

Judges never see a module's source, so none of its lines may reach them in a claim, a note, an example or a test's name
(design: role-access). Lines are compared without layout, quotes and comments; common lines do not count.
"""

import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ship_gate.contract.contract import MISSING, MicroModuleContract
from ship_gate.findings import Finding
from specwright.domain.acceptance.records import AcceptanceExample, AcceptanceItem
from specwright.domain.answers import MIN_WORDS, ContractFault, Failure, FaultOf, is_vague

BOUNDARY_CODES = frozenset({"tests.boundary"})
"""The findings about values that cannot pass between a test and the module."""

DEPENDENCIES = "/dependencies"
"""The pointer of a fault that code finds itself: the draft repeats a sealed module that is not a dependency."""

MISSING_DEPENDENCY = "dependency"
"""The name of that fault in the loop; it is one of the plan (design: contract-at-fault)."""


class PreflightLedger:
    """The results of all preflights of one invocation."""

    def __init__(self) -> None:
        self._findings: dict[tuple[str, str], set[str]] = {}
        self._shown: dict[str, str] = {}

    def add(
        self,
        findings: Iterable[Finding],
        passed: Iterable[str],
        claims: Mapping[str, Sequence[str]],
    ) -> None:
        """Add the results of a preflight.

        Args:
            findings: Its findings.
            passed: The ids of the tests that passed, with their parameters.
            claims: The contract pointers that each test claims to show.
        """
        for one in findings:
            self._findings.setdefault((one.code, _test_id(one.where)), set()).update(
                _claimed(one.where, claims)
            )
        for test in passed:
            self._shown.update(dict.fromkeys(_claimed(test, claims), test))

    def problems(self, faults: Sequence[ContractFault], contract: MicroModuleContract) -> Iterator[str]:
        """Report faults that the preflights contradict, or whose reason is vague."""
        for i, fault in enumerate(faults):
            if contract.at(fault.pointer) is MISSING:
                yield f"contract_at_fault.{i}.pointer: the contract has no {fault.pointer}"
            if is_vague(fault.reason):
                yield f"contract_at_fault.{i}.reason: say why no test can show it, in {MIN_WORDS} words or more"
            if (fault.finding, _test_id(fault.where)) not in self._findings:
                known = ", ".join(f"{code} at {where}" for code, where in self._findings) or "none"
                yield (
                    f"contract_at_fault.{i}: there was no {fault.finding} at {fault.where} in your submissions; "
                    f"these findings were: {known}"
                )
            if shown := self._shown.get(fault.pointer):
                yield f"contract_at_fault.{i}: {shown} shows {fault.pointer} and passed, so that it can be shown"

    def confirms(self, faults: Sequence[ContractFault]) -> bool:
        """Whether the preflights prove every fault; the faults must have no problems."""
        return bool(faults) and all(
            fault.finding in BOUNDARY_CODES
            and fault.pointer in self._findings.get((fault.finding, _test_id(fault.where)), ())
            for fault in faults
        )


def still_due(findings: Iterable[Finding], faults: Sequence[ContractFault]) -> tuple[Finding, ...]:
    """Return the findings except those about statements reported as untestable; the Arbiter rules on these."""
    return tuple(found for found in findings if not any(_asks_for(found, fault) for fault in faults))


def as_failure(fault: ContractFault) -> Failure:
    """Return a fault as a failure for the planner to correct."""
    if fault.pointer == DEPENDENCIES:
        return Failure(
            invariant="What a sealed module of the product does is called, not written again.",
            evidence=f"{fault.where}: {fault.reason}",
            required_change="Make it a dependency of this module, whose code calls it in place of these lines.",
            fault=FaultOf.PLAN,
        )
    return Failure(
        invariant=f"{fault.pointer}: a test can show it",
        evidence=f"{fault.finding} at {fault.where}: {fault.reason}",
        required_change=f"State at {fault.pointer} only what values of the declared types can show, or leave it out.",
        fault=FaultOf.CONTRACT,
    )


def _asks_for(found: Finding, fault: ContractFault) -> bool:
    if found.code == "examples.uncovered":
        return fault.pointer.startswith(("/error_surfaces/", "/effects/"))
    return found.pointer == fault.pointer


def _claimed(test: str, claims: Mapping[str, Sequence[str]]) -> set[str]:
    plain = _test_id(test)
    named = (pointers for name, pointers in claims.items() if plain == name or plain.endswith(f"::{name}"))
    return {pointer for pointers in named for pointer in pointers}


def _test_id(where: str) -> str:
    """Return the id of a test without its directory and parameters."""
    return where.strip("`").removeprefix("tests/").partition("[")[0]


_MIN_CHARACTERS = 12
_OPERATORS = re.compile(r"[=+\-*/%<>|&^~@(\[{]")
_OPENS_ALONE = re.compile(r"[\w.]+([(\[{][\w.]*)*[(\[{]")
_LAYOUT = re.compile(r"[\s'\"`\\]+")
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def quote_problems(
    files: Mapping[str, bytes], stub: Mapping[str, bytes], shown: Mapping[str, str]
) -> list[str]:
    """Report fields that quote the source.

    Args:
        files: The module's files.
        stub: The files that the factory wrote, which may be quoted.
        shown: The texts that judges will see, by field.
    """
    common = {line for _, _, line in _lines(stub)}
    lines = [(path, number, line) for path, number, line in _lines(files) if line not in common]
    problems: list[str] = []
    for field, text in shown.items():
        plain = _LAYOUT.sub("", text)
        place = next((f"line {number} of {path}" for path, number, line in lines if line in plain), "")
        if place:
            problems.append(
                f"{field}: it holds {place}, which judges must not see; say in words what it does"
            )
    return problems


def _lines(files: Mapping[str, bytes]) -> Iterator[tuple[str, int, str]]:
    """Yield the distinctive lines of a module's code, with path and number."""
    for path, data in sorted(files.items()):
        if path.startswith("implementation/") and path.endswith(".py"):
            for number, tokens in _tokens_by_line(data).items():
                line = _LAYOUT.sub("", "".join(token.string for token in tokens))
                texts_alone = all(token.type in (tokenize.STRING, tokenize.OP) for token in tokens)
                imports = tokens[0].string in ("import", "from")
                plain = texts_alone or imports or _OPENS_ALONE.fullmatch(line)
                if len(line) >= _MIN_CHARACTERS and _OPERATORS.search(line) and not plain:
                    yield path, number, line


def _tokens_by_line(data: bytes) -> dict[int, list[tokenize.TokenInfo]]:
    """Return the tokens of code by line; for invalid Python, those before the error."""
    found: dict[int, list[tokenize.TokenInfo]] = {}
    lines = iter(data.decode(errors="replace").splitlines(keepends=True))
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type not in _NO_CODE:
                found.setdefault(token.start[0], []).append(token)
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


_RAISES = re.compile(r"an approved .*(?:fails: it|its code) raises (\w+)", re.DOTALL)

Correction: TypeAlias = tuple[dict[str, Any] | None, Failure]
"""The fields that correct an example or property, or None to drop it; and a text that explains this."""


def corrections(
    items: Sequence[AcceptanceItem], findings: Sequence[Finding], declared: Collection[str]
) -> dict[str, Correction]:
    """Return corrections, by title, for the approved items whose call raises a declared error on the draft.

    Args:
        items: The approved examples and properties.
        findings: The findings of the draft that they ran on.
        declared: The errors of the contract.
    """
    found, by_heading = dict[str, Correction](), {item.heading: item for item in items}
    for one in findings:
        raised, item = _RAISES.match(one.message), by_heading.get(one.where.partition(": ")[2])
        if raised and item and raised[1] in declared:
            changes = _changes(item, raised[1])
            now = "".join(f"{name}: {value}" for name, value in (changes or {}).items()) or "it is left out"
            said = f"{one.message.removesuffix('; correct the module')}. Corrected, {now}"
            place = f"{one.code} at {one.where}"
            found[item.title] = changes, Failure(invariant=place, evidence=said, required_change=said)
    return found


def _changes(item: AcceptanceItem, error: str) -> dict[str, Any] | None:
    """Return the change that expects the error: as an example's outcome, or among a property's errors. None if a property
    already allows it."""
    if isinstance(item, AcceptanceExample):
        return {"gives": f"{error}:"}
    return {"errors": [*item.errors, error]} if error not in item.errors else None


def unconfirmed(titles: Collection[str], items: Sequence[AcceptanceItem]) -> list[str]:
    """Return why code confirms none of the faults that a Proposer reports in approved examples and properties.

    Args:
        titles: The titles that the Proposer names.
        items: The approved examples and properties.
    """
    calls = {one.title: one.call for one in items}
    return [
        f"spec_at_fault: not confirmed for {one!r}: on this draft {calls[one]} raises no error that the contract declares, "
        "which is all that code confirms; correct the module"
        if one in calls
        else f"spec_at_fault: no approved example or property has the title {one!r}; each key is a title, its text says why"
        for one in titles
    ]
