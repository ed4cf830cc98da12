"""What tests and examples may see of modules, read from their syntax trees alone (F§5.4, D-S8-02, D-S8-09).

Of each module: its functions, and descriptions of the classes that it exports, from which classes can be made anew where
the implementation is not (`inside.classes`). A class that a module only passes on belongs to the module that defines it.

Left out: whether that is the contract's surface; the surface stage tells it before anything runs.
"""

import ast
import builtins
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from specwright.domain.class_statement import Field
from specwright.gate.exported_classes import Origin, read_class
from specwright.gate.top_level import SurfaceFault, TopLevel, parse_source, read_top_level

__all__ = ["described_surface"]

_MOST_HOPS = 16

Description = dict[str, Any]


class _Found(NamedTuple):
    """A class where it is defined."""

    module: str
    file: Path
    node: ast.ClassDef


def described_surface(implementations: Mapping[str, Path]) -> dict[str, Any]:
    """The surfaces of modules, as JSON.

    Args:
        implementations: The directory of each module's source by the module's name, dependencies too.

    Returns:
        By module: `functions`, whether each is async, and `classes`, a description of each.
    """
    return {name: _module(name, implementations) for name in implementations}


def _module(name: str, implementations: Mapping[str, Path]) -> Description:
    entry = implementations[name] / "__init__.py"
    functions: dict[str, bool] = {}
    classes: list[Description] = []
    top = _top_level(entry)
    for export in top.exports if top else ():
        if top and export in top.functions:
            functions[export] = isinstance(top.functions[export], ast.AsyncFunctionDef)
        elif found := _find(export, name, entry, implementations):
            # a module that renames a class exports it by its new name
            classes.append({**_description(found, implementations, _MOST_HOPS), "name": export})
    return {"functions": functions, "classes": classes}


def _top_level(file: Path) -> TopLevel | None:
    try:
        return read_top_level(parse_source(file.read_bytes(), file.name), file.name)
    except (OSError, SurfaceFault):
        return None


def _find(name: str, module: str, file: Path, implementations: Mapping[str, Path]) -> _Found | None:
    """Follow a name through relative imports to its class, over files and over modules."""
    for _ in range(_MOST_HOPS):
        top = _top_level(file)
        if top is None:
            return None
        if name in top.classes:
            return _Found(module, file, top.classes[name])
        source = top.imports.get(name)
        if source is None or source.level == 0:
            return None
        # the dots of `implementation/a/b.py` are `implementation/a`, `implementation`, then the siblings
        depth = len(file.relative_to(implementations[module]).parts)
        if source.level > depth:
            if source.level > depth + 1 or source.module not in implementations:
                return None
            module = source.module
            found: Path | None = implementations[module] / "__init__.py"
        else:
            found = _file_of(file.parents[source.level - 1], source.module)
        if found is None:
            return None
        file, name = found, source.name
    return None


def _file_of(folder: Path, module: str) -> Path | None:
    target = folder.joinpath(*module.split(".")) if module else folder
    files = [target / "__init__.py"] + ([target.with_suffix(".py")] if module else [])
    return next((file for file in files if file.is_file()), None)


def _description(found: _Found, implementations: Mapping[str, Path], hops: int) -> Description:
    inside = found.file.relative_to(implementations[found.module]).as_posix()
    base: Description = {
        "id": f"{found.module}/{inside}:{found.node.name}",
        "module": f"modules.{found.module}",
        "name": found.node.name,
    }
    try:
        statement = read_class(Origin(inside, found.node))
    except SurfaceFault:
        return {**base, "kind": "exception", "bases": _bases(found, implementations, hops - 1)}
    return {**base, "kind": statement.kind, "fields": [_plain(field) for field in statement.fields]}


def _plain(field: Field) -> list[str]:
    return [field.name, field.type, field.default]


def _bases(found: _Found, implementations: Mapping[str, Path], hops: int) -> list[str | Description]:
    bases: list[str | Description] = []
    for node in found.node.bases if hops else []:
        name = ast.unparse(node)
        other = _find(name, found.module, found.file, implementations)
        kind = getattr(builtins, name, None)
        if other is not None:
            bases.append(_description(other, implementations, hops))
        elif isinstance(kind, type) and issubclass(kind, BaseException):
            bases.append(name)
    return bases or ["Exception"]
