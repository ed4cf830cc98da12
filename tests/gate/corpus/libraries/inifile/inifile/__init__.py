"""A small, strict INI dialect."""

from __future__ import annotations

_ESCAPES: dict[str, str] = {'"': '"', "\\": "\\", "n": "\n"}
_TRUE = frozenset({"yes", "true", "on", "1"})
_FALSE = frozenset({"no", "false", "off", "0"})


class IniError(ValueError):
    """A text that is not in the INI dialect.

    Attributes:
        line: The number of the line, from 1.
        reason: What is wrong with it.
    """

    line: int
    reason: str

    def __init__(self, line: int, reason: str) -> None:
        """Create the error.

        Args:
            line: The number of the line, from 1.
            reason: What is wrong with it.
        """
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def _unquote(value: str, line: int) -> str:
    """Resolve a quoted value.

    Args:
        value: The stripped value, beginning with a double quote.
        line: The number of the line for errors.

    Returns:
        The text within the quotes with its escapes resolved.

    Raises:
        IniError: If the quote is not closed, an escape is unknown, or there
            is text after the closing quote.
    """
    result: list[str] = []
    index = 1
    while index < len(value):
        char = value[index]
        if char == '"':
            if index != len(value) - 1:
                raise IniError(line, "text after the closing quote")
            return "".join(result)
        if char == "\\":
            index += 1
            if index >= len(value):
                break
            escape = value[index]
            if escape not in _ESCAPES:
                raise IniError(line, f"unknown escape: \\{escape}")
            result.append(_ESCAPES[escape])
        else:
            result.append(char)
        index += 1
    raise IniError(line, "unclosed quote")


def parse_ini(text: str) -> dict[str, dict[str, str]]:
    r"""Parse a text of the INI dialect.

    Keys before the first section are in the section ``""``, which is only
    there if it has keys. Lines that begin with ``#`` or ``;`` are comments.

    Args:
        text: The text to parse.

    Returns:
        The sections in order, each with its keys and values.

    Raises:
        IniError: If a line is malformed, or a key or section occurs twice.

    Examples:
        >>> parse_ini("a = 1\n[s]\nb = \" x \"")
        {'': {'a': '1'}, 's': {'b': ' x '}}
    """
    result: dict[str, dict[str, str]] = {}
    section = ""
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("["):
            if not line.endswith("]"):
                raise IniError(number, "section without closing bracket")
            section = line[1:-1].strip()
            if not section:
                raise IniError(number, "empty section name")
            if section in result:
                raise IniError(number, f"section {section!r} occurs twice")
            result[section] = {}
            continue
        key, equals, value = line.partition("=")
        if not equals:
            raise IniError(number, "neither section, key nor comment")
        key = key.strip()
        value = value.strip()
        if not key:
            raise IniError(number, "empty key")
        keys = result.setdefault(section, {})
        if key in keys:
            raise IniError(number, f"key {key!r} occurs twice")
        if value.startswith('"'):
            value = _unquote(value, number)
        keys[key] = value
    return result


def _quote(value: str) -> str:
    """Quote a value if it needs it.

    Args:
        value: The value.

    Returns:
        The value as it is, or in double quotes with escapes.
    """
    if value == value.strip() and "\n" not in value and not value.startswith('"'):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _check_section(name: str) -> None:
    """Raise if a section name could not be read back.

    Args:
        name: The name of the section.

    Raises:
        ValueError: If the name could not be read back.
    """
    if name != name.strip() or "\n" in name:
        raise ValueError(f"section name cannot be written: {name!r}")


def _check_key(key: str) -> None:
    """Raise if a key could not be read back.

    Args:
        key: The key.

    Raises:
        ValueError: If the key could not be read back.
    """
    if not key or key != key.strip() or key[0] in "#;[" or "=" in key or "\n" in key:
        raise ValueError(f"key cannot be written: {key!r}")


def dump_ini(values: dict[str, dict[str, str]]) -> str:
    r"""Write values as text that ``parse_ini`` reads back to the same.

    Args:
        values: The sections with their keys and values.

    Returns:
        The text, section ``""`` first, values quoted only where needed.

    Raises:
        ValueError: If a key or a section name could not be read back.

    Examples:
        >>> dump_ini({"s": {"a": "1"}})
        '[s]\na = 1\n'
    """
    lines: list[str] = []
    names = [name for name in values if name]
    if "" in values:
        names.insert(0, "")
    for name in names:
        _check_section(name)
        if name:
            if lines:
                lines.append("")
            lines.append(f"[{name}]")
        for key, value in values[name].items():
            _check_key(key)
            lines.append(f"{key} = {_quote(value)}".rstrip())
    return "".join(f"{line}\n" for line in lines)


def merge_ini(
    base: dict[str, dict[str, str]], over: dict[str, dict[str, str]]
) -> dict[str, dict[str, str]]:
    """Merge two mappings into a new one.

    Args:
        base: The mapping to start from; it is not changed.
        over: The mapping that wins; it is not changed.

    Returns:
        A new mapping in the order of ``base``, then what is new in ``over``.

    Examples:
        >>> merge_ini({"s": {"a": "1", "b": "2"}}, {"s": {"a": "3"}})
        {'s': {'a': '3', 'b': '2'}}
    """
    result = {name: dict(keys) for name, keys in base.items()}
    for name, keys in over.items():
        result.setdefault(name, {}).update(keys)
    return result


def get_flag(values: dict[str, dict[str, str]], section: str, key: str) -> bool:
    """Read a value as a flag.

    Args:
        values: The sections with their keys and values.
        section: The name of the section.
        key: The key.

    Returns:
        True for yes, true, on and 1, False for no, false, off and 0, in any
        case.

    Raises:
        KeyError: If the section or the key is missing.
        ValueError: If the value is another text.

    Examples:
        >>> get_flag({"s": {"a": "Yes"}}, "s", "a")
        True
    """
    value = values[section][key]
    lowered = value.lower()
    if lowered in _TRUE:
        return True
    if lowered in _FALSE:
        return False
    raise ValueError(f"not a flag: {value!r}")
