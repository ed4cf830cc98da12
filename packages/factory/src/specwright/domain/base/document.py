"""The base class of the documents that commands print with `--json` (design: command-line)."""

from typing import Any, ClassVar

from pydantic import ConfigDict, SerializerFunctionWrapHandler, model_serializer

from ship_gate.base.record import Record


class Part(Record):
    """A part of a document. Its JSON leaves out a field whose default is None and that was not set."""

    @model_serializer(mode="wrap")
    def _without_unset(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = whole(self)
        return {
            name: value for name, value in data.items() if value is not None or name in self.model_fields_set
        }


class Document(Part):
    """A document. `class Stop(Document, schema="stop")` names its published schema.

    Within a schema version, keys may be added but never renamed or removed. Readers must ignore unknown keys.
    """

    model_config = ConfigDict(defer_build=True)

    schema_name: ClassVar[str]

    def __init_subclass__(cls, schema: str = "", **config: Any) -> None:
        super().__init_subclass__(**config)
        if schema:
            cls.schema_name = schema
