"""Slugs and sibling suffixes (F§4.1, D1)."""

import hashlib
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specwright.domain.base.slugs import MAX_LENGTH, sibling_slugs, slugify

_SLUG = re.compile(r"[a-z0-9-]{1,64}")
_NAMES = st.one_of(
    st.text(max_size=80), st.sampled_from(["Login", "login", "Login 2", "Login 2 2", "x" * 70, "日本語"])
)


def _hash(text):
    return hashlib.sha256(text.encode()).hexdigest()[:7]


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("User Authentication", "user-authentication"),
        ("API v2.0 Integration", "api-v2-0-integration"),
        ("Setup DB & Cache Layer", "setup-db-cache-layer"),
        ("  Leading Spaces  ", "leading-spaces"),
        ("a" * 70, "a" * 56 + "-" + _hash("a" * 70)),
        ("snake_case.and.dots", "snake-case-and-dots"),
        ("a" * 64, "a" * 64),
    ],
)
def test_names_become_the_documented_slugs(name, slug):
    """F-4.1-02: the five examples of F§4.1, and the edges of its rules."""
    assert slugify(name) == slug


def test_a_long_slug_is_cut_at_56_and_hashed_whole():
    """F-4.1-02: the hash is over the full slug, so two long names that begin alike stay apart."""
    a, b = slugify("word " * 14 + "a"), slugify("word " * 14 + "b")
    assert a[:57] == b[:57]
    assert a != b
    assert a.endswith(_hash("word-" * 14 + "a"))


@pytest.mark.parametrize("name", ["日本語", "!!!", "..", ".", "/", "🎉", "---", "   ", "\ud800"])
def test_a_name_without_letters_becomes_n_and_a_hash(name):
    """F-4.1-05, D-01: punctuation, path segments, CJK and emoji still get a directory of their own."""
    assert re.fullmatch(r"n-[0-9a-f]{7}", slugify(name))


def test_the_hash_of_a_name_without_letters_is_that_of_the_name():
    """F-4.1-05: anybody can compute it again."""
    assert slugify("日本語") == "n-" + _hash("日本語")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "con"),
        ("trailing...", "trailing"),
        ("a\\b/c", "a-b-c"),
        ("K", "k"),
    ],
)
def test_path_syntax_in_a_name_is_gone_from_its_slug(name, slug):
    """F-4.1-02: separators, dots and look-alike letters leave nothing that a file system could misread."""
    assert slugify(name) == slug


@settings(deadline=None)
@given(st.text())
def test_every_name_gives_a_slug(name):
    """F-4.1-02, F-4.1-03: whatever the name, 1 to 64 of the allowed characters, no hyphen at the ends."""
    slug = slugify(name)
    assert _SLUG.fullmatch(slug)
    assert not slug.startswith("-")
    assert not slug.endswith("-")


@settings(deadline=None)
@given(st.text(max_size=60))
def test_a_short_slug_is_its_own_slug(name):
    """F-4.1-02: slugifying twice changes nothing."""
    assert slugify(slugify(name)) == slugify(name)


@pytest.mark.parametrize(
    ("names", "slugs"),
    [
        (["Login", "Login"], ("login", "login-2")),
        (["Login", "Login", "Login 2"], ("login", "login-3", "login-2")),
        (["Login 2", "Login", "Login"], ("login-2", "login", "login-3")),
        (
            ["Setup DB & Cache", "Setup DB + Cache", "setup db cache"],
            ("setup-db-cache", "setup-db-cache-2", "setup-db-cache-3"),
        ),
        (
            ["Login", "Login", "Login 2", "Login 2", "Login"],
            ("login", "login-3", "login-2", "login-2-2", "login-4"),
        ),
    ],
)
def test_later_siblings_get_numbers_that_nobody_owns(names, slugs):
    """F-4.1-04, D-01: suffixes in declaration order; none takes what a sibling owns by its name."""
    assert sibling_slugs(names) == slugs


def test_a_suffix_keeps_a_long_slug_within_64_characters():
    """F-4.1-03: two siblings with one 70-character name."""
    first, second = sibling_slugs(["a" * 70, "a" * 70])
    assert len(first) == len(second) == MAX_LENGTH
    assert second.endswith("-2")


def test_a_new_sibling_takes_no_slug_that_is_taken():
    """F-17.2-06: the parts of a split task join siblings that have their directories already."""
    assert sibling_slugs(["Login", "Other"], taken={"login", "login-2"}) == ("login-3", "other")


@settings(deadline=None)
@given(st.lists(_NAMES, max_size=20), st.sets(st.sampled_from(["login", "login-2", "x"])))
@example(["a" * 70] * 12 + ["a" * 56 + "-" + _hash("a" * 70)], set())
def test_sibling_slugs_are_different_and_well_formed(names, taken):
    """F-4.1-03, F-4.1-04: unique among siblings, never over 64 characters, whatever the names."""
    slugs = sibling_slugs(names, taken)
    assert len({*slugs, *taken}) == len(names) + len(taken)
    assert all(_SLUG.fullmatch(slug) for slug in slugs)


@settings(deadline=None)
@given(st.lists(_NAMES, max_size=20))
def test_the_first_sibling_of_a_slug_owns_it(names):
    """D-01: who comes first under a name keeps the name's own slug."""
    slugs = sibling_slugs(names)
    own = [slugify(name) for name in names]
    assert all(slugs[own.index(slug)] == slug for slug in own)
