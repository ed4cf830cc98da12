"""Refreshes what tests/docs/test_glossary.py compares: ordinary words of names, and names with banned words.

    .venv/bin/python docs/make_glossary_words.py

writes the list of ordinary words at the end of docs/glossary.md: every word that occurs in the name of a class or
Python module and is not defined above it. Read what is new there before you commit it: a word with a meaning of its
own in this project needs a definition. It also rewrites docs/banned-words-left.txt, which may only become shorter.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
LEFT = ROOT / "docs" / "banned-words-left.txt"
PACKAGE = ROOT / "src" / "specwright"

BANNED = frozenset(
    {
        "told",
        "tells",
        "said",
        "says",
        "heard",
        "handed",
        "handing",
        "hands",
        "given",
        "gives",
        "giving",
        "kept",
        "keeps",
    }
    | {
        "held",
        "made",
        "makes",
        "spared",
        "elsewhere",
        "withstood",
        "standing",
        "stands",
        "stood",
        "trail",
        "desk",
    }
    | {
        "seen",
        "plain",
        "aim",
        "aims",
        "way",
        "ways",
        "where",
        "anything",
        "somebody",
        "nobody",
        "unbound",
        "good",
    }
    | {"late", "comes", "cassette", "cassettes"}
)
"""Participles, adverbs and private words that name no concept."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_BLOCK = re.compile(r"(<!-- ordinary words -->\n\n).*?(\n\n<!-- end of ordinary words -->)", re.DOTALL)
_TERM = re.compile(r"\*\*(.+?)\*\*")


def words(name: str) -> list[str]:
    """The words of a name, in lower case: `SqliteWireLog`, `task_board`."""
    return [word.lower() for word in _WORD.findall(name)]


def names(package: Path) -> Iterator[tuple[str, str]]:
    """The names in a package, each with its kind."""
    for path in sorted(package.rglob("*.py")):
        if path.stem not in ("__init__", "__main__"):
            yield "module", path.stem
        elif path.parent != package and path.stem == "__init__":
            yield "package", path.parent.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.ClassDef(name=name):
                    yield "class", name
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    yield "function", name
                case ast.arg(arg=name):
                    yield "parameter", name
                case _:
                    pass


def banned(package: Path) -> list[str]:
    """The names with a banned word, one line each, without repetitions and wherever they are."""
    return sorted({f"{kind} {name}" for kind, name in names(package) if BANNED.intersection(words(name))})


def terms(glossary: str) -> set[str]:
    """The words that the glossary defines: those of its bold terms, singular and plural."""
    defined = {word for term in _TERM.findall(glossary) for word in words(term)}
    return defined | {f"{word}s" for word in defined} | {f"{word.removesuffix('y')}ies" for word in defined}


def ordinary(glossary: str) -> set[str]:
    """The list at the end of the glossary."""
    block = _BLOCK.search(glossary)
    return (
        set(re.findall(r"[a-z0-9]+", block[0].partition("-->")[2].rpartition("<!--")[0])) if block else set()
    )


def used(package: Path) -> set[str]:
    """The words of the names of classes, Python modules and packages."""
    return {
        word
        for kind, name in names(package)
        if kind in ("class", "module", "package")
        for word in words(name)
        if len(word) > 1
    }


def _paragraphs(items: list[str]) -> str:
    """A paragraph for each first letter, so that a new word changes few lines."""
    letters = groupby(items, key=lambda item: item[0])
    return "\n\n".join(textwrap.fill(" ".join(group), 118) for _, group in letters)


def main() -> None:
    """Write both."""
    text = GLOSSARY.read_text(encoding="utf-8")
    new = sorted(used(PACKAGE) - terms(text))
    GLOSSARY.write_text(
        _BLOCK.sub(lambda match: match[1] + _paragraphs(new) + match[2], text), encoding="utf-8"
    )
    LEFT.write_text("".join(f"{line}\n" for line in banned(PACKAGE)), encoding="utf-8")


if __name__ == "__main__":
    main()
