from __future__ import annotations

import re

__all__ = ["variable_names", "TemplateError"]

_BRACES = re.compile(r"\{([+#./;?&]?)([^{}]*)\}|[{}]")
_CHARACTER = "(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})"
_NAME = re.compile(rf"{_CHARACTER}(?:\.?{_CHARACTER})*")
_PREFIX = re.compile("[1-9][0-9]{0,3}")


class TemplateError(ValueError):
    """Named by the contract."""

    position: int
    problem: str

    def __init__(self, message: str, *, position: int, problem: str) -> None:
        super().__init__(message)
        self.position = position
        self.problem = problem


def variable_names(template: str) -> list[str]:
    names: dict[str, None] = {}
    for found in _BRACES.finditer(template):
        start = found.start()
        if found[0] == "{":
            raise TemplateError(f"position {start}: brace not closed", position=start, problem="brace not closed")
        if found[0] == "}":
            raise TemplateError(f"position {start}: brace not opened", position=start, problem="brace not opened")
        if not found[2]:
            raise TemplateError(f"position {start}: empty expression", position=start, problem="empty expression")
        place = found.start(2)
        if not found[1] and found[2][0] in "=,!@|":
            raise TemplateError(f"position {place}: reserved operator", position=place, problem="reserved operator")
        for item in found[2].split(","):
            name, colon, prefix = item.partition(":")
            if not colon:
                name = item.removesuffix("*")
            if not _NAME.fullmatch(name):
                raise TemplateError(f"position {place}: bad name", position=place, problem="bad name")
            if colon and not _PREFIX.fullmatch(prefix):
                place += len(name)
                raise TemplateError(f"position {place}: bad prefix", position=place, problem="bad prefix")
            names[name] = None
            place += len(item) + 1
    return list(names)
