"""An `import` of module directories: judged, written, committed as one record, then announced and sealed (design:
adopted-modules).

The record of an import is what commits it. Before it is published nothing is a version; after it, the Wires, seals and
entries of the Code Index follow from it alone, and whoever opens the project next brings them to an end. Nobody is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, cast

from specwright import canonical_json
from specwright.application import scopes
from specwright.application.adopted.known import (
    find_sealed,
    last_adopted,
    module_imports,
    other_owner,
    refusal,
    users_of,
)
from specwright.application.announce import Announcement, announce, review
from specwright.application.debate.gate_runs import NotPassedError, judge_whole, with_falsifying_tests
from specwright.application.deprecation import finish_deprecations, superseded
from specwright.application.factory import Factory
from specwright.application.ship import write_version
from specwright.application.store import layout
from specwright.application.store.file_hashes import note_hashes
from specwright.canonical_json import JsonValue
from specwright.domain.base.graph import reachable
from specwright.domain.base.ids import ModuleRef, module_id
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.falsifying_tests import RegressionTest
from specwright.domain.escalation.resolutions import OPERATOR
from specwright.domain.modules.adopted import (
    AdoptedVersion,
    Calls,
    ImportedDirectory,
    ModuleImport,
    as_sealed,
    check_together,
    name_taken,
    resolve_calls,
    serving,
    version_after,
)
from specwright.domain.modules.code_index import summarise
from specwright.domain.modules.evidence import ShipEvidence, TreeHashes, tree_sha256
from specwright.errors import RefusedError
from specwright.ports.gate import ENTRY_FILE, Candidate, Finding, GateVerdict, SealedModule
from specwright.ports.journal import Scope
from specwright.ports.progress import Step
from specwright.ports.roles import Files

_FIRST = "1.0.0"


class ModuleDirectory(NamedTuple):
    """A module directory that is to be imported.

    Args:
        place: Where it is on this machine.
        contract: In it.
        files: That the gate judges.
        tests: Falsifying tests that lie beside them.
        findings: What kept something from being read.
    """

    place: Path
    contract: MicroModuleContract
    files: Files
    tests: Sequence[RegressionTest] = ()
    findings: Sequence[Finding] = ()

    @property
    def gated(self) -> ImportedDirectory:
        """What is known of it; of where it is, the name of the directory alone."""
        content = {
            "contract": self.contract.to_json(),
            "files": tree_sha256(self.files),
            "tests": [one.to_json() for one in self.tests],
        }
        return ImportedDirectory(self.place.name, self.contract, canonical_json.digest(content))


class ImportState(StrEnum):
    """What came of a directory."""

    ADOPTED = "adopted"
    WAITING = "waiting"
    """It is taken, and becomes a module of the project when the spec is approved."""
    UNCHANGED = "unchanged"
    """These bytes were adopted before."""
    FAILED = "failed"
    """The gate does not pass it."""
    LEFT_OUT = "left_out"
    """It passed, and another one did not."""


class ImportOutcome(NamedTuple):
    """What came of a directory.

    Args:
        directory: Its name.
        name: Of the module.
        state: What came of it.
        record: That is in the project now.
        findings: What the gate has against it.
        refused: Why no plan may use it, if a debate said so before.
    """

    directory: str
    name: str
    state: ImportState
    record: AdoptedVersion | None = None
    findings: Sequence[Finding] = ()
    refused: str = ""


Drift = Callable[[Candidate, bytes], Finding | None]
"""Where the docstring of a candidate is not the contract's, from the source with the contract's."""


def adopt(
    factory: Factory, directories: Sequence[ModuleDirectory], surroundings: str, drift: Drift
) -> list[ImportOutcome]:
    """Import module directories: all, or none.

    Args:
        factory: The ports.
        directories: In any order; each may call others of them.
        surroundings: A digest of what a verdict depends on beside the directories.
        drift: Compares docstrings.

    Returns:
        What came of each, in the order in which they were given. If one failed, nothing was taken.

    Raises:
        InputError: two have one name or id, or something that is called is nowhere, or calls itself in the end.
        RefusedError: something else of the product has the name of one.
    """
    gated = [one.gated for one in directories]
    check_together(gated)
    calls = resolve_calls(gated, lambda ref: find_sealed(factory, ref))
    same = _adopted_before(factory, calls)
    new = [one for one in calls.order if one.contract.name not in same]
    for one in new:
        _check_name(factory, one, [other.contract.name for other in new])
    work = _Work(factory, directories, new, calls, same, surroundings)
    findings = {one.contract.name: found for one in new if (found := work.findings(one.contract.name, drift))}
    if findings:
        return [_refused_or_left(one, same, findings) for one in gated]
    taken = {record.name: record for record in work.commit()} if new else {}
    finish_imports(factory)
    return [_taken(factory, one, same, taken) for one in gated]


def finish_imports(factory: Factory) -> None:
    """Bring to an end what was committed: the Wires first, then seals and entries of the Code Index.

    Before the approval of the spec the project has no stream, and what was imported waits for it.
    """
    if not factory.projection.project_id:
        return
    for number, whole in module_imports(factory):
        if any(one.module_ref not in factory.projection.adopted for one in whole.modules):
            scope = factory.journal.scope(scopes.module_import_wires(number))
            events = [event for one in whole.modules for event in _events(factory, one)]
            for one in whole.modules:
                if one.replaces:
                    events += superseded(factory, scope, one.replaces, one.module_ref, "imported anew")
            announce(factory, scope, factory.projection.project_id, events)
        for one in whole.modules:
            _seal(factory, one)
    finish_deprecations(factory)


def _events(factory: Factory, one: AdoptedVersion) -> list[Announcement]:
    sha256 = factory.store.define(one.to_bytes())
    return [review(factory.projection.project_id, "module.adopted", sha256, one.module_ref, OPERATOR)]


def _seal(factory: Factory, one: AdoptedVersion) -> None:
    if not factory.modules.is_sealed(one.module_ref):
        seal = factory.store.definition(one.evidence_sha256)
        factory.modules.seal(ShipEvidence.from_bytes(seal, one.module_ref))
        said = f"{one.name} {one.module_ref}, adopted from {one.directory}, {one.tests} tests"
        factory.progress.note(Step("sealed", "", said))
    if factory.index.get(*ModuleRef.parse(one.module_ref)) is None:
        factory.index.add(summarise(factory.modules.contract(one.module_ref)))


def _adopted_before(factory: Factory, calls: Calls) -> dict[str, AdoptedVersion]:
    """The modules whose bytes are here already, and call what they call here, by name."""
    same = dict[str, AdoptedVersion]()
    for one in calls.order:
        last = last_adopted(factory, one.contract.name)
        if last is None or last.content_sha256 != one.content_sha256:
            continue
        sealed = [called.ref for called in factory.modules.contract(last.module_ref).dependencies]
        if sealed == [_here(calls, same, called.ref) for called in one.contract.dependencies]:
            same[one.contract.name] = last
    return same


def _here(calls: Calls, taken: Mapping[str, AdoptedVersion], ref: str) -> str:
    """The version here for a reference in a directory; empty if it is still to be made."""
    if mate := serving(calls.order, ref):
        return taken[mate.contract.name].module_ref if mate.contract.name in taken else ""
    return calls.sealed[ref]


def _check_name(factory: Factory, one: ImportedDirectory, new: Sequence[str]) -> None:
    """Refuse a module whose name something of the product has that it cannot follow.

    Raises:
        RefusedError: with what has it.
    """
    name = one.contract.name
    if how := other_owner(factory, name):
        raise name_taken(one, how)
    last = last_adopted(factory, name)
    users = [user for user in users_of(factory, last.module_ref) if user not in new] if last else []
    if last and users:
        raise RefusedError(
            f"{name} was adopted as {last.module_ref} with other bytes, and {', '.join(users)} uses it",
            where=one.directory,
            remedy="what is used does not change: import it by another name, or the modules that call it with it",
        )


def _refused_or_left(
    one: ImportedDirectory, same: Mapping[str, AdoptedVersion], findings: Mapping[str, Sequence[Finding]]
) -> ImportOutcome:
    name = one.contract.name
    if name in same:
        return ImportOutcome(one.directory, name, ImportState.UNCHANGED, same[name])
    state = ImportState.FAILED if name in findings else ImportState.LEFT_OUT
    return ImportOutcome(one.directory, name, state, findings=findings.get(name, ()))


def _taken(
    factory: Factory,
    one: ImportedDirectory,
    same: Mapping[str, AdoptedVersion],
    taken: Mapping[str, AdoptedVersion],
) -> ImportOutcome:
    name = one.contract.name
    if name in same:
        refused = refusal(factory, same[name].module_ref)
        return ImportOutcome(one.directory, name, ImportState.UNCHANGED, same[name], refused=refused)
    state = ImportState.ADOPTED if factory.projection.project_id else ImportState.WAITING
    return ImportOutcome(one.directory, name, state, taken[name])


class _Work:
    """The modules of one `import` that are not here yet.

    Args:
        factory: The ports.
        directories: All that are imported.
        new: Those, each after the others that it calls.
        calls: What all of them call.
        same: The modules that are here already, by name.
        surroundings: What a verdict depends on besides.
    """

    def __init__(
        self,
        factory: Factory,
        directories: Sequence[ModuleDirectory],
        new: Sequence[ImportedDirectory],
        calls: Calls,
        same: Mapping[str, AdoptedVersion],
        surroundings: str,
    ) -> None:
        self._factory, self._new, self._calls, self._same = factory, new, calls, same
        self._directories = {one.contract.name: one for one in directories}
        self._number = len(module_imports(factory)) + 1
        parts = {
            "number": self._number,
            "modules": {one.contract.name: one.content_sha256 for one in calls.order},
            "sealed": dict(calls.sealed),
            "surroundings": surroundings,
        }
        self._digest = canonical_json.digest(parts)[:16]
        self._verdicts: dict[str, GateVerdict] = {}

    def findings(self, name: str, drift: Drift) -> list[Finding]:
        """Judge a module; empty if it passes."""
        factory, directory = self._factory, self._directories[name]
        factory.progress.note(Step("judged", "", f"{name}, as it lies in {directory.place.name}"))
        scope = factory.journal.scope(scopes.module_import(self._digest, name))
        judged = Candidate(directory.contract, directory.files, tuple(self._called(directory.contract)))
        try:
            verdict = judge_whole(factory.gate, scope, judged)
        except NotPassedError as refused:
            verdict = refused.verdict
            return [*directory.findings, *self._drifted(judged, verdict, drift), *verdict.findings]
        verdict = with_falsifying_tests(
            factory.gate, factory.progress, scope, judged, verdict, earlier=directory.tests
        )
        self._verdicts[name] = verdict
        return [*directory.findings, *self._drifted(judged, verdict, drift), *verdict.findings]

    def _drifted(self, judged: Candidate, verdict: GateVerdict, drift: Drift) -> list[Finding]:
        found = drift(judged, verdict.files.get(ENTRY_FILE, b""))
        return [found] if found else []

    def commit(self) -> list[AdoptedVersion]:
        """Write all of them, and the record that says so."""
        factory, known = self._factory, dict(self._same)
        for one in self._new:
            known[one.contract.name] = self._write(one, known)
        records = [known[one.contract.name] for one in self._new]
        path, data = layout.module_import(self._number), ModuleImport(modules=records).to_bytes()
        note_hashes(factory.journal.scope(scopes.module_import(self._digest, "record")), {path: data})
        factory.store.publish(path, data)
        return records

    def _write(self, one: ImportedDirectory, known: Mapping[str, AdoptedVersion]) -> AdoptedVersion:
        """Write a version without its seal."""
        calls = {called.ref: _here(self._calls, known, called.ref) for called in one.contract.dependencies}
        factory, name = self._factory, one.contract.name
        scope = factory.journal.scope(f"{scopes.module_import(self._digest, name)}/write")
        last = last_adopted(factory, name)
        contract = as_sealed(one.contract, self._ref(scope, one, last), calls)
        tests, verdict = self._directories[name].tests, self._verdicts[name]
        evidence = write_version(factory, scope, contract, verdict, tests=tests)
        seal = evidence.to_bytes()
        sealed = {**factory.modules.tree(contract.ref), layout.SHIP_EVIDENCE: seal}
        note_hashes(scope, {f"{layout.module(contract.ref)}/{path}": data for path, data in sealed.items()})
        return AdoptedVersion(
            module_ref=contract.ref,
            name=name,
            directory=one.directory,
            origin=one.contract.ref,
            content_sha256=one.content_sha256,
            sha256=tree_sha256(sealed),
            evidence_sha256=factory.store.define(seal),
            tests=evidence.execution_log.summary.total,
            adopted_at=scope.now(),
            adopted_by=OPERATOR,
            replaces=last.module_ref if last else None,
        )

    def _ref(self, scope: Scope, one: ImportedDirectory, last: AdoptedVersion | None) -> str:
        modules = self._factory.modules
        if last is None:
            return f"{module_id(scope.hex8(lambda hex8: modules.is_taken(module_id(hex8))))}@{_FIRST}"
        before = modules.contract(last.module_ref)
        asked: JsonValue = {"tool": "versions", "of": before.module_id}
        taken = scope.recall("tool", asked, lambda: cast(JsonValue, modules.versions(before.module_id)))
        return f"{before.module_id}@{version_after(before, one.contract, cast(list[str], taken))}"

    def _called(self, contract: MicroModuleContract) -> list[SealedModule]:
        """What a module calls, directly or not, where it lies now."""
        found: dict[str, SealedModule] = {}

        def calls(ref: str) -> list[str]:
            return [one.ref for one in found[ref].contract.dependencies]

        def find(ref: str) -> str:
            mate = serving(self._calls.order, ref)
            place = self._mate(mate) if mate else self._sealed(self._calls.sealed.get(ref, ref))
            found.setdefault(place.contract.ref, place)
            return place.contract.ref

        own = [find(one.ref) for one in contract.dependencies]
        return [found[ref] for ref in [*own, *reachable(own, lambda ref: map(find, calls(ref)))]]

    def _mate(self, one: ImportedDirectory) -> SealedModule:
        directory = self._directories[one.contract.name]
        sha256 = TreeHashes.of(directory.files).implementation
        return SealedModule(one.contract, directory.place, sha256)

    def _sealed(self, ref: str) -> SealedModule:
        modules = self._factory.modules
        sha256 = TreeHashes.of(modules.files(ref)).implementation
        return SealedModule(modules.contract(ref), modules.location(ref), sha256)
