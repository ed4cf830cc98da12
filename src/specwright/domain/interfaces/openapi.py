"""The OpenAPI document of an HTTP API, rendered from contracts (design: shell)."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from specwright.domain.interfaces.functions import PublicFunction
from specwright.domain.interfaces.records import HttpApi, Route
from specwright.domain.interfaces.requests import (
    RequestParameter,
    method_of,
    parameters_of_route,
    status_of,
)
from specwright.domain.interfaces.schemas import Schema, Schemas

_ERROR: Schema = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "message": {"type": "string"}, "id": {"type": "string"}},
    "required": ["error", "message"],
}
_BODY_ERRORS = {
    400: "InvalidJSON: the body is not JSON",
    413: "BodyTooLarge",
    415: "UnsupportedMediaType: the body is not application/json",
}


def openapi_document(
    api: HttpApi, functions: Mapping[str, PublicFunction], title: str, version: str, description: str
) -> dict[str, Any]:
    """The document, of OpenAPI 3.1.

    Args:
        api: As it was approved.
        functions: By name.
        title: Of the product.
        version: Of the product.
        description: What it is.
    """
    schemas = Schemas("#/components/schemas/")
    paths: dict[str, dict[str, Any]] = {}
    for route in api.routes:
        function = functions[route.calls]
        operation = _operation(route, function, schemas, api.options)
        paths.setdefault(route.template, {})[method_of(route, function).lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "description": description},
        "paths": paths,
        "components": {"schemas": {**dict(sorted(schemas.classes.items())), "Error": _ERROR}},
    }


def _operation(
    route: Route, function: PublicFunction, schemas: Schemas, options: Mapping[str, str]
) -> dict[str, Any]:
    parameters = [one for one in parameters_of_route(route, function, options) if one.is_in_requests]
    in_url = [_in_url(one, function, schemas) for one in parameters if one.place != "body"]
    body = [one for one in parameters if one.place == "body"]
    return {
        "operationId": f"{method_of(route, function).lower()}_{function.name}",
        "summary": route.help or function.purpose,
        **({"parameters": in_url} if in_url else {}),
        **({"requestBody": _body(body, function, schemas)} if body else {}),
        "responses": _responses(route, function, schemas, takes=bool(parameters), has_body=bool(body)),
    }


def _in_url(one: RequestParameter, function: PublicFunction, schemas: Schemas) -> dict[str, Any]:
    about = "; ".join(one.parameter.about)
    return {
        "name": one.parameter.name,
        "in": one.place,
        "required": one.needed or one.place == "path",
        "schema": schemas.of_type(one.parameter.type, function.classes or {}),
        **({"description": about} if about else {}),
    }


def _body(body: list[RequestParameter], function: PublicFunction, schemas: Schemas) -> dict[str, Any]:
    members = [(one.parameter.name, one.parameter.type) for one in body]
    needed = [one.parameter.name for one in body if one.needed]
    schema = schemas.object_of(members, needed, function.classes or {})
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def result_schema(function: PublicFunction, schemas: Schemas) -> Schema:
    """Of what a function returns, as JSON: of a single output its value alone."""
    returns, classes = function.returns or {}, function.classes or {}
    if len(returns) == 1:
        return schemas.of_type(next(iter(returns.values())), classes)
    return schemas.object_of(returns.items(), returns, classes) if returns else {"type": "null"}


def _responses(
    route: Route, function: PublicFunction, schemas: Schemas, *, takes: bool, has_body: bool
) -> dict[str, dict[str, Any]]:
    told: dict[int, list[str]] = {code: [text] for code, text in _BODY_ERRORS.items() if has_body}
    if takes:
        told[422] = ["InvalidInput: a parameter is missing, unknown, or of another type"]
    for name, when in function.errors.items():
        told.setdefault(status_of(route, name), []).append(f"{name}: {when}")
    told.setdefault(500, []).append("InternalError: a fault of the server")
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    result = {"application/json": {"schema": result_schema(function, schemas)}}
    answers: dict[str, dict[str, Any]] = {"200": {"description": HTTPStatus.OK.phrase, "content": result}}
    for code, texts in sorted(told.items()):
        answers[str(code)] = {"description": "; ".join(texts), "content": error}
    return answers
