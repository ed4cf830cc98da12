"""JSON Schemas of a contract's types, as the shell of a product reads and writes their values (design: shell).

One schema holds for both directions: what the shell prints it can read again.
"""

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from specwright.domain.contract.boundary.annotations import union_parts
from specwright.domain.contract.boundary.class_statement import Field
from specwright.domain.interfaces.functions import StatedClass
from specwright.syntax_tree import parse_expression

Schema = dict[str, Any]

_SCALARS: Mapping[str, Schema] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "None": {"type": "null"},
    "Decimal": {"type": ["string", "number"]},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "time": {"type": "string", "format": "time"},
    "timedelta": {"type": ["number", "string"], "description": "Seconds, or a span such as 1h30m."},
    "UUID": {"type": "string", "format": "uuid"},
    **{
        name: {"type": "string"}
        for name in (
            "Path",
            "Fraction",
            "ZoneInfo",
            "IPv4Address",
            "IPv6Address",
            "IPv4Network",
            "IPv6Network",
        )
    },
    "bytes": {"type": "string", "contentEncoding": "base64"},
    "dict": {"type": "object"},
    "list": {"type": "array"},
}


class Schemas:
    """Schemas that refer to those of classes.

    Args:
        root: Of the references, `#/$defs/`.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self.classes: dict[str, Schema] = {}

    def of_type(self, text: str, classes: Mapping[str, StatedClass]) -> Schema:
        """The schema of a type; those of the classes that it names are kept in `classes`.

        Args:
            text: The type.
            classes: Those that it names, directly or not.
        """
        return self._of_node(parse_expression(text).body, classes)

    def object_of(
        self, members: Iterable[tuple[str, str]], needed: Iterable[str], classes: Mapping[str, StatedClass]
    ) -> Schema:
        """The schema of an object by its members, each a name and a type."""
        properties = {name: self.of_type(kind, classes) for name, kind in members}
        required = list(needed)
        return {
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    def _of_node(self, node: ast.expr, classes: Mapping[str, StatedClass]) -> Schema:
        parts = list(union_parts(node))
        if len(parts) > 1:
            return {"anyOf": [self._of_node(part, classes) for part in parts]}
        if isinstance(node, ast.Subscript):
            return self._of_container(node, classes)
        name = ast.unparse(node)
        if name in _SCALARS:
            return dict(_SCALARS[name])
        return self._of_class(name, classes)

    def _of_container(self, node: ast.Subscript, classes: Mapping[str, StatedClass]) -> Schema:
        base = ast.unparse(node.value)
        elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        match base:
            case "Literal":
                return {"enum": [ast.literal_eval(one) for one in elements]}
            case "dict" | "Mapping":
                return {"type": "object", "additionalProperties": self._of_node(elements[1], classes)}
            case "tuple" if ast.unparse(elements[-1]) != "...":
                parts = [self._of_node(one, classes) for one in elements]
                return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
            case "list" | "tuple" | "set" | "frozenset":
                return {"type": "array", "items": self._of_node(elements[0], classes)}
            case "Sequence" | "Collection" | "Iterable" | "Iterator":
                return {"type": "array", "items": self._of_node(elements[0], classes)}
            case _:
                return {}

    def _of_class(self, name: str, classes: Mapping[str, StatedClass]) -> Schema:
        if name not in classes:
            return {}
        if name not in self.classes:
            self.classes[name] = {}  # so that a class may name itself
            statement = classes[name].statement
            if statement.is_enum:
                self.classes[name] = {"enum": _members(statement.fields)}
            elif statement.is_named_type:
                self.classes[name] = self.of_type(statement.fields[0].type, classes)
            else:
                members = [(field.name, field.type) for field in statement.fields]
                needed = [field.name for field in statement.fields if not field.default]
                self.classes[name] = self.object_of(members, needed, classes)
        return {"$ref": f"{self._root}{name}"}


def _members(fields: Iterable[Field]) -> list[Any]:
    """What stands for a member of an Enum: its value, and its name where that is what is printed."""
    values = [(field.name, ast.literal_eval(field.default)) for field in fields]
    return [*(value for _, value in values), *(name for name, value in values if not isinstance(value, str))]
