"""The functions of a source tree that somebody accepts as not judged, in its pyproject.toml (design: package)."""

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from specwright.domain.base.text import did_you_mean
from specwright.errors import InputError

_FOLDERS_OF_SOURCE = {"src", "lib", "python"}


def source_root(directory: Path) -> Path:
    """The root of the source tree that a directory is part of: above its packages, and above `src`, links followed."""
    root = directory.resolve()
    while (root / "__init__.py").is_file():
        root = root.parent
    return root.parent if root.name in _FOLDERS_OF_SOURCE else root


def accepted_functions(directory: Path, within: Path, known: Collection[str]) -> dict[str, str]:
    """The functions that pyproject.toml accepts as not judged, each with the reason.

    Args:
        directory: Of the source tree, or within it.
        within: Where the file may lie, its links followed; one that lies elsewhere is not read.
        known: The public functions of the packages that are judged.

    Raises:
        InputError: the file is no TOML, the table is none of names and reasons, or a name is none of a public function.
    """
    path = source_root(directory) / "pyproject.toml"
    try:
        is_there = path.is_file() and path.resolve().is_relative_to(within)
        found = tomllib.loads(path.read_text(encoding="utf-8-sig")) if is_there else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"it cannot be read: {error}", where=str(path), remedy="mend the file") from error
    try:
        table = _ProjectTables.model_validate(found).tool.specwright.not_judged
    except ValidationError as error:
        raise InputError(
            "tool.specwright.not-judged is no table of functions with the reasons",
            where=str(path),
            remedy='write [tool.specwright.not-judged] and below it lines as "package.module.function" = "a reason"',
        ) from error
    packages = {one.partition(".")[0] for one in known}  # of several in the tree those that are judged
    for name in table:
        if name not in known and name.partition(".")[0] in packages:
            raise InputError(
                f"tool.specwright.not-judged names {name!r}, and there is no such public function",
                where=str(path),
                remedy=f"{did_you_mean(name, sorted(known))}remove the line, or name a function as the gate does",
            )
    return dict(table)


class _OwnTable(BaseModel):
    not_judged: dict[str, Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]] = Field(
        default={}, alias="not-judged"
    )


class _ToolTable(BaseModel):
    specwright: _OwnTable = _OwnTable()


class _ProjectTables(BaseModel):
    tool: _ToolTable = _ToolTable()
