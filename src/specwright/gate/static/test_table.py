"""What tests may name, as lists: whatever is not here is refused (D-S8-06, ADR 0035).

Tests share a process with what runs and reports them. So they get the tools for calling a module with values and for
looking at what came out, and nothing that leads to that process: no frames, hooks, descriptors, threads or patches.
"""

__all__ = ["BUILTINS", "DUNDERS", "FIXTURES", "HIDDEN", "MODULES", "ONLY", "UNSEEN_FIXTURES"]

_WHOLE = """__future__ abc array ast base64 binascii bisect bz2 calendar cmath collections colorsys configparser copy csv
    datetime decimal difflib email enum errno filecmp fnmatch fractions glob graphlib gzip hashlib heapq hmac html
    http.HTTPStatus ipaddress itertools json keyword lzma math mimetypes numbers os.path pathlib plistlib pprint
    quopri random re secrets shlex shutil sqlite3 stat statistics struct tarfile tempfile textwrap time tomllib
    unicodedata urllib.parse uuid xml.etree.ElementTree zipfile zlib zoneinfo hypothesis.strategies
    hypothesis.HealthCheck"""
MODULES = set(_WHOLE.split())
"""Modules of which everything that is not private may be used."""

ONLY = {
    f"{module}.{name}"
    for module, names in {
        "pytest": """raises fixture approx param fail mark.parametrize CaptureFixture FixtureRequest TempPathFactory
            ExceptionInfo""",
        "hypothesis": "given example assume settings seed note event target",
        "os": """sep altsep linesep pathsep extsep curdir pardir devnull name fspath fsencode fsdecode PathLike strerror
            stat lstat listdir scandir walk access F_OK R_OK W_OK X_OK chdir getcwd mkdir makedirs rmdir removedirs
            remove unlink rename renames replace symlink link readlink truncate chmod utime mkfifo stat_result error""",
        "sys": """maxsize maxunicode byteorder platform version_info getrecursionlimit get_int_max_str_digits getsizeof
            float_info.max float_info.min float_info.epsilon float_info.dig""",
        "asyncio": """run gather sleep wait_for timeout TimeoutError CancelledError TaskGroup create_task iscoroutine
            iscoroutinefunction""",
        "contextlib": """nullcontext chdir contextmanager asynccontextmanager closing redirect_stdout redirect_stderr
            suppress""",
        "functools": "partial reduce cache lru_cache cmp_to_key",
        "operator": """itemgetter add sub mul truediv floordiv mod eq ne lt le gt ge and_ or_ xor neg not_ contains
            getitem concat""",
        "typing": """Any Literal NamedTuple TypedDict cast get_args get_origin Final Optional Union Callable Iterable
            Iterator Sequence Mapping Protocol TypeVar Generator TYPE_CHECKING Annotated ClassVar Awaitable Coroutine
            NoReturn Never List Dict Set Tuple Type assert_never""",
        "types": "SimpleNamespace MappingProxyType NoneType EllipsisType GenericAlias UnionType",
        "string": """ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation printable
            whitespace Template capwords""",
        "io": "StringIO BytesIO TextIOWrapper UnsupportedOperation SEEK_SET SEEK_CUR SEEK_END open",
        "dataclasses": "asdict astuple replace fields is_dataclass FrozenInstanceError dataclass field",
    }.items()
    for name in names.split()
}
"""What may be used of the other modules."""

BUILTINS = {
    "eval", "exec", "compile", "__import__", "globals", "locals", "vars", "dir", "setattr", "delattr", "breakpoint",
    "input", "exit", "quit", "help", "copyright", "credits", "license", "memoryview",
}  # fmt: skip
"""Builtins that a test has no use for; names between underscores, `__name__` excepted, are refused as well."""

DUNDERS = {
    "__name__", "__qualname__", "__cause__", "__context__", "__notes__", "__class__", "__len__", "__iter__",
    "__tracebackhide__", "__version__", "__init__",
}  # fmt: skip
"""Names between underscores that may be read; a class of a test's own defines `__init__` at most."""

HIDDEN = {
    "f_back", "f_locals", "f_globals", "f_builtins", "f_code", "f_trace", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame",
    "cr_code", "cr_await", "cr_origin", "ag_frame", "ag_code", "ag_await", "tb_frame", "tb_next", "tb_lasti", "tb_lineno",
    "cell_contents", "get_stack", "print_stack", "get_coro", "traceback", "tb", "getrepr", "mro", "with_traceback",
    "getfixturevalue", "add_marker", "pluginmanager", "addfinalizer", "applymarker", "format_map",
}  # fmt: skip
"""Attributes that lead from a value to the frames, the code or the runner behind it."""

FIXTURES = {"capsys": {"readouterr", "disabled"}, "tmp_path_factory": {"mktemp"}, "request": {"param"}}
"""Of pytest's fixtures that know the runner, all that may be used; `tmp_path` is a path."""

UNSEEN_FIXTURES = {
    "monkeypatch", "mocker", "pytestconfig", "pytester", "testdir", "recwarn", "record_property", "cache", "caplog",
    "capfd", "capfdbinary", "capsysbinary", "capteesys", "doctest_namespace", "record_testsuite_property",
    "record_xml_attribute", "subtests", "tmpdir", "tmpdir_factory",
}  # fmt: skip
"""Pytest's other fixtures: they change what is tested, or lead to the runner."""
