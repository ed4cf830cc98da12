"""The tool that makes module directories of functions that exist (design: mcp-server, adoption)."""

from pathlib import Path

from specwright.bootstrap.gate.adoption import adopt_source, gap_document, places_read
from specwright.domain.adoption.report import AdoptedFunction, Evidence
from specwright.errors import InputError
from specwright.mcp_server.judging import require_sandbox
from specwright.mcp_server.records import (
    AdoptArguments,
    AdoptedSource,
    AdoptResult,
    ClaimedStatement,
    MissingPart,
)
from specwright.mcp_server.roots import Roots
from specwright.mcp_server.work import Work

_MOST_FUNCTIONS = 100
_MOST_PARTS = 30


def adopt(arguments: AdoptArguments, work: Work) -> AdoptResult:
    """Adopt the public functions of a source below a root.

    Raises:
        InputError: a path is outside, there is no such source, or a directory is there already.
        RefusedError: a directory cannot be written.
    """
    require_sandbox(Path())
    source, out = _source(arguments.source, work), work.roots.resolve(arguments.out)
    check_places(source, work.roots)
    ended = 0

    def done(function: AdoptedFunction) -> None:
        nonlocal ended
        ended += 1
        work.report(ended, max(ended, 1), f"{function.status} {function.name}")

    report = adopt_source(source, out, done=done)
    return AdoptResult(
        functions=[_adopted(one) for one in report.functions[:_MOST_FUNCTIONS]],
        functions_left_out=max(0, len(report.functions) - _MOST_FUNCTIONS),
        next=_next(report.functions, out),
    )


def check_places(source: str, roots: Roots) -> None:
    """Refuse a source of which a part lies elsewhere.

    Raises:
        InputError: it does, or there is no such source.
    """
    for place in places_read(source):
        if not roots.holds(place):
            raise InputError(
                "adopting it would read what is not below a directory that this server works in",
                where=str(place),
                remedy="have the server started with the directory that holds the whole package",
            )


def _source(text: str, work: Work) -> str:
    """The source with its path resolved; an installed package is not below a root."""
    place, colon, function = text.rpartition(":")
    if not (colon and function.isidentifier()):
        place, colon, function = text, "", ""
    path = work.roots.resolve(place)
    if not path.exists():
        raise InputError(
            "there is no such file or folder",
            where=str(path),
            remedy="name a Python file or a folder of a package; `specwright adopt` in a shell takes installed packages",
        )
    return f"{path}{colon}{function}"


def _adopted(function: AdoptedFunction) -> AdoptedSource:
    claimed = [one for one in function.statements if one.evidence is Evidence.CLAIMED]
    return AdoptedSource(
        name=function.name,
        where=function.where,
        status=function.status.value,
        directory=function.directory,
        missing=[MissingPart(**gap_document(gap)) for gap in function.gaps[:_MOST_PARTS]],
        cannot=[f"{one.what} ({one.where})" for one in function.obstacles[:_MOST_PARTS]],
        claimed=[ClaimedStatement(pointer=one.pointer, text=one.text) for one in claimed[:_MOST_PARTS]],
        remarks=list(function.remarks[:_MOST_PARTS]),
    )


def _next(functions: tuple[AdoptedFunction, ...], out: Path) -> str:
    made = sum(bool(one.directory) for one in functions)
    if not made:
        return "No function could be adopted; `cannot` says why, with the line. Change them, then call `adopt` again."
    return (
        f"{made} of {len(functions)} have a draft. Write what is `missing`, then call `gate` on {out}. The drafts are "
        "copies: what is mended in them is still to be mended in the source; `gate_package` judges that."
    )
