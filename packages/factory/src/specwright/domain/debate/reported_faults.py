"""What a Proposer reports of what it was given: a statement of its contract that no test can show, or an approved example or
property that is wrong itself (design: debate, escalation).

Code knows what happened when the Proposer's tests ran on its draft. It refuses a report that these runs contradict, and
confirms one that they show: a test of the statement met a limit of the boundary and none passed, or the approved call
raises an error that the contract declares. The Arbiter rules on the rest.

Judges never see a module's source, so none of its lines may reach them in a claim, a note, an example or a test's name
(design: role-access). Lines are compared without layout, quotes and comments; lines that everybody would write do not
count.
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
"""Findings that say that something does not cross between a test and the module."""

DEPENDENCIES = "/dependencies"
"""The pointer of a fault that code finds by itself: a sealed module that a draft repeats is not among them."""

MISSING_DEPENDENCY = "dependency"
"""That fault as the loop knows it: one of the plan (design: contract-at-fault)."""


class PreflightLedger:
    """What the preflights of one invocation showed, one submission after the other."""

    def __init__(self) -> None:
        self._findings: dict[tuple[str, str], set[str]] = {}
        self._shown: dict[str, str] = {}

    def add(
        self,
        findings: Iterable[Finding],
        passed: Iterable[str],
        claims: Mapping[str, Sequence[str]],
    ) -> None:
        """Take in a preflight.

        Args:
            findings: What it found.
            passed: The ids of the tests that passed, with their parameters.
            claims: The pointers that each test shows, as the submission says.
        """
        for one in findings:
            self._findings.setdefault((one.code, _test_id(one.where)), set()).update(
                _claimed(one.where, claims)
            )
        for test in passed:
            self._shown.update(dict.fromkeys(_claimed(test, claims), test))

    def problems(self, faults: Sequence[ContractFault], contract: MicroModuleContract) -> Iterator[str]:
        """What is false of such faults, or says nothing."""
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
        """Whether code has seen of each fault, which has no problems, that it is one."""
        return bool(faults) and all(
            fault.finding in BOUNDARY_CODES
            and fault.pointer in self._findings.get((fault.finding, _test_id(fault.where)), ())
            for fault in faults
        )


def still_due(findings: Iterable[Finding], faults: Sequence[ContractFault]) -> tuple[Finding, ...]:
    """The findings without those that ask for what the faults say cannot be shown; the Arbiter rules on these faults."""
    return tuple(found for found in findings if not any(_asks_for(found, fault) for fault in faults))


def as_failure(fault: ContractFault) -> Failure:
    """A fault as the planner has to correct it."""
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
    """A place without its folder and without parameters."""
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
    """Which fields quote the source.

    Args:
        files: The module's.
        stub: What the factory wrote, which is no secret.
        shown: What judges are shown, by the name of the field.
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
    """The lines of code of a module that tell something, by path and number."""
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
    """The tokens of code by the line on which they begin; of what is no Python as far as it can be read."""
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
"""The fields that correct an example or a property, or None to leave it out; and the same for a person to read."""


def corrections(
    items: Sequence[AcceptanceItem], findings: Sequence[Finding], declared: Collection[str]
) -> dict[str, Correction]:
    """What corrects everything approved whose call raises a declared error on a draft, by title.

    Args:
        items: That are approved.
        findings: Of the draft, on which they were run.
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
    """The error as the outcome, or among those that may come out; a property that allows it raises it by itself."""
    if isinstance(item, AcceptanceExample):
        return {"gives": f"{error}:"}
    return {"errors": [*item.errors, error]} if error not in item.errors else None


def unconfirmed(titles: Collection[str], items: Sequence[AcceptanceItem]) -> list[str]:
    """Why code confirms nothing of what a Proposer says of approved examples and properties.

    Args:
        titles: That it names.
        items: That are approved.
    """
    calls = {one.title: one.call for one in items}
    return [
        f"spec_at_fault: not confirmed for {one!r}: on this draft {calls[one]} raises no error that the contract declares, "
        "which is all that code confirms; correct the module"
        if one in calls
        else f"spec_at_fault: no approved example or property has the title {one!r}; each key is a title, its text says why"
        for one in titles
    ]
