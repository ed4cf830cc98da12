"""`emit_structured_spec`: the researcher's terminal tool (F§3.2.1)."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain_core.tools import BaseTool
from pydantic import ValidationError

from specwright import canonical_json
from specwright.domain.product_spec import ProductSpecDraft
from specwright.roles.agent import submit_tool, tool_schema, without_citations
from specwright.roles.mending import fits, mended
from specwright.roles.submission import Form, Submission, UnacceptableError
from specwright.roles.workspace import Workspace

__all__ = ["emit_tool", "emitted"]


def emit_tool(submission: Submission[dict[str, Any]]) -> BaseTool:
    """The tool; a long spec may be given by the path of the checked draft instead of once more."""
    schema = {
        "type": "object",
        "properties": {
            "spec": tool_schema(ProductSpecDraft),
            "spec_path": {
                "type": "string",
                "description": "Instead of spec: the path of the draft, /spec.json.",
            },
        },
    }
    description = (
        "Hand in the complete spec, as `spec` or by `spec_path`. It is validated once more; deficiencies come back to "
        "you. Ends your work once it is accepted."
    )
    return submit_tool("emit_structured_spec", description, schema, submission)


def emitted(workspace: Workspace, check: Callable[[Any], Sequence[str]]) -> Form[dict[str, Any]]:
    """Makes the spec out of the tool's arguments, or out of a text that holds it."""

    def read(arguments: dict[str, Any]) -> dict[str, Any]:
        spec = arguments.get("spec") or arguments
        if "spec_path" in arguments and not arguments.get("spec"):
            spec = _read(workspace, str(arguments["spec_path"]))
        spec = _mended(spec)
        if problems := check(spec):
            raise UnacceptableError(*map(without_citations, problems))
        return cast(dict[str, Any], spec)

    return Form(read, _nothing_more)


def _nothing_more(spec: dict[str, Any]) -> Sequence[str]:
    return ()


def _mended(spec: Any) -> Any:
    """The spec in the types of its schema, if that is all that was wrong; else as it is, so that its faults are told."""
    if not isinstance(spec, dict):
        return spec
    given = cast(dict[str, Any], spec)
    try:
        draft = mended(ProductSpecDraft, given)
    except ValidationError:
        return given
    return given if fits(ProductSpecDraft, given) else draft.to_json()


def _read(workspace: Workspace, path: str) -> Any:
    try:
        return canonical_json.loads(workspace.read(path))
    except ValueError as error:
        raise UnacceptableError(f"{path}: {error}") from error
