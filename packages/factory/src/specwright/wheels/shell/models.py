"""What servers take and answer, as Pydantic models made from the types of a contract.

FastAPI and the MCP SDK describe and check values by these. Values have the JSON that `results` prints, in both directions.
"""

import base64
import contextlib
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path
from typing import Annotated, Any, ForwardRef, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    RootModel,
    WithJsonSchema,
    create_model,
)

from .scalars import SCALARS, ValueProblem, word_of
from .types import Types, member_word

__all__ = ["Models", "given", "value_problem"]

_SHOWN = 5


def _span(data: Any) -> Any:
    with contextlib.suppress(ValueProblem):
        return word_of("timedelta", data)
    return float(data) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", data) else data


def _bytes(data: Any) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (TypeError, ValueError) as error:
        raise ValueError("it is not base64") from error


def _word(kind: str, data: Any) -> Any:
    if not isinstance(data, str):
        raise ValueError(f"it is not {SCALARS[kind][1]}")  # noqa: TRY004 - Pydantic takes this for a wrong value
    return word_of(kind, data)


_NAMES: dict[str, Any] = {
    **{
        name: Annotated[Any, PlainValidator(partial(_word, name)), WithJsonSchema({"type": "string"})]
        for name in SCALARS
    },
    **{one.__name__: one for one in (str, int, float, bool, dict, list, tuple, set, frozenset)},
    **{one.__name__: one for one in (Decimal, UUID, Path, date, datetime, time)},
    **{one.__name__: one for one in (IPv4Address, IPv4Network, IPv6Address, IPv6Network)},
    **dict.fromkeys(("Sequence", "Collection", "Iterable", "Iterator"), list),
    "Mapping": dict,
    "Literal": Literal,
    "Pattern": re.Pattern,
    "bytes": Annotated[
        bytes, BeforeValidator(_bytes), WithJsonSchema({"type": "string", "contentEncoding": "base64"})
    ],
    "timedelta": Annotated[
        timedelta,
        BeforeValidator(lambda data: _span(data) if isinstance(data, str) else data),
        WithJsonSchema({"type": ["number", "string"], "description": "Seconds, or a span such as 1h30m."}),
    ],
}
"""What stands for the names in a type; a text for one that Pydantic does not know. Whatever can be iterated is read before a
call."""


class _Object(BaseModel):
    model_config = ConfigDict(extra="forbid", protected_namespaces=())


def given(model: BaseModel) -> dict[str, Any]:
    """The values that somebody wrote, by name; what was left out has the default of the function or class."""
    fields = type(model).model_fields.items()
    return {str(one.alias): getattr(model, name) for name, one in fields if name in model.model_fields_set}


class Models:
    """The models of a function.

    Args:
        types: Those that it names.
        classes: What the document says of its classes.
    """

    def __init__(self, types: Types, classes: Mapping[str, Any]) -> None:
        # another name than that of its model, which Pydantic would take for the class within it
        self._known: dict[str, Any] = {name: ForwardRef(f"{name}__") for name in classes}
        self._classes: dict[str, Any] = {}
        objects: list[type[BaseModel]] = []
        for name, stated in classes.items():
            if stated["kind"] == "type":
                root = (self.type_of(stated["fields"][0][1]), ...)
                objects.append(create_model(name, __base__=RootModel, __module__="builtins", root=root))
                self._classes[f"{name}__"] = Annotated[objects[-1], AfterValidator(lambda model: model.root)]
            elif stated["kind"].endswith("Enum"):
                self._classes[f"{name}__"] = _enum(types.class_of(name))
            else:
                fields = [(field, kind, needed, "") for field, kind, needed in stated["fields"]]
                objects.append(self._object(name, fields))
                self._classes[f"{name}__"] = Annotated[
                    objects[-1], AfterValidator(partial(_instance, types.class_of(name)))
                ]
        for one in objects:
            one.model_rebuild(_types_namespace=self._classes)

    def type_of(self, text: str) -> Any:
        """The type that a text stands for; what JSON has no form for may be anything."""
        unknown = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text), Any)
        return eval(text, {"__builtins__": {}}, {**unknown, **_NAMES, "None": None, **self._known})  # noqa: S307

    def object_of(self, name: str, fields: Sequence[tuple[str, str, bool, str]]) -> type[BaseModel]:
        """A model of an object.

        Args:
            name: Of the model.
            fields: The name, the type, whether it is needed, and the description of each.
        """
        model = self._object(name, fields)
        model.model_rebuild(_types_namespace=self._classes)
        return model

    def _object(self, name: str, fields: Sequence[tuple[str, str, bool, str]]) -> type[BaseModel]:
        definitions: dict[str, Any] = {}
        for field, kind, needed, description in fields:
            about = Field(
                ... if needed else None,
                alias=field,
                title=field,
                description=description or None,
                json_schema_extra=None if needed else _without_default,
            )
            # with an end that no attribute of a model has
            definitions[f"{field}__"] = (self.type_of(kind), about)
        return create_model(name, __base__=_Object, __module__="builtins", **definitions)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def _instance(kind: Any, model: BaseModel) -> Any:
    """A value of a class, which may check its fields."""
    try:
        return kind(**given(model))
    except Exception as error:  # whatever the product's own check raises
        raise ValueError(f"this is no {kind.__name__}: {type(error).__name__}: {error}") from error


def _enum(kind: type[Enum]) -> Any:
    values = [one.value for one in kind]
    written = [*values, *(one.name for one in kind if not isinstance(one.value, str))]
    return Annotated[Any, PlainValidator(partial(_member, kind)), WithJsonSchema({"enum": written})]


def _member(kind: type[Enum], data: Any) -> Enum:
    for one in kind:
        if data == member_word(one) or (type(data) is type(one.value) and data == one.value):
            return one
    raise ValueError(f"it is none of {', '.join(map(member_word, kind))}")


def value_problem(errors: Sequence[Any]) -> str:
    """What is wrong with values, from the errors of Pydantic: where, and what."""
    told = [f"{'.'.join(map(str, one['loc'])) or 'the arguments'}: {one['msg']}" for one in errors[:_SHOWN]]
    return "; ".join(told)
