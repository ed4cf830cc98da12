"""Patterns mean what the file tools say that they mean, and end in time whatever a model writes (DESIGN §7)."""

import pytest
from deepagents.backends.utils import compile_grep_include_glob
from hypothesis import assume, given
from hypothesis import strategies as st

from specwright.domain.base.glob_patterns import MAX_ALTERNATIVES, compile_glob

SEGMENTS = st.sampled_from(
    [
        "*",
        "**",
        "*.py",
        "?",
        "[ab]*",
        "[!a]",
        "a",
        "b.py",
        ".*",
        ".a",
        "{a,b}",
        "{a,b}.py",
        "{{a,c},.a}",
        "a*b",
    ]
)
PATTERNS = st.builds(
    lambda anchored, parts: ("/" if anchored else "") + "/".join(parts),
    st.booleans(),
    st.lists(SEGMENTS, min_size=1, max_size=4),
)
PATHS = st.lists(
    st.sampled_from(["a", "b", "c", "ab", "b.py", "a.py", ".a", "b.md"]), min_size=1, max_size=4
).map("/".join)


@given(PATTERNS, PATHS)
def test_a_pattern_means_what_the_file_tools_mean_by_it(pattern: str, path: str):
    """Two readings agree on names at any depth, anchors, `**`, braces, classes and dots (D-S7-04)."""
    assume(pattern.count("{") < 6)  # with more, some come to too many alternatives, which is another rule
    assert compile_glob(pattern)(path) is bool(compile_grep_include_glob(pattern)(path))


@pytest.mark.timeout(60)
def test_no_pattern_holds_the_factory_up():
    """Where one regular expression would go back for hours, every state is visited once for each name (D-S7-04)."""
    for pattern, path in (
        ("**/a/" * 10 + "b", "a/" * 1500),
        ("{*,}{*,}/a/{*,}{*,}/a/{*,}{*,}/b", "a/" * 1500),
        ("*a" * 100 + "b", "a" * 255),
        ("[!b]*" * 50 + "b", "a" * 255),
        ("?*" * 100 + "b", "a" * 255),
        ("**/" * 300 + "b", "a/" * 1500),
    ):
        assert not compile_glob(pattern)(path + "c")


def test_what_leads_upwards_or_never_ends_is_refused():
    """Also where the braces make it so; what is no pattern stands for itself or for nothing, and is never an error that a
    tool has to catch (D-S7-04)."""
    for pattern in ("../x", "a/../b", "{a,..}/b", "a/..", "x" * 1001, "{a,b}" * 20):
        with pytest.raises(ValueError, match=r"pattern"):
            compile_glob(pattern)
    for pattern in ("[", "{", "{a", "{a,b", "[]", "[!", "\0", "", "/", "//", "a//b", "{}", "{,}", "!a"):
        assert compile_glob(pattern)("a/b") is (pattern == "a//b")
    assert MAX_ALTERNATIVES < 100
