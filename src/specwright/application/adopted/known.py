"""What a project knows of modules that were adopted, and of names that are taken (design: adopted-modules).

The records of imports are read, not the log: those before the approval of the spec are not in it yet.
"""

from collections.abc import Iterable, Iterator

from specwright.application.factory import ProjectView
from specwright.application.history.rounds import planned_modules
from specwright.application.plan.stored_plans import stored_plans
from specwright.application.store import layout
from specwright.domain.base.ids import ModuleRef
from specwright.domain.contract.versions import serves
from specwright.domain.modules.adopted import AdoptedInRelease, AdoptedVerdict, AdoptedVersion, ModuleImport
from specwright.domain.tasks.project_state import TaskStatus

_OPEN = frozenset({TaskStatus.IN_PROGRESS, TaskStatus.HALTED})
"""Tasks with plans whose modules are still to come."""


def module_imports(view: ProjectView) -> list[tuple[int, ModuleImport]]:
    """Everything that was imported, in order, with its number."""
    numbers = sorted(int(name.removesuffix(".json")) for name in view.store.names(layout.IMPORTS))
    paths = ((number, layout.module_import(number)) for number in numbers)
    return [(number, ModuleImport.from_bytes(view.store.read(path), path)) for number, path in paths]


def adopted_modules(view: ProjectView) -> list[AdoptedVersion]:
    """The versions that were adopted, the oldest first; also those that wait for the approval of the spec."""
    return [one for _, whole in module_imports(view) for one in whole.modules]


def last_adopted(view: ProjectView, name: str) -> AdoptedVersion | None:
    """The version that was adopted last under a name."""
    return next((one for one in reversed(adopted_modules(view)) if one.name == name), None)


def waiting_modules(view: ProjectView) -> list[AdoptedVersion]:
    """The versions that become modules of the project with the approval of its spec."""
    return [one for one in adopted_modules(view) if one.module_ref not in view.projection.adopted]


def adopted_rows(view: ProjectView) -> list[dict[str, str]]:
    """The versions that were adopted, with what became of each: it waits for the approval of the spec, is sealed, retired,
    or refused for reuse."""
    found = list[dict[str, str]]()
    for one in adopted_modules(view):
        state = "sealed" if one.module_ref in view.projection.adopted else "waiting"
        state = "retired" if one.module_ref in view.projection.deprecations else state
        state = "refused" if refusal(view, one.module_ref) else state
        row = {"module_ref": one.module_ref, "name": one.name, "adopted_from": one.directory}
        found.append({**row, "provenance": "adopted", "state": state})
    return found


def adopted_parts(view: ProjectView, refs: Iterable[str]) -> list[AdoptedInRelease]:
    """The adopted modules among those of a release, with their evidence."""
    adopted, rulings = view.projection.adopted, view.projection.adopted_rulings
    made = {ref: view.projection.debated_as(ref) for ref in refs}
    return [
        AdoptedInRelease.of(adopted[origin], view.modules.evidence(ref), rulings.get(origin))
        for ref, origin in made.items()
        if origin in adopted
    ]


def refusal(view: ProjectView, ref: str) -> str:
    """Why no plan may use an adopted version; empty if one may."""
    ruling = view.projection.adopted_rulings.get(ref)
    return ruling.reason if ruling and ruling.verdict is AdoptedVerdict.REFUSED else ""


def find_sealed(view: ProjectView, ref: str) -> str:
    """The version here that serves a reference in a module directory; empty if none does.

    Args:
        ref: By the id that the module has here, or by the one that it had in the directory from which it was adopted.
    """
    retired = view.projection.deprecations
    for one in reversed(adopted_modules(view)):
        origin = ModuleRef.parse(one.origin)
        known = origin.module_id == ref.partition("@")[0] and serves(origin.version, ref)
        if known and one.module_ref not in retired:
            return one.module_ref
    same = [one for one in view.modules.refs() if one.partition("@")[0] == ref.partition("@")[0]]
    serving = [one for one in same if one not in retired and serves(ModuleRef.parse(one).version, ref)]
    return serving[-1] if serving else ""


def other_owner(view: ProjectView, name: str) -> str:
    """What has a name beside the modules that were adopted under it, in words; empty if nothing has."""
    adopted = {one.module_ref.partition("@")[0] for one in adopted_modules(view) if one.name == name}
    for ref in view.modules.refs():
        own = ref.partition("@")[0] in adopted or ref in view.projection.deprecations
        if not own and view.modules.contract(ref).name == name:
            return f"the product has a module of that name, {ref}"
    state = view.projection.state
    if state is None or not any(entry.status in _OPEN for entry in state.tasks.values()):
        return ""
    planned = (one.contract for one in planned_modules(view))
    if any(one.name == name and not view.modules.is_sealed(one.ref) for one in planned):
        return "a plan of the product has a module of that name"
    return ""


def users_of(view: ProjectView, ref: str) -> Iterator[str]:
    """What uses an adopted version, in words: a plan, or other adopted modules by their names."""
    ruling = view.projection.adopted_rulings.get(ref)
    if ruling is None and any(ref in plan.called for plan in stored_plans(view)):
        yield "a plan"
    elif ruling is not None and ruling.verdict is AdoptedVerdict.ACCEPTED:
        yield f"the plan of {ruling.task}"
    for one in adopted_modules(view):
        called = [called.ref for called in view.modules.contract(one.module_ref).dependencies]
        if ref in called and last_adopted(view, one.name) == one:
            yield one.name
