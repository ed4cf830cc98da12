"""Which names of the standard library, and of clients of HTTP, do what (design: module-directory, contracts).

A run sees what happens (`runs.observed_effects`). Names stand here for code that no run reaches, and for what a run does
not see; what a name does with some arguments only is left to the run.

The longest entry that a dotted path begins with decides, so a module's own entry is its default. A module of the
library that is not listed at all is refused. `os` and `sys` are listed the other way round: what is not harmless is
refused.
"""

from enum import Enum

from ship_gate.source.standard import canonical, is_private, is_standard


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

PATH_WRITES = {
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

PATH_READS = {"read_text", "read_bytes", "iterdir", "glob", "rglob", "walk", "readlink", "samefile"}
"""Methods of a path that read."""

PATH_LOOKS = {
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

REFUSED_METHODS = {
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

DATABASE_METHODS = {"set_authorizer", "enable_load_extension", "load_extension"}
"""Methods of a database that load code or hide what it does."""

DUNDERS = {
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


def kind_of(dotted: str) -> Kind:
    """What the use of a dotted path amounts to."""
    dotted = name = canonical(dotted)
    while name:
        if name == "builtins" and dotted != name:
            return _BUILTIN_DEFAULT
        if name in _BY_NAME:
            return Kind.DYNAMIC if _BY_NAME[name] is Kind.PURE and is_private(dotted) else _BY_NAME[name]
        name = name.rpartition(".")[0]
    return Kind.UNKNOWN if is_standard(dotted) else Kind.PURE
