"""What the validator that is not used in production says of a document: the second opinion."""

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema import ValidationError as PythonError
from referencing import Registry, Resource

from agent_wire import tables

__all__ = ["second_errors", "second_opinion"]


def second_opinion(schema_name: str, document: Any) -> set[tuple[str, str]]:
    """Every fault as (JSON pointer, keyword)."""
    return {
        ("".join(f"/{part}" for part in error.absolute_path), _keyword(error))
        for error in second_errors(schema_name, document)
    }


def second_errors(schema_name: str, document: Any) -> list[PythonError]:
    """Every fault as jsonschema tells it."""
    return list(_validator(schema_name).iter_errors(document))


@cache
def _validator(schema_name: str) -> Draft202012Validator:
    registry = Registry().with_resources(
        (str(schema["$id"]), Resource.from_contents(schema)) for schema in tables.schemas().values()
    )
    return Draft202012Validator(tables.schemas()[schema_name], registry=registry)


def _keyword(error: PythonError) -> str:
    """The keyword that failed; both validators name a bad key by the keyword around it."""
    return "propertyNames" if "propertyNames" in error.absolute_schema_path else str(error.validator)
