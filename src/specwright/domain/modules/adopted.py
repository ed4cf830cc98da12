"""Modules that were not made here: gated directories that enter a project as sealed modules, and what the first debate over
each of their contracts came to (design: adopted-modules)."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, NamedTuple, Self

from pydantic import Field

from specwright.domain.base.graph import describe_cycle
from specwright.domain.base.ids import ArtifactId, ModuleRef, ModuleRefText
from specwright.domain.base.markdown_text import inline
from specwright.domain.base.record import OmittedIfNone, Record, Sha256, Text, Timestamp
from specwright.domain.base.text import one_line
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.versions import serves
from specwright.domain.interface_change.comparison import Bump, compare_contracts, next_version
from specwright.domain.modules.evidence import NOTES, ShipEvidence
from specwright.errors import InputError, RefusedError


class AdoptedVersion(OmittedIfNone):
    """A version that came from a module directory.

    Args:
        module_ref: The version.
        name: Of the module.
        directory: The name of the directory, without where it was.
        origin: How the contract in the directory called the version.
        content_sha256: Of contract and files as they lay there.
        sha256: Of all of its sealed files.
        evidence_sha256: The definition that its seal is.
        tests: How many passed at the gate.
        replaces: The version that had other bytes, if it was adopted before.
    """

    omitted = ("replaces",)

    module_ref: ModuleRefText
    name: str
    directory: Annotated[str, Field(min_length=1)]
    origin: ModuleRefText
    content_sha256: Sha256
    sha256: Annotated[Sha256, Field(description="Of its sealed files.")]
    evidence_sha256: Sha256
    tests: Annotated[int, Field(ge=1)]
    adopted_at: Timestamp
    adopted_by: str
    replaces: ModuleRefText | None = None


class ModuleImport(Record):
    """What one `import` brought; all of it is in the log, or none."""

    modules: Annotated[list[AdoptedVersion], Field(min_length=1)]


class AdoptedVerdict(StrEnum):
    """What the debate over an adopted contract came to."""

    ACCEPTED = "ACCEPTED"
    REFUSED = "REFUSED"
    """No plan may use it."""


class AdoptedRuling(Record):
    """The outcome of that debate, which is held once: with the contracts of the first plan that uses the module.

    Args:
        module_ref: The version.
        verdict: What it came to.
        reason: Why it was refused, or which plan was locked with it.
        plan_id: The plan.
        task: Whose plan that is, `TSK-001`.
    """

    module_ref: ModuleRefText
    verdict: AdoptedVerdict
    reason: Text
    plan_id: ArtifactId
    task: Text
    decided_at: Timestamp


class AdoptedInRelease(Record):
    """An adopted module of a release, with what the gate saw of it.

    Args:
        module_ref: The version.
        name: Of the module.
        directory: The name of the directory from which it came.
        adopted_at: When.
        ship_ref: Its evidence.
        tests: How many passed.
        gate: The result of each stage, by its name.
        ruling: What the debate over its contract came to; empty if there was none.
    """

    module_ref: ModuleRefText
    name: str
    directory: str
    adopted_at: Timestamp
    ship_ref: str
    tests: int
    gate: dict[str, str]
    ruling: str

    @classmethod
    def of(cls, module: AdoptedVersion, evidence: ShipEvidence, ruling: AdoptedRuling | None) -> Self:
        """From the records.

        Args:
            module: As it was adopted.
            evidence: Of the version in the release, which code may have sealed since.
            ruling: On its contract.
        """
        stages = {check.name: check.result.value for check in evidence.gate if check.name != NOTES}
        return cls(
            module_ref=evidence.ref,
            name=module.name,
            directory=module.directory,
            adopted_at=module.adopted_at,
            ship_ref=evidence.ship_id,
            tests=evidence.execution_log.summary.passed,
            gate=stages,
            ruling=f"{ruling.verdict}: {ruling.reason}" if ruling else "",
        )

    @property
    def line(self) -> str:
        """Where it came from and what shows that it works, as Markdown in one line."""
        ran = ", ".join(f"{name} {result}" for name, result in self.gate.items())
        version = self.module_ref.partition("@")[2]
        where = f"adopted from the directory {inline(one_line(self.directory))} on {self.adopted_at[:10]}"
        return f"`{self.name}` {version}: {where}; {self.tests} tests passed at the ship gate ({self.ship_ref}): {ran}"


def render_adopted(parts: Sequence[AdoptedInRelease]) -> str:
    """What a package says of the adopted modules in it, as Markdown; empty if there are none."""
    if not parts:
        return ""
    told = (
        "These modules were not built from the spec. Each came from a module directory that the ship gate passed as it "
        "passes every other module."
    )
    return "\n".join(["## Adopted modules", "", told, "", *(f"- {part.line}" for part in parts), ""])


class ImportedDirectory(NamedTuple):
    """A module directory as it was read.

    Args:
        directory: Its name.
        contract: In it.
        content_sha256: Of contract and files.
    """

    directory: str
    contract: MicroModuleContract
    content_sha256: str

    @property
    def label(self) -> str:
        """The module and its directory, for messages."""
        return f"{self.contract.name} ({self.directory})"


def check_together(modules: Sequence[ImportedDirectory]) -> None:
    """Refuse directories that cannot enter one product.

    Raises:
        InputError: two have one name, or one module id.
    """
    for what, of in (("name", _name), ("id", _id)):
        seen: dict[str, ImportedDirectory] = {}
        for one in modules:
            if other := seen.get(of(one)):
                raise InputError(
                    f"two directories have one {what}: {other.directory} and {one.directory} are both {of(one)}",
                    remedy="import one of them, or give the other a name and an id of its own",
                )
            seen[of(one)] = one


def _name(one: ImportedDirectory) -> str:
    return one.contract.name


def _id(one: ImportedDirectory) -> str:
    return one.contract.module_id


class Calls(NamedTuple):
    """What the directories call.

    Args:
        order: The modules, each after those that it calls.
        sealed: The sealed version for each reference that no directory answers.
    """

    order: tuple[ImportedDirectory, ...]
    sealed: Mapping[str, str]


def resolve_calls(modules: Sequence[ImportedDirectory], find_sealed: Callable[[str], str]) -> Calls:
    """Find what each module calls: among the directories, else among the sealed modules.

    Args:
        modules: Of `check_together`.
        find_sealed: The sealed version that serves a reference; empty if there is none.

    Raises:
        InputError: something that is called is nowhere, or the calls form a cycle.
    """
    sealed, edges, missing = dict[str, str](), dict[str, list[str]](), list[str]()
    for one in modules:
        edges[one.contract.name] = []
        for called in one.contract.dependencies:
            if (mate := serving(modules, called.ref)) is not None:
                edges[one.contract.name].append(mate.contract.name)
            elif ref := find_sealed(called.ref):
                sealed[called.ref] = ref
            else:
                missing.append(f"{one.label} calls {called.ref}: {called.why}")
    if missing:
        raise InputError(
            "something that is called is neither imported with it nor sealed in this project",
            where="\n    ".join(missing),
            remedy="name the directories of these as well",
        )
    by_name = {one.contract.name: one for one in modules}
    try:
        order = tuple(by_name[name] for name in TopologicalSorter(edges).static_order())
    except CycleError as error:
        raise InputError(
            f"the modules call each other in a cycle: {describe_cycle(error.args[1][:-1])}",
            remedy="take one of these calls out, or make one module of them",
        ) from error
    return Calls(order, sealed)


def serving(modules: Sequence[ImportedDirectory], ref: str) -> ImportedDirectory | None:
    """The directory that serves a reference `MM-...@x.y.z` or `MM-...@^x.y.z`."""
    wanted = ref.partition("@")[0]
    same = (one for one in modules if one.contract.module_id == wanted)
    return next((one for one in same if serves(one.contract.module_version, ref)), None)


def as_sealed(contract: MicroModuleContract, ref: str, calls: Mapping[str, str]) -> MicroModuleContract:
    """The contract under the reference that the version has here.

    Args:
        contract: As it lay in the directory.
        ref: `MM-...@x.y.z`.
        calls: The versions here, by the references in the contract.
    """
    here = ModuleRef.parse(ref)
    called = [one.model_copy(update={"ref": calls[one.ref]}) for one in contract.dependencies]
    names = {"module_id": here.module_id, "module_version": here.version, "dependencies": called}
    return contract.model_copy(update=names)


def version_after(before: MicroModuleContract, after: MicroModuleContract, taken: Sequence[str]) -> str:
    """The version of other bytes for a module that was adopted before: what the contracts' difference asks for, the first
    that is free.

    Args:
        before: The contract of the version that is there.
        after: The other one.
        taken: Versions.
    """
    same = after.model_copy(update={"module_id": before.module_id, "module_version": before.module_version})
    bump = compare_contracts(before, same.model_copy(update={"dependencies": before.dependencies})).bump
    version = before.module_version
    while version in taken:
        version = next_version(version, Bump.PATCH if bump is Bump.NONE else bump)
    return version


def name_taken(one: ImportedDirectory, how: str) -> RefusedError:
    """The refusal of a module whose name something else has."""
    return RefusedError(
        f"{one.contract.name} cannot be imported: {how}",
        where=one.directory,
        remedy="give the module in the directory another name; a name stands for one module of a product",
    )
