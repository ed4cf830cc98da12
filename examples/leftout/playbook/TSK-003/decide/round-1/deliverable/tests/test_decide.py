import pytest

from modules.decide import Decision, PathError, decide


def test_files_of_a_tree():
    files = {"": "# made\n*.log\nbuild/\n", "src": "!keep.log\n/gen\n"}
    assert decide(files, "src/keep.log") == Decision(False, "src", 1)
    assert decide(files, "src/gen/a.py") == Decision(True, "src", 2)
    assert decide(files, "src/other.log") == Decision(True, "", 2)


@pytest.mark.parametrize(
    "text, path, ignored, line",
    [
        ("a", "a", True, 1),
        ("\ufeffa", "a", True, 1),
        ("\ufeff\ufeffa", "a", False, None),
        ("b\n\ufeffa", "a", False, None),
        ("\ufeff#a", "#a", False, None),
        ("a\r\nb\r", "a", True, 1),
        ("a\r\nb\r", "b", True, 2),
        ("a\r\r\n", "a", False, None),
        ("a\rb", "b", False, None),
        ("b\x0ba\u2028a\x85a", "a", False, None),
        ("# logs\n\n  \n*.log", "x/a.log", True, 4),
        ("*.log\n!a.log\n", "a.log", False, 2),
        ("*.log\n!a.log\na.*", "a.log", True, 3),
        ("a\na\n[\n#a\n", "a", True, 2),
        ("!a\n", "a", False, 1),
        ("*.log\n", "a.py", False, None),
        ("", "a", False, None),
        ("#a\n\n", "#a", False, None),
    ],
)
def test_lines_of_one_file(text, path, ignored, line):
    folder = None if line is None else ""
    assert decide({"": text}, path) == Decision(ignored, folder, line)


@pytest.mark.parametrize(
    "files, path, ignored, folder, line",
    [
        ({"src": "/a.py\n"}, "src/a.py", True, "src", 1),
        ({"src": "/a.py"}, "src/x/a.py", False, None, None),
        ({"src": "a.py"}, "src/x/a.py", True, "src", 1),
        ({"src": "src/a.py"}, "src/a.py", False, None, None),
        ({"src": "a.py\n"}, "lib/a.py", False, None, None),
        ({"src": "a.py\n"}, "srcs/a.py", False, None, None),
        ({"src": "a.py\n"}, "a.py", False, None, None),
        ({"src": "src\n*"}, "src", False, None, None),
        ({"a/b": "x"}, "a/x", False, None, None),
        ({"a/b": "c/x"}, "a/b/c/x", True, "a/b", 1),
        ({"": "*", "a": "!a"}, "a", True, "", 1),
        ({"": "src/a.py"}, "src/a.py", True, "", 1),
    ],
)
def test_patterns_are_relative_to_their_folder(files, path, ignored, folder, line):
    assert decide(files, path) == Decision(ignored, folder, line)


@pytest.mark.parametrize(
    "files, path, ignored, folder, line",
    [
        ({"src": "!*.log\n", "": "*.log\n"}, "src/a.log", False, "src", 1),
        ({"": "*.log\n", "src": "!*.log\n"}, "src/a.log", False, "src", 1),
        ({"a/b": "x", "a": "!x", "": "x"}, "a/b/x", True, "a/b", 1),
        ({"a": "b\n!x", "": "x\n"}, "a/c/x", False, "a", 2),
        ({"a": "y", "": "!z\nx"}, "a/x", True, "", 2),
    ],
)
def test_deeper_files_come_after(files, path, ignored, folder, line):
    assert decide(files, path) == Decision(ignored, folder, line)


@pytest.mark.parametrize(
    "files, path, ignored, folder, line",
    [
        ({"": "build/\n!build/keep.txt\n"}, "build/keep.txt", True, "", 1),
        ({"": "build\n", "build": "!keep.txt\n"}, "build/keep.txt", True, "", 1),
        ({"": "a/b\n*"}, "a/b/c", True, "", 2),
        ({"": "a\nb"}, "a/b/c", True, "", 1),
        ({"a": "b", "a/b": "!c"}, "a/b/c", True, "a", 1),
        ({"": "x/y\n"}, "x/y/z/w", True, "", 1),
        ({"": "a\n!a\nb"}, "a/x", False, None, None),
        ({"": "*\n!a", "a": "b"}, "a/c", True, "", 1),
        ({"": "/*\n!a", "a": "b"}, "a/c", False, None, None),
        ({"": "build/*\n!build/keep.txt\n"}, "build/keep.txt", False, "", 2),
    ],
)
def test_folders_above(files, path, ignored, folder, line):
    assert decide(files, path) == Decision(ignored, folder, line)


@pytest.mark.parametrize(
    "path, as_file, as_folder",
    [("build", None, 1), ("x/build", None, 1), ("build/a", 1, 1), ("a/only", 2, 2)],
)
def test_folder_or_file(path, as_file, as_folder):
    files = {"": "build/\nonly"}
    expected = Decision(False, None, None) if as_file is None else Decision(True, "", as_file)
    assert decide(files, path) == expected
    assert decide(files, path, False) == expected
    assert decide(files, path, True) == Decision(True, "", as_folder)


@pytest.mark.parametrize("path", ["a", "a/b", "..a", "C:/x"])
def test_no_files(path):
    assert decide({}, path, True) == Decision(False, None, None)


@pytest.mark.parametrize(
    "files, path, message",
    [
        ({}, "", "empty path"),
        ({}, "a\\b", "backslash"),
        ({}, "/a", "absolute path"),
        ({}, "../a", "'..'"),
        ({}, "a//..", "'..'"),
        ({}, "a/", "bad part"),
        ({}, "./a", "bad part"),
        ({"": "a"}, "/a", "absolute path"),
        ({"/src": ""}, "a", "absolute path"),
        ({"a\\b": ""}, "c", "backslash"),
        ({"..": ""}, "a", "'..'"),
        ({"x/": "a"}, "b", "bad part"),
        ({"a//b": ""}, "c", "bad part"),
        ({".": "*"}, "c", "bad part"),
        ({"": "a", "b": "", "/": ""}, "a", "absolute path"),
        ({"/\\": ""}, "a", "backslash"),
        ({"/x": ""}, "../a", "'..'"),
        ({"/x": "", "..": ""}, "a", "absolute path"),
        ({"..": "", "/x": ""}, "a", "'..'"),
    ],
)
def test_paths_and_keys_that_are_refused(files, path, message):
    with pytest.raises(PathError) as caught:
        decide(files, path)
    assert str(caught.value).startswith(message)
