"""The tools of the roles beside their files (F§3.2.1, F§14.3, D17).

What a tool reads from outside the role's own workspace is journalled by the id of its call and by what it asks, so
that a replayed conversation meets the same results, in whatever order parallel calls ran, and also where a model gives
several calls one id.
"""

import hashlib
import json
from typing import Annotated, Any, cast

from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool

from specwright import canonical_json
from specwright.canonical_json import JsonValue
from specwright.domain.code_index import CodeIndexEntry, IndexStatus
from specwright.domain.completeness import Deficiency, Severity, ValidationReport, validate
from specwright.errors import SpecwrightError
from specwright.ports.code_index import CodeIndex, IndexQuery
from specwright.ports.journal import Journal, Scope
from specwright.ports.search import WebSearch
from specwright.roles.agent import without_citations
from specwright.roles.workspace import Workspace

__all__ = ["MAX_RESULTS", "scope_of_call", "search_tool", "validate_tool", "web_search_tool"]

MAX_RESULTS = 10
"""Of one web search (F§3.2.1)."""


def search_tool(index: CodeIndex, journal: Journal, run_id: str) -> BaseTool:
    """`search_code_index`: shipped modules by meaning, trimmed to what a planner needs (DESIGN §12)."""

    def search_code_index(
        query: Annotated[str, "What the module should do, in words."],
        call_id: Annotated[str, InjectedToolCallId],
        tags: list[str] | None = None,
        input_types: list[str] | None = None,
        output_types: list[str] | None = None,
        include_inactive: bool = False,
        top_k: int = 10,
    ) -> str:
        """Search the Code Index of shipped modules by what they do. Best match first, with a similarity in 0..1."""
        asked = IndexQuery(
            query,
            tuple(tags or ()),
            tuple(input_types or ()),
            tuple(output_types or ()),
            include_inactive,
            max(1, min(top_k, 50)),
        )

        def live() -> JsonValue:
            return [
                {
                    "module_ref": hit.entry.ref,
                    "name": hit.entry.name,
                    "purpose": hit.entry.purpose,
                    "io_summary": cast(JsonValue, hit.entry.io_summary.to_json()),
                    "status": hit.entry.status.value,
                    **_retirement(hit.entry),
                    "similarity_score": round(hit.similarity_score, 4),
                }
                for hit in index.search(asked)
            ]

        request = cast(JsonValue, {"tool": "search_code_index", "query": list(map(str, asked))})
        found = scope_of_call(journal, run_id, call_id, request).recall("tool", request, live)
        return (
            json.dumps(found, ensure_ascii=False)
            if found
            else "Nothing in the index matches; it may be empty."
        )

    return StructuredTool.from_function(search_code_index)


def web_search_tool(
    search: WebSearch, journal: Journal, run_id: str, consulted: list[tuple[str, list[str]]]
) -> BaseTool:
    """`web_search`: at most ten results, whatever is asked for."""

    def web_search(
        query: Annotated[str, "A natural-language query."],
        call_id: Annotated[str, InjectedToolCallId],
        max_results: int = MAX_RESULTS,
    ) -> str:
        """Search the web. Returns a ranked list of {url, title, snippet}."""
        limit = max(1, min(max_results, MAX_RESULTS))

        def live() -> JsonValue:
            try:
                return [cast(JsonValue, dict(result._asdict())) for result in search.search(query, limit)][
                    :limit
                ]
            except SpecwrightError as error:
                return str(error)

        request: JsonValue = {"tool": "web_search", "query": query, "limit": limit}
        found = scope_of_call(journal, run_id, call_id, request).recall("tool", request, live)
        if isinstance(found, str):
            return found
        results = cast(list[dict[str, str]], found)
        consulted.append((query, [result["url"] for result in results]))
        return json.dumps(results, ensure_ascii=False)

    return StructuredTool.from_function(web_search)


def validate_tool(workspace: Workspace) -> BaseTool:
    """`validate_spec`: the deficiencies of a draft (F§3.2.3)."""

    def validate_spec(spec_path: Annotated[str, "The path of the draft, for instance /spec.json."]) -> str:
        """Check a draft of the product spec. Returns {errors, warnings}; only errors block emission."""
        try:
            draft: Any = canonical_json.loads(workspace.read(spec_path))
        except ValueError as error:
            unread = Deficiency(
                path="",
                field="",
                severity=Severity.ERROR,
                message=f"{spec_path} is not readable as JSON: {error}",
            )
            return json.dumps(ValidationReport(errors=[unread]).to_json(), ensure_ascii=False)
        return json.dumps(_uncited(validate(draft)).to_json(), ensure_ascii=False)

    return StructuredTool.from_function(validate_spec)


def _uncited(report: ValidationReport) -> ValidationReport:
    """A report without the numbers of criteria, which nobody in the conversation can look up."""
    told = (
        [d.model_copy(update={"message": without_citations(d.message)}) for d in found]
        for found in (report.errors, report.warnings)
    )
    return ValidationReport(errors=next(told), warnings=next(told))


def _retirement(entry: CodeIndexEntry) -> dict[str, JsonValue]:
    """What a reader of a retired entry must know (F§16)."""
    if entry.status is IndexStatus.SHIPPED:
        return {}
    return {"superseded_by": entry.superseded_by, "notes": entry.notes}


def scope_of_call(journal: Journal, run_id: str, call_id: str, request: JsonValue) -> Scope:
    """Where the result of one tool call is journalled."""
    asked = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    return journal.scope(f"{run_id}/{call_id}/{asked[:8]}")
