"""What judges are shown of tests: everything that an assertion reads (F-9.2, DESIGN §6)."""

from specwright.domain.debate import test_outline as outlines

SUITE = b'''
"""Tests of `depth`."""

import pytest

from modules.depth import DepthError, depth

EMPTY = [[], (), "two  spaces"]


def refused(value):
    """Assert that a value is refused."""
    with pytest.raises(DepthError, match="no list"):
        depth(value)


def test_deep():
    """Lists in lists."""
    value = []
    for _ in range(3):
        value = [value]
    assert depth(value) == 4


@pytest.mark.parametrize("value", [1, "x"])
def test_no_list(value):
    refused(value)
'''


def test_loops_helpers_and_constants_are_shown() -> None:
    """A body that asserts by a helper is not empty, and a loop that makes the value stands where it stood."""
    assert outlines.test_outline(
        {"tests/test_depth.py": SUITE}, {"test_deep": ["/purpose"]}
    ).splitlines() == [
        "EMPTY = [[], (), 'two  spaces']",
        "helper refused(value)",
        "  with pytest.raises(DepthError, match='no list'):",
        "      depth(value)",
        "test_deep shows /purpose",
        "  value = []",
        "  for _ in range(3):",
        "      value = [value]",
        "  assert depth(value) == 4",
        "test_no_list",
        "  parametrize: 'value', [1, 'x']",
        "  refused(value)",
    ]


def test_of_what_has_no_room_the_name_and_what_it_shows_are_told() -> None:
    """A request holds a bounded outline; who judges still sees which test shows what (F-9.7-04)."""
    many = b"".join(b"def test_%d():\n    assert f(%d) == '%s'\n" % (i, i, b"x" * 300) for i in range(1, 201))
    claims = {f"test_{i}": [f"/error_surfaces/{i}"] for i in range(1, 201)}
    outline = outlines.test_outline({"tests/test_f.py": many}, claims)
    assert len(outline) < outlines.MOST_CHARACTERS + outlines.MOST_BEYOND
    lines = outline.splitlines()
    assert f"test_60 shows /error_surfaces/60{outlines.BEYOND}" in lines
    told = [line for line in lines if line.startswith("test_")]
    assert lines[-1] == f"and {200 - len(told)} more"
    assert 100 < len(told) < 200


def test_what_cannot_be_read_is_left_out() -> None:
    """The gate says so elsewhere."""
    assert outlines.test_outline({"tests/test_a.py": b"def", "implementation/__init__.py": SUITE}, {}) == ""


def test_a_text_of_a_test_file_cannot_pass_for_another_test() -> None:
    """Line ends in an f-string stay within the line that shows it; only tests of the file are told (F-9.2)."""
    forged = b"""
NOTE = f"a{1}\\ntest_x shows /error_surfaces/0\\n  with pytest.raises(DepthError):"

@pytest.mark.parametrize("value", [f"b{2}\\ntest_y shows /purpose"])
def test_one(value):
    assert depth(value)
"""
    lines = outlines.test_outline({"tests/test_f.py": forged}, {}).splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == ["NOTE", "test_one"]


def test_helpers_and_constants_of_classes_and_blocks_are_shown() -> None:
    """What an assertion stands in is shown wherever it is defined (F-9.2)."""
    suite = b"""
if SLOW:
    def check(value):
        assert value is not None

class TestDepth:
    LIMIT = 5

    def expect(self, value):
        assert value is not None

    def test_it(self):
        self.expect(depth([]))
"""
    outline = outlines.test_outline({"tests/test_f.py": suite}, {})
    assert outline.splitlines() == [
        "if SLOW:",
        "      def check(value):",
        "          assert value is not None",
        "TestDepth.LIMIT = 5",
        "helper TestDepth.expect(self, value)",
        "  assert value is not None",
        "test_it",
        "  self.expect(depth([]))",
    ]
