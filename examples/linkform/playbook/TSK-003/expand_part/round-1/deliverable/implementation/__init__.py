from __future__ import annotations

import re

from ..expand import expand
from ..variable_names import TemplateError, variable_names

__all__ = ["expand_part", "TemplateError"]

_PARTS = re.compile(r"\{[^}]*\}|[^{]+")


def expand_part(template: str, values: dict[str, str | list[str] | dict[str, str] | None]) -> str:
    variable_names(template)
    written: list[str] = []
    for found in _PARTS.finditer(template):
        part = found[0]
        if all(name in values for name in variable_names(part)):
            try:
                part = expand(part, values)
            except TemplateError as error:
                position = found.start() + error.position
                raise TemplateError(
                    f"position {position}: {error.problem}", position=position, problem=error.problem
                ) from None
        written.append(part)
    return "".join(written)
