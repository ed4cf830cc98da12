"""The HTTP API of a product, which FastAPI makes from the types of its functions.

Each route calls one function. Values come from the path, the query, or a JSON object; results and errors are JSON.
"""

import asyncio
import inspect
import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.trustedhost import TrustedHostMiddleware
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .calls import document
from .models import given, value_problem
from .served import Served, served

__all__ = ["MOST_BODY", "application"]

MOST_BODY = 1024 * 1024
"""Bytes of the body of a request."""

_BODY_SECONDS = 30.0
_REST = "_rest"


class Error(BaseModel):
    """What every answer is that is no result."""

    error: str
    message: str


def application(
    stated: Mapping[str, Any] | None = None,
    options: Mapping[str, str] | None = None,
    *,
    most_body: int = MOST_BODY,
    hosts: Sequence[str] = (),
) -> FastAPI:
    """The application of a product; it can be mounted in another one.

    Args:
        stated: The interfaces of the product; those of this package if none are given.
        options: Words for the parameters that no request gives, where they are not the defaults.
        most_body: Bytes of the body of a request.
        hosts: The hosts for which it answers, without port; all if empty.

    Raises:
        ValueProblem: one of the options is no value of its type.
    """
    stated = document() if stated is None else stated
    found = FastAPI(
        title=stated["distribution"],
        version=stated["version"],
        description=stated["http"]["help"],
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        max_body_size=most_body,
        exception_handlers={RequestValidationError: _invalid, HTTPException: _refused},
    )
    for one in served(stated, "http", options):
        _add_route(found, one)
    found.add_middleware(_BodyInTime)
    if hosts:
        found.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    return found


def _add_route(application: FastAPI, one: Served) -> None:
    has_body = any(parameter["place"] == "body" for parameter in one.use["parameters"])
    rest = one.arguments("body" if has_body else "query")

    async def endpoint(**values: Any) -> Response:
        others = values.pop(_REST, None)
        outcome = await one.call(values | (given(others) if others else {}))
        if outcome.outputs is not None:
            return _json(200, outcome.text)
        if outcome.error:
            return _failed(one.use["errors"][outcome.error], outcome.error, outcome.text)
        return _failed(500, "InternalError", outcome.text)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(
            str(field.alias),
            keyword,
            annotation=Annotated[field.annotation, *field.metadata, Path(description=field.description)],
        )
        for field in one.arguments("path").model_fields.values()
    ]
    if rest.model_fields:
        annotation = rest if has_body else Annotated[rest, Query()]
        parameters.append(inspect.Parameter(_REST, keyword, annotation=annotation))
    vars(endpoint)["__signature__"] = inspect.Signature(parameters)
    application.add_api_route(
        one.use["path"],
        endpoint,
        methods=[one.use["method"]],
        summary=one.use["help"],
        operation_id=f"{one.use['method'].lower()}_{one.use['calls']}",
        response_model=one.result(),
        responses=_responses(one),
    )


def _responses(one: Served) -> dict[int | str, dict[str, Any]]:
    told = {422: ["InvalidInput: a parameter is missing, unknown, or of another type"]}
    for name, when in one.errors.items():
        told.setdefault(one.use["errors"][name], []).append(f"{name}: {when}")
    told.setdefault(500, []).append("InternalError: a fault of the server")
    return {code: {"model": Error, "description": "; ".join(texts)} for code, texts in sorted(told.items())}


async def _invalid(request: Request, error: Any) -> Response:
    # a place begins with the part of the request; of what is no JSON it is a number
    problems = [
        {**one, "loc": [part for part in one["loc"][1:] if one["type"] != "json_invalid"]}
        for one in error.errors()
    ]
    return _failed(422, "InvalidInput", value_problem(problems))


async def _refused(request: Request, error: Any) -> Response:
    name = HTTPStatus(error.status_code).phrase.title().replace(" ", "")
    answer = _failed(error.status_code, name, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


def _failed(status: int, error: str, message: str) -> Response:
    return _json(status, json.dumps({"error": error, "message": message}, ensure_ascii=False, indent=2))


def _json(status: int, text: str) -> Response:
    # half of a character pair, which file names have, becomes its escape
    return Response(text.encode("utf-8", "backslashreplace"), status, media_type="application/json")


class _BodyInTime:
    """Waits for a body no longer than `_BODY_SECONDS`."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        until = asyncio.get_running_loop().time() + _BODY_SECONDS

        async def received() -> Message:
            async with asyncio.timeout_at(until):
                return await receive()

        await self._application(scope, received, send)
