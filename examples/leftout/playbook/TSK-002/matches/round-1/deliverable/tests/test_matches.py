import pytest

from modules.matches import PathError, Pattern, matches


def test_a_pattern_within_its_folder():
    assert matches(Pattern("src/**/*.p[yx]", anchored=True), "src/app/main.py") is True


@pytest.mark.parametrize("body, path", [("build", "build"), ("build", "a/build"), ("*", "a")])
def test_folder_only(body, path):
    pattern = Pattern(body, folder_only=True)
    assert matches(pattern, path, True) is True
    assert matches(pattern, path, False) is False
    assert matches(pattern, path) is False


@pytest.mark.parametrize("is_folder", [True, False])
def test_other_patterns_match_files_and_folders(is_folder):
    assert matches(Pattern("a"), "x/a", is_folder) is True
    assert matches(Pattern("a"), "a/x", is_folder) is False


def test_negated_does_not_count():
    assert matches(Pattern("a", negated=True), "a") is True
    assert matches(Pattern("a", negated=True), "b") is False


@pytest.mark.parametrize(
    "body, path, last_name, whole_path",
    [
        ("main.py", "main.py", True, True),
        ("main.py", "src/app/main.py", True, False),
        ("src", "src/main.py", False, False),
        ("src/a.py", "src/a.py", False, True),
        ("src/a.py", "x/src/a.py", False, False),
        ("src/a.py", "src/a.py/b", False, False),
        ("a", "ab", False, False),
        ("b", "ab", False, False),
        ("a?", "x/ab", True, False),
        ("**/a", "x/a", True, True),
        ("Makefile", "makefile", False, False),
        ("makefile", "Makefile", False, False),
        ("\n\ud800é", "\n\ud800é", True, True),
        ("a]", "a]", True, True),
        ("a-b", "a-b", True, True),
        ("!a", "!a", True, True),
        ("^.", "^.", True, True),
        (".a", "xa", False, False),
        ("a(b|c)+$", "a(b|c)+$", True, True),
        ("C:/a", "C:/a", False, True),
    ],
)
def test_last_name_and_whole_path(body, path, last_name, whole_path):
    assert matches(Pattern(body), path) is last_name
    assert matches(Pattern(body, anchored=True), path) is whole_path


@pytest.mark.parametrize(
    "body, path, matched",
    [
        ("a*", "a", True),
        ("a*", "abc", True),
        ("*a*b", "xaxxaxb", True),
        ("*a*b", "bxa", False),
        ("*a", "ab", False),
        ("*", ".hidden", True),
        ("?hidden", ".hidden", True),
        ("*", "a\nb", True),
        ("?", "\n", True),
        ("?", "é", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a?c", "abbc", False),
        ("a?c", "a/c", False),
        ("src/*", "src/a", True),
        ("src/*", "src/a/b", False),
        ("*/b", "a/b", True),
        ("*/b", "a/a/b", False),
        ("a*b", "a/b", False),
        ("*", "a/b", False),
    ],
)
def test_star_and_question_mark(body, path, matched):
    assert matches(Pattern(body, anchored=True), path) is matched


@pytest.mark.parametrize(
    "body, members, others",
    [
        ("[a-c]", "abc", "d-`A"),
        ("[acx]", "acx", "b"),
        ("[!a-c]", "dA-!", "abc"),
        ("[^a-c]", "dA-^", "abc"),
        ("[a!^]", "a!^", "b"),
        ("[]]", "]", "a["),
        ("[]-a]", "]^_`a", "b-["),
        ("[!]a]", "b", "]a"),
        ("[a-]", "a-", "b"),
        ("[-a]", "a-", "b"),
        ("[a-c-e]", "abc-e", "d"),
        ("[a-c--/]", "abc-", "d,0"),
        ("[z-ab]", "b", "az-y"),
        ("[!z-a]", "xaz-", ""),
        ("[\\]a]", "]a", "["),
        ("[\\a-\\c]", "abc", "d-"),
        ("[a\\-c]", "a-c", "b"),
        ("[[:alpha]", "[:alph", "b]"),
        ("[*?]", "*?", "a"),
        ("[\n]", "\n", "n"),
        ("[\ud800-\udfff]", "\ud800\udc00", "a"),
        ("[.a]", "a", "b"),
    ],
)
def test_classes(body, members, others):
    assert [character for character in members + others if matches(Pattern(body), character)] == list(members)


@pytest.mark.parametrize(
    "body, path, matched",
    [
        ("a[b]c", "abc", True),
        ("a[b]c", "ac", False),
        ("a[b]c", "abbc", False),
        ("a[^b]c", "a/c", False),
        ("a[!b]c", "a/c", False),
        ("a[.-0]c", "a/c", False),
        ("a[.-0]c", "a.c", True),
        ("a[b/]c", "a/c", False),
        ("a[b/]c", "abc", True),
        ("[[:alpha:]]", "a", False),
        ("[[:alpha:]]", "a]", True),
        ("x/[a-c].py", "x/b.py", True),
    ],
)
def test_classes_within_a_path(body, path, matched):
    assert matches(Pattern(body, anchored=True), path) is matched


@pytest.mark.parametrize(
    "body, path, matched",
    [
        ("**/foo", "foo", True),
        ("**/foo", "a/foo", True),
        ("**/foo", "a/b/foo", True),
        ("**/foo", "a/xfoo", False),
        ("**/foo", "foo/a", False),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "ab", False),
        ("a/**/b", "a/xb", False),
        ("a/**/b", "x/a/b", False),
        ("a/**/b/*", "a/b/b/c", True),
        ("a/***/b", "a/x/y/b", True),
        ("x/**/a/**/b", "x/1/2/a/3/b", True),
        ("a/**", "a/b", True),
        ("a/**", "a/b/c/d", True),
        ("a/**", "a", False),
        ("a/**", "ab/c", False),
        ("a/***", "a/b/c", True),
        ("**", "a", True),
        ("**", "a/b/c", True),
        ("**/**", "a", True),
        ("**/**/b", "a/b", True),
        ("*/**", "a/b/c", True),
        ("*/**", "a", False),
        ("**a", "xa", True),
        ("**a", "x/a", False),
        ("a**b/c", "axb/c", True),
        ("a**b/c", "a/b/c", False),
        ("a/b**", "a/bx", True),
        ("a/b**", "a/b/x", False),
        ("**\\/a", "x/a", True),
        ("**\\/a", "x/y/a", False),
        ("a\\/**", "a/x/y", True),
        ("\\**", "*a/b", False),
        ("\\***", "*a", True),
        ("[a]**/b", "a/x/b", False),
    ],
)
def test_parts_of_stars(body, path, matched):
    assert matches(Pattern(body, anchored=True), path) is matched


def test_stars_alone_match_every_name():
    assert matches(Pattern("**"), "a/b") is True


@pytest.mark.parametrize(
    "body, path, matched",
    [
        ("\\*", "*", True),
        ("\\*", "a", False),
        ("\\?", "?", True),
        ("\\?", "a", False),
        ("\\[a]", "[a]", True),
        ("\\[a]", "a", False),
        ("\\#a", "#a", True),
        ("\\a\\ ", "a ", True),
        ("a\\/b", "a/b", True),
        ("a\\/b", "axb", False),
        ("\\\n", "\n", True),
        ("\\\\", "a", False),
    ],
)
def test_escapes(body, path, matched):
    assert matches(Pattern(body, anchored=True), path) is matched


@pytest.mark.parametrize(
    "body, path",
    [
        ("", "a"),
        ("a\\", "a"),
        ("\\", "a"),
        ("[b", "[b"),
        ("[", "["),
        ("[]", "[]"),
        ("[!]", "[!]"),
        ("[!]", "!"),
        ("a[\\]", "a]"),
        ("[a-\\]", "a"),
        ("[z-a]", "a"),
        ("[/]", "a"),
        ("a[/]b", "a/b"),
        ("/a", "a"),
        ("a/", "a"),
        ("a//b", "a/b"),
        ("**/", "a"),
        ("./a", "a"),
        ("a/./b", "a/b"),
        ("a/../b", "b"),
        ("..", "a"),
        (".", "a"),
        ("[.]", "a"),
    ],
)
def test_bodies_that_match_nothing(body, path):
    assert matches(Pattern(body, anchored=True), path, True) is False
    assert matches(Pattern(body), path, True) is False


@pytest.mark.parametrize(
    "path, message",
    [
        ("", "empty path"),
        ("a\\b", "backslash"),
        ("/..\\", "backslash"),
        ("/a", "absolute path"),
        ("/", "absolute path"),
        ("/..", "absolute path"),
        ("..", "'..'"),
        ("b/../a", "'..'"),
        ("a//..", "'..'"),
        ("./..", "'..'"),
        ("a/", "bad part"),
        ("a//b", "bad part"),
        ("./a", "bad part"),
        (".", "bad part"),
        ("a/.", "bad part"),
    ],
)
@pytest.mark.parametrize("body, folder_only", [("a", False), ("[", True)])
def test_paths_that_are_refused(path, message, body, folder_only):
    with pytest.raises(PathError) as caught:
        matches(Pattern(body, folder_only=folder_only), path)
    assert str(caught.value).startswith(message)


def test_path_error_is_a_value_error():
    with pytest.raises(ValueError, match="^empty path"):
        matches(Pattern("a"), "")


@pytest.mark.parametrize("path", ["...", "..a", "a..", ".a/b.", "C:/a", " "])
def test_paths_that_are_taken(path):
    assert matches(Pattern("**", anchored=True), path) is True
