"""The set of a release and its four integration gates (design: release).

Each gate is a function from the modules of the set to its violations. What index and evidence say of a module
is gathered once, by `release_module`. The manifest is in `release`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from ship_gate.base.ids import ModuleRef
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.versions import serves
from specwright.domain.modules.code_index import CodeIndexEntry, IndexStatus
from specwright.domain.modules.evidence import ShipEvidence, TestOutcome
from specwright.errors import CorruptionError, RefusedError


class Gate(StrEnum):
    """The four integration gates in the order of the manifest."""

    DEPENDENCY = "dependency_check"
    FINGERPRINT = "fingerprint_check"
    DEPRECATION = "deprecation_check"
    CODE_INDEX = "code_index_check"


class ReleaseDependency(NamedTuple):
    """What a module of the set depends on.

    Args:
        ref: As the Code Index entry has it, `MM-...@x.y.z` or `MM-...@^x.y.z`.
        built_against: The version in the ship evidence; None if the evidence names none of that module.
        index_status: Of the version that is referred to; None if the index does not know it.
    """

    ref: str
    built_against: ModuleRef | None
    index_status: IndexStatus | None

    @property
    def module_id(self) -> str:
        """The module that is depended on, whatever its version."""
        return self.ref.partition("@")[0]


class ReleaseModule(NamedTuple):
    """One version of the set; `index_status` is None if it has no entry."""

    contract: MicroModuleContract
    evidence: ShipEvidence
    index_status: IndexStatus | None
    dependencies: tuple[ReleaseDependency, ...] = ()

    @property
    def ref(self) -> str:
        """`MM-...@x.y.z`."""
        return self.contract.ref


class GateFailure(NamedTuple):
    """One violation: the modules and references that cause it, consumer first, and a sentence."""

    gate: Gate
    module_refs: tuple[str, ...]
    explanation: str


def release_module(
    contract: MicroModuleContract, evidence: ShipEvidence, index: Mapping[str, CodeIndexEntry]
) -> ReleaseModule:
    """A module of the set, with what evidence and index say of its dependencies.

    Args:
        contract: Sealed.
        evidence: Of the same version.
        index: Entries by `MM-...@x.y.z`, those of the dependencies among them.

    Raises:
        CorruptionError: contract and evidence belong to different versions.
    """
    if contract.ref != evidence.ref:
        raise CorruptionError(
            f"the ship evidence of {contract.ref} speaks of {evidence.ref}", remedy="run `specwright verify`"
        )
    entry = index.get(contract.ref)
    # docs/design.md#release reads them in the index entry; without one gate 4 fails, and the contract still has them
    refs = entry.dependencies if entry else [dependency.ref for dependency in contract.dependencies]
    built = {(ref := ModuleRef.parse(text)).module_id: ref for text in evidence.dependency_fingerprints}
    return ReleaseModule(
        contract=contract,
        evidence=evidence,
        index_status=entry.status if entry else None,
        dependencies=tuple(_dependency(ref, built, index) for ref in refs),
    )


def _dependency(
    ref: str, built: Mapping[str, ModuleRef], index: Mapping[str, CodeIndexEntry]
) -> ReleaseDependency:
    built_against = built.get(ref.partition("@")[0])
    entry = index.get(ref) or index.get(str(built_against))
    return ReleaseDependency(ref, built_against, entry.status if entry else None)


def check_release_set(modules: Sequence[ReleaseModule]) -> None:
    """Refuse a set that is no product (design: contracts, release).

    Raises:
        RefusedError: empty, a module did not ship, two versions of one module, or two modules of one name.
    """
    if not modules:
        raise RefusedError(
            "no task shipped a module, so there is nothing to release",
            remedy="revise SPEC.md and begin in a new directory: `specwright init DIR`",
        )
    if unshipped := [m.ref for m in modules if m.evidence.verification.result is TestOutcome.FAIL]:
        raise RefusedError(f"only shipped modules are released, these are not: {', '.join(unshipped)}")
    versions = _grouped((module.contract.module_id, module.ref) for module in modules)
    for module_id, refs in versions.items():
        if len(refs) > 1:
            raise RefusedError(
                f"a release holds one version of a module, this one has {' and '.join(refs)}",
                where=module_id,
                remedy="name one of them",
            )
    for name, refs in _grouped((module.contract.name, module.ref) for module in modules).items():
        if len(refs) > 1:
            raise RefusedError(
                f"two modules cannot both be imported as `{name}`: {' and '.join(refs)}",
                where=name,
                remedy="release them separately, or ship one of them under another name",
            )


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def dependency_check(modules: Sequence[ReleaseModule]) -> tuple[GateFailure, ...]:
    """Gate 1: every dependency is in the set, as the version referred to or a compatible later one."""
    members = {module.contract.module_id: module for module in modules}
    return tuple(_dangling(members, modules))


def _dangling(
    members: Mapping[str, ReleaseModule], modules: Sequence[ReleaseModule]
) -> Iterator[GateFailure]:
    for module in modules:
        for dependency in module.dependencies:
            member = members.get(dependency.module_id)
            refs = (module.ref, dependency.ref)
            if member is None:
                why = f"{_called(module)} depends on {dependency.ref}, which is not in the release set."
                yield GateFailure(Gate.DEPENDENCY, refs, why)
            elif not serves(member.contract.module_version, dependency.ref):
                why = f"{_called(module)} depends on {dependency.ref}, but the set holds {_called(member)}."
                yield GateFailure(Gate.DEPENDENCY, (*refs, member.ref), why)


def fingerprint_check(modules: Sequence[ReleaseModule]) -> tuple[GateFailure, ...]:
    """Gate 2: each consumer was built against the contract that its producer in the set has now.

    A producer that is not in the set is gate 1's concern.
    """
    members = {module.contract.module_id: module for module in modules}
    return tuple(
        GateFailure(Gate.FINGERPRINT, (module.ref, producer.ref), drift)
        for module in modules
        for dependency in module.dependencies
        if (producer := members.get(dependency.module_id)) and (drift := _drift(module, dependency, producer))
    )


def _drift(module: ReleaseModule, dependency: ReleaseDependency, producer: ReleaseModule) -> str | None:
    if dependency.built_against is None:
        return f"The ship evidence of {_called(module)} names no version of {_called(producer)}."
    built = module.evidence.dependency_fingerprints[str(dependency.built_against)]
    current = producer.evidence.verification.interface_fingerprint
    if built == current:
        return None
    return (
        f"{_called(module)} was built against {dependency.built_against}, contract fingerprint {built}; "
        f"that of {_called(producer)} is {current}."
    )


def deprecation_check(modules: Sequence[ReleaseModule]) -> tuple[GateFailure, ...]:
    """Gate 3: no module that is not itself DEPRECATED refers to a DEPRECATED or SUPERSEDED one."""
    retired = (IndexStatus.DEPRECATED, IndexStatus.SUPERSEDED)
    return tuple(
        GateFailure(
            Gate.DEPRECATION,
            (module.ref, dependency.ref),
            f"{_called(module)} depends on {dependency.ref}, in the Code Index {dependency.index_status}.",
        )
        for module in modules
        if module.index_status is not IndexStatus.DEPRECATED
        for dependency in module.dependencies
        if dependency.index_status in retired
    )


def code_index_check(modules: Sequence[ReleaseModule]) -> tuple[GateFailure, ...]:
    """Gate 4: every module of the set has an entry with the status SHIPPED."""
    return tuple(
        GateFailure(
            Gate.CODE_INDEX,
            (module.ref,),
            f"{_called(module)} is {module.index_status or 'not there'} in the Code Index, not SHIPPED.",
        )
        for module in modules
        if module.index_status is not IndexStatus.SHIPPED
    )


def _called(module: ReleaseModule) -> str:
    return f"{module.contract.name} ({module.ref})"


def run_gates(modules: Sequence[ReleaseModule]) -> tuple[GateFailure, ...]:
    """All violations, in the order of the gates; none means that all four PASS."""
    checks = (dependency_check, fingerprint_check, deprecation_check, code_index_check)
    return tuple(failure for check in checks for failure in check(modules))
