"""The public functions of a package, with what annotations, stubs and docstrings state; read by griffe, not executed."""

import ast
import contextlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import griffe

from ship_gate.findings import Finding, FindingCode

_SKIPPED = re.compile(
    r"tests?|test_.*|.*_tests?|testing|conftest|setup|vendor|_vendor|extern|__main__|docs|examples"
)


class PublicFunction(NamedTuple):
    """A function that a package publishes.

    Args:
        name: How it is shown: by the public module that has it, if that in which it is defined is private.
        module: That module.
        qualname: In the module.
        file: The file of its source.
        line: Of its `def`.
        begins: The line of its first decorator, or of its `def`.
        returns: The annotation of its result, as source; empty without one.
        parameters: The annotation of each parameter, or else the type that the docstring states; empty if none does.
        raises: Names of the errors that its docstring states.
        overloaded: Whether it has several signatures.
    """

    name: str
    module: str
    qualname: str
    file: Path
    line: int
    begins: int
    returns: str
    parameters: dict[str, str]
    raises: tuple[str, ...]
    overloaded: bool


class PublicApi(NamedTuple):
    """What a package publishes.

    Args:
        functions: By module and line.
        classes: How many classes with public methods, which are not judged.
        findings: What could not be read; the places are those of the copy.
    """

    functions: tuple[PublicFunction, ...]
    classes: int
    findings: tuple[Finding, ...]


def public_api(source: Path, names: Sequence[str]) -> PublicApi:
    """Read the packages and modules of a source folder.

    Args:
        source: The folder from which they are imported.
        names: Import names.
    """
    found, classes = dict[str, tuple[str, griffe.Function]](), set[str]()
    findings: list[Finding] = []
    for name in names:
        loader = griffe.GriffeLoader(search_paths=[source], allow_inspection=False, store_source=False)
        unread = [*_unread(source, name, loader.finder)]
        findings += unread
        try:
            # griffe would look into the working directory first, where the original of the copy may be
            with griffe.logger.disable():  # it would print the traceback of what a finding says
                module = loader.load(name, try_relative_path=False)
                loader.resolve_aliases(implicit=True, external=False)
        except Exception as error:  # griffe promises nothing about sources that it cannot read
            if not unread:
                findings.append(_unreadable(name, str(source / name.replace(".", "/")), error))
            continue
        if isinstance(module, griffe.Module):
            _collect(module, name.partition(".")[0], found, classes)
    read = [one for name, function in found.values() if (one := _read(name, function))]
    return PublicApi(tuple(sorted(read, key=lambda one: (one.file, one.line))), len(classes), tuple(findings))


def _unread(source: Path, name: str, finder: griffe.ModuleFinder) -> Iterator[Finding]:
    """The public files of a package that are no Python; griffe passes over those below its first one."""
    place = source.joinpath(*name.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    for parts, path in [((), file), *finder.iter_submodules(file)]:
        if path.suffix != ".py" or any(one.startswith("_") or _SKIPPED.fullmatch(one) for one in parts):
            continue
        try:
            parsed(path)
        except (SyntaxError, ValueError, OSError, RecursionError, MemoryError) as error:
            line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            yield _unreadable(".".join((name, *parts)), f"{path}{line}", error)


def _unreadable(name: str, where: str, error: Exception) -> Finding:
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    message = f"{name} cannot be read: {type(error).__name__}: {said}"[:300]
    return Finding(FindingCode.PACKAGE_UNLOADED, where, message)


def _collect(
    module: griffe.Module, top: str, found: dict[str, tuple[str, griffe.Function]], classes: set[str]
) -> None:
    is_public = not any(part.startswith("_") for part in module.path.split("."))
    for name, member in module.members.items():
        target: Any = member
        if member.is_alias:
            try:
                target = cast("griffe.Alias", member).final_target
            except griffe.GriffeError:
                continue
            if not target.path.startswith(f"{top}.") or target.is_module or not module.is_init_module:
                continue
        elif member.is_module:
            if not _SKIPPED.fullmatch(name):
                _collect(cast("griffe.Module", member), top, found, classes)
            continue
        if not is_public or not _is_public(module, name):
            continue
        if target.is_function and not _in_tests(target.path):
            # where it is defined, or else by the first public name that it has
            known = found.get(target.path, (f"{module.path}.{name}", target))
            found[target.path] = (target.path, target) if target is member else known
        elif target.is_class:
            classes.add(target.path)


def _is_public(module: griffe.Module, name: str) -> bool:
    exports = {str(one) for one in module.exports or ()}
    return name in exports if module.exports is not None else not name.startswith("_")


def _in_tests(path: str) -> bool:
    return any(_SKIPPED.fullmatch(part) for part in path.split(".")[1:-1])


def _read(name: str, function: griffe.Function) -> PublicFunction | None:
    file = function.filepath
    if not isinstance(file, Path) or file.suffix != ".py" or function.lineno is None:
        return None
    module = function.module.path
    node = function_node(file, function.name, function.lineno)
    if node is None:
        return None
    stated = _stated(function)
    parameters = {
        one.name: str(one.annotation or "") or stated.types.get(one.name, "")
        for one in function.parameters
        if one.kind not in {griffe.ParameterKind.var_positional, griffe.ParameterKind.var_keyword}
    }
    return PublicFunction(
        name,
        module,
        function.path.removeprefix(f"{module}."),
        file,
        node.lineno,
        first_line(node),
        str(function.returns or ""),
        parameters,
        stated.raises,
        bool(function.overloads) or bool(function.module.overloads.get(function.name)),
    )


class _Stated(NamedTuple):
    types: dict[str, str]
    raises: tuple[str, ...]


def _stated(function: griffe.Function) -> _Stated:
    """What the docstring states, in whichever of the usual styles."""
    types: dict[str, str] = {}
    raises: dict[str, None] = {}
    for style in ("google", "numpy", "sphinx") if function.docstring else ():
        sections: list[griffe.DocstringSection] = []
        with contextlib.suppress(Exception):  # prose that is no docstring of this style
            sections = cast("griffe.Docstring", function.docstring).parse(style, warnings=False)
        for section in sections:
            if isinstance(section, griffe.DocstringSectionParameters):
                types |= {one.name: str(one.annotation or "") for one in section.value if one.annotation}
            elif isinstance(section, griffe.DocstringSectionRaises):
                raises |= dict.fromkeys(str(one.annotation or "").rpartition(".")[2] for one in section.value)
    return _Stated(types, tuple(name for name in raises if name.isidentifier()))


FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(file: Path) -> ast.Module:
    """The syntax tree of a file; raises what `ast.parse` does."""
    return ast.parse(file.read_bytes())


def function_node(file: Path, name: str, line: int) -> FunctionNode | None:
    """The definition of a function; None where the file has none of its name there."""
    for node in _functions(parsed(file)):
        if node.name == name and line in {node.lineno, first_line(node)}:
            return node
    return None


def first_line(node: FunctionNode) -> int:
    """The line from which Python counts a function: that of its first decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _functions(tree: ast.Module) -> Iterator[FunctionNode]:
    return (node for node in ast.walk(tree) if isinstance(node, FunctionNode))
