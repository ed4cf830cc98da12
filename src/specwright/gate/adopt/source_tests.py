"""The pytest tests that exist of a function, as tests of its module (design: adoption, obligations).

A test is taken over if all that it uses of the source is what the module exports; its helpers, constants and fixtures come
along. Imports are rewritten, `shop.slugify` becomes `slugify`. What a test shows is proposed from what it does: an error
that it expects, the happy path where it asserts something, the defaults that its calls leave out.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from specwright.domain.adoption.report import IgnoredTest
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.docstring import public_names
from specwright.gate.adopt.pages import defaults_shown
from specwright.gate.adopt.source_tree import (
    Module,
    PublicFunction,
    SourceTree,
    Target,
    bound_names,
    is_installation,
)
from specwright.gate.source.files import Definition, SourceError

_FOLDERS = ("tests", "test")
_MOST_FILES = 500
_MOST_BYTES = 300_000
_FIXTURES = {"tmp_path", "tmp_path_factory", "capsys", "request", "self"}


class TestFile(NamedTuple):
    """A file of tests of the source.

    Args:
        module: Its own; it belongs to no tree.
        imported: What the names that it imports mean in the tree.
    """

    __test__ = False  # the word is the field's; pytest must not collect it
    module: Module
    imported: Mapping[str, Target]


class SourceTest(NamedTuple):
    """A test that was taken over.

    Args:
        name: As `tests/obligations.json` names it, with its file.
        where: File and line of the source.
        pointers: What it is proposed to show.
    """

    name: str
    where: str
    pointers: tuple[str, ...]


class SourceSuite(NamedTuple):
    """The tests that were taken over.

    Args:
        files: By their paths in the module directory.
        tests: What each shows.
        ignored: The others that call the function.
    """

    files: Mapping[str, bytes]
    tests: tuple[SourceTest, ...]
    ignored: tuple[IgnoredTest, ...] = ()


def suite_files(tree: SourceTree) -> list[TestFile]:
    """The files of tests that lie within a tree or beside it; one that is not Python is passed over."""
    found: dict[Path, None] = {}
    for folder in _folders(tree):
        for pattern in ("test_*.py", "*_test.py"):
            found |= dict.fromkeys(sorted(folder.rglob(pattern)))
    if not tree.top:
        found |= dict.fromkeys(sorted(tree.folder.glob("test_*.py")))
    files: list[TestFile] = []
    for path in list(found)[:_MOST_FILES]:
        if path.is_file() and path.stat().st_size <= _MOST_BYTES:
            module = Module(path.stem, path, tree.label(path, tree.folder.parent))
            try:
                files.append(TestFile(module, _imported(tree, module)))
            except SourceError:
                continue
    return files


def _folders(tree: SourceTree) -> list[Path]:
    places = [tree.folder / tree.top] if tree.top else []
    if not is_installation(tree.folder):
        places.append(tree.folder)
        if tree.folder.name in {"src", "lib", "python"}:
            places.append(tree.folder.parent)
    return [place / name for place in places for name in _FOLDERS if (place / name).is_dir()]


def _imported(tree: SourceTree, module: Module) -> dict[str, Target]:
    """What the names of a file of tests mean in the tree: functions, classes, modules."""
    found: dict[str, Target] = {}
    for node in module.tree.body:
        match node:
            case ast.ImportFrom(level=0, names=names):
                for alias in names:
                    target = tree.target(module, node, alias.name)
                    if target and target.name:
                        target = tree.resolve(target.module, target.name) or target
                    if target:
                        found[alias.asname or alias.name] = target
            case ast.Import(names=names):
                for alias in names:
                    inner = tree.module(alias.name if alias.asname else alias.name.partition(".")[0])
                    if inner:
                        found[alias.asname or alias.name.partition(".")[0]] = Target(inner, "")
            case _:
                pass
    return found


def take_tests(
    tree: SourceTree,
    function: PublicFunction,
    contract: MicroModuleContract,
    files: Iterable[TestFile],
    without: Iterable[str] = (),
) -> SourceSuite:
    """Take over the tests of a function.

    Args:
        tree: Of the function.
        function: Which one.
        contract: Its draft's.
        files: Of `suite_files`.
        without: Tests that are left out, by the names that they had.
    """
    left_out = set(without)
    made: dict[str, bytes] = {}
    tests: list[SourceTest] = []
    ignored: list[IgnoredTest] = []
    for file in files:
        if function.node.name not in file.module.data.decode(errors="replace"):
            continue
        taken = _TestSelection(tree, function, contract, file)
        chosen = [one for one in taken.tests() if f"{taken.file}::{taken.path(one)}" not in left_out]
        if chosen:
            made[f"tests/{taken.file}"] = taken.source(chosen).encode()
            tests += [taken.record_of(one) for one in chosen]
        ignored += taken.ignored()
    return SourceSuite(made, tuple(tests), tuple(ignored))


_Test = tuple[ast.ClassDef | None, Definition]


class _TestSelection:
    """The tests of one function in one file."""

    def __init__(
        self, tree: SourceTree, function: PublicFunction, contract: MicroModuleContract, file: TestFile
    ) -> None:
        self._tree = tree
        self._function = function
        self._contract = contract
        self._module = file.module
        self._imported = file.imported
        self._public = public_names(contract)
        stem = file.module.path.stem
        self.file = f"{stem if stem.startswith('test_') else f'test_{stem}'}.py"

    def tests(self) -> Iterator[_Test]:
        """Those that can be taken over."""
        for node in self._module.tree.body:
            if isinstance(node, Definition) and node.name.startswith("test"):
                if self._is_own(node) and self._is_usable(node, set()):
                    yield None, node
            elif isinstance(node, ast.ClassDef) and _is_suite(node):
                others = [one for one in node.body if not _is_test(one)]
                if all(self._is_usable(one, set()) for one in [*node.bases, *others]):
                    methods = [one for one in node.body if isinstance(one, Definition) and _is_test(one)]
                    yield from (
                        (node, one) for one in methods if self._is_own(one) and self._is_usable(one, set())
                    )

    def ignored(self) -> Iterator[IgnoredTest]:
        """The tests that call the function and cannot be taken over, each with the reason."""
        usable = {id(node) for _, node in self.tests()}
        for owner in self._module.tree.body:
            nodes = owner.body if isinstance(owner, ast.ClassDef) and _is_suite(owner) else [owner]
            for node in nodes:
                if not isinstance(node, Definition) or not _is_test(node) or id(node) in usable:
                    continue
                if self._is_own(node):
                    path = self.path((owner if isinstance(owner, ast.ClassDef) else None, node))
                    where = f"{self._module.label}:{node.lineno}"
                    yield IgnoredTest(path, where, self._why_not(node))

    def _why_not(self, node: Definition) -> str:
        inner = {id(one.value) for one in ast.walk(node) if isinstance(one, ast.Attribute)}
        others = [
            ast.unparse(one)
            for one in ast.walk(node)
            if isinstance(one, ast.Name | ast.Attribute) and id(one) not in inner and self._means(one) == ""
        ]
        if others:
            used = ", ".join(dict.fromkeys(others))
            return f"it needs {used} as well, and a test is run with one function alone; write one for each"
        if any(isinstance(one, ast.Import | ast.ImportFrom) for one in ast.walk(node)):
            return "it imports within its body; import at the top of the file"
        if not self._has_fixtures(node, set()):
            return "it asks for a fixture that its file does not define, or that needs more of the package"
        return "a helper or its class needs more of the package than this function"

    def _is_own(self, node: ast.AST) -> bool:
        return any(self._means(one) == self._function.node.name for one in ast.walk(node))

    def _means(self, node: ast.AST) -> str | None:
        """The public name of the module that a name or an attribute means; empty for another part of the tree, None for
        nothing of the tree."""
        if isinstance(node, ast.Name):
            target = self._imported.get(node.id)
            return None if target is None else self._public_name(target)
        if isinstance(node, ast.Attribute) and (target := self._target(node)):
            return self._public_name(target)
        return None

    def _target(self, node: ast.expr) -> Target | None:
        if isinstance(node, ast.Name):
            return self._imported.get(node.id)
        if isinstance(node, ast.Attribute) and (base := self._target(node.value)) and not base.name:
            inner = self._tree.module(f"{base.module.name}.{node.attr}")
            if node.attr in base.module.bindings:
                return self._tree.resolve(base.module, node.attr) or Target(base.module, node.attr)
            return Target(inner, "") if inner else None
        return None

    def _public_name(self, target: Target) -> str:
        if target.name == self._function.node.name:
            return target.name if target.module is self._function.module else ""
        return target.name if target.name in self._public else ""

    def _is_usable(self, node: ast.AST, visited: set[str]) -> bool:
        """Whether nothing else of the source is used, also by the helpers that come along."""
        if isinstance(node, Definition) and not self._has_fixtures(node, visited):
            return False
        public: set[int] = set()
        for one in ast.walk(node):  # a chain of attributes comes before its parts
            if isinstance(one, ast.Import | ast.ImportFrom):
                return False
            if not isinstance(one, ast.Name | ast.Attribute) or id(one) in public:
                continue
            means = self._means(one)
            if means:
                public |= {id(part) for part in ast.walk(one)}
            elif means == "" or (isinstance(one, ast.Name) and not self._is_usable_name(one.id, visited)):
                return False
        return True

    def _has_fixtures(self, node: Definition, visited: set[str]) -> bool:
        """Whether what a test asks for is there."""
        given = {text for one in node.decorator_list for text in _parametrised(one)}
        names = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)} - given - _FIXTURES
        return not _is_test(node) or all(
            name in self._module.bindings and self._is_usable_name(name, visited) for name in names
        )

    def _is_usable_name(self, name: str, visited: set[str]) -> bool:
        if name in visited or name in self._imported:
            return True
        visited.add(name)
        return all(
            not getattr(one, "level", 0)
            if isinstance(one, ast.Import | ast.ImportFrom)
            else self._is_usable(one, visited)
            for one in self._module.bindings.get(name, ())
        )

    def path(self, test: _Test) -> str:
        """The test's name with its class."""
        owner, node = test
        return f"{owner.name}::{node.name}" if owner else node.name

    def record_of(self, test: _Test) -> SourceTest:
        """What a test shows."""
        pointers = tuple(dict.fromkeys(self._pointers(self._renamed(test[1]))))
        where = f"{self._module.label}:{test[1].lineno}"
        return SourceTest(f"{self.file}::{self.path(test)}", where, pointers)

    def _pointers(self, node: ast.AST) -> Iterator[str]:
        expected = list(_expected_errors(node))
        for n, error in enumerate(self._contract.error_surfaces):
            alone = sum(one.name == error.name for one in self._contract.error_surfaces) == 1
            if alone and any(error.name == name for name, _ in expected):
                yield f"/error_surfaces/{n}"
                read = _fields_asserted(node, error.name)
                yield from (
                    f"/error_surfaces/{n}/fields/{m}"
                    for m, field in enumerate(error.fields)
                    if field.name in read
                )
        failing = {id(part) for _, block in expected for one in block for part in ast.walk(one)}
        rest = [one for one in ast.walk(node) if id(one) not in failing]
        if any(_asserts(one) for one in rest):
            yield ""
            calls = ast.Module([ast.Expr(one) for one in rest if isinstance(one, ast.Call)], [])
            yield from defaults_shown(calls, self._contract)

    def _renamed(self, node: ast.AST) -> ast.AST:
        return _PublicNames(self._means).visit(ast.parse(ast.unparse(node)))

    def source(self, tests: Sequence[_Test]) -> str:
        """The text of the file with these tests and what they need of it."""
        needed: set[str] = set()
        chosen = {id(node) for _, node in tests}
        owners = {id(owner) for owner, _ in tests if owner}
        for owner, node in tests:
            others = [one for one in owner.body if not _is_test(one)] if owner else []
            for part in (node, *others, *(owner.bases if owner else ())):
                self._need(part, needed)
        parts: list[ast.stmt] = []
        for node in self._module.tree.body:
            if id(node) in chosen:
                parts.append(node)
            elif id(node) in owners and isinstance(node, ast.ClassDef):
                body = [one for one in node.body if not _is_test(one) or id(one) in chosen]
                parts.append(ast.ClassDef(node.name, node.bases, node.keywords, body, node.decorator_list))
            elif isinstance(node, ast.ImportFrom) and node.module == "__future__":
                parts.insert(0, node)
            elif bound_names(node) & needed:
                parts += _only(node, needed - {*self._imported})
        text = "\n\n\n".join(ast.unparse(_PublicNames(self._means).visit(_copied(one))) for one in parts)
        imports = f"from modules.{self._contract.name} import {', '.join(self._public)}"
        head, _, rest = text.partition("\n\n\n") if text.startswith("from __future__") else ("", "", text)
        return (
            "\n\n".join(filter(None, [f'"""Taken over from {self._module.label}."""', head, imports, rest]))
            + "\n"
        )

    def _need(self, node: ast.AST, needed: set[str]) -> None:
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        names |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        for name in names - needed:
            if name in self._module.bindings:
                needed.add(name)
                for statement in self._module.bindings[name]:
                    self._need(statement, needed)


class _PublicNames(ast.NodeTransformer):
    """Names of the source by those that the module exports."""

    def __init__(self, means: Callable[[ast.AST], str | None]) -> None:
        self._means = means

    def _visit(self, node: ast.Name | ast.Attribute) -> ast.AST:
        name = self._means(node)
        return ast.copy_location(ast.Name(name, node.ctx), node) if name else self.generic_visit(node)

    visit_Name = visit_Attribute = _visit  # noqa: N815 - the transformer's protocol


def _copied(node: ast.stmt) -> ast.stmt:
    """A statement that may be changed."""
    return ast.parse(ast.unparse(ast.fix_missing_locations(node))).body[0]


def _only(node: ast.stmt, names: set[str]) -> list[ast.stmt]:
    """A statement, of an import the names that are needed."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return [node]
    aliases = [a for a in node.names if (a.asname or a.name.partition(".")[0]) in names]
    if not aliases:
        return []
    if isinstance(node, ast.Import):
        return [ast.Import(aliases)]
    return [ast.ImportFrom(node.module, aliases, node.level)]


def _is_suite(node: ast.ClassDef) -> bool:
    return node.name.startswith("Test") or any(ast.unparse(one).endswith("TestCase") for one in node.bases)


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, Definition) and node.name.startswith("test")


def _parametrised(node: ast.expr) -> list[str]:
    """The parameters that a decorator gives."""
    match node:
        case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str() as text), *_]):
            return [part.strip() for part in text.split(",")]
        case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Tuple() | ast.List() as names, *_]):
            return [
                one.value
                for one in names.elts
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
        case ast.Call(func=function, keywords=keywords) if (
            ast.unparse(function).rpartition(".")[2] == "given"
        ):
            return [one.arg for one in keywords if one.arg]
        case _:
            return []


def _expected_errors(node: ast.AST) -> Iterator[tuple[str, list[ast.AST]]]:
    """The errors that a test expects, each with the code that has to raise it."""
    for one in ast.walk(node):
        match one:
            case ast.With(items=items, body=body):
                for item in items:
                    if name := _raising(item.context_expr):
                        yield name, [*body]
            case ast.Call(args=[_, _, *_]) if name := _raising(one):
                yield name, [one]
            case _:
                pass


def _fields_asserted(node: ast.AST, error: str) -> set[str]:
    """The fields of an error that a test expects, `as info`, and of which it asserts something."""
    names = {
        item.optional_vars.id
        for one in ast.walk(node)
        if isinstance(one, ast.With)
        for item in one.items
        if isinstance(item.optional_vars, ast.Name) and _raising(item.context_expr) == error
    }
    return {
        part.attr
        for one in ast.walk(node)
        if _asserts(one)
        for part in ast.walk(one)
        if isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Attribute)
        and part.value.attr in {"value", "exception"}
        and isinstance(part.value.value, ast.Name)
        and part.value.value.id in names
    }


def _raising(node: ast.expr) -> str:
    match node:
        case ast.Call(func=function, args=[kind, *_]) if ast.unparse(function).rpartition(".")[2] in {
            "raises", "assertRaises", "assertRaisesRegex",
        }:  # fmt: skip
            return ast.unparse(kind).rpartition(".")[2]
        case _:
            return ""


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    return (
        isinstance(node, ast.Call) and ast.unparse(node.func).startswith("self.assert") and not _raising(node)
    )
