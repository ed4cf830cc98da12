"""An honest module for a contract, whatever it says: tests and examples show each statement of it.

The module looks its arguments up: each error surface has arguments that meet it, a few others a result of their own, and all
else the plain result. What a text says cannot be kept or broken by such a module; what names, types, defaults, classes and
surfaces ask for is kept.
"""

import ast
import builtins
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ship_gate.base.boundary_values import SCALARS
from ship_gate.contract.class_statement import ClassStatement
from ship_gate.contract.contract import ErrorSurface, MicroModuleContract, SurfaceKind
from ship_gate.contract.docstring import entry_points, error_fields, public_names, render_stub
from ship_gate.contract.obligations import obligations
from ship_gate.contract.rules import default_of, is_any_number, is_keyword_only, own_statements
from ship_gate.contract.types import union_parts
from ship_gate.verdict import Candidate

__all__ = ["NoCaseError", "honest_module"]

_FEW = 4
_DEEP = 4
_PLAIN = {
    **{row.name: tuple(map(row.shown, row.edge_cases())) for row in SCALARS},
    "complex": ("(1+2j)", "0j"),
    "bool": ("True", "False"),
    "int": ("7", "12", "0", "-3"),
    "float": ("1.5", "0.25", "-2.0"),
    "str": ("'ab'", "'cd ef'", "''", "'g'"),
    "bytes": ("b'ab'", "b'c'"),
    "dict": ("{'a': 1}", "{'b': [2]}"),
    "list": ("[1, 'b']", "[None]"),
    "None": ("None",),
    "T": ("7", "'ab'", "(1, 'b')", "None"),
}
_EMPTY = {"list": "[]", "set": "set()", "frozenset": "frozenset()", "dict": "{}", "Mapping": "{}"}
_HELD = {
    "set": "{{{0}}}",
    "frozenset": "frozenset({{{0}}})",
    "dict": "{{{0}: {1}}}",
    "Mapping": "{{{0}: {1}}}",
}


_COMPARISON = """def _is(given, wanted):
    try:
        return given == wanted
    except ArithmeticError:
        return False
"""


class NoCaseError(Exception):
    """There are fewer arguments than surfaces to meet, or no value of a type."""


class _Values:
    """Values of types, as Python expressions, the plainest first."""

    def __init__(self, known: Mapping[str, ClassStatement]) -> None:
        self._known = known

    def of(self, text: str, depth: int = 0) -> list[str]:
        """A few different values; none if there is none within the depth."""
        found: list[str] = []
        for part in map(ast.unparse, union_parts(ast.parse(text, mode="eval").body)):
            found += itertools.islice(self._of_part(part, depth), _FEW)
        return [*dict.fromkeys(found)]

    def _of_part(self, text: str, depth: int) -> Iterator[str]:
        if text in _PLAIN:
            yield from _PLAIN[text]
        elif text in self._known:
            yield from self._of_class(self._known[text], depth + 1) if depth < _DEEP else ()
        else:
            node = ast.parse(text, mode="eval").body
            assert isinstance(node, ast.Subscript), text
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            yield from self._of_container(ast.unparse(node.value), [*map(ast.unparse, parts)], depth + 1)

    def _of_container(self, base: str, parts: list[str], depth: int) -> Iterator[str]:
        if base == "Literal":
            yield from parts
        elif base == "tuple" and parts[-1:] == ["..."]:
            yield from (f"({one},)" for one in self.of(parts[0], depth))
            yield "()"
        elif base == "tuple":
            yield from self._rows([self.of(part, depth) for part in parts], "({0},)")
        else:
            held = itertools.product(*(self.of(part, depth) for part in parts))
            yield from (_HELD.get(base, "[{0}]").format(*row) for row in itertools.islice(held, _FEW - 1))
            yield _EMPTY.get(base, "[]")

    def _rows(self, held: list[list[str]], shape: str) -> Iterator[str]:
        """Rows that differ from the first in one place each."""
        if not all(held):
            return
        if not held:
            yield "()"
            return
        first = [one[0] for one in held]
        yield shape.format(", ".join(first))
        for place, values in enumerate(held):
            for value in values[1:]:
                yield shape.format(", ".join([*first[:place], value, *first[place + 1 :]]))

    def _of_class(self, statement: ClassStatement, depth: int) -> Iterator[str]:
        if statement.is_enum:
            yield from (f"{statement.name}.{field.name}" for field in statement.fields)
        elif statement.is_named_type:
            yield from self.of(statement.fields[0].type, depth)
        else:
            is_dict = statement.kind == "TypedDict"
            pair = "'{}': {}" if is_dict else "{}={}"
            held = [
                [pair.format(field.name, value) for value in self.of(field.type, depth)]
                for field in statement.fields
            ]
            yield from self._rows(held, "{{{0}}}" if is_dict else f"{statement.name}({{0}})")


class _Case(NamedTuple):
    """Arguments, and what comes of them: an error surface, or a result."""

    arguments: tuple[str, ...]
    error: int | None
    result: str


def honest_module(contract: MicroModuleContract) -> Candidate:
    """A candidate that keeps a contract without dependencies and effects.

    Raises:
        NoCaseError: no module could: too few different arguments, or no value of a type.
    """
    return _Honest(contract).candidate()


class _Honest:
    def __init__(self, contract: MicroModuleContract) -> None:
        self._contract = contract
        self._values = _Values(own_statements(contract))
        self._namespace: dict[str, Any] = {"__name__": __name__}
        exec(render_stub(contract), self._namespace)
        self._passed = [one for one in contract.inputs if not is_any_number(one)] or [*contract.inputs]
        self._cases = [*self._all_cases()]

    def _all_cases(self) -> Iterator[_Case]:
        """The plain case first; it leaves out what can be left out."""
        results = self._results()
        rows = self._arguments()
        plain = tuple(default_of(one) or self._first(one.type) for one in self._passed)
        taken = [self._evaluated(plain)]
        yield _Case(plain, None, results[0])

        def row() -> tuple[str, ...]:
            for found in rows:
                value = self._evaluated(found)
                if all(not _same(value, other) for other in taken):
                    taken.append(value)
                    return found
            raise NoCaseError(f"there are {len(taken)} different arguments")

        for place, error in enumerate(self._contract.error_surfaces):
            is_exception = error.surface is SurfaceKind.EXCEPTION
            yield _Case(row(), place, "" if is_exception else self._carrying(error))
        # what each default is can only be seen where another argument gives something else
        if len(results) > 1:
            for at in range(len(self._passed)):
                others = [v for v in self._values.of(self._passed[at].type) if v != plain[at]]
                for value in others[:1]:
                    changed = (*plain[:at], value, *plain[at + 1 :])
                    found = self._evaluated(changed)
                    if all(not _same(found, other) for other in taken):
                        taken.append(found)
                        yield _Case(changed, None, results[1])

    def _first(self, text: str) -> str:
        values = self._values.of(text)
        if not values:
            raise NoCaseError(f"no value of {text}")
        return values[0]

    def _arguments(self) -> Iterator[tuple[str, ...]]:
        return itertools.product(*(self._values.of(one.type) for one in self._passed))

    def _evaluated(self, row: tuple[str, ...]) -> Any:
        return [eval(text, self._namespace) for text in row]

    def _results(self) -> list[str]:
        """Results that differ in every output, as far as there are such."""
        held = [self._values.of(output.type) for output in self._contract.outputs]
        if not all(held):
            raise NoCaseError("no value of an output")
        if not held:
            return ["None"]
        rows = [[values[min(at, len(values) - 1)] for values in held] for at in range(2)]
        texts = [row[0] if len(row) == 1 else f"({', '.join(row)})" for row in rows]
        return [*dict.fromkeys(texts)]

    def _carrying(self, error: ErrorSurface) -> str:
        """A result that tells a code: a text, or a number, in the first output that can hold one."""
        row = [self._first(output.type) for output in self._contract.outputs]
        for at, output in enumerate(self._contract.outputs):
            for text in ("str", "int"):
                if (text == "str" or error.name.isdecimal()) and text in [
                    ast.unparse(p) for p in union_parts(ast.parse(output.type, mode="eval").body)
                ]:
                    row[at] = repr(error.name) if text == "str" else error.name
                    return row[0] if len(row) == 1 else f"({', '.join(row)})"
        raise NoCaseError(f"no output for {error.name}")

    def candidate(self) -> Candidate:
        """All files of it."""
        files = {
            "implementation/__init__.py": self._source(),
            f"tests/test_{self._contract.name}.py": self._tests(),
            "tests/obligations.json": json.dumps(self._claims()),
            "examples.md": self._examples(),
        }
        return Candidate(self._contract, {path: text.encode() for path, text in files.items()})

    def _source(self) -> str:
        names = ", ".join(one.name for one in self._passed)
        body: list[str] = []
        helpers: list[str] = []
        # a signalling NaN refuses to be compared
        compared = "_is({}, {})" if "Decimal" in render_stub(self._contract) else "{} == {}"
        raising = [case for case in self._cases if self._is_raised(case)]
        # with one result alone, what a default is can only be seen where everything else is refused
        is_strict = bool(raising) and len({case.result for case in self._cases if case.result}) == 1
        first = 0 if is_strict else 1
        for number, case in enumerate(self._cases[first:], first):
            if is_strict and case is raising[-1]:
                continue
            helpers.append(f"def _case_{number}():\n    return [{', '.join(self._as_held(case))}]\n")
            body.append(
                f"    if {compared.format(f'[{names}]', f'_case_{number}()')}:\n        {self._outcome(case)}"
            )
        helpers += [_COMPARISON] if body and compared.startswith("_") else []
        body.append(f"    {self._outcome(raising[-1] if is_strict else self._cases[0])}")
        source = render_stub(self._contract)
        main, *others = entry_points(self._contract)
        given = ", ".join(
            f"{'*' if is_any_number(one) else f'{one.name}=' if is_keyword_only(one) else ''}{one.name}"
            for one in self._contract.inputs
        )
        missing = "    raise NotImplementedError\n"
        assert source.count(missing) == 1 + len(others)
        source = source.replace(missing, "\n".join(body) + "\n", 1)
        source = source.replace(missing, f"    return {main.name}({given})\n", 1)
        return source + "".join(f"\n\n{text}" for text in helpers)

    def _as_held(self, case: _Case) -> Iterator[str]:
        """Arguments as the function holds them."""
        for one, text in zip(self._passed, case.arguments, strict=True):
            yield f"({text},)" if is_any_number(one) else text

    def _outcome(self, case: _Case) -> str:
        if case.error is None or case.result:
            return f"return {case.result}"
        error = self._contract.error_surfaces[case.error]
        fields = "".join(f", {name}={value}" for name, value in self._fields(error).items())
        return f"raise {error.name}({self._message(case)!r}{fields})"

    def _fields(self, error: ErrorSurface) -> dict[str, str]:
        return {one.name: self._first(one.type) for one in error_fields(self._contract).get(error.name, [])}

    @staticmethod
    def _message(case: _Case) -> str:
        return f"it meets surface {case.error}"

    def _call(self, case: _Case, entry: str, *, plain: bool) -> str:
        texts: list[str] = []
        for one, text in zip(self._passed, case.arguments, strict=True):
            if not (plain and default_of(one) is not None):
                texts.append(text if is_any_number(one) else f"{one.name}={text}")
        return f"{entry}({', '.join(texts)})"

    def _calls(self, number: int) -> list[str]:
        case = self._cases[number]
        calls = [
            (self._call(case, entry.name, plain=number == 0), entry.is_async)
            for entry in entry_points(self._contract)
        ]
        return [f"asyncio.run({call})" if is_async else call for call, is_async in calls]

    def _imports(self) -> str:
        names = ", ".join(public_names(self._contract))
        stub = render_stub(self._contract)
        kept = [
            line
            for line in stub.split("\n")
            if line.startswith(("import ", "from ")) and "__future__" not in line and "from .." not in line
        ]
        own = f"from modules.{self._contract.name} import {names}"
        awaited = ["import asyncio"] if any(one.is_async for one in entry_points(self._contract)) else []
        return "\n".join([*awaited, *kept, own])

    def _tests(self) -> str:
        blocks = [self._imports()]
        for number, case in enumerate(self._cases):
            calls = self._calls(number)
            if case.error is None or case.result:
                lines = [
                    f"    assert {call} {'is' if case.result == 'None' else '=='} {case.result}"
                    for call in calls
                ]
            else:
                lines = [*self._refused(case, calls)]
            blocks.append(f"def test_case_{number}():\n" + "\n".join(lines))
        if any(self._is_raised(case) for case in self._cases):
            blocks[0] = f"import pytest\n{blocks[0]}"
        return "\n\n\n".join(blocks) + "\n"

    def _is_raised(self, case: _Case) -> bool:
        return case.error is not None and not case.result

    def _refused(self, case: _Case, calls: list[str]) -> Iterator[str]:
        error = self._contract.error_surfaces[case.error or 0]
        for call in calls:
            yield f"    with pytest.raises({error.name}) as caught:\n        {call}"
            yield f"    assert caught.value.args == ({self._message(case)!r},)"
            for name, value in self._fields(error).items():
                yield f"    assert caught.value.{name} == {value}"

    def _claims(self) -> dict[str, list[str]]:
        claims: dict[str, list[str]] = {f"test_case_{number}": [] for number in range(len(self._cases))}
        by_error = {case.error: f"test_case_{number}" for number, case in enumerate(self._cases)}
        for one in obligations(self._contract):
            parts = one.pointer.split("/")
            at = int(parts[2]) if parts[1:2] == ["error_surfaces"] else None
            claims[by_error[at] if at is not None else "test_case_0"].append(one.pointer)
        return claims

    def _examples(self) -> str:
        blocks: list[str] = []
        for number, case in enumerate(self._cases):
            for call in self._calls(number) if number == 0 or case.error is not None else []:
                if self._is_raised(case):
                    error = self._contract.error_surfaces[case.error or 0]
                    is_quoted = issubclass(
                        self._namespace.get(error.name, getattr(builtins, error.name, str)), KeyError
                    )
                    outcome = (
                        f"{error.name}: {self._message(case)!r}"
                        if is_quoted
                        else f"{error.name}: {self._message(case)}"
                    )
                else:
                    outcome = repr(eval(case.result, self._namespace))
                blocks.append(
                    f"## Example {len(blocks) + 1}\n\nThis is what comes out.\n\n"
                    f"```python\n{self._imports()}\n\n{call}\n```\n\n```text\n{outcome}\n```\n"
                )
        return "\n".join(blocks)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other)
