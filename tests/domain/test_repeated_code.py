"""Which lines of two modules are the same, names apart (D-54-03)."""

from specwright.domain.debate.repeated_code import LEAST, in_words, runs_of

ENTRY = "implementation/__init__.py"

STATEMENTS = [f"    total = total + data.get({number!r}, limit) * {number}" for number in range(LEAST - 2)]
FUNCTION = "\n".join(["def f(data, limit):", "    total = 0", *STATEMENTS]) + "\n"
"""Twelve lines."""

LONGER = FUNCTION + "    return total\n"

ALIKE = {
    "to the letter": FUNCTION,
    "other names": FUNCTION.replace("total", "sum_of_all").replace("data", "rows").replace("def f", "def g"),
    "more code before and after": f"import re\n\n\ndef h():\n    return 1\n\n\n{LONGER}",
    "comments, a docstring and blank lines": FUNCTION.replace(
        "    total = 0\n", '    """What it does."""\n\n    # from nothing\n    total = 0\n\n'
    ),
    "another layout": FUNCTION.replace("data.get(3, limit)", "data.get(\n        3,\n        limit,\n    )"),
    "in a class": "class C:\n" + "\n".join(f"    {line}" for line in FUNCTION.splitlines()),
}
OTHER = {
    "a line less": FUNCTION.rpartition("    total")[0],
    "a name that stands for two": FUNCTION.replace("data.get(3", "limit.get(3"),
    "another number": FUNCTION.replace("data.get(3", "data.get(33"),
    "another method": FUNCTION.replace("data.get(3", "data.pop(3"),
    "another builtin": FUNCTION.replace("total = 0", "total = max(0, 0)"),
    "no Python": FUNCTION.replace("total = 0", "total = ="),
    "bytes that are no text": "\udcff",
}
COMMON = {
    "imports": "\n".join(f"import module_{number}" for number in range(2 * LEAST)),
    "exports": f"__all__ = {[str(number) for number in range(40)]}",
    "a dataclass": "@dataclass(frozen=True)\nclass C:\n"
    + "\n".join(f"    n{n}: int" for n in range(2 * LEAST)),
    "errors": "\n\n\n".join(f"class E{n}(ValueError):\n    pass" for n in range(LEAST)),
}


def found(source: str, stub: str = "") -> dict[int, str]:
    """The runs of a source."""
    data, given = source.encode(errors="surrogatepass"), {ENTRY: stub.encode()}
    return {run: in_words([place]) for run, place in runs_of({ENTRY: data}, given).items()}


def test_twelve_lines_are_the_same_if_only_names_and_layout_differ():
    """Statements in order, attributes and literals to the letter (D-54-03)."""
    (run,) = found(FUNCTION)
    assert [said for said, source in ALIKE.items() if run not in found(source)] == []
    assert [said for said, source in OTHER.items() if run in found(source)] == []


def test_what_every_module_has_is_no_repetition():
    """And what the stub dictates, as far as the draft left it (D-54-03)."""
    assert [said for said, source in COMMON.items() if found(source)] == []
    assert found(LONGER, stub=LONGER) == {}
    assert found(LONGER, stub=FUNCTION) != {}
    assert runs_of({"tests/test_f.py": LONGER.encode()}) == {}


def test_lines_are_those_of_the_file():
    """Of several runs in a row the whole, of a statement in several lines the last (D-54-03)."""
    draft = f"# a comment\n\n{LONGER}".replace("return total", "return (\n        total\n    )")
    places = runs_of({ENTRY: draft.encode()}).values()
    assert in_words(places) == f"{ENTRY}, lines 3-{LEAST + 5}"
    apart = [place._replace(first=100, last=120) for place in places][:1]
    assert in_words([*apart, *places]).endswith(" and implementation/__init__.py, lines 100-120")
