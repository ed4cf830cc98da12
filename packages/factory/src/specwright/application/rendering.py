"""Requests to roles and pages of a project, from their templates in `templates/` (design: role-access, release).

Values may come from models and users; they are inserted verbatim and never interpreted as templates.
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from ship_gate.base.text import inline, printable
from specwright.domain.acceptance.rules import EXAMPLE_IMPORTS
from specwright.domain.answers import Amendment, Failure
from specwright.domain.interfaces.records import VALUES

if TYPE_CHECKING:
    from jinja2 import Environment

READ_ONLY = "`sqlite3.connect(f'file:{quote(str(path))}?mode=ro', uri=True)`, with `urllib.parse.quote`"
"""The only way to open a database that counts as reading."""

NOT_SHOWN = "a lock that is given back while a call waits for it, and two programs that write at one moment"
"""Database behaviour that no test or example can show."""


def as_list(failures: Sequence[Failure]) -> str:
    """Format failures as a numbered list."""
    return "\n".join(f"{n}. {f.invariant}\n{_shown(f)}" for n, f in enumerate(failures, start=1))


def _shown(failure: Failure) -> str:
    """Format evidence and required change; if they are equal, only once."""
    evidence = "" if failure.evidence == failure.required_change else f"   Evidence: {failure.evidence}\n"
    fault = "" if failure.fault == "module" else f"   Fault: {failure.fault}\n"
    return f"{evidence}{fault}   Required: {failure.required_change}"


def as_amendments(amendments: Sequence[Amendment]) -> str:
    """Format amendments with their indexes."""
    return "\n".join(f"{i}. {a.action} {a.target}: {a.detail}" for i, a in enumerate(amendments))


_WIDTH = 120


def as_json(value: Any, margin: int = 0) -> str:
    """Format JSON compactly, but for line-wise editing: a value that fits into a line is written on one.

    Args:
        value: A JSON value.
        margin: The indentation.
    """
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or margin + len(line) <= _WIDTH:
        return line
    whole = cast("dict[str, Any] | list[Any]", value)
    named = (
        (f"{json.dumps(key, ensure_ascii=False)}: {as_json(one, margin + 1)}" for key, one in whole.items())
        if isinstance(whole, dict)
        else (as_json(one, margin + 1) for one in whole)
    )
    rows = f",\n{' ' * (margin + 1)}".join(named)
    return f"{line[0]}\n{' ' * (margin + 1)}{rows}\n{' ' * margin}{line[-1]}"


def as_fenced(text: str, language: str) -> str:
    """Return a text as a fenced block."""
    return f"````{language}\n{text.rstrip()}\n````"


@cache
def _templates() -> "Environment":
    from jinja2 import (
        Environment,
        PackageLoader,
        StrictUndefined,
    )  # imported late, because `status` does not need it

    made = Environment(  # noqa: S701 - it is Markdown
        loader=PackageLoader("specwright.application"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    filters, known = cast("dict[str, Any]", made.filters), cast("dict[str, Any]", made.globals)
    filters.update(failures=as_list, amendments=as_amendments, fenced=as_fenced)
    filters.update(inline=inline, printable=printable, repr=repr)
    known.update(
        read_only=READ_ONLY, not_shown=NOT_SHOWN, how_values_read=VALUES, imports=sorted(EXAMPLE_IMPORTS)
    )
    return made


def page(template: str, **values: Any) -> str:
    """Render a file from its template."""
    return _templates().get_template(template).render(values)


def rendered(template: str, **values: Any) -> str:
    """Render a text from its template, without surrounding white space."""
    return page(template, **values).strip()
