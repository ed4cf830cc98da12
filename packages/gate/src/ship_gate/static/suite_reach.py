"""Whether tests name only what the lists of this module allow (design: module-directory, ship-gate).

    tests.trick        a way to the process that runs the tests: modules, functions, fixtures, patches
    tests.internals    private names, and attributes that lead behind a value

Every mention counts, by the name that a thing has where it belongs: a function that is handed around is used somewhere.
"""

import ast
import string
import sys
from collections.abc import Iterator

from ship_gate.findings import Finding, FindingCode
from ship_gate.source.names import BUILTIN, OWN, Names, canonical, imported_modules

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
            Iterator Sequence Mapping Protocol TypeAlias TypeVar Generator TYPE_CHECKING Annotated ClassVar Awaitable
            Coroutine NoReturn Never List Dict Set Tuple Type assert_never""",
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

_OF_WEB = {"method", "url", "headers", "body", "at"}
"""Of what a scripted host was asked, which is often called `request` too; the fixture of that name has none of them."""

FIXTURES = {
    "capsys": {"readouterr", "disabled"},
    "tmp_path_factory": {"mktemp"},
    "request": {"param", *_OF_WEB},
}
"""Of pytest's fixtures that know the runner, all that may be used; `tmp_path` is a path."""

UNSEEN_FIXTURES = {
    "monkeypatch", "mocker", "pytestconfig", "pytester", "testdir", "recwarn", "record_property", "cache", "caplog",
    "capfd", "capfdbinary", "capsysbinary", "capteesys", "doctest_namespace", "record_testsuite_property",
    "record_xml_attribute", "subtests", "tmpdir", "tmpdir_factory",
}  # fmt: skip
"""Pytest's other fixtures: they change what is tested, or lead to the runner."""


_NAMED_TUPLE = {"_asdict", "_replace", "_fields", "_make"}
_ROOTS = {name.partition(".")[0] for name in MODULES | ONLY}
_ADVICE = "a test calls the module with values and looks at what comes out"

_Fault = tuple[str, str]


def reach_findings(
    tree: ast.Module, names: Names, path: str, *, environment: bool = False
) -> Iterator[Finding]:
    """What a file of tests names that no test needs.

    Args:
        tree: The file.
        names: Of `read_names`.
        path: The file's place, for the findings.
        environment: Whether the module may read or change environment variables, so that a test has to set them.
    """
    modules = imported_modules(tree)
    for node in ast.walk(tree):
        if environment and _is_environment(node, names):
            continue
        for code, message in _faults(node, names, modules):
            yield Finding(code, f"{path}:{getattr(node, 'lineno', 1)}", f"{message}; {_ADVICE}")


def _is_environment(node: ast.AST, names: Names) -> bool:
    dotted = names.dotted(node)
    return f"{dotted}.".startswith("os.environ.") and "._" not in dotted


def _faults(node: ast.AST, names: Names, modules: set[str]) -> Iterator[_Fault]:
    match node:
        case ast.Import() | ast.ImportFrom(level=0):
            yield from _imports(node)
        case ast.Name() | ast.Attribute():
            yield from _mention(node, names, modules)
            if isinstance(node, ast.Attribute):
                yield from _attribute(node, node.attr, names)
                yield from _stored(node, names)
        case ast.MatchClass(kwd_attrs=attributes):
            for attribute in attributes:
                yield from _attribute(node, attribute, names)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _fixtures(node)
        case ast.Call():
            yield from _called(node, names)
        case _:
            pass


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[_Fault]:
    for alias in node.names:
        name = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
        if alias.name == "*":
            yield (
                FindingCode.TESTS_TRICK,
                f"`from {getattr(node, 'module', '')} import *` hides what is imported",
            )
        elif not _is_known(name, whole=True):
            yield FindingCode.TESTS_TRICK, f"`import {name}` is nothing that a test needs"


def _is_known(name: str, *, whole: bool = False) -> bool:
    """Whether a path is on the lists, or none of theirs: what else may be imported is for `imports`."""
    name = canonical(name)
    root = name.partition(".")[0]
    if root not in sys.stdlib_module_names and root not in {"pytest", "hypothesis"}:
        return True
    if any(part.startswith("_") and part != "__future__" and part not in DUNDERS for part in name.split(".")):
        return False
    if name in ONLY or (whole and (name in _ROOTS or name in {"urllib", "xml", "xml.etree", "pytest.mark"})):
        return True
    above = name
    while above:
        if above in MODULES:
            return True
        above = above.rpartition(".")[0]
        if above in ONLY and root not in {"pytest", "hypothesis"}:
            return True
    return False


def _mention(node: ast.Name | ast.Attribute, names: Names, modules: set[str]) -> Iterator[_Fault]:
    dotted, above = names.dotted(node), names.parents.get(id(node))
    if isinstance(node, ast.Name):
        yield from _bare_name(node, dotted)
        if _misused_fixture(node, names, above):
            yield (
                FindingCode.TESTS_TRICK,
                f"`{node.id}` is used for more than {', '.join(sorted(FIXTURES[node.id]))}",
            )
    if isinstance(above, ast.Attribute) or not dotted or dotted.startswith((BUILTIN, OWN, ".", "modules.")):
        return
    if dotted in modules:
        yield FindingCode.TESTS_TRICK, f"the module `{dotted}` is handed around as a value"
    elif not _is_known(dotted):
        yield FindingCode.TESTS_TRICK, f"`{dotted}` is nothing that a test needs"


def _bare_name(node: ast.Name, dotted: str) -> Iterator[_Fault]:
    is_dunder = node.id.startswith("__") and node.id.endswith("__")
    if dotted == BUILTIN + node.id and node.id in BUILTINS:
        yield FindingCode.TESTS_TRICK, f"`{node.id}` makes code, names or an end at run time"
    elif is_dunder and node.id not in {"__name__", "__tracebackhide__"}:
        code = FindingCode.TESTS_INTERNALS if isinstance(node.ctx, ast.Load) else FindingCode.TESTS_TRICK
        yield code, f"`{node.id}` belongs to Python"


def _misused_fixture(node: ast.Name, names: Names, above: ast.AST | None) -> bool:
    if node.id not in FIXTURES or names.dotted(node) or not isinstance(node.ctx, ast.Load):
        return False
    return not (isinstance(above, ast.Attribute) and above.attr in FIXTURES[node.id])


def _attribute(node: ast.AST, name: str, names: Names) -> Iterator[_Fault]:
    if name in HIDDEN:
        yield FindingCode.TESTS_INTERNALS, f"`.{name}` leads behind the value"
    elif name.startswith("__") and name.endswith("__"):
        if name not in DUNDERS and not (name == "__module__" and _of_type(node)):
            yield FindingCode.TESTS_INTERNALS, f"`.{name}` looks behind the public surface"
    elif name.startswith("_") and name not in _NAMED_TUPLE and not _of_self(node):
        yield FindingCode.TESTS_INTERNALS, f"`.{name}` is private"
    elif name == "format" and not _is_literal_format(node, names):
        yield (
            FindingCode.TESTS_INTERNALS,
            "`.format` with a text that is not written out can read anything; use an f-string",
        )


def _of_type(node: ast.AST) -> bool:
    # `type(result).__module__` says nothing of the source
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "type"
    )


def _of_self(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in {"self", "cls"}
    )


def _is_literal_format(node: ast.AST, names: Names) -> bool:
    above = names.parents.get(id(node))
    if not (isinstance(above, ast.Call) and above.func is node and isinstance(node, ast.Attribute)):
        return False
    texts = [node.value] if isinstance(node.value, ast.Constant) else _values(node.value, names)
    return bool(texts) and all(map(_reads_nothing, texts))


def _reads_nothing(text: ast.expr) -> bool:
    """Whether a text has only plain places, none with an attribute or an index."""
    if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
        return False
    try:
        fields = [field or "" for _, field, _, _ in string.Formatter().parse(text.value)]
    except ValueError:
        return True  # it fails when it is executed
    return not any(mark in field for field in fields for mark in "._[")


def _values(node: ast.expr, names: Names) -> list[ast.expr]:
    """All that a name is ever bound to in its file; empty if that cannot be seen."""
    if not isinstance(node, ast.Name):
        return []
    tree = [*names.above(node)][-1]
    bound = [p for p in ast.walk(tree) if isinstance(p, ast.Name) and p.id == node.id and not _is_load(p)]
    around = [names.parents.get(id(part)) for part in bound]
    known = [part.value for part in around if isinstance(part, ast.Assign)]
    known += [part.context_expr for part in around if isinstance(part, ast.withitem)]
    hidden = any(isinstance(part, ast.arg) and part.arg == node.id for part in ast.walk(tree))
    return known if len(known) == len(bound) and not hidden else []


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _stored(node: ast.Attribute, names: Names) -> Iterator[_Fault]:
    if isinstance(node.ctx, ast.Load) or _of_self(node):
        return
    values = _values(node.value, names)
    callees = [names.dotted(value.func) for value in values if isinstance(value, ast.Call)]
    if not values or len(callees) < len(values):
        callees = ["unseen"]
    statement = names.parents.get(id(node))
    around = names.parents.get(id(statement)) if statement else None
    # what a module returned is a value, and a frozen one shows that it is; arithmetic has a context of its own
    is_shown = isinstance(around, ast.With) and around.body == [statement]
    is_value = is_shown and all(name.startswith("modules.") for name in callees)
    if not is_value and set(callees) != {"decimal.localcontext"}:
        yield (
            FindingCode.TESTS_TRICK,
            f"`{ast.unparse(node)}` is patched; test the module in the world as it is",
        )


def _fixtures(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Fault]:
    # a helper's argument is what the test gives it
    is_test = node.name.startswith("test")
    for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
        if argument.arg in UNSEEN_FIXTURES or (argument.arg == "request" and is_test):
            yield (
                FindingCode.TESTS_TRICK,
                f"the fixture `{argument.arg}` changes what is tested, or leads to the runner",
            )


def _called(node: ast.Call, names: Names) -> Iterator[_Fault]:
    dotted = names.dotted(node.func)
    if dotted == "builtins.getattr":
        supplied = (
            node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else "_"
        )
        if not isinstance(supplied, str) or supplied.startswith("_") or supplied in HIDDEN | {"format"}:
            yield (
                FindingCode.TESTS_TRICK,
                "`getattr` takes a name that is not written out, or leads behind the value",
            )
        elif names.dotted(node.args[0]) and not names.dotted(node.args[0]).startswith((OWN, BUILTIN)):
            yield FindingCode.TESTS_TRICK, "`getattr` of what is imported hides what is used"
    elif dotted == "builtins.type" and len(node.args) != 1:
        yield FindingCode.TESTS_TRICK, "`type` makes a class at run time"
    elif dotted in {"builtins.open", "io.open"} and _may_be_descriptor(node):
        yield FindingCode.TESTS_TRICK, "`open` is given no path; write it out, or build it from `tmp_path`"


def _may_be_descriptor(node: ast.Call) -> bool:
    first = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "file"), None)
    supplied = {keyword.arg for keyword in node.keywords} & {"closefd", "opener"}
    return (
        bool(supplied)
        or first is None
        or (isinstance(first, ast.Constant) and not isinstance(first.value, str))
    )
