"""Types of everyday Python as types of the boundary (design: adoption, module-directory).

An alias or a NewType is what it stands for. What a parameter takes may be stated narrower than it is declared,
`dict[str, int]` for `MutableMapping[str, int]`: the contract then says less, and what it says is so. What is returned is
never narrowed. Callables, and iterables and iterators with a bound, stay what they are where they stand alone.
"""

import ast
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import NamedTuple

from specwright.domain.base.value_types import (
    CALLABLE,
    CONTAINERS,
    ITERATORS,
    PATTERNS,
    TAKEN_CONTAINERS,
    TYPE_VARIABLE,
)
from specwright.domain.contract.boundary.annotations import bare_name, normal_annotation, union_parts
from specwright.domain.contract.boundary.class_statement import ClassStatement
from specwright.domain.contract.boundary.types import (
    BOUNDARY_IMPORTS,
    class_names,
    normal_or_same,
    type_problem,
)
from specwright.gate.adopt.source_tree import Module, SourceTree, Target
from specwright.gate.source.classes import ClassSource, read_class
from specwright.gate.source.files import SourceError, read_top_level
from specwright.syntax_tree import parse_expression

_LISTS = {"MutableSequence", "Reversible", "Iterator"}
_NARROWER = {
    "MutableMapping": "dict", "AbstractSet": "set", "MutableSet": "set", "AnyStr": "str",
    "Text": "str", "StrPath": "str", "PathLike": "Path", "SupportsInt": "int", "SupportsIndex": "int",
    "SupportsFloat": "float", "Number": "int", "Real": "float", "Integral": "int", "LiteralString": "str",
    "Buffer": "bytes", "Iterable": "Collection",
}  # fmt: skip
_OF_ANYTHING = {"Sequence": "list", "Iterable": "list", "Collection": "list", "Mapping": "dict"}
"""What stands for a type that does not say of what it is."""
_ANY = {"Any", "object"}
_WORDS = {
    "string": "str", "text": "str", "unicode": "str", "integer": "int", "boolean": "bool", "number": "float",
    "dictionary": "dict", "none": "None", "strings": "str", "integers": "int", "floats": "float", "ints": "int",
}  # fmt: skip
_OF = re.compile(r"(list|set|tuple|sequence|iterable) of (\S+)", re.IGNORECASE)
_OPTIONAL = re.compile(r",?\s*(?:optional|default\b.*|required|keyword[- ]only)\s*", re.IGNORECASE)
_NAME = re.compile(r"\w+")
_MOST_STEPS = 8


class ReadType(NamedTuple):
    """A type.

    Args:
        text: In the normal form of a contract; empty if there is none.
        problem: What keeps it from being stated.
        foreign: Whether that is a class or an interface that no contract can name, so that no word of a person helps.
        remark: How it differs from what is written.
        classes: The classes of the tree that it names.
    """

    text: str
    problem: str = ""
    foreign: bool = False
    remark: str = ""
    classes: tuple[Target, ...] = ()


class TypeReader:
    """Reads the types of one module's annotations.

    Args:
        tree: Of the module.
        module: Whose names they use.
    """

    def __init__(self, tree: SourceTree, module: Module) -> None:
        self._tree = tree
        self._module = module
        self._variables: list[Target] = []

    def annotation(
        self, node: ast.expr, *, taken: bool, whole: bool = False, bounded: bool = True
    ) -> ReadType:
        """The type that an annotation states.

        Args:
            node: The annotation.
            taken: Whether it is a parameter's, and may be narrowed.
            whole: Whether it is that of a plain parameter or of the whole result, which may be lazy.
            bounded: Whether there is a bound of an iterable's items.
        """
        written = ast.unparse(node)
        classes: dict[str, Target] = {}
        try:
            expanded = _Expansion(self._tree, self._module, classes, self._variables).visit(node)
            text = normal_annotation(expanded, self._meaning)
        except (SyntaxError, ValueError, RecursionError):
            return ReadType("", f"the annotation `{written}` cannot be read")
        outside = {*classes} - {*crossing(classes)}
        lazy = normal_or_same(_lazy(text, taken=taken, bounded=bounded, outside=outside) if whole else "")
        narrowed = lazy or normal_or_same(_narrowed(text, outside) if taken else text)
        if problem := (
            type_problem(lazy, taken=taken, returned=not taken) if lazy else _problem(narrowed, taken=taken)
        ):
            return ReadType("", problem, foreign="says nothing" not in problem and "lacks" not in problem)
        remark = f"`{written}` is stated as `{narrowed}`" if narrowed != normal_or_same(text) else ""
        named = {name: target for name, target in classes.items() if name in class_names(narrowed)}
        return ReadType(narrowed, remark=remark, classes=tuple(named.values()))

    def _meaning(self, dotted: str) -> str:
        return full_name(self._module, dotted) or (dotted if dotted.startswith("typing.") else "")

    def from_words(self, text: str) -> ReadType:
        """The type that a docstring names in its own words."""
        words = _OPTIONAL.sub("", text).strip().strip("`")
        words = _OF.sub(
            lambda m: f"{_container(m[1])}[{_word(m[2])}{', ...' * (m[1].lower() == 'tuple')}]", words
        )
        words = re.sub(r"\s+or\s+", " | ", words)
        parts = " | ".join(_word(part.strip()) for part in words.split(" | "))
        try:
            node = parse_expression(parts).body
        except (SyntaxError, ValueError, RecursionError):
            return ReadType("", f"the docstring names the type {text!r}, which is none of Python's")
        if isinstance(node, ast.Tuple | ast.Constant) and "None" not in parts:
            node = ast.Subscript(ast.Name("Literal", ast.Load()), node, ast.Load())
        return self.annotation(node, taken=True)._replace(foreign=False)


def _container(word: str) -> str:
    return word.lower() if word.lower() in {"list", "set", "tuple"} else "list"


def _word(word: str) -> str:
    return _WORDS.get(word.lower(), word)


def full_name(module: Module, dotted: str) -> str:
    """What a dotted name of a file is called where it comes from, `datetime.date`; empty if it is not imported."""
    head, _, rest = dotted.partition(".")
    for statement in module.bindings.get(head, ()):
        for node in ast.walk(statement):
            if isinstance(node, ast.ImportFrom | ast.Import):
                for alias in node.names:
                    if (alias.asname or alias.name.partition(".")[0]) == head:
                        source = getattr(node, "module", None)
                        # `import collections.abc` binds `collections`
                        plain = alias.name if alias.asname else head
                        start = f"{source}.{alias.name}" if source else plain
                        full = f"{start}.{rest}" if rest else start
                        return full.replace("typing_extensions.", "typing.").replace(
                            "collections.abc.", "typing."
                        )
    return ""


class _Expansion(ast.NodeTransformer):
    """Puts what an alias stands for in its place, and bare names of classes in the place of dotted ones. The first type
    variable without a bound is that of contracts; of a second nothing is known."""

    def __init__(
        self,
        tree: SourceTree,
        module: Module,
        classes: dict[str, Target],
        variables: list[Target],
        steps: int = 0,
    ) -> None:
        self._tree = tree
        self._module = module
        self._classes = classes
        self._variables = variables
        self._steps = steps

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return self.visit(parse_expression(node.value.strip()).body)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if full_name(self._module, ast.unparse(node.value)) == "typing.Literal":
            return ast.Subscript(ast.Name("Literal", ast.Load()), node.slice, ast.Load())
        if full_name(self._module, ast.unparse(node.value)) in {"typing.Annotated", "typing.Final"}:
            inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
            return self.visit(inner)
        return ast.Subscript(self.visit(node.value), self.visit(node.slice), ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        target = self._tree.resolve(self._module, node.value.id) if isinstance(node.value, ast.Name) else None
        if target is not None and not target.name:
            return self._meant(ast.Name(node.attr, ast.Load()), Target(target.module, node.attr))
        return self._library(node)

    def _library(self, node: ast.Name | ast.Attribute) -> ast.expr:
        """A name of the library as every other file would write it."""
        full = full_name(self._module, ast.unparse(node))
        if bare := bare_name(full):
            return ast.Name(bare, ast.Load())
        return parse_expression(full).body if full.startswith("typing.") else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        target = self._tree.resolve(self._module, node.id)
        return self._library(node) if target is None or not target.name else self._meant(node, target)

    def _meant(self, node: ast.Name, target: Target) -> ast.expr:
        statements = target.module.bindings.get(target.name, [])
        if len(statements) != 1:
            return node
        if isinstance(statements[0], ast.ClassDef):
            self._classes[target.name] = target
            return ast.Name(target.name, ast.Load())
        value = _value_of(statements[0], target.name)
        if not isinstance(value, ast.expr) or self._steps > _MOST_STEPS:
            return node
        if _is_of_any_type(value, target.module):
            self._variables += [] if self._variables else [target]
            return ast.Name(TYPE_VARIABLE if target in self._variables else "Any", ast.Load())
        inner = _meaning_of(value, target.module)
        if inner is None:
            return node
        steps = self._steps + 1
        return _Expansion(self._tree, target.module, self._classes, self._variables, steps).visit(inner)


def _value_of(statement: ast.stmt, name: str) -> ast.expr | None:
    """What a name is assigned in a statement, also within an `if`."""
    for node in ast.walk(statement):
        match node:
            case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == name:
                return value
            case ast.AnnAssign(target=ast.Name(id=bound), value=value) if bound == name:
                return value
            case _:
                pass
    return None


def _meaning_of(value: ast.expr, module: Module) -> ast.expr | None:
    """What an alias, a NewType or a type variable with a bound stands for; None if it is neither."""
    if not isinstance(value, ast.Call):
        return value if isinstance(value, ast.Subscript | ast.BinOp | ast.Name | ast.Attribute) else None
    called = full_name(module, ast.unparse(value.func))
    if called == "typing.NewType" and len(value.args) == 2:
        return value.args[1]
    if called == "typing.TypeVar":
        bound = next((k.value for k in value.keywords if k.arg == "bound"), None)
        return bound or (value.args[1] if len(value.args) > 1 else None)
    return None


def _is_of_any_type(value: ast.expr, module: Module) -> bool:
    """Whether a name is assigned a type variable that stands for any type."""
    is_variable = (
        isinstance(value, ast.Call) and full_name(module, ast.unparse(value.func)) == "typing.TypeVar"
    )
    return is_variable and _meaning_of(value, module) is None


def crossing(classes: Mapping[str, Target]) -> dict[str, ClassStatement]:
    """Those of some classes that can cross a boundary, and what they are made of."""
    found: dict[str, ClassStatement] = {}
    for name, target in classes.items():
        node = target.module.bindings[target.name][0]
        if isinstance(node, ast.ClassDef):
            with suppress(SourceError):
                top = read_top_level(target.module.tree, "")
                found[name] = read_class(ClassSource("", target.module.label, node, top))
    return found


def _narrowed(text: str, outside: Collection[str] = ()) -> str:
    """A type of a parameter by types of the boundary that it takes; as it is where there are none."""
    try:
        node = parse_expression(text).body
    except (SyntaxError, ValueError, RecursionError):
        return text
    parts = [_narrower(part) for part in union_parts(node)]
    usable = [
        part for part in parts if not type_problem(normal_or_same(part), taken=True) and part not in outside
    ]
    return " | ".join(dict.fromkeys(usable or parts))


def _lazy(text: str, *, taken: bool, bounded: bool, outside: Collection[str]) -> str:
    """A type with the iterable, iterator or callable that it is; empty if it is none, or has no bound."""
    try:
        parts = [*union_parts(parse_expression(text).body)]
    except (SyntaxError, ValueError, RecursionError):
        return ""
    found = [_lazy_part(part, taken=taken, bounded=bounded, outside=outside) for part in parts]
    return (
        " | ".join(lazy or ast.unparse(part) for lazy, part in zip(found, parts, strict=True))
        if any(found)
        else ""
    )


def _lazy_part(node: ast.expr, *, taken: bool, bounded: bool, outside: Collection[str]) -> str:
    if not isinstance(node, ast.Subscript):
        return ""
    base = _last(node.value)
    elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if base == CALLABLE and taken:
        return f"{CALLABLE}[{', '.join(map(ast.unparse, elements))}]"
    if not bounded:
        return ""
    if base == "Generator" and not taken and {*map(ast.unparse, elements[1:])} <= {"None"}:
        return f"Iterator[{ast.unparse(elements[0])}]"
    if base in ITERATORS and len(elements) == 1:
        inner = ast.unparse(elements[0])
        return f"{base}[{_narrowed(inner, outside) if taken else inner}]"
    return ""


def _narrower(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        base = _last(node.value)
        elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        inner = ", ".join(_narrowed(ast.unparse(element)) for element in elements)
        if base in _LISTS:
            return f"list[{inner}]"
        if base == "PathLike":
            return "Path"
        name = _NARROWER.get(base, base)
        return (
            f"{name}[{inner}]"
            if base in {*_NARROWER, *CONTAINERS, *TAKEN_CONTAINERS, "tuple"}
            else ast.unparse(node)
        )
    base = _last(node)
    return "list" if base in _LISTS else {**_NARROWER, **_OF_ANYTHING}.get(base, ast.unparse(node))


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _problem(text: str, *, taken: bool) -> str:
    if unknown := _ANY & set(_NAME.findall(text)):
        return f"`{unknown.pop()}` says nothing about the value"
    if lazy := [one for one in (*ITERATORS, CALLABLE) if re.search(rf"\b{one}\b", text)]:
        return f"`{lazy[0]}` stands for a whole parameter or result alone; take and return values"
    return type_problem(text, taken=taken, returned=not taken)


def imports_for(text: str, module: Module) -> tuple[str, list[str], str]:
    """How a type is written in a file of a module: its text, the imports that it needs, and what stands in the way."""
    imports: list[str] = []
    written = text
    for name, origin in BOUNDARY_IMPORTS.items():
        if not re.search(rf"\b{name}\b", text):
            continue
        if not module.at_runtime(name):
            imports.append(f"from {origin} import {name}")
        elif full_name(module, name) in {f"{origin}.{name}", f"typing.{name}"}:
            # what is cut out of the file may come without it
            imports.append(f"from {origin} import {name}")
        elif full_name(module, origin) == origin:
            written = re.sub(rf"\b{name}\b", f"{origin}.{name}", written)
        else:
            return text, [], f"`{name}` means something else in the file; import it from {origin}"
    if any(one in text for one in PATTERNS) or "re.compile(" in text:
        if not module.at_runtime("re"):
            imports.append("import re")
        elif full_name(module, "re") != "re":
            return text, [], "`re` means something else in the file; import the module"
    if re.search(rf"\b{TYPE_VARIABLE}\b", text):
        imports += ["from typing import TypeVar", f'{TYPE_VARIABLE} = TypeVar("{TYPE_VARIABLE}")']
    return written, imports, ""
