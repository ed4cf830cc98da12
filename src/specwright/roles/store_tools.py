"""The tools by which a role reaches the artifact store, and no others (F§8, D17, ADR 0044).

A query reads outside the role's workspace, and a draft draws an id: both are journalled. What a call refuses is said to
the role in the store's own words; a fault of the store stops the run. There is no tool that ships.
"""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Literal

from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool
from pydantic import BaseModel, ConfigDict, Field

from specwright.canonical_json import JsonValue
from specwright.domain.ids import ArtifactType
from specwright.domain.ship import tree_sha256
from specwright.errors import RefusedError
from specwright.ports.journal import Journal
from specwright.ports.roles import Files, Role, StoreAccess
from specwright.roles.tools import scope_of_call

__all__ = ["MAX_DRAFTS", "STORE_TOOLS", "create_tool", "query_tool"]

STORE_TOOLS: Mapping[Role, tuple[str, ...]] = {
    Role.RESEARCHER: ("search_code_index",),
    Role.PLANNER: ("search_code_index", "query_artifacts"),
    Role.PROPOSER: ("search_code_index", "query_artifacts", "create_artifact"),
    Role.CHALLENGER: ("query_artifacts",),
    Role.ARBITER: (),
}
"""Which role has which (D17); `ship_artifact` is given to no role, since only the ship node ships."""

MAX_DRAFTS = 10
"""Of one invocation."""

EXAMPLES = "examples.md"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    call_id: Annotated[str, InjectedToolCallId]


class _Query(_Strict):
    ref: Annotated[str, Field(description="`id@version`; empty lists what your context pack shows.")] = ""


class _Create(_Strict):
    artifact_type: Annotated[
        Literal["IMPLEMENTATION", "EXAMPLES"],
        Field(description="IMPLEMENTATION is everything that you may write, EXAMPLES is /examples.md."),
    ]


def query_tool(store: StoreAccess, journal: Journal, run_id: str) -> BaseTool:
    """`query_artifacts`: what the invocation's context pack shows of the store."""

    def query_artifacts(call_id: str, ref: str = "") -> str:
        """Look up contracts and their evidence in the store: a list of what your context pack shows, or one of it."""
        request: JsonValue = {"tool": "query_artifacts", "ref": ref}

        def live() -> JsonValue:
            try:
                return store.query(ref) if ref else store.listed()
            except RefusedError as error:
                return error.what

        found = scope_of_call(journal, run_id, call_id, request).recall("tool", request, live)
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)

    return StructuredTool.from_function(query_artifacts, args_schema=_Query)


def create_tool(store: StoreAccess, journal: Journal, run_id: str, files: Callable[[], Files]) -> BaseTool:
    """`create_artifact`: a draft of the role's deliverable as it lies in its workspace.

    Args:
        files: The role's own files, as they are when it calls.
    """
    drafts: dict[tuple[str, str], str] = {}

    def create_artifact(call_id: str, artifact_type: str) -> str:
        """Register a draft of your work as it is now, for the record; returns its id. It is never your submission."""
        body = files()
        if artifact_type == ArtifactType.EXAMPLES:
            body = {path: data for path, data in body.items() if path == EXAMPLES}
        if not body:
            return f"there is nothing to register as {artifact_type} yet; write it first."
        content = tree_sha256(body)
        if same := drafts.get((artifact_type, content)):
            return json.dumps({"artifact_id": same, "status": "DRAFT"})
        if len(drafts) >= MAX_DRAFTS:
            return f"{MAX_DRAFTS} drafts are registered already; submit your work instead."
        asked: JsonValue = {"tool": "create_artifact", "type": artifact_type, "files": content}
        before = [name for (kind, _), name in drafts.items() if kind == artifact_type]
        drawn = scope_of_call(journal, run_id, call_id, asked)
        name = store.create(drawn, ArtifactType(artifact_type), body, before[-1] if before else "")
        drafts[artifact_type, content] = name
        return json.dumps({"artifact_id": name, "status": "DRAFT"})

    return StructuredTool.from_function(create_artifact, args_schema=_Create)
