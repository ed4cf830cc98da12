"""Which names a product's package exports, read from the sources without importing them (D28).

Per task-facing module everything in its literal `__all__`: the entry point, its `_async` twin, and the
exception and output classes that its contract names (DESIGN §8.1).
"""

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from specwright.errors import RefusedError
from specwright.ports.packaging import ProductModule
from specwright.syntax_tree import parse_module

__all__ = ["Exports", "exports_of"]

Exports: TypeAlias = Mapping[str, str]
"""The module of each exported name, sorted by name."""


class _Source(NamedTuple):
    exported: tuple[str, ...]
    classes: frozenset[str]


def exports_of(modules: Sequence[ProductModule], task_facing: Sequence[str]) -> Exports:
    """The names that the package re-exports.

    A module's own entry point always wins its name. A class that several modules export comes from the one
    that defines it; if that is not exactly one, it stays reachable in the subpackages only.

    Raises:
        RefusedError: a task-facing module is not in the product, or does not export its entry point.
    """
    by_name = {module.contract.name: module for module in modules}
    if unknown := [name for name in task_facing if name not in by_name]:
        raise RefusedError(
            f"the product has no module named {', '.join(unknown)}",
            remedy="release the modules that the tasks are called by",
        )
    sources = {name: _read(by_name[name]) for name in task_facing}
    names = {name for source in sources.values() for name in source.exported}
    owners = {name: _owner(name, sources) for name in sorted(names)}
    return {name: owner for name, owner in owners.items() if owner is not None}


def _owner(name: str, sources: Mapping[str, _Source]) -> str | None:
    if name in sources:
        return name
    exporting = [module for module, source in sources.items() if name in source.exported]
    if len(exporting) == 1:
        return exporting[0]
    defining = [module for module in exporting if name in sources[module].classes]
    return defining[0] if len(defining) == 1 else None


def _read(module: ProductModule) -> _Source:
    name = module.contract.name
    try:
        tree = parse_module(module.implementation.get("__init__.py", b""))
        exported = _literal_all(tree)
    except ValueError as error:  # null bytes, or an `__all__` that is no literal
        raise RefusedError(
            f"the exports of {name} cannot be read: {error}", where=module.contract.ref
        ) from error
    except SyntaxError as error:
        raise RefusedError(f"{name} is not Python: {error}", where=module.contract.ref) from error
    if name not in exported:
        raise RefusedError(f"{name} does not export its entry point", where=module.contract.ref)
    return _Source(exported, frozenset(node.name for node in tree.body if isinstance(node, ast.ClassDef)))


def _literal_all(tree: ast.Module) -> tuple[str, ...]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(value, ast.expr) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in targets
        ):
            return tuple(str(name) for name in ast.literal_eval(value))
    return ()
