"""Values of a product's types, read from words and from documents such as JSON and TOML.

A type is its text in a contract. The classes that it names come from the module of the function that takes them.
"""

import ast
import base64
import datetime
import functools
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, NoReturn, cast

from .scalars import SCALARS, ValueProblem, word_of

__all__ = ["Types", "alternatives", "element", "is_optional", "member_word", "read_json"]

_ARRAYS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    **dict.fromkeys(("Sequence", "Collection", "Iterable", "Iterator"), list),
}


@functools.cache
def _parse(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def alternatives(text: str) -> list[str]:
    """The types of which a value may be: those of a union, or the type itself."""
    return [ast.unparse(part) for part in _parts(_parse(text))]


def _parts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [*_parts(node.left), *_parts(node.right)]
    return [node]


def is_optional(text: str) -> bool:
    """Whether None is one of the values."""
    return "None" in alternatives(text)


def element(text: str) -> str:
    """The type of the elements of an array such as `list[str]`; empty if it is none."""
    for part in map(_parse, alternatives(text)):
        if isinstance(part, ast.Subscript) and ast.unparse(part.value) in _ARRAYS:
            return ast.unparse(_elements(part)[0])
    return ""


def _elements(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


class Types:
    """The types that a function names.

    Args:
        package: Of the product.
        classes: Each class with its module, its kind and its fields.
    """

    def __init__(self, package: str, classes: Mapping[str, Any]) -> None:
        self._package = package
        self._classes = classes

    def class_of(self, name: str) -> Any:
        """A class of the product."""
        return getattr(importlib.import_module(f"{self._package}.{self._classes[name]['module']}"), name)

    def choices(self, text: str) -> list[str]:
        """The words that a value can be, where there are few; else none."""
        for part in map(_parse, alternatives(text)):
            if isinstance(part, ast.Subscript) and ast.unparse(part.value) == "Literal":
                return [_literal_word(ast.literal_eval(one)) for one in _elements(part)]
            if isinstance(part, ast.Name) and self._is_enum(part.id):
                return [member_word(one) for one in self.class_of(part.id)]
            if isinstance(part, ast.Subscript) and ast.unparse(part.value) in _ARRAYS:
                return self.choices(element(text))
        return []

    def _is_enum(self, name: str) -> bool:
        return name in self._classes and self._classes[name]["kind"].endswith("Enum")

    def from_word(self, text: str, word: str) -> Any:
        """The value of one word.

        Raises:
            ValueProblem: it is none of the type.
        """
        if choices := self.choices(text):
            return self._chosen(text, word, choices)
        kinds = [kind for kind in alternatives(text) if kind in SCALARS]
        return word_of(kinds[0], word)

    def _chosen(self, text: str, word: str, choices: Sequence[str]) -> Any:
        if word not in choices:
            raise ValueProblem(f"{word!r} is none of {', '.join(choices)}")
        for part in map(_parse, alternatives(text)):
            if isinstance(part, ast.Subscript):
                return next(
                    value for one in _elements(part) if _literal_word(value := ast.literal_eval(one)) == word
                )
            if isinstance(part, ast.Name) and self._is_enum(part.id):
                return next(one for one in self.class_of(part.id) if member_word(one) == word)
        raise AssertionError(text)

    def from_words(self, text: str, words: Sequence[str]) -> Any:
        """An array of words."""
        kind = element(text)
        return _array(text)([self.from_word(kind, word) for word in words])

    def from_data(self, text: str, data: Any, place: str = "") -> Any:
        """The value of a document.

        Args:
            text: The type.
            data: As a parser of JSON or TOML gives it, with decimal numbers.
            place: Of the data, such as `limits.timeout`.

        Raises:
            ValueProblem: it is none of the type; it says where.
        """
        return self._read(_parse(text), data, place)

    def _read(self, node: ast.expr, data: Any, place: str) -> Any:
        match node:
            case ast.BinOp():
                return self._any_of(node, data, place)
            case ast.Constant():
                return None if data is None else _refuse(data, "null", place)
            case ast.Name(id=name) if name in self._classes:
                return self._of_class(name, data, place)
            case ast.Name(id=name):
                return _scalar(name, data, place)
            case ast.Subscript():
                return self._of_container(node, data, place)
            case _:
                raise AssertionError(ast.unparse(node))

    def _any_of(self, node: ast.BinOp, data: Any, place: str) -> Any:
        problems: list[ValueProblem] = []
        for part in _parts(node):
            try:
                return self._read(part, data, place)
            except ValueProblem as problem:
                problems.append(problem)
        if len(problems) == 2 and is_optional(ast.unparse(node)):
            raise problems[0] if ast.unparse(_parts(node)[1]) == "None" else problems[1]
        return _refuse(data, ast.unparse(node), place)

    def _of_container(self, node: ast.Subscript, data: Any, place: str) -> Any:
        base, elements = ast.unparse(node.value), _elements(node)
        if base == "Literal":
            values = [ast.literal_eval(one) for one in elements]
            found = [one for one in values if one == data and isinstance(one, bool) == isinstance(data, bool)]
            return found[0] if found else _refuse(data, f"one of {', '.join(map(repr, values))}", place)
        if base in ("dict", "Mapping"):
            return self._of_object(elements, data, place)
        if not isinstance(data, list):
            return _refuse(data, "an array", place)
        items = cast("Sequence[Any]", data)
        if base == "tuple" and not _is_endless(elements):
            if len(items) != len(elements):
                return _refuse(data, f"an array of {len(elements)}", place)
            pairs = enumerate(zip(elements, items, strict=True))
            return tuple(self._read(kind, one, f"{place}[{at}]") for at, (kind, one) in pairs)
        return _ARRAYS[base]([self._read(elements[0], one, f"{place}[{at}]") for at, one in enumerate(items)])

    def _of_object(self, elements: Sequence[ast.expr], data: Any, place: str) -> dict[Any, Any]:
        if not isinstance(data, dict):
            return _refuse(data, "an object", place)
        key, value = elements
        return {
            self._key(key, name, place): self._read(value, one, _below(place, name))
            for name, one in cast("dict[str, Any]", data).items()
        }

    def _key(self, node: ast.expr, name: str, place: str) -> Any:
        try:
            return self.from_word(ast.unparse(node), name)
        except (ValueProblem, IndexError) as problem:
            raise ValueProblem(
                f"{place or 'the object'}: the key {name!r} is not {ast.unparse(node)}"
            ) from problem

    def _of_class(self, name: str, data: Any, place: str) -> Any:
        stated = self._classes[name]
        if stated["kind"] == "type":
            return self._read(_parse(stated["fields"][0][1]), data, place)
        kind = self.class_of(name)
        if self._is_enum(name):
            for member in kind:
                # the word is what is printed of it
                if data == member_word(member) or (type(data) is type(member.value) and data == member.value):
                    return member
            return _refuse(data, f"one of {', '.join(repr(one.value) for one in kind)}", place)
        if not isinstance(data, dict):
            return _refuse(data, "an object", place)
        fields = {field: (text, needed) for field, text, needed in stated["fields"]}
        values = cast("dict[str, Any]", data)
        for key in values:
            if key not in fields:
                raise ValueProblem(
                    f"{_below(place, key)}: there is no such key; known are {', '.join(fields)}"
                )
        for field, (_, needed) in fields.items():
            if needed and field not in values:
                raise ValueProblem(f"{_below(place, field)}: it is missing")
        read = {
            field: self._read(_parse(fields[field][0]), one, _below(place, field))
            for field, one in values.items()
        }
        return read if stated["kind"] == "TypedDict" else _instance(kind, read, place)


def _instance(kind: Any, fields: dict[str, Any], place: str) -> Any:
    """A value of a class, which may check its fields."""
    try:
        return kind(**fields)
    except Exception as error:  # whatever the product's own check raises
        what = f"this is no {kind.__name__}: {type(error).__name__}: {error}"
        raise ValueProblem(f"{place or 'the document'}: {what}") from error


def member_word(member: Enum) -> str:
    """The word of a member of an Enum: its value if that is a text, else its name."""
    return member.value if isinstance(member.value, str) else member.name


def _literal_word(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def _array(text: str) -> Callable[[list[Any]], Any]:
    bases = [part for part in map(_parse, alternatives(text)) if isinstance(part, ast.Subscript)]
    return _ARRAYS[ast.unparse(bases[0].value)]


def _is_endless(elements: Sequence[ast.expr]) -> bool:
    return len(elements) == 2 and isinstance(elements[1], ast.Constant) and elements[1].value is ...


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _refuse(data: Any, wanted: str, place: str) -> NoReturn:
    shown = repr(data)
    raise ValueProblem(
        f"{place or 'the document'}: expected {wanted}, found {shown if len(shown) <= 60 else shown[:57] + '...'}"
    )


def _scalar(name: str, data: Any, place: str) -> Any:
    if name in ("dict", "list"):
        wanted = dict if name == "dict" else list
        return _bare(data) if isinstance(data, wanted) else _refuse(data, name, place)
    is_number = isinstance(data, int | Decimal) and not isinstance(data, bool)
    match name:
        case "bool" if isinstance(data, bool):
            return data
        case "int" if is_number and isinstance(data, int):
            return data
        case "float" if is_number:
            return _float(data, place)
        case "timedelta" if is_number:
            return _seconds(data, place)
        case "Decimal" if is_number:
            return Decimal(data)
        case "str" if isinstance(data, str):
            return data
        case "bytes" if isinstance(data, str):
            return _bytes(data, place)
        case "bool" | "int" | "float" | "str" | "bytes":
            return _refuse(data, {"bytes": "base64"}.get(name, SCALARS.get(name, ("", ""))[1]), place)
        case _:
            return _from_text(name, data, place)


def _from_text(name: str, data: Any, place: str) -> Any:
    if type(data).__name__ == name:  # TOML has dates and times of its own
        return data
    if name not in SCALARS or not isinstance(data, str):
        return _refuse(data, SCALARS.get(name, ("", name))[1], place)
    try:
        return word_of(name, data)
    except ValueProblem as problem:
        raise ValueProblem(f"{place or 'the document'}: {problem}") from problem


def _float(data: int | Decimal, place: str) -> float:
    try:
        return float(data)
    except OverflowError:
        return _refuse(data, f"{SCALARS['float'][1]} that a float can hold", place)


def _seconds(data: int | Decimal, place: str) -> datetime.timedelta:
    try:
        return datetime.timedelta(seconds=float(data))
    except (OverflowError, ValueError):
        return _refuse(data, SCALARS["timedelta"][1], place)


def _bytes(data: str, place: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        return _refuse(data, "base64", place)


def _bare(data: Any) -> Any:
    """JSON as Python reads it: numbers with a point are floats."""
    match data:
        case dict():
            return {name: _bare(one) for name, one in cast("dict[str, Any]", data).items()}
        case list():
            return [_bare(one) for one in cast("Sequence[Any]", data)]
        case Decimal():
            return float(data)
        case _:
            return data


def read_json(text: str) -> Any:
    """A JSON document; numbers with a point are Decimals.

    Raises:
        ValueError: it is none, or an object has a key twice.
    """
    return json.loads(text, parse_float=Decimal, parse_constant=_no_number, object_pairs_hook=_unique_keys)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object has the key {next(n for n in names if names.count(n) > 1)!r} twice")
    return found
