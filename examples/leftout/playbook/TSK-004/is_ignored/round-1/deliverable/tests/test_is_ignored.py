import pytest

from modules.is_ignored import PathError, is_ignored


def test_a_file_of_the_root():
    text = "# made by tools\n*.log\n!keep.log\n/build/\n"
    assert is_ignored(text, "src/a.log") is True
    assert is_ignored(text, "src/keep.log") is False
    assert is_ignored(text, "build/keep.log") is True
    assert is_ignored(text, "src/build", True) is False


@pytest.mark.parametrize(
    "text, path, ignored",
    [
        ("*.log\n", "a/b.log", True),
        ("*.log\n!b.log\n", "a/b.log", False),
        ("!b.log\n*.log\n", "b.log", True),
        ("*.log\n!b.log\nb.*", "b.log", True),
        ("!a", "a", False),
        ("/a", "b/a", False),
        ("src/*.py", "src/a.py", True),
        ("**/b/[a-c]?", "x/b/ad", True),
        ("\\!a", "!a", True),
    ],
)
def test_last_pattern_that_matches(text, path, ignored):
    assert is_ignored(text, path) is ignored


@pytest.mark.parametrize("text", ["", "\n", "#a\n", "  \n#*\n", "b\n", "a/b", "a[", "A"])
def test_no_pattern_matches(text):
    assert is_ignored(text, "a") is False


@pytest.mark.parametrize(
    "text, path, ignored",
    [
        ("build/\n!build/keep.txt\n", "build/keep.txt", True),
        ("build\n!*", "build/a/b", False),
        ("!*\nbuild", "build/a/b", True),
        ("a/b\n", "a/b/c/d", True),
        ("a/", "a/b", True),
        ("a\n!a", "a/b", False),
        ("build/*\n!build/keep.txt\n", "build/keep.txt", False),
    ],
)
def test_folders_above(text, path, ignored):
    assert is_ignored(text, path) is ignored


def test_folder_or_file():
    assert is_ignored("build/\n", "build", True) is True
    assert is_ignored("build/\n", "build", False) is False
    assert is_ignored("build/\n", "build") is False
    assert is_ignored("build\n!build/\n", "build", True) is False
    assert is_ignored("build\n!build/\n", "build") is True


@pytest.mark.parametrize(
    "text, path, ignored",
    [
        ("a\r\nb\r", "a", True),
        ("a\r\nb\r", "b", True),
        ("a\r\r\n", "a", False),
        ("\ufeffa", "a", True),
        ("\ufeff\ufeffa", "a", False),
        ("a\rb", "b", False),
        ("a\x0bb\u2028b", "b", False),
        ("a  ", "a", True),
        ("a\\ ", "a ", True),
    ],
)
def test_how_the_text_is_cut(text, path, ignored):
    assert is_ignored(text, path) is ignored


@pytest.mark.parametrize("text", ["", "*\n"])
@pytest.mark.parametrize(
    "path, message",
    [
        ("", "empty path"),
        ("a\\b", "backslash"),
        ("/..\\", "backslash"),
        ("/a", "absolute path"),
        ("/..", "absolute path"),
        ("../a", "'..'"),
        ("a//..", "'..'"),
        ("a/", "bad part"),
        ("a//b", "bad part"),
        ("./a", "bad part"),
    ],
)
def test_paths_that_are_refused(text, path, message):
    with pytest.raises(PathError) as caught:
        is_ignored(text, path)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("path", ["C:/a", "..a", "a..", ".a/..."])
def test_paths_that_are_taken(path):
    assert is_ignored("*", path) is True
