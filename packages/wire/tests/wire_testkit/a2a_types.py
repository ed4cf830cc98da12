"""A2A as a published implementation understands it; needs the extra `a2a`."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

__all__ = ["strictly", "task_of"]


def strictly(kind: str, document: Any) -> Any:
    """Parse ProtoJSON: an unknown field, a wrong type or a missing required field is an error."""
    message = _parsed(kind, document)
    from google.protobuf.json_format import MessageToDict

    return MessageToDict(message)


def task_of(stream: Sequence[Any]) -> Any:
    """The Task that the implementation's own task manager has after a stream of responses."""
    pytest.importorskip("a2a.types.a2a_pb2", reason="needs the extra a2a")
    from a2a.server.context import ServerCallContext
    from a2a.server.tasks import InMemoryTaskStore, TaskManager
    from google.protobuf.json_format import MessageToDict

    async def follow() -> Any:
        manager = TaskManager(InMemoryTaskStore(), ServerCallContext(), None, None, None)
        for response in stream:
            parsed = _parsed("StreamResponse", response)
            await manager.process(getattr(parsed, parsed.WhichOneof("payload")))
        return await manager.get_task()

    return MessageToDict(asyncio.run(follow()))


def _parsed(kind: str, document: Any) -> Any:
    types = pytest.importorskip("a2a.types.a2a_pb2", reason="needs the extra a2a")
    from a2a.utils.proto_utils import validate_proto_required_fields
    from google.protobuf.json_format import ParseDict

    message = ParseDict(document, getattr(types, kind)(), ignore_unknown_fields=False)
    validate_proto_required_fields(message)
    return message
