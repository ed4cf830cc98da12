"""The read model as tests look at it: every row, and the views of the reducer made of the rows."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import create_engine, select
from sqlalchemy.pool import NullPool

from agent_wire.mirror.model import METADATA, read_url
from agent_wire.reducer import Reduction, task_view

__all__ = ["reduced_rows", "rows", "tables"]

_OWNER = ("log_id", "context_id")


def rows(url: str, table: str) -> list[dict[str, Any]]:
    """The rows of a table, by its primary key."""
    found = METADATA.tables[table]
    engine = create_engine(read_url(url), poolclass=NullPool)
    with engine.connect() as connection:
        keys = list(found.primary_key)
        return [dict(row) for row in connection.execute(select(found).order_by(*keys)).mappings()]


def tables(url: str) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table."""
    return {name: rows(url, name) for name in METADATA.tables}


def reduced_rows(url: str) -> dict[str, Any]:
    """What the tables say, in the form of `expected_rows`."""
    return {
        "tasks": {row.pop("stream_id"): _without(row, "log_id") for row in rows(url, "agent_tasks")},
        "task_lineage": _lists(rows(url, "task_lineage"), "reference_task_id", ("stream_id",)),
        "artifacts": sorted(_sorted(_without(row, *_OWNER) for row in rows(url, "artifacts"))),
        "artifact_lineage": _lists(
            rows(url, "artifact_lineage"), "input", ("stream_id", "artifact_id", "version")
        ),
        "decisions": sorted(_sorted(_without(row, *_OWNER) for row in rows(url, "project_decisions"))),
    }


def expected_rows(reduction: Reduction) -> dict[str, Any]:
    """What the reducer says of the same log."""
    views = {name: task_view(name, stream) for name, stream in reduction.streams.items() if stream.task}
    lists = ("reference_task_ids", "artifact_ids", "artifacts")
    announced = [dict(artifact) for artifact in reduction.artifacts]
    return {
        "tasks": {name: _without(view, *lists) for name, view in views.items()},
        "task_lineage": {
            (name,): view["reference_task_ids"] for name, view in views.items() if view["reference_task_ids"]
        },
        "artifacts": sorted(
            _sorted(
                _without(artifact, "lineage")
                | {"task_id": artifact["lineage"]["task"], "attempt": artifact["lineage"]["attempt"]}
                | {"input_count": artifact["lineage"].get("input_count")}
                for artifact in announced
            )
        ),
        "artifact_lineage": {
            (artifact["stream_id"], artifact["artifact_id"], artifact["version"]): artifact["lineage"][
                "inputs"
            ]
            for artifact in announced
            if artifact["lineage"]["inputs"]
        },
        "decisions": sorted(_sorted(map(dict, reduction.decisions))),
    }


def _without(row: Any, *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _sorted(found: Iterable[dict[str, Any]]) -> list[list[tuple[str, str]]]:
    return [sorted((name, repr(value)) for name, value in row.items()) for row in found]


def _lists(
    found: list[dict[str, Any]], value: str, keys: tuple[str, ...]
) -> dict[tuple[str, ...], list[str]]:
    lists: dict[tuple[str, ...], list[str]] = {}
    for row in sorted(found, key=lambda row: row["place"]):
        lists.setdefault(tuple(row[key] for key in keys), []).append(row[value])
    return lists
