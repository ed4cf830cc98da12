"""Faults of approved examples and properties that need no code to be found (design: executable-spec).

Each message names the fault once, with the corrected text where it follows from what is there.
"""

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from specwright.domain.acceptance.records import (
    AcceptanceExample,
    AcceptanceProperty,
    PublicName,
    signature_of,
)

_LATER = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions that need not evaluate all of their parts."""


class Code(NamedTuple):
    """The code of an example or a property.

    Args:
        statements: Without imports.
        calls: Of the product's functions in them, by their public names.
    """

    statements: Sequence[ast.stmt]
    calls: Sequence[tuple[str, ast.Call]]

    @property
    def last(self) -> ast.expr:
        """The expression that is looked at."""
        last = self.statements[-1]
        assert isinstance(last, ast.Expr)  # `records.Code` ends in one
        return last.value


def error_in(gives: str) -> str:
    """`ValueError` of `ValueError: how its message begins`; empty of a value."""
    name, colon, _ = gives.partition(":")
    return name if colon and name.isidentifier() else ""


def arguments(public: PublicName, call: ast.Call) -> Mapping[str, Any] | None:
    """What a call gives each parameter of a public function, defaults among them; None if that cannot be seen.

    Raises:
        TypeError: its parameters do not take that.
    """
    signature, keywords = signature_of(public), {one.arg: one.value for one in call.keywords}
    if signature is None or None in keywords or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    defaults = {
        name: ast.parse(one.default, mode="eval").body
        for name, one in signature.parameters.items()
        if one.default is not inspect.Parameter.empty
    }
    return {
        **defaults,
        **signature.bind(*call.args, **{str(key): one for key, one in keywords.items()}).arguments,
    }


def _given(name: str, call: ast.Call, stated: Mapping[str, PublicName]) -> Mapping[str, Any] | None:
    with suppress(TypeError):  # such a call is a fault of its own
        return arguments(stated.get(name, name), call)
    return None


def same_call(code: Code, stated: Mapping[str, PublicName]) -> str:
    """What identifies the code of an example: of one call, its function and arguments, however they are given."""
    for name, call in code.calls if len(code.statements) == 1 else ():
        if code.last is call and (given := _given(name, call, stated)) is not None:
            return f"{name}({', '.join(f'{key}={_dumped(given[key])}' for key in sorted(given))})"
    return ast.dump(ast.Module([*code.statements], []))


def _dumped(value: Any) -> str:
    return ast.dump(value) if isinstance(value, ast.AST) else str([*map(_dumped, value or ())])


def contradict(one: str, other: str) -> bool:
    """Whether two outcomes of the same code cannot both be right; one message may say more than the other."""
    if error_in(one) and error_in(one) == error_in(other):
        return not (one.startswith(other) or other.startswith(one))
    return one != other


def property_problems(
    item: AcceptanceProperty,
    code: Code,
    examples: Sequence[tuple[AcceptanceExample, Code]],
    stated: Mapping[str, PublicName],
    declared: Sequence[str],
) -> Iterator[str]:
    """What is wrong with a property.

    Args:
        item: It.
        code: Of it.
        examples: That are approved with it.
        stated: The public functions, by name.
        declared: The errors that its task declares.
    """
    last, own = code.last, {id(call) for _, call in code.calls}
    parts = last.values if isinstance(last, ast.BoolOp) and isinstance(last.op, ast.Or) else [last]
    calling = [part for part in parts if own & set(map(id, ast.walk(part)))]
    excluding = [part for part in parts if part not in calling]
    is_late = calling and excluding and parts.index(calling[0]) < parts.index(excluding[-1])
    if is_late and declared and not item.errors:
        yield (
            f"the call comes before what excludes values, and may raise {' or '.join(declared)} for them; put the exclusion "
            f"first: `{' or '.join(_source(item, part) for part in (*excluding, *calling))}`"
        )
    elif parts[0] in calling and not item.errors:
        yield from _undeclared_error(item, code, parts[0], examples, stated)


def _undeclared_error(
    item: AcceptanceProperty,
    code: Code,
    first: ast.expr,
    examples: Sequence[tuple[AcceptanceExample, Code]],
    stated: Mapping[str, PublicName],
) -> Iterator[str]:
    """Examples that show an error for values which the property neither excludes nor expects to raise it."""
    always = {id(one) for one in _always(first)} if len(code.statements) == 1 else set[int]()
    wanted = [(name, _given(name, call, stated)) for name, call in code.calls if id(call) in always]
    for example, shown in examples:
        error = error_in(example.gives)
        for of, call in shown.calls if error and len(shown.statements) == 1 else ():
            given = _given(of, call, stated) if call is shown.last else None
            for own in (own for name, own in wanted if name == of and own and given):
                if _values(item, own, given or {}):
                    yield (
                        f"the example {example.title!r} of such a call gives {error}; exclude such values first, or add "
                        f'`"errors": ["{error}"]`'
                    )


def _source(item: AcceptanceProperty, part: ast.expr) -> str:
    """What stands in the code of a property; the tree is not written out, since it may nest too deeply."""
    text = ast.get_source_segment(item.code, part) or ""
    return f"({text})" if isinstance(part, ast.IfExp | ast.Lambda | ast.NamedExpr) else text


def _always(part: ast.AST) -> list[ast.AST]:
    """The nodes that are evaluated whenever an expression is."""
    nodes = [part]
    for node in nodes:
        nodes += () if isinstance(node, _LATER) else ast.iter_child_nodes(node)
    return nodes


def _values(
    item: AcceptanceProperty, wanted: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, ast.expr]:
    """The values of the variables for which a call of a property is that of an example; empty if there are none."""
    values: dict[str, ast.expr] = {}
    for key in {**wanted, **given}:
        own, shown = wanted.get(key), given.get(key)
        if isinstance(own, ast.Name) and own.id in item.variables and isinstance(shown, ast.expr):
            own = values.setdefault(own.id, shown)
        if _dumped(own) != _dumped(shown):
            return {}
    return values
