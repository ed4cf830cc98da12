"""What an implementation does beside returning a value, held against its contract's effects (design:
module-directory, contracts).

    static.effect     files, environment, clock, chance, standard input, printing or process state, undeclared
    static.refused    processes, threads, native code, sockets: no contract can declare them; HTTP where it is not declared
    static.dynamic    code or names made at run time, or attributes that lead behind a value

Every mention counts, not only calls: a function that is passed around is used somewhere. Comments and
configuration in the module change nothing, because only the syntax tree is read.

A table says which names of the standard library, and of clients of HTTP, do what. The longest entry that a dotted path
begins with decides, so a module's own entry is its default. A module of the library that is not listed at all is refused.
`os` and `sys` are listed the other way round: what is not harmless is refused.

Code and names that are made at run time are refused in implementations and in tests alike: `eval` and its kin, imports and
attributes by a computed name, effects by a name in a text, modules handed around as values, and the attributes that lead
from a value to the machinery behind it.

What a name does only with some arguments or on some objects is left to the run, which sees what happens
(`observed_findings`). The names are for code that no test, example or drawn input reaches, and for what a run
cannot see.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from ship_gate.contract.contract import EffectType, MicroModuleContract, is_network
from ship_gate.contract.rules import is_any_number
from ship_gate.findings import Finding, FindingCode
from ship_gate.source.names import (
    BUILTIN,
    OWN,
    Names,
    canonical,
    imported_modules,
    is_listed,
    is_private,
    is_standard,
)
from ship_gate.syntax_tree import imported_roots


class Kind(Enum):
    """What the use of a name amounts to; the value says it in a message."""

    WRITE = "writes files"
    BESIDE = "is written or removed beside what the contract's WRITE effects name"
    READ = "reads files"
    LOOK = "looks at the file system"
    OPEN = "opens files"
    ENVIRONMENT = "reads the environment"
    CLOCK = "depends on the clock"
    WAITING = "waits for a time"
    RANDOMNESS = "depends on chance"
    INPUT = "reads standard input"
    PRINTING = "prints"
    MUTATION = "changes the state of the process"
    NETWORK = "reaches the network"
    HTTP = "asks a host over HTTP"
    REQUEST = "is no request that the contract names"
    UNSCRIPTED = "asks hosts in a way that no test can script: ask them by `httpx.Client`"
    ENDLESS = "is asked without a timeout"
    UNCHECKED = "is trusted without a check of its certificate"
    PROCESS = "starts or steers processes or threads"
    EXTENSION = "loads code into a database, or hides what is done there"
    STATE = "changes what outlives a call"
    CODE = "is not what the source says"
    DYNAMIC = "makes code or names at run time"
    UNKNOWN = "is nothing of the library that a module needs"
    PURE = "is a value function"


_TABLE: dict[Kind, str] = {
    Kind.WRITE: """os.remove os.unlink os.rename os.renames os.replace os.mkdir os.makedirs os.rmdir os.removedirs
        os.open os.write os.symlink os.link os.chmod os.chown os.lchown os.truncate os.ftruncate os.utime os.fsync
        os.mkfifo os.mknod urllib.request.urlretrieve io.FileIO shutil tempfile py_compile logging.FileHandler""",
    Kind.READ: """os.listdir os.scandir os.walk os.fwalk os.read os.readlink io.open_code glob linecache filecmp
        gettext mimetypes netrc""",
    Kind.LOOK: """os.stat os.lstat os.access os.statvfs os.path.exists os.path.lexists os.path.isfile os.path.isdir
        os.path.islink os.path.ismount os.path.getsize os.path.getmtime os.path.getatime os.path.getctime
        os.path.samefile os.path.realpath os.path.abspath os.path.relpath os.path.expanduser os.getcwd os.getcwdb
        shutil.disk_usage pathlib.Path.cwd pathlib.Path.home builtins.__file__""",
    Kind.OPEN: """builtins.open io.open codecs.open os.fdopen""",
    Kind.ENVIRONMENT: """os.environ os.environb os.getenv os.getenvb os.getpid os.getppid os.getuid os.geteuid
        os.getgid os.getlogin os.cpu_count os.uname os.get_terminal_size os.path.expandvars os.getloadavg
        urllib.request.getproxies sys.argv sys.executable sys.path sys.flags sys.prefix platform locale shutil.which
        shutil.get_terminal_size uuid.getnode sysconfig pwd grp time.timezone time.tzname time.tzset""",
    Kind.CLOCK: """time datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today datetime.date.today
        uuid.uuid1 email.utils.localtime email.utils.make_msgid sched""",
    Kind.RANDOMNESS: "random secrets uuid.uuid4 os.urandom os.getrandom ssl.RAND_bytes",
    Kind.MUTATION: """os.chdir os.fchdir os.putenv os.unsetenv os.umask os.nice locale.setlocale decimal.setcontext
        decimal.getcontext sys.setrecursionlimit
        sys.setswitchinterval sys.displayhook sys.excepthook zoneinfo.reset_tzpath
        urllib.request.install_opener""",
    Kind.HTTP: """http.client http.cookiejar urllib.request ssl socket.gaierror socket.herror socket.error
        socket.timeout httpx httpx2""",
    Kind.UNSCRIPTED: """httpx.AsyncClient httpx.AsyncHTTPTransport httpx.AsyncBaseTransport httpx.ASGITransport
        httpx2.AsyncClient httpx2.AsyncHTTPTransport httpx2.AsyncBaseTransport httpx2.ASGITransport httpcore httpcore2
        aiohttp requests urllib3""",
    Kind.NETWORK: """socket select selectors http.server urllib.robotparser ssl.CERT_NONE ssl.CERT_OPTIONAL ssl.SSLSocket
        ssl.SSLObject ssl.MemoryBIO ssl.VerifyMode ssl.get_server_certificate ssl.wrap_socket
        urllib.request.FTPHandler urllib.request.FileHandler urllib.request.URLopener
        urllib.request.FancyURLopener ftplib smtplib poplib imaplib nntplib telnetlib xmlrpc socketserver wsgiref webbrowser
        asyncio.open_connection asyncio.start_server asyncio.open_unix_connection asyncio.start_unix_server
        logging.handlers""",
    Kind.PROCESS: """os sys subprocess multiprocessing threading _thread concurrent.futures signal pty fcntl resource
        termios tty curses readline atexit faulthandler mmap ctypes cffi gc tracemalloc getpass
        asyncio.create_subprocess_exec asyncio.create_subprocess_shell builtins.exit builtins.quit
        asyncio.subprocess weakref.finalize builtins.breakpoint pdb bdb trace cProfile profile tkinter turtle
        antigravity""",
    Kind.DYNAMIC: """builtins.eval builtins.exec builtins.compile builtins.__import__ builtins.globals builtins.vars
        builtins.__builtins__ builtins.__loader__ builtins.__spec__ builtins.memoryview.obj builtins builtins.delattr
        builtins.help builtins.license builtins.copyright builtins.credits string.Formatter typing.get_type_hints
        typing.ForwardRef traceback.walk_stack traceback.walk_tb logging.config timeit pydoc rlcompleter
        inspect dis pickle marshal shelve dbm copyreg types.FunctionType types.CodeType types.ModuleType
        types.LambdaType types.MethodType importlib runpy pkgutil code codeop site unittest doctest pytest
        modulefinder symtable sys.modules sys._getframe sys.settrace sys.setprofile sys.meta_path sys.path_hooks""",
    # exceptions from a shorter entry above
    Kind.PURE: """__future__ abc argparse array ast asyncio base64 binascii bisect bz2 calendar cmath codecs collections
        colorsys configparser contextlib contextvars copy csv dataclasses decimal difflib email encodings enum errno
        fnmatch fractions functools getopt graphlib gzip hashlib heapq hmac html http io ipaddress itertools json keyword
        lzma math numbers operator optparse pathlib plistlib pprint queue quopri re reprlib shlex sqlite3 stat statistics
        string stringprep struct tarfile textwrap token tokenize tomllib traceback types typing unicodedata urllib uuid
        warnings weakref xml zipfile zlib zoneinfo
        os.path os.sep os.altsep os.extsep os.pathsep os.linesep os.curdir os.pardir os.devnull os.name
        os.fspath os.fsencode os.fsdecode os.PathLike os.strerror os.stat_result os.error os.SEEK_SET os.SEEK_CUR
        os.SEEK_END sys.maxsize sys.maxunicode sys.version_info sys.version sys.float_info sys.int_info
        sys.hash_info sys.byteorder sys.platform sys.getsizeof sys.intern sys.implementation
        sys.getrecursionlimit sys.getdefaultencoding sys.exc_info sys.get_int_max_str_digits
        time.struct_time time.strptime time.gmtime time.localtime time.ctime time.asctime time.mktime time.strftime
        calendar datetime logging locale.Error random.Random fileinput wave sys.stdin sys.stdout sys.stderr
        secrets.compare_digest tempfile.SpooledTemporaryFile tempfile.template shutil.Error
        inspect.cleandoc pickle.PickleError mimetypes.types_map locale.LC_ALL gettext.ngettext""",
}
_BY_NAME = {name: kind for kind, names in _TABLE.items() for name in names.split()}
# the builtins as a module are refused, and each builtin by itself is harmless unless it is listed
_BUILTIN_DEFAULT = Kind.PURE

_PATH_WRITES = {
    "write_text",
    "write_bytes",
    "unlink",
    "touch",
    "mkdir",
    "rmdir",
    "rename",
    "replace",
    "symlink_to",
    "hardlink_to",
    "chmod",
    "lchmod",
}
"""Methods of a path that write."""

_PATH_READS = {"read_text", "read_bytes", "iterdir", "glob", "rglob", "walk", "readlink", "samefile"}
"""Methods of a path that read."""

_PATH_LOOKS = {
    "exists",
    "is_file",
    "is_dir",
    "is_symlink",
    "is_mount",
    "stat",
    "lstat",
    "owner",
    "group",
    "resolve",
    "absolute",
    "expanduser",
}
"""Methods of a path that ask the file system about it."""

_REFUSED_METHODS = {
    "run_in_executor",
    "create_connection",
    "create_server",
    "create_datagram_endpoint",
    "create_unix_connection",
    "sock_connect",
    "subprocess_exec",
    "subprocess_shell",
}
"""Methods of an event loop that reach threads, processes or the network."""

_DATABASE_METHODS = {"set_authorizer", "enable_load_extension", "load_extension"}
"""Methods of a database that load code or hide what it does."""

_DUNDERS = {
    "__subclasses__",
    "__globals__",
    "__builtins__",
    "__code__",
    "__closure__",
    "__self__",
    "__func__",
    "__bases__",
    "__base__",
    "__mro__",
    "__dict__",
    "__loader__",
    "__spec__",
    "__import__",
    "__getattribute__",
    "__reduce__",
    "__reduce_ex__",
    "__wrapped__",
    "__defaults__",
    "__kwdefaults__",
    "__module__",
    "f_globals",
    "f_builtins",
    "f_back",
    "f_locals",
    "gi_frame",
    "cr_frame",
    "ag_frame",
    "tb_frame",
}
"""Attributes that lead from a value to the machinery behind it."""


def _kind_of(dotted: str) -> Kind:
    """What the use of a dotted path amounts to."""
    dotted = name = canonical(dotted)
    while name:
        if name == "builtins" and dotted != name:
            return _BUILTIN_DEFAULT
        if name in _BY_NAME:
            return Kind.DYNAMIC if _BY_NAME[name] is Kind.PURE and is_private(dotted) else _BY_NAME[name]
        name = name.rpartition(".")[0]
    return Kind.UNKNOWN if is_standard(dotted) else Kind.PURE


_EFFECTS = (_PATH_WRITES | _PATH_READS | _PATH_LOOKS | _REFUSED_METHODS | {"open", "now", "utcnow"}) - {
    "replace",
    "group",
    "owner",
}
"""Methods that do something; reached by a name in a text, no check of effects would see them."""

DYNAMIC_ADVICE = "write the code out; a gate can only vouch for what it can read"
"""What to do about code made at run time."""


def dynamic_uses(tree: ast.Module, names: Names) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Code or names made at run time, modules as values, and ways behind a value: each place with what stands there."""
    modules = imported_modules(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom(level=0):
                yield from ((node, what) for what in _imported(node))
            case ast.MatchClass(cls=cls, kwd_attrs=attributes) if {*attributes} & (_DUNDERS | _EFFECTS):
                yield cls, "a pattern that takes a method"
            case ast.expr():
                if what := _use(node, names, modules):
                    yield node, what
            case _:
                pass


def _use(node: ast.expr, names: Names, modules: set[str]) -> str:
    match node:
        case ast.Attribute(attr=attribute) if attribute in _DUNDERS and not _is_own_field(node):
            return f".{attribute}"
        case ast.Attribute() | ast.Name():
            return _mention(node, names, modules)
        case ast.Call():
            return _by_name(node, names)
        case ast.Constant(value=str(text)) if _walks(text, names.parents.get(id(node))):
            return "a text that reads attributes, or is executed"
        case _:
            return ""


def _walks(text: str, above: ast.AST | None) -> bool:
    """Whether a text that is formatted, or annotates something, reaches behind a value or calls something."""
    if isinstance(above, ast.Attribute) and above.attr in {"format", "format_map"}:
        return "{" in text and any(f"{mark}{name}" in text for mark in ".[" for name in _DUNDERS | {"_"})
    if isinstance(above, (ast.arg, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef)):
        return "(" in text or "__" in text
    return False


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    for alias in node.names:
        name = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
        if alias.name == "*":
            yield f"from {name.removesuffix('.*')} import *"
        elif _kind_of(name) is Kind.DYNAMIC:
            yield f"import {name}"


def _mention(node: ast.Attribute | ast.Name, names: Names, modules: set[str]) -> str:
    dotted, parent = names.dotted(node), names.parents.get(id(node))
    if isinstance(parent, ast.Attribute) or not dotted or isinstance(node.ctx, ast.Store):
        return ""
    if _kind_of(dotted) is Kind.DYNAMIC:
        return dotted.removeprefix(BUILTIN)
    return f"the module {dotted} as a value" if dotted in modules else ""


def _is_own_field(node: ast.Attribute) -> bool:
    # an instance's own fields, and its class's module in a representation
    return (
        node.attr in {"__dict__", "__module__"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _by_name(call: ast.Call, names: Names) -> str:
    dotted = names.dotted(call.func)
    check: Mapping[str, Callable[[ast.Call, Names], str]] = {
        "builtins.getattr": _attribute_by_name,
        "builtins.setattr": _attribute_by_name,
        "operator.attrgetter": _getter_by_name,
        "operator.methodcaller": _getter_by_name,
    }
    return check[dotted](call, names) if dotted in check else ""


def _attribute_by_name(call: ast.Call, names: Names) -> str:
    if len(call.args) < 2:
        return "getattr with unseen arguments"
    owner, name = call.args[:2]
    if isinstance(owner, ast.Name) and owner.id in {"self", "cls"} and not isinstance(name, ast.Constant):
        return ""
    is_seen = _is_harmless_name(name) or (
        isinstance(name, ast.Name) and is_listed(name, names, _is_constant_name)
    )
    return "" if is_seen else "an attribute by a name made at run time"


def _getter_by_name(call: ast.Call, _names: Names) -> str:
    return (
        ""
        if call.args and all(map(_is_harmless_name, call.args[:1]))
        else "an attribute by a name made at run time"
    )


def _is_constant_name(name: ast.expr) -> bool:
    return isinstance(name, ast.Constant) and _is_harmless_name(name)


def _is_harmless_name(name: ast.expr) -> bool:
    """Whether a name is seen, or begins visibly with something harmless, or is that of a field."""
    match name:
        case ast.Constant(value=str(text)):
            return bool(text) and not any(part in _DUNDERS | _EFFECTS for part in text.split("."))
        case ast.JoinedStr(values=[first, *_]) | ast.BinOp(left=first, op=ast.Add()):
            return (
                _is_harmless_name(first)
                and isinstance(first, ast.Constant)
                and not str(first.value).startswith("_")
            )
        case ast.Attribute(attr="name"):
            return True
        case _:
            return False


_REFUSED = {Kind.NETWORK, Kind.UNSCRIPTED, Kind.PROCESS, Kind.EXTENSION, Kind.UNKNOWN}
_SOCKET = "import socket"
"""Where hosts may be asked, what is taken out of it is judged: its exceptions are those of HTTP."""
_WORDS = {
    Kind.CLOCK: ("clock", "time", "now", "today", "date"),
    Kind.WAITING: ("clock", "time", "now", "today", "date"),
    Kind.RANDOMNESS: ("random", "chance", "entropy", "uuid", "token"),
    Kind.ENVIRONMENT: ("environment", "env", "variable", "platform", "process"),
    Kind.INPUT: ("standard input", "stdin"),
    Kind.PRINTING: (
        "print",
        "stdout",
        "standard output",
        "stderr",
        "standard error",
        "console",
        "terminal",
        "log",
    ),
}
# what a cache says of itself follows the calls before
_CACHE_METHODS = {"cache_info", "cache_clear"}
_CLOCK_METHODS = {"now", "utcnow"}
_CLIENTS = {"httpx", "httpx2"}
# of an answer of these: how long it took
_CLOCK_OF_ANSWERS = "elapsed"
# methods of paths that nothing else has: texts, dates and containers do not
_ONLY_ON_PATHS = (_PATH_WRITES | _PATH_READS) - {"replace", "walk"}
_TYPE = {Kind.WRITE: "WRITE", Kind.BESIDE: "WRITE", Kind.MUTATION: "MUTATION"}


_ONLY_READ = "`sqlite3.connect(f'file:{quote(str(path))}?mode=ro', uri=True)`, with `urllib.parse.quote`"
HTTP_ADVICE = (
    "the contract names no host; declare it (CALL https://api.example.org for GET and HEAD, POST, PUT, PATCH for those), or "
    "take what was received as an input"
)

_PATHS = re.compile(r"\b(?:Path|str)\b")
_NEAR = re.compile(
    r"\b(back-?up|beside|copy|copies|folder of|lock|next to|parent|sibling|suffix|temporary)", re.IGNORECASE
)
"""How a description speaks of files beside the target."""


class _Use(NamedTuple):
    """Something that a file does."""

    node: ast.expr | ast.stmt
    kinds: tuple[Kind, ...]
    what: str


def effect_findings(
    tree: ast.Module, names: Names, path: str, contract: MicroModuleContract, own_methods: set[str]
) -> Iterator[Finding]:
    """The undeclared and the refused effects of one file.

    Args:
        tree: The file.
        names: Of `read_names`.
        path: The file's place, for the findings.
        contract: Declares the effects.
        own_methods: The methods of the module's own classes: they are no methods of a path.
    """
    declared = declared_kinds(contract)
    for use in _Uses(tree, names, own_methods).found():
        where = f"{path}:{use.node.lineno}"
        for kind in use.kinds:
            if kind is Kind.HTTP and kind not in declared:
                yield Finding(FindingCode.STATIC_REFUSED, where, f"`{use.what}` {kind.value}: {HTTP_ADVICE}")
            elif kind in _REFUSED and not (use.what == _SOCKET and Kind.HTTP in declared):
                advice = "a module is a value function with effects on files; take the result as an input"
                yield Finding(FindingCode.STATIC_REFUSED, where, f"`{use.what}` {kind.value}: {advice}")
            elif kind not in declared:
                yield Finding(FindingCode.STATIC_EFFECT, where, undeclared_text(kind, use.what))
    for node, what in dynamic_uses(tree, names):
        yield Finding(FindingCode.STATIC_DYNAMIC, f"{path}:{node.lineno}", f"`{what}`; {DYNAMIC_ADVICE}")


def undeclared_text(kind: Kind, what: str) -> str:
    """What to say about an effect that no contract declares."""
    lacking = f"the contract declares no such {_TYPE.get(kind, 'CALL')} effect"
    advice = "remove it, or have the value passed in"
    if kind is Kind.WRITE and what.startswith("sqlite3.connect"):
        advice = f"a database that is only read is opened by {_ONLY_READ}"
    return f"`{what}` {kind.value}, and {lacking}; {advice}"


def declared_kinds(contract: MicroModuleContract) -> set[Kind]:
    """What a contract's effects allow (design: module-directory)."""
    kinds: set[Kind] = set()
    for effect in contract.effects:
        if is_network(effect):
            kinds |= {Kind.HTTP}
        elif effect.type is EffectType.WRITE:
            kinds |= {Kind.WRITE, Kind.LOOK}
        elif effect.type is EffectType.MUTATION:
            kinds |= {Kind.MUTATION, Kind.ENVIRONMENT}
        elif effect.type is EffectType.CALL:
            text = f"{effect.target} {effect.description}".lower()
            named = {
                kind for kind, words in _WORDS.items() if any(word in effect.target.lower() for word in words)
            }
            # a target that is none of these is a file; its description may speak of time and chance as it likes
            kinds |= named or {Kind.READ, Kind.LOOK}
            if "file" in text or "director" in text:
                kinds |= {Kind.READ, Kind.LOOK}
    return kinds


def write_targets(contract: MicroModuleContract) -> dict[str, Any] | None:
    """What the WRITE effects of a contract name: its `parameters` in their order, the one that stands for any number of
    arguments as `many`, and by `names` those that are written to, each with whether nothing beside it may be; None if some
    effect names no path that a call is given."""
    inputs = {slot.name: slot.type for slot in contract.inputs}
    names: dict[str, bool] = {}
    for effect in contract.effects:
        if effect.type is not EffectType.WRITE:
            continue
        mentioned = [name for name in inputs if re.search(rf"\b{re.escape(name)}\b", effect.target)]
        if not any(_PATHS.search(inputs[name]) for name in mentioned):
            return None
        for name in mentioned:
            is_exact = effect.target.strip() == name and not _NEAR.search(effect.description)
            names[name] = names.get(name, True) and is_exact and "Path" in inputs[name]
    many = next((slot.name for slot in contract.inputs if is_any_number(slot)), "")
    return {"parameters": [*inputs], "many": many, "names": names} if names else None


class _Uses:
    """Finds the effects of one file."""

    def __init__(self, tree: ast.Module, names: Names, own_methods: set[str]) -> None:
        self._tree = tree
        self._names = names
        self._own_methods = own_methods
        self._asks_by_httpx = not imported_roots(tree).isdisjoint(_CLIENTS)

    def found(self) -> Iterator[_Use]:
        skipped = set(_annotations(self._tree))
        for node in ast.walk(self._tree):
            if id(node) in skipped:
                continue
            match node:
                case ast.Import() | ast.ImportFrom(level=0):
                    yield from _imports(node)
                case ast.Attribute() | ast.Name():
                    yield from self._mention(node)
                case _:
                    pass

    def _mention(self, node: ast.Attribute | ast.Name) -> Iterator[_Use]:
        parent = self._names.parents.get(id(node))
        dotted = self._names.dotted(node)
        if isinstance(parent, ast.Attribute) and dotted:
            return  # a part of a longer path
        foreign = dotted and not dotted.startswith((OWN, "."))
        if foreign and (kinds := self._kinds(node, dotted)):
            yield _Use(node, kinds, dotted.removeprefix(BUILTIN))
        elif isinstance(node, ast.Attribute) and not foreign:
            yield from self._method(node)

    def _kinds(self, node: ast.Attribute | ast.Name, dotted: str) -> tuple[Kind, ...]:
        dotted = canonical(dotted)
        if dotted.startswith("pathlib.") and isinstance(node, ast.Attribute) and dotted.count(".") == 2:
            return _of_path(node.attr, self._call(node), 1)
        kind = _kind_of(dotted)
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            return (Kind.MUTATION,) if isinstance(node, ast.Attribute) else ()
        if kind is Kind.OPEN:
            return _opened(self._call(node), 1)
        if kind is Kind.ENVIRONMENT and dotted.startswith("os.environ") and self._changes_environment(node):
            return (Kind.MUTATION,)
        return () if kind in (Kind.PURE, Kind.DYNAMIC) else (kind,)

    def _changes_environment(self, node: ast.Attribute | ast.Name) -> bool:
        parent = self._names.parents.get(id(node))
        if isinstance(parent, ast.Subscript):
            return not isinstance(parent.ctx, ast.Load)
        last = node.attr if isinstance(node, ast.Attribute) else ""
        return last in {"update", "pop", "setdefault", "clear", "popitem", "__setitem__", "__delitem__"}

    def _method(self, node: ast.Attribute) -> Iterator[_Use]:
        if node.attr in _REFUSED_METHODS:
            yield _Use(node, (Kind.PROCESS,), f".{node.attr}")
        elif node.attr in _DATABASE_METHODS - self._own_methods:
            yield _Use(node, (Kind.EXTENSION,), f".{node.attr}()")
        elif node.attr in _ONLY_ON_PATHS and node.attr not in self._own_methods:
            yield _Use(node, _of_path(node.attr, self._call(node), 0), f".{node.attr}()")
        elif node.attr in _CACHE_METHODS:
            yield _Use(node, (Kind.STATE,), f".{node.attr}()")
        elif node.attr in _CLOCK_METHODS - self._own_methods and self._call(node):
            # of a class of C, which no run can watch
            yield _Use(node, (Kind.CLOCK,), f".{node.attr}()")
        elif node.attr == "astimezone" and (call := self._call(node)) and not (call.args or call.keywords):
            # without a zone it takes the machine's; a run in the same zone sees no difference
            yield _Use(node, (Kind.ENVIRONMENT,), ".astimezone()")
        elif node.attr == _CLOCK_OF_ANSWERS and self._asks_by_httpx:
            yield _Use(node, (Kind.CLOCK,), f".{node.attr}")

    def _call(self, node: ast.expr) -> ast.Call | None:
        parent = self._names.parents.get(id(node))
        return parent if isinstance(parent, ast.Call) and parent.func is node else None


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[_Use]:
    for alias in node.names:
        name = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
        kind = _kind_of(name)
        if kind in {*_REFUSED, Kind.HTTP} and name not in {"os", "sys"}:
            yield _Use(node, (kind,), f"import {name}")


def _of_path(method: str, call: ast.Call | None, place: int) -> tuple[Kind, ...]:
    """What a path's method does; its mode stands at that place among the arguments."""
    if method == "open":
        return _opened(call, place)
    if method in _PATH_WRITES:
        return (Kind.WRITE,)
    if method in _PATH_READS:
        return (Kind.READ,)
    return (Kind.LOOK,) if method in _PATH_LOOKS | {"cwd", "home"} else ()


def _opened(call: ast.Call | None, place: int) -> tuple[Kind, ...]:
    """What opening means by its mode."""
    if call is None:
        return (Kind.READ, Kind.WRITE)
    modes = next((k.value for k in call.keywords if k.arg == "mode"), None)
    if modes is None and len(call.args) > place:
        modes = call.args[place]
    if modes is None:
        return (Kind.READ,)
    if not (isinstance(modes, ast.Constant) and isinstance(modes.value, str)):
        return (Kind.READ, Kind.WRITE)
    writes, reads = set(modes.value) & set("wax+"), "r" in modes.value or not set(modes.value) & set("wax")
    return (*((Kind.READ,) if reads else ()), *((Kind.WRITE,) if writes else ()))


def _annotations(tree: ast.Module) -> Iterator[int]:
    """The nodes of annotations that only name types."""
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            annotation: ast.expr | None = getattr(node, field, None)
            if annotation is not None and not any(
                isinstance(part, ast.Call) for part in ast.walk(annotation)
            ):
                yield from map(id, ast.walk(annotation))
