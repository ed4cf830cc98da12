"""Approved examples at the gate of one module, and checks that a plan provides what they use (design: executable-spec).

An example imports from the product's package, which does not exist before the release. At a module's gate, each name is
imported from the module that exports it instead. A class that several tasks use must be defined once and imported by the
others, because the package can export only one class of a name.
"""

import ast
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import describes_otherwise, entry_points, named_classes, public_names
from ship_gate.contract.error_classes import own_exceptions
from ship_gate.contract.examples import Example
from ship_gate.contract.independent_tests import Property
from ship_gate.contract.rules import ANY_NUMBER, KEYWORD_ONLY, default_of, own_statements
from ship_gate.contract.types import normal_type
from specwright.domain.acceptance.records import (
    AcceptanceItem,
    TaskAcceptance,
    name_of,
    signature_of,
    variable_classes,
)
from specwright.domain.acceptance.rules import is_standard


class Acceptance(NamedTuple):
    """The approved examples and properties that can run against a module or a product."""

    examples: Sequence[Example] = ()
    properties: Sequence[Property] = ()


def acceptance_of_module(
    acceptance: TaskAcceptance | None,
    criteria: Sequence[str],
    own: MicroModuleContract,
    called: Sequence[MicroModuleContract],
) -> Acceptance:
    """Return the approved examples and properties that use a module and no module beyond its dependencies.

    Args:
        acceptance: The acceptance of the module's task.
        criteria: The texts of the task's criteria.
        own: The module's contract.
        called: The contracts of its direct and indirect dependencies.
    """
    homes = {name: contract.name for contract in (*reversed(called), own) for name in public_names(contract)}
    entries = {entry.name for entry in entry_points(own)}

    def can_run(names: set[str]) -> bool:
        return bool(entries & names) and names <= set(homes)

    def from_modules(one: AcceptanceItem) -> str:
        return ast.unparse(ast.fix_missing_locations(_FromModules(homes).visit(one.tree)))

    return _acceptance(acceptance, criteria, can_run, from_modules)


def acceptance_of_product(
    acceptance: TaskAcceptance | None, criteria: Sequence[str], released: Collection[str]
) -> Acceptance:
    """Return the approved examples and properties of a task that can run against the released package.

    Args:
        acceptance: The acceptance of the task.
        criteria: The texts of its criteria.
        released: The public names of all released tasks; examples that use other names are left out.
    """
    return _acceptance(acceptance, criteria, lambda names: names <= {*released}, lambda one: one.code)


def _acceptance(
    acceptance: TaskAcceptance | None,
    criteria: Sequence[str],
    can_run: Callable[[set[str]], bool],
    code_of: Callable[[AcceptanceItem], str],
) -> Acceptance:
    if acceptance is None:
        return Acceptance()
    codes = tuple(one.code for one in acceptance.examples)
    return Acceptance(
        [
            Example(one.heading, one.title, code_of(one), one.gives, 1)
            for one in acceptance.examples
            if can_run(imported_names(one))
        ],
        [
            Property(
                one.heading,
                code_of(one),
                {name: normal_type(kind) for name, kind in one.variables.items()},
                tuple(one.errors),
                codes,
                tuple(criteria[number - 1] for number in one.criteria if number <= len(criteria)),
            )
            for one in acceptance.properties
            if can_run(imported_names(one) | variable_classes(one))
        ],
    )


def property_in_short(one: Property) -> str:
    """Format a property for readers: heading, code and variables."""
    code = [line for line in one.code.splitlines() if line and not line.startswith("from modules.")]
    return "\n".join((f"## {one.heading}", *code, for_all(one.variables, one.errors)))


def for_all(variables: Mapping[str, str], errors: Sequence[str]) -> str:
    """Return the claim of a property about its code, as a sentence."""
    values = ", ".join(f"{name}: {kind}" for name, kind in variables.items())
    return f"is true for all {values}" + (f", or gives {' or '.join(errors)}" if errors else "")


def imported_names(item: AcceptanceItem) -> set[str]:
    """Return the names that an example or property imports from the product."""
    imports = (node for node in ast.walk(item.tree) if isinstance(node, ast.ImportFrom))
    return {alias.name for node in imports if not is_standard(node.module or "") for alias in node.names}


class _FromModules(ast.NodeTransformer):
    """Replaces `from tabkeeper import settle, Payment` by an import of each name from its module."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = homes

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.AST]:
        if is_standard(node.module or ""):
            return node
        return [ast.ImportFrom(f"modules.{self._homes[alias.name]}", [alias], 0) for alias in node.names]


def unserved(acceptance: TaskAcceptance | None, contracts: Sequence[MicroModuleContract]) -> list[str]:
    """Describe each approved name that the modules of the plan, new and reused, do not export as approved."""
    if acceptance is None:
        return []
    functions = {entry.name: contract for contract in contracts for entry in entry_points(contract)}
    exported = {name for contract in contracts for name in public_names(contract)}
    problems: list[str] = []
    for public in acceptance.provides:
        name, signature = name_of(public), signature_of(public)
        users = _users(acceptance, name)
        if signature is None and name not in exported:
            problems.append(f"modules: none exports {name}, which is approved{users}; export it by that name")
        elif signature is None:
            continue
        elif name not in functions:
            called = f"none is called {name}, which is approved as `{public}`{users}"
            problems.append(f"modules: {called}; plan a module of that name")
        elif problem := _parameter_problem(signature, functions[name]):
            problems.append(f"modules.{name}: {problem}; it is approved as `{public}`{users}")
    return problems


def without_module(acceptance: TaskAcceptance | None, names: Collection[str]) -> list[str]:
    """Describe each approved function of a task for which a plan without contracts has no module.

    Args:
        acceptance: The acceptance of the task.
        names: The names of the plan's modules, new and reused.
    """
    if acceptance is None:
        return []
    return [
        f"no module is called {name}, which is approved as `{public}`{_users(acceptance, name)}"
        for public in acceptance.provides
        if signature_of(public) is not None
        and (name := name_of(public)) not in names
        and name.removesuffix("_async") not in names
    ]


def _users(acceptance: TaskAcceptance, name: str) -> str:
    """Name the first example or property that uses a name; empty if none does."""
    titles = (item.title for item in acceptance.items if name in imported_names(item))
    return f" and used by the example {title!r}" if (title := next(titles, "")) else ""


def _parameter_problem(signature: inspect.Signature, contract: MicroModuleContract) -> str:
    stated = [one.name for one in signature.parameters.values()]
    planned = [one.name for one in contract.inputs]
    if stated != planned:
        return f"its inputs are {', '.join(planned) or 'none'}, not {', '.join(stated) or 'none'}"
    for parameter, one in zip(signature.parameters.values(), contract.inputs, strict=True):
        for kind, text in _PASSING:
            if (text in one.constraints) != (parameter.kind is kind):
                has, remedy = ("lacks", "add it") if parameter.kind is kind else ("has", "leave it out")
                return (
                    f"its {one.name} {has} the constraint `{text}`, unlike the approved signature; {remedy}"
                )
        if (parameter.default is inspect.Parameter.empty) != (default_of(one) is None):
            says = "no default" if parameter.default is inspect.Parameter.empty else "a default"
            return f"its input {one.name} has {says} in the approved spec"
    return ""


_PASSING = ((inspect.Parameter.KEYWORD_ONLY, KEYWORD_ONLY), (inspect.Parameter.VAR_POSITIONAL, ANY_NUMBER))
"""The constraints for parameters that cannot be passed both by position and by name."""


class OwnedClass(NamedTuple):
    """A class that another task provides.

    Args:
        name: The class's name in the package.
        task_id: The spec's id of the task that provides it.
        module: The contract of the module that exports it; None if the current task does not depend on that task.
    """

    name: str
    task_id: str
    module: MicroModuleContract | None


def copied_classes(drafts: Mapping[str, MicroModuleContract], owned: Sequence[OwnedClass]) -> list[str]:
    """Describe each class that a contract defines although another task provides it."""
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
    """Describe each class that several modules of a plan define instead of importing it from one of them.

    Args:
        drafts: The contracts of the plan's new modules, by name.
        depends_on: The dependencies of each module, as the plan names them.
    """
    holders: dict[str, list[str]] = {}
    for module, contract in drafts.items():
        for name in dict.fromkeys((*own_statements(contract), *own_exceptions(contract))):
            holders.setdefault(name, []).append(module)
    found: list[str] = []
    for name, modules in holders.items():
        # a module that depends on another owner imports the class; exports of modules outside the plan are not seen here
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
