"""The tests that exist of a function are taken over: which, with what they need, and what they are proposed to show."""

import json
from pathlib import Path
from textwrap import dedent

import pytest

from specwright.bootstrap.gate.adoption import adopt_source
from specwright.bootstrap.verify import judge_directory
from specwright.domain.adoption.report import AdoptionStatus
from specwright.gate.adopt.draft import draft_of
from specwright.gate.adopt.source_tests import SourceSuite, suite_files, take_tests
from specwright.gate.adopt.source_tree import read_source

FILES = {
    "src/shop/__init__.py": "from .slug import EmptyError, slugify\n__all__ = ['EmptyError', 'slugify']\n",
    "src/shop/slug.py": '''
        import re

        class EmptyError(ValueError):
            """No word."""

        def slugify(text: str, sep: str = "-") -> str:
            """Turn a title into a slug.

            Raises:
                EmptyError: there is no word.
            """
            found = re.findall(r"[a-z0-9]+", text.lower())
            if not found:
                raise EmptyError("no word")
            return sep.join(found)

        def shout(text: str) -> str:
            """Shout."""
            return text.upper()
    ''',
    "tests/test_slug.py": """
        import os
        import pytest
        import shop
        from shop import EmptyError
        from shop.slug import shout, slugify as slug

        CASES = [("A b", "a-b"), ("x", "x")]

        @pytest.fixture
        def title():
            return "Hello World"

        @pytest.mark.parametrize("text, expected", CASES)
        def test_cases(text, expected):
            assert slug(text) == expected

        def test_fixture(title):
            assert shop.slugify(title, sep="_") == "hello_world"

        def test_empty():
            with pytest.raises(EmptyError):
                shop.slug.slugify("!")

        def test_another_function():
            assert shout(slug("a")) == "A"

        def test_patched(monkeypatch):
            assert slug("a") == "a"

        class TestMore:
            text = "A  B"

            def test_spaces(self):
                assert slug(self.text) == "a-b"

            def test_shout(self):
                assert shout("b") == "B"
    """,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A source tree with its tests beside it."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(dedent(text))
    return tmp_path


def taken(project: Path, function: str) -> SourceSuite:
    """The tests that are taken over of a function."""
    selection = read_source(f"{project}/src/shop/slug.py:{function}")
    draft = draft_of(selection.tree, selection.functions[0])
    assert draft.contract
    return take_tests(selection.tree, selection.functions[0], draft.contract, suite_files(selection.tree))


def test_tests_of_the_function_alone_are_taken_with_what_they_show(project: Path) -> None:
    """Not those that use another function, or a fixture that nobody defines (D-50-01)."""
    suite = taken(project, "slugify")
    assert [(one.name, one.pointers) for one in suite.tests] == [
        ("test_slug.py::test_cases", ("", "/inputs/1/constraints/0")),
        ("test_slug.py::test_fixture", ("",)),
        ("test_slug.py::test_empty", ("/error_surfaces/0",)),
        ("test_slug.py::TestMore::test_spaces", ("", "/inputs/1/constraints/0")),
    ]
    (text,) = (data.decode() for data in suite.files.values())
    assert "from modules.slugify import slugify, EmptyError\n" in text
    assert "CASES = " in text
    assert "text = 'A  B'" in text
    assert not [name for name in ("import os", "shop.slug", "shout", "monkeypatch") if name in text]
    assert [one.name for one in taken(project, "shout").tests] == ["test_slug.py::TestMore::test_shout"]


def test_a_field_of_an_error_is_shown_by_what_is_asserted_of_it(project: Path) -> None:
    """Of the error that is expected, and of no other (D-50-01)."""
    source, tests = project / "src/shop/slug.py", project / "tests/test_slug.py"
    fields = "    line: int\n    reason: str\n    def __init__(self, line: int, reason: str) -> None:\n"
    fields += "        super().__init__(reason)\n        self.line = line\n        self.reason = reason\n"
    text = source.read_text().replace('    """No word."""\n', f'    """No word."""\n{fields}')
    source.write_text(text.replace('EmptyError("no word")', 'EmptyError(1, "no word")'))
    tests.write_text(
        "import pytest\nfrom shop.slug import EmptyError, slugify\n\ndef test_empty():\n"
        "    with pytest.raises(EmptyError) as info:\n        slugify('!')\n    assert info.value.line == 1\n"
        "    assert slugify('reason') == info.value.args[0] or 'reason'\n"
    )
    (one,) = taken(project, "slugify").tests
    assert [pointer for pointer in one.pointers if "fields" in pointer] == ["/error_surfaces/0/fields/0"]


@pytest.mark.slow
def test_a_tree_with_good_tests_passes_as_it_is(project: Path) -> None:
    """Nobody writes anything: existing tests show all that the docstring states (D-50-01)."""
    report = adopt_source(f"{project}/src/shop:slugify", project / "out")
    assert [one.status for one in report.functions] == [AdoptionStatus.COMPLETE]
    assert judge_directory(project / "out/slugify").findings == ()


def test_a_test_that_fails_is_left_out_and_told(project: Path) -> None:
    """With file and line, as something that is not so; the others stay (D-50-02)."""
    path = project / "tests/test_slug.py"
    path.write_text(path.read_text() + "\n\ndef test_wrong():\n    assert slug('A') == 'A'\n")
    (record,) = adopt_source(f"{project}/src/shop:slugify", project / "out").functions
    (gap,) = (one for one in record.gaps if one.refuted)
    line = path.read_text().splitlines().index("def test_wrong():") + 1
    assert "test_wrong fails" in gap.what
    assert gap.where.endswith(f"tests/test_slug.py:{line}")
    claims = json.loads((project / "out/slugify/tests/obligations.json").read_bytes())
    assert "test_slug.py::test_cases" in claims
    assert not [name for name in claims if "wrong" in name]
    assert "test_wrong" not in (project / "out/slugify/tests/test_slug.py").read_text()
