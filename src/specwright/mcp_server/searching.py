"""The tool that searches the Code Index of a project (design: mcp-server, code-index)."""

from specwright.bootstrap.views.reading import search_index as search
from specwright.mcp_server.records import FoundModule, SearchArguments, SearchResult
from specwright.mcp_server.work import Work
from specwright.ports.code_index import IndexQuery


def search_index(arguments: SearchArguments, work: Work) -> SearchResult:
    """Sealed modules of a project by what they do.

    Raises:
        InputError: the path is outside, or is no project.
    """
    query = IndexQuery(
        arguments.query,
        tuple(arguments.tags),
        tuple(arguments.input_types),
        tuple(arguments.output_types),
        top_k=arguments.top,
    )
    project = work.roots.resolve(arguments.directory)
    hits = search(project, query)
    return SearchResult(
        matches=[
            FoundModule(
                module_ref=hit.entry.ref,
                name=hit.entry.name,
                purpose=hit.entry.purpose,
                similarity_score=round(hit.similarity_score, 4),
                directory=str((project / "state_store" / hit.entry.contract_ref).parent),
                io_summary=hit.entry.io_summary.to_json(),
            )
            for hit in hits
        ]
    )
