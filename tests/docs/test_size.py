"""tools/size.py counts code, and refuses a package that grew."""

import pytest

from testkit.documents import script_of
from testkit.paths import ROOT

size = script_of(ROOT / "tools/size.py")


def test_blanks_comments_and_docstrings_are_no_code():
    """A figure cannot be reached by dropping what explains the code."""
    text = (
        '"""Module."""\n\nx = 1  # why\n\n\ndef f():\n    """What.\n\n    More.\n    """\n'
        "    # why\n    return (\n        x\n    )\n"
    )
    assert size.code_lines(text) == 5


@pytest.mark.parametrize(("code", "lines"), [(10, 0), (9, 0), (11, 1)])
def test_a_package_may_shrink_and_not_grow(code: int, lines: int):
    """A larger package is named with the lines that it gained."""
    assert len(size.grown({"packages/wire": {"code": code}}, {"packages/wire": 10})) == lines


def test_each_package_and_its_tests_are_counted_apart():
    """Tests are printed and not limited."""
    paths = (
        "packages/factory/src/specwright/a.py",
        "packages/wire/src/agent_wire/a.py",
        "packages/wire/tests/a.py",
        "tests/a.py",
    )
    assert [size.place(path) for path in paths] == [
        "packages/factory",
        "packages/wire",
        "packages/wire/tests",
        "tests",
    ]
