"""Lines of a module's source in what judges are shown (design: role-access).

Challenger and Arbiter never see source, so none may reach them in a claim, a check, a note, an example or a test's name.
Lines are compared without layout, quotes and comments. Lines that everybody would write do not count: those of the stub,
imports, texts alone, names that only open a bracket, and lines that are short or hold no operator.
"""

import re
import tokenize
from collections.abc import Iterator, Mapping

_MIN_CHARACTERS = 12
_OPERATORS = re.compile(r"[=+\-*/%<>|&^~@(\[{]")
_OPENS_ALONE = re.compile(r"[\w.]+([(\[{][\w.]*)*[(\[{]")
_LAYOUT = re.compile(r"[\s'\"`\\]+")
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def quote_problems(
    files: Mapping[str, bytes], stub: Mapping[str, bytes], shown: Mapping[str, str]
) -> list[str]:
    """Which fields quote the source.

    Args:
        files: The module's.
        stub: What the factory wrote, which is no secret.
        shown: What judges are shown, by the name of the field.
    """
    common = {line for _, _, line in _lines(stub)}
    lines = [(path, number, line) for path, number, line in _lines(files) if line not in common]
    problems: list[str] = []
    for field, text in shown.items():
        plain = _LAYOUT.sub("", text)
        place = next((f"line {number} of {path}" for path, number, line in lines if line in plain), "")
        if place:
            problems.append(
                f"{field}: it holds {place}, which judges must not see; say in words what it does"
            )
    return problems


def _lines(files: Mapping[str, bytes]) -> Iterator[tuple[str, int, str]]:
    """The lines of code of a module that tell something, by path and number."""
    for path, data in sorted(files.items()):
        if path.startswith("implementation/") and path.endswith(".py"):
            for number, tokens in _tokens_by_line(data).items():
                line = _LAYOUT.sub("", "".join(token.string for token in tokens))
                texts_alone = all(token.type in (tokenize.STRING, tokenize.OP) for token in tokens)
                imports = tokens[0].string in ("import", "from")
                plain = texts_alone or imports or _OPENS_ALONE.fullmatch(line)
                if len(line) >= _MIN_CHARACTERS and _OPERATORS.search(line) and not plain:
                    yield path, number, line


def _tokens_by_line(data: bytes) -> dict[int, list[tokenize.TokenInfo]]:
    """The tokens of code by the line on which they begin; of what is no Python as far as it can be read."""
    found: dict[int, list[tokenize.TokenInfo]] = {}
    lines = iter(data.decode(errors="replace").splitlines(keepends=True))
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type not in _NO_CODE:
                found.setdefault(token.start[0], []).append(token)
    except (tokenize.TokenError, SyntaxError):
        pass
    return found
