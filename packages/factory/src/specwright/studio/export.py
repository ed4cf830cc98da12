"""The pages of a project as a folder of files: no server, relative links (design: studio).

The pages are those of the server, without what can be done there: each that can be reached from the page of the run.
Paths in them are relative to the project.
"""

from contextlib import chdir
from html import escape
from pathlib import Path
from typing import NamedTuple

from specwright.bootstrap.views import ProjectViews
from specwright.errors import InputError
from specwright.studio.pages import page
from specwright.studio.projects import StudioProject
from specwright.studio.site import ASSETS, Site, asset, file_of, render

_INDEX = (
    b'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Specwright</title>'
    b'<meta http-equiv="refresh" content="0; url=run.html"></head>'
    b'<body><p><a href="run.html">The project</a></p></body></html>\n'
)


class ExportResult(NamedTuple):
    """How many pages were written, and the bytes of all files."""

    pages: int
    bytes: int


def export(directory: Path, out: Path) -> ExportResult:
    """Write the pages of a project.

    Args:
        directory: Of the project.
        out: A new directory.

    Raises:
        InputError: it is there already, or cannot be made; or no run has begun.
    """
    root, place = directory.resolve(), out.resolve()
    project = StudioProject(root.name, directory, ProjectViews())
    with project.reading():
        page(project, "run")  # nothing is written of a project that cannot be read
    try:
        out.mkdir(parents=True)
    except FileExistsError as error:
        raise InputError("it is there already", where=str(out), remedy="name a new directory") from error
    except OSError as error:
        raise InputError(f"it cannot be made: {error.strerror}", where=str(out)) from error
    written = sum(_put(place / f"assets/{name}", asset(name)) for name in ASSETS)
    written += _put(place / "index.html", _INDEX)
    todo, seen = ["run"], set[str]()
    with chdir(root):
        # who reads the pages has the project elsewhere: commands and files are named from its directory
        project, prefix = project._replace(directory=Path()), f"{escape(str(root))}/"
        while todo:
            if (path := todo.pop()) not in seen:
                seen.add(path)
                found, site = page(project, path), Site(project.key, static=True, here=path)
                text = render(found.template, site, {"csrf": "", "job": None, **found.context})
                written += _put(place / f"{file_of(path)}.html", text.replace(prefix, "").encode())
                todo += site.linked
    return ExportResult(len(seen) + 1, written)


def _put(file: Path, data: bytes) -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.write_bytes(data)
