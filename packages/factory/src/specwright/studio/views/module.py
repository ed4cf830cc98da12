"""A module for a reader: contract, evidence, versions, who uses it, its debates with what each draft changed, and the chain
back to the spec (design: provenance, debate, studio)."""

import difflib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ship_gate.base.ids import ModuleRef
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.falsifying_tests import RegressionTest
from specwright.application.factory import ProjectView
from specwright.application.history.provenance import (
    DebateRounds,
    ModuleDebates,
    Provenance,
    Round,
    debates_of,
    planned_modules,
    provenance,
)
from specwright.domain.modules.code_index import Deprecation
from specwright.domain.modules.evidence import EXECUTION_LOG, ExecutionLog, ShipEvidence
from specwright.errors import CorruptionErrors, InputError, SpecwrightErrors

_MOST_LINES = 400
"""Of the difference between two drafts of a file."""

_CONTEXT = 2


class Line(NamedTuple):
    """A line of a difference: `+`, `-`, a space, or `@` for a gap."""

    kind: str
    text: str


class FileDifference(NamedTuple):
    """What a draft changed in a file."""

    path: str
    lines: list[Line]
    more: int


class RoundPage(NamedTuple):
    """A round of a debate, with what its draft changed since the one before."""

    record: Round
    changes: list[FileDifference]
    first: bool


class DebatePage(NamedTuple):
    """A debate by its rounds."""

    title: str
    debate_id: str
    rounds: list[RoundPage]


class ModulePage(NamedTuple):
    """A module for a person.

    Args:
        name: The module's.
        ref: Of the version that is shown; of an unsealed one that of its contract.
        contract: It.
        evidence: Of the version; None if it is not sealed.
        shows: What each test shows, by its name: places of the contract.
        examples: As text.
        files: The sealed files; implementation and tests.
        tries: The falsifying tests that it passed.
        versions: Every sealed one.
        uses: The modules that it calls, by their references.
        used_by: The modules that call it.
        deprecation: If it is retired.
        debates: Over its contracts and implementations.
        standing: `sealed`, `halted` or `unfinished`.
        chain: Back to the spec.
    """

    name: str
    ref: str
    contract: MicroModuleContract
    evidence: ShipEvidence | None
    tests: list[tuple[str, str, str]]
    examples: str
    files: Mapping[str, str]
    tries: list[RegressionTest]
    versions: list[str]
    uses: dict[str, str]
    used_by: dict[str, str]
    deprecation: Deprecation | None
    debates: list[DebatePage]
    standing: str
    chain: Provenance | None


def module_page(view: ProjectView, wanted: str) -> ModulePage:
    """A module by its name, its id or the reference of a version.

    Raises:
        InputError: none was ever planned.
    """
    planned = planned_modules(view)
    named = [one for one in planned if wanted in _names_of(one.contract)]
    sealed = [ref for ref in view.modules.refs() if wanted in _names_of(view.modules.contract(ref))]
    if not named and not sealed:
        raise InputError(f"no module {wanted[:60]!r} was ever planned here", where="the address")
    newest = _newest(view, sealed, wanted) if sealed else named[-1].contract
    of_same = [one for one in planned if one.contract.module_id == newest.module_id]
    debates = debates_of(view, of_same) if of_same else None
    ref, is_sealed = newest.ref, bool(sealed)
    callers = {
        other: view.modules.contract(other).name
        for other in view.modules.refs()
        if any(_ref_of(d.ref) == ref for d in view.modules.contract(other).dependencies)
    }
    return ModulePage(
        newest.name,
        ref,
        newest,
        view.modules.evidence(ref) if is_sealed else None,
        _tests(view, ref, debates) if is_sealed else [],
        view.modules.examples(ref) if is_sealed else "",
        _files(view, ref) if is_sealed else {},
        view.modules.regression_tests(ref),
        [one for one in view.modules.refs() if one.startswith(f"{newest.module_id}@")],
        {_ref_of(d.ref): _name(view, _ref_of(d.ref)) for d in newest.dependencies},
        callers,
        view.projection.deprecations.get(ref),
        list(_debate_pages(view, debates)) if debates else [],
        debates.standing if debates else "sealed",
        _chain(view, ref) if is_sealed else None,
    )


def _names_of(contract: MicroModuleContract) -> tuple[str, str, str]:
    return contract.name, contract.module_id, contract.ref


def _newest(view: ProjectView, sealed: list[str], wanted: str) -> MicroModuleContract:
    """The version that is asked for, else the newest one."""
    if wanted in sealed:
        return view.modules.contract(wanted)
    return view.modules.contract(max(sealed, key=lambda ref: ModuleRef.parse(ref).version))


def _ref_of(dependency: str) -> str:
    return dependency.replace("@^", "@")


def _name(view: ProjectView, ref: str) -> str:
    return view.modules.contract(ref).name if view.modules.is_sealed(ref) else ref


def _files(view: ProjectView, ref: str) -> dict[str, str]:
    files = view.modules.files(ref)
    return {
        path: data.decode(errors="replace") for path, data in sorted(files.items()) if path.endswith(".py")
    }


def _tests(view: ProjectView, ref: str, debates: ModuleDebates | None) -> list[tuple[str, str, str]]:
    """Each executed test with its result, and the places of the contract that it shows."""
    shows: dict[str, list[str]] = {}
    for debate in debates.implementation_debates if debates else ():
        for one in debate.rounds:
            shows |= one.proposal.test_inventory
    log = view.modules.tree(ref)[EXECUTION_LOG]
    ran = ExecutionLog.from_bytes(log, ref).tests
    return [(test.name, test.result.value, ", ".join(_shown_by(shows, test.name))) for test in ran]


def _shown_by(shows: Mapping[str, list[str]], test: str) -> list[str]:
    """What the inventory says of a test, which it may name with or without its file and its parameters."""
    short = test.rpartition("::")[2].partition("[")[0]
    for name, places in shows.items():
        if test == name or short in (name, name.rpartition("::")[2]):
            return places or ["the happy path"]
    return []


def _debate_pages(view: ProjectView, debates: ModuleDebates) -> Iterator[DebatePage]:
    folders = view.artifacts.folders()
    for debate in debates.contract_debates:
        yield _debate_page(view, folders, "The contracts", debate)
    for debate in debates.implementation_debates:
        yield _debate_page(view, folders, f"The implementation of {debate.over}", debate)


def _debate_page(
    view: ProjectView, folders: Mapping[str, str], title: str, debate: DebateRounds
) -> DebatePage:
    before: dict[str, str] | None = None
    rounds: list[RoundPage] = []
    for one in debate.rounds:
        name = one.proposal.target_artifact_id
        now = _texts(view, folders.get(name, ""), name)
        changes = [] if before is None else list(_differences(before, now))
        rounds.append(RoundPage(one, changes, before is None))
        before = now
    return DebatePage(title, debate.debate_id, rounds)


def _texts(view: ProjectView, folder: str, name: str) -> dict[str, str]:
    try:
        body = view.artifacts.body(folder, name) if folder else {}
    except SpecwrightErrors:
        return {}
    return {path: data.decode(errors="replace") for path, data in body.items()}


def _differences(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[FileDifference]:
    for path in sorted({*before, *now}):
        old, new = before.get(path, "").splitlines(), now.get(path, "").splitlines()
        if old == new:
            continue
        lines = [_line(text) for text in difflib.unified_diff(old, new, lineterm="", n=_CONTEXT)][2:]
        yield FileDifference(path, lines[:_MOST_LINES], max(0, len(lines) - _MOST_LINES))


def _line(text: str) -> Line:
    return Line(text[:1] or " ", text if text.startswith("@@") else text[1:])


def _chain(view: ProjectView, ref: str) -> Provenance | None:
    """The chain back to the spec; None if a link is missing, which `specwright verify` tells."""
    try:
        return provenance(view, ref)
    except CorruptionErrors:
        return None
