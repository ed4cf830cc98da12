"""Slugs and sibling suffixes (F§4.1, D1)."""

import hashlib
import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from specwright.domain.base.slugs import MAX_LENGTH, sibling_slugs, slugify

_SLUG = re.compile(r"[a-z0-9-]{1,64}")
_NAMES = st.one_of(
    st.text(max_size=80), st.sampled_from(["Login", "login", "Login 2", "Login 2 2", "x" * 70, "日本語"])
)


def _hash(text):
    return hashlib.sha256(text.encode()).hexdigest()[:7]


SLUGS = {
    "User Authentication": "user-authentication",
    "API v2.0 Integration": "api-v2-0-integration",
    "Setup DB & Cache Layer": "setup-db-cache-layer",
    "  Leading Spaces  ": "leading-spaces",
    "a" * 70: "a" * 56 + "-" + _hash("a" * 70),
    "snake_case.and.dots": "snake-case-and-dots",
    "a" * 64: "a" * 64,
    "../../etc/passwd": "etc-passwd",
    "CON": "con",
    "trailing...": "trailing",
    "a\\b/c": "a-b-c",
    "K": "k",
    "日本語": "n-" + _hash("日本語"),
}


def test_names_become_the_documented_slugs():
    """F-4.1-02, F-4.1-05: the five examples of F§4.1, and the edges of its rules; separators, dots and look-alike letters
    leave nothing that a file system could misread."""
    assert {name: slugify(name) for name in SLUGS} == SLUGS


def test_a_long_slug_is_cut_at_56_and_hashed_whole():
    """F-4.1-02: the hash is over the full slug, so two long names that begin alike stay apart."""
    a, b = slugify("word " * 14 + "a"), slugify("word " * 14 + "b")
    assert a[:57] == b[:57]
    assert a != b
    assert a.endswith(_hash("word-" * 14 + "a"))


def test_a_name_without_letters_becomes_n_and_a_hash():
    """F-4.1-05, D-01: punctuation, path segments, CJK and emoji still get a directory of their own."""
    for name in ("日本語", "!!!", "..", ".", "/", "🎉", "---", "   ", "\ud800"):
        assert re.fullmatch(r"n-[0-9a-f]{7}", slugify(name))


@settings(deadline=None)
@given(st.text())
def test_every_name_gives_a_slug(name):
    """F-4.1-02, F-4.1-03: whatever the name, 1 to 64 of the allowed characters, no hyphen at the ends; a short one is its
    own slug."""
    slug = slugify(name)
    assert _SLUG.fullmatch(slug)
    assert slug == slug.strip("-")
    assert len(name) > 60 or slugify(slug) == slug


SIBLINGS = [
    ("Login|Login", "login|login-2"),
    ("Login|Login|Login 2", "login|login-3|login-2"),
    ("Login 2|Login|Login", "login-2|login|login-3"),
    ("Setup DB & Cache|Setup DB + Cache|setup db cache", "setup-db-cache|setup-db-cache-2|setup-db-cache-3"),
    ("Login|Login|Login 2|Login 2|Login", "login|login-3|login-2|login-2-2|login-4"),
]


def test_later_siblings_get_numbers_that_nobody_owns():
    """F-4.1-04, D-01, F-17.2-06: suffixes in declaration order; none takes what a sibling owns by its name, nor the parts of
    a split task what has its directory already."""
    assert [(names, "|".join(sibling_slugs(names.split("|")))) for names, _ in SIBLINGS] == SIBLINGS
    assert sibling_slugs(["Login", "Other"], taken={"login", "login-2"}) == ("login-3", "other")


def test_a_suffix_keeps_a_long_slug_within_64_characters():
    """F-4.1-03: two siblings with one 70-character name."""
    first, second = sibling_slugs(["a" * 70, "a" * 70])
    assert len(first) == len(second) == MAX_LENGTH
    assert second.endswith("-2")


@settings(deadline=None)
@given(st.lists(_NAMES, max_size=20), st.sets(st.sampled_from(["login", "login-2", "x"])))
@example(["a" * 70] * 12 + ["a" * 56 + "-" + _hash("a" * 70)], set())
def test_sibling_slugs_are_different_and_well_formed(names, taken):
    """F-4.1-03, F-4.1-04, D-01: unique among siblings, never over 64 characters, whatever the names; who comes first under
    a name keeps the name's own slug."""
    slugs = sibling_slugs(names, taken)
    assert len({*slugs, *taken}) == len(names) + len(taken)
    assert all(_SLUG.fullmatch(slug) for slug in slugs)
    own = [slugify(name) for name in names]
    assert all(slugs[own.index(slug)] == slug for slug in own if slug not in taken)
