import pytest

from modules.parse_pattern import Pattern, parse_pattern


def test_a_line_with_all_its_marks():
    assert parse_pattern("!/src/*.py/  ") == Pattern("src/*.py", True, True, True)


@pytest.mark.parametrize("line", ["", " ", "   ", "#", "# build", "#!/a"])
def test_blank_lines_and_comments(line):
    assert parse_pattern(line) is None


@pytest.mark.parametrize(
    "line, body",
    [
        ("a", "a"),
        ("a  ", "a"),
        ("a b ", "a b"),
        (" #a", " #a"),
        ("a\\ ", "a\\ "),
        ("a\\   ", "a\\ "),
        ("a\\\\  ", "a\\\\"),
        ("a\\\\\\  ", "a\\\\\\ "),
        ("\\  ", "\\ "),
        ("a \\b ", "a \\b"),
        ("\t", "\t"),
        ("a\t", "a\t"),
        ("a\r", "a\r"),
        ("a \n", "a \n"),
        ("\\\n", "\\\n"),
        ("\ud800?", "\ud800?"),
    ],
)
def test_spaces_at_the_end(line, body):
    assert parse_pattern(line) == Pattern(body, False, False, False)


@pytest.mark.parametrize(
    "line, body, negated, folder_only, anchored",
    [
        ("*.py", "*.py", False, False, False),
        ("!keep.txt", "keep.txt", True, False, False),
        ("!!a", "!a", True, False, False),
        ("!#a", "#a", True, False, False),
        (" !a", " !a", False, False, False),
        ("build/", "build", False, True, False),
        ("build/  ", "build", False, True, False),
        ("build/\t", "build/\t", False, False, True),
        ("/build", "build", False, False, True),
        ("/build/", "build", False, True, True),
        ("src/app", "src/app", False, False, True),
        ("!a/b/", "a/b", True, True, True),
        ("**/a", "**/a", False, False, True),
        ("a\\/b", "a\\/b", False, False, True),
        ("a[b/]c", "a[b/]c", False, False, True),
        ("[a//]", "[a//]", False, False, True),
    ],
)
def test_marks_and_slashes(line, body, negated, folder_only, anchored):
    assert parse_pattern(line) == Pattern(body, negated, folder_only, anchored)


@pytest.mark.parametrize("line", ["\\#a", "\\!a", "\\!", "a\\*\\[b"])
def test_backslashes_stay(line):
    assert parse_pattern(line) == Pattern(line, False, False, False)


@pytest.mark.parametrize("line", ["!", "/", "!/", "! ", "a\\", "\\", "a\\\\\\", "a\\/", "!b\\"])
def test_no_body_or_a_lone_backslash(line):
    assert parse_pattern(line) is None


@pytest.mark.parametrize("line", ["[", "a[bc", "[]", "[!]", "[^]", "[a\\]", "[a-\\]", "[]a", "[a]b[c", "\\[[a", "a[/"])
def test_open_classes(line):
    assert parse_pattern(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "[]]",
        "[!]]",
        "[^]]",
        "[[]",
        "[\\]]",
        "\\[a",
        "a]",
        "[!!]",
        "[\\\\]",
        "[a-z][0-9]",
        "[a-a]",
        "[.-0]",
        "[a\n]",
        "[\n]",
        "[\\\n]",
        "[-]",
        "[--a]",
        "[a-]",
        "[z-]",
        "[z-a-Z]",
        "[z-a-/]",
        "[z\\-a]",
        "[\\a-\\z]",
        "[]-a]",
        "[z-ab]",
        "[!z-a]",
        "[^z-a]",
    ],
)
def test_closed_classes(line):
    assert parse_pattern(line) == Pattern(line, False, False, "/" in line)


@pytest.mark.parametrize(
    "line",
    ["[z-a]", "[b-a]", "[\\z-\\a]", "[z-\\a]", "[a--]", "[z-ay-b]", "a[/]b", "[\\/]", "[/-/]", "[/z-a]", "x[a][z-a]", "[/z-a//]"],
)
def test_classes_without_a_character(line):
    assert parse_pattern(line) is None


@pytest.mark.parametrize("line", ["//", "//a", "a//b", "a//", ".", "..", "./a", "a/..", "a/./b", "!/../a", "a\\//b", "[a]//b"])
def test_parts_that_no_path_has(line):
    assert parse_pattern(line) is None


@pytest.mark.parametrize("line", ["...", ".a", "a..", "\\.", "a/.b/..c", "[a]/[!/]/b", "[.]"])
def test_parts_that_a_path_may_have(line):
    assert parse_pattern(line) == Pattern(line, False, False, "/" in line)
