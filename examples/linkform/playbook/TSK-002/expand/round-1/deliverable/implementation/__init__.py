from __future__ import annotations

import re

from ..variable_names import TemplateError, variable_names

__all__ = ["expand", "TemplateError"]

_PARTS = re.compile(r"\{([+#./;?&]?)([^}]*)\}|[^{]+")
_ITEMS = re.compile(r"([^,:*]+)(\*?)(?::([0-9]+))?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_UNRESERVED = re.compile("[^A-Za-z0-9._~-]")
_NOT_IN_ADDRESS = re.compile(r"%(?![0-9A-Fa-f]{2})|[^%A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]")
_FIRST_AND_SEPARATOR = {
    "": ("", ","),
    "+": ("", ","),
    "#": ("#", ","),
    ".": (".", "."),
    "/": ("/", "/"),
    ";": (";", ";"),
    "?": ("?", "&"),
    "&": ("&", "&"),
}


def _encode(text: str, refused: re.Pattern[str]) -> str:
    return refused.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()),
        _SURROGATE.sub("\ufffd", text),
    )


def _pair(name: str, value: str, separator: str) -> str:
    return name if separator == ";" and not value else f"{name}={value}"


def _expression(part: re.Match[str], values: dict[str, str | list[str] | dict[str, str] | None]) -> str:
    first, separator = _FIRST_AND_SEPARATOR[part[1]]
    refused = _NOT_IN_ADDRESS if part[1] in ("+", "#") else _NOT_UNRESERVED
    expanded: list[str] = []
    for item in _ITEMS.finditer(part.string, part.start(2), part.end(2)):
        name, explode, prefix = item.groups()
        value = values.get(name)
        if isinstance(value, str):
            value = [value[: int(prefix)] if prefix else value]
        elif value and prefix:
            place = item.end(1)
            raise TemplateError(
                f"position {place}: prefix on a list or mapping",
                position=place,
                problem="prefix on a list or mapping",
            )
        if not value:
            continue
        if isinstance(value, dict):
            pairs = [(_encode(key, refused), _encode(text, refused)) for key, text in value.items()]
            if explode:
                expanded += [_pair(key, text, separator) for key, text in pairs]
                continue
            texts = [text for pair in pairs for text in pair]
        else:
            texts = [_encode(text, refused) for text in value]
        if not explode:
            texts = [",".join(texts)]
        if separator in ";&":
            texts = [_pair(name, text, separator) for text in texts]
        expanded += texts
    return first + separator.join(expanded) if expanded else ""


def expand(template: str, values: dict[str, str | list[str] | dict[str, str] | None]) -> str:
    variable_names(template)
    return "".join(
        _expression(part, values) if part[0].startswith("{") else _encode(part[0], _NOT_IN_ADDRESS)
        for part in _PARTS.finditer(template)
    )
