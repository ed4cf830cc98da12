"""Code and names that are made at run time, where no check of the source can see them (design: ship-gate).

`eval` and its kin, imports and attributes by a computed name, effects by a name in a text, modules handed around as
values, and the attributes that lead from a value to the machinery behind it. Refused in implementations and in tests
alike.
"""

import ast
from collections.abc import Callable, Iterator, Mapping

from ship_gate.source.loop_names import is_listed
from ship_gate.source.names import BUILTIN, Names, imported_modules
from ship_gate.static.effect_table import (
    DUNDERS,
    PATH_LOOKS,
    PATH_READS,
    PATH_WRITES,
    REFUSED_METHODS,
    Kind,
    kind_of,
)

_EFFECTS = (PATH_WRITES | PATH_READS | PATH_LOOKS | REFUSED_METHODS | {"open", "now", "utcnow"}) - {
    "replace",
    "group",
    "owner",
}
"""Methods that do something; reached by a name in a text, no check of effects would see them."""

DYNAMIC_ADVICE = "write the code out; a gate can only vouch for what it can read"
"""What to do about code made at run time."""


def dynamic_uses(tree: ast.Module, names: Names) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Code or names made at run time, modules as values, and ways behind a value: each place with what stands there."""
    modules = imported_modules(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom(level=0):
                yield from ((node, what) for what in _imported(node))
            case ast.MatchClass(cls=cls, kwd_attrs=attributes) if {*attributes} & (DUNDERS | _EFFECTS):
                yield cls, "a pattern that takes a method"
            case ast.expr():
                if what := _use(node, names, modules):
                    yield node, what
            case _:
                pass


def _use(node: ast.expr, names: Names, modules: set[str]) -> str:
    match node:
        case ast.Attribute(attr=attribute) if attribute in DUNDERS and not _is_own_field(node):
            return f".{attribute}"
        case ast.Attribute() | ast.Name():
            return _mention(node, names, modules)
        case ast.Call():
            return _by_name(node, names)
        case ast.Constant(value=str(text)) if _walks(text, names.parents.get(id(node))):
            return "a text that reads attributes, or is executed"
        case _:
            return ""


def _walks(text: str, above: ast.AST | None) -> bool:
    """Whether a text that is formatted, or annotates something, reaches behind a value or calls something."""
    if isinstance(above, ast.Attribute) and above.attr in {"format", "format_map"}:
        return "{" in text and any(f"{mark}{name}" in text for mark in ".[" for name in DUNDERS | {"_"})
    if isinstance(above, (ast.arg, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef)):
        return "(" in text or "__" in text
    return False


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    for alias in node.names:
        name = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
        if alias.name == "*":
            yield f"from {name.removesuffix('.*')} import *"
        elif kind_of(name) is Kind.DYNAMIC:
            yield f"import {name}"


def _mention(node: ast.Attribute | ast.Name, names: Names, modules: set[str]) -> str:
    dotted, parent = names.dotted(node), names.parents.get(id(node))
    if isinstance(parent, ast.Attribute) or not dotted or isinstance(node.ctx, ast.Store):
        return ""
    if kind_of(dotted) is Kind.DYNAMIC:
        return dotted.removeprefix(BUILTIN)
    return f"the module {dotted} as a value" if dotted in modules else ""


def _is_own_field(node: ast.Attribute) -> bool:
    # an instance's own fields, and its class's module in a representation
    return (
        node.attr in {"__dict__", "__module__"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _by_name(call: ast.Call, names: Names) -> str:
    dotted = names.dotted(call.func)
    check: Mapping[str, Callable[[ast.Call, Names], str]] = {
        "builtins.getattr": _attribute_by_name,
        "builtins.setattr": _attribute_by_name,
        "operator.attrgetter": _getter_by_name,
        "operator.methodcaller": _getter_by_name,
    }
    return check[dotted](call, names) if dotted in check else ""


def _attribute_by_name(call: ast.Call, names: Names) -> str:
    if len(call.args) < 2:
        return "getattr with unseen arguments"
    owner, name = call.args[:2]
    if isinstance(owner, ast.Name) and owner.id in {"self", "cls"} and not isinstance(name, ast.Constant):
        return ""
    is_seen = _is_harmless_name(name) or (
        isinstance(name, ast.Name) and is_listed(name, names, _is_constant_name)
    )
    return "" if is_seen else "an attribute by a name made at run time"


def _getter_by_name(call: ast.Call, _names: Names) -> str:
    return (
        ""
        if call.args and all(map(_is_harmless_name, call.args[:1]))
        else "an attribute by a name made at run time"
    )


def _is_constant_name(name: ast.expr) -> bool:
    return isinstance(name, ast.Constant) and _is_harmless_name(name)


def _is_harmless_name(name: ast.expr) -> bool:
    """Whether a name is seen, or begins visibly with something harmless, or is that of a field."""
    match name:
        case ast.Constant(value=str(text)):
            return bool(text) and not any(part in DUNDERS | _EFFECTS for part in text.split("."))
        case ast.JoinedStr(values=[first, *_]) | ast.BinOp(left=first, op=ast.Add()):
            return (
                _is_harmless_name(first)
                and isinstance(first, ast.Constant)
                and not str(first.value).startswith("_")
            )
        case ast.Attribute(attr="name"):
            return True
        case _:
            return False
