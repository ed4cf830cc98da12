"""Records and errors that several tasks use: one task provides them, and the others import them (design: executable-spec).

Two classes of one name are two classes: what one module makes, the other refuses, and the package can export but one.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import describes_otherwise, named_classes
from ship_gate.contract.error_classes import own_exceptions
from ship_gate.contract.rules import own_statements


class OwnedClass(NamedTuple):
    """A class that another task provides.

    Args:
        name: As the package exports it.
        task_id: Of the task that provides it, as the spec names it.
        module: The contract of the module that exports it; None if the task at hand does not wait for that task.
    """

    name: str
    task_id: str
    module: MicroModuleContract | None


def copied_classes(drafts: Mapping[str, MicroModuleContract], owned: Sequence[OwnedClass]) -> list[str]:
    """Where contracts make a class anew that another task provides, and what to do instead."""
    by_name = {one.name: one for one in owned}
    return [
        f"modules.{name}: {problem}"
        for name, contract in drafts.items()
        for used in dict.fromkeys((*own_exceptions(contract), *named_classes(contract)))
        if used in by_name and (problem := _problem(contract, by_name[used]))
    ]


def twice_defined(
    drafts: Mapping[str, MicroModuleContract], depends_on: Mapping[str, Collection[str]]
) -> list[str]:
    """Classes that several modules of a plan define, none of which imports it from another, and what to do instead.

    Args:
        drafts: The contracts of the plan's new modules, by name.
        depends_on: What each module depends on, by the names that the plan uses.
    """
    holders: dict[str, list[str]] = {}
    for module, contract in drafts.items():
        for name in dict.fromkeys((*own_statements(contract), *own_exceptions(contract))):
            holders.setdefault(name, []).append(module)
    found: list[str] = []
    for name, modules in holders.items():
        # whoever depends on another holder imports it; what a module outside the plan exports is not seen here
        owners = [
            one
            for one in modules
            if drafts.keys() >= {*depends_on[one]} and not {*modules} & {*depends_on[one]}
        ]
        if len(owners) > 1:
            first, *others = owners
            found.append(
                f"modules.{others[-1]}: {name} is defined by {' and '.join(owners)}, which are that many classes; let one "
                f"of them define it, {first} or a module of definitions, and the others have that module in `depends_on`"
            )
    return found


def _problem(contract: MicroModuleContract, owned: OwnedClass) -> str:
    if owned.module is None:
        return f"{owned.name} is a class of {owned.task_id}, on which this task does not depend; choose another name"
    exporting = f"{owned.name} is exported by {owned.module.name} of {owned.task_id}"
    if all(owned.module.module_id != one.ref.partition("@")[0] for one in contract.dependencies):
        return f"{exporting}; add {owned.module.ref} to its `depends_on`, and leave out what {owned.name} is"
    if describes_otherwise(contract, owned.name, owned.module):
        return f"{exporting}, with other fields or another base; leave out what {owned.name} is"
    return ""
