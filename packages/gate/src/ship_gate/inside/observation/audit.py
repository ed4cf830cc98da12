"""Tells the gate what Python's audit events show of a module's effects, before they happen (design: ship-gate).

The hook is set before anything of a candidate is loaded and cannot be removed (PEP 578). The module shares its process,
so nothing that the hook depends on stands where the module could reach it by name: it is a function that only the
interpreter holds, with all that it calls in its own cells, and it trusts no object that it is handed but those of exact
built-in types. What leads there (frames, the collector, a function's code) raises an event itself, and is told first. A
message is written to the gate's pipe before the effect; it cannot be taken back.

Left out: what raises no event. `library_watch` has the functions that ask for clock, chance, environment and the file
system's state; the gate looks for files that appeared (`sandbox.exchange`).
"""

import os
import sys
from _json import encode_basestring_ascii
from _thread import get_ident
from collections.abc import Callable
from pathlib import Path
from typing import Any

Report = Callable[[str, str], None]
"""Takes the kind of an effect and what is to be said about it."""

_HERE = __file__
_WATCH = str(Path(__file__).with_name("library_watch.py"))
_CLOCK = str(Path(__file__).with_name("clock.py"))
_DATABASES = str(Path(__file__).with_name("databases.py"))
_CONNECTIONS = str(Path(__file__).parents[1] / "web/connections.py")
_CLIENT = str(Path(__file__).parents[1] / "web/client.py")
_METADATA = str(Path(__file__).parents[1] / "metadata_calls.py")
_INSIDE = str(Path(__file__).parents[1])
_LIBRARY = str(Path(os.__file__).parent)
_MOST_TEXT = 120
_IMPORT = "<frozen importlib"
_SEALED = "<sealed "

_EVENTS = {
    "WRITE": """os.mkdir os.rename os.remove os.rmdir os.link os.symlink os.truncate os.utime os.chmod os.chown os.lockf
        os.setxattr os.removexattr""",
    "READ": "os.listdir os.scandir os.getxattr os.listxattr",
    "MUTATION": "os.chdir os.putenv os.unsetenv",
    "CLOCK": "time.sleep",
    "INPUT": "builtins.input",
    "NETWORK": """socket.bind socket.connect socket.getaddrinfo socket.gethostbyaddr socket.gethostbyname
        socket.gethostname socket.getnameinfo socket.getservbyname socket.getservbyport socket.sendmsg socket.sendto
        socket.sethostname ftplib.connect smtplib.connect
        poplib.connect imaplib.open telnetlib.Telnet.open nntplib.connect webbrowser.open""",
    "HTTP": "urllib.Request http.client.connect http.client.send",
    "PROCESS": """subprocess.Popen os.system os.exec os.fork os.forkpty os.kill os.killpg os.posix_spawn os.spawn
        os.startfile pty.spawn signal.pthread_kill mmap.__new__ fcntl.fcntl fcntl.flock fcntl.ioctl fcntl.lockf
        resource.setrlimit resource.prlimit syslog.openlog syslog.syslog ctypes.dlopen ctypes.dlsym ctypes.call_function
        ctypes.cdata ctypes.string_at ctypes.addressof ctypes.memoryview_at sys.addaudithook gc.get_objects
        gc.get_referrers gc.get_referents sys._current_frames sys._current_exceptions sys.settrace sys.setprofile""",
    "EXTENSION": "sqlite3.enable_load_extension sqlite3.load_extension",
    "DYNAMIC": "pickle.find_class cpython.run_command cpython.run_file cpython.run_string",
}
# functions of the library that ask for somebody else
_PATH_FILES = frozenset(
    text.format(name)
    for name in (
        "os",
        "posixpath",
        "genericpath",
        "pathlib",
        "random",
        "tokenize",
        "_collections_abc",
        "codecs",
    )
    for text in (_LIBRARY + "/{}.py", "<frozen {}>")
)
_LOOP_TIME = (f"{_LIBRARY}/asyncio/base_events.py", "time")
# what the library does for itself, by its file: these kinds are no effect of whoever calls it
_OWN_DOING = {
    "asyncio/": "ENVIRONMENT CLOCK",
    "concurrent/": "ENVIRONMENT CLOCK",
    "contextlib.py": "",
    "gettext.py": "ENVIRONMENT LOOK READ",
    "http/cookiejar.py": "CLOCK",
    "importlib/": "LOOK READ ENVIRONMENT",
    "linecache.py": "LOOK READ",
    "logging/": "CLOCK ENVIRONMENT",
    "queue.py": "CLOCK",
    "selectors.py": "CLOCK",
    "ssl.py": "ENVIRONMENT LOOK",
    "shutil.py": "LOOK READ ENVIRONMENT",
    "subprocess.py": "ENVIRONMENT",
    "tempfile.py": "LOOK READ ENVIRONMENT RANDOMNESS",
    "threading.py": "CLOCK",
    "urllib/request.py": "ENVIRONMENT",
    "zoneinfo/": "LOOK READ",
}
# and what clients of HTTP do for themselves, which stand elsewhere: proxies, certificates, how long an answer took
_CLIENTS = ("/httpx/", "/httpx2/", "/httpcore/", "/httpcore2/", "/truststore/")
_CLIENTS_DOING = "ENVIRONMENT CLOCK LOOK"
# modules of the library that make classes by executing code that they have written
_CLASS_MAKERS = tuple(f"{_LIBRARY}/{name}.py" for name in ("collections/__init__", "dataclasses", "enum"))
_REPLACES = {"__code__", "__defaults__", "__kwdefaults__"}
_AF_UNIX = 1
_READ_ONLY = frozenset({"mode=ro", "mode=ro&immutable=1", "immutable=1&mode=ro"})
# names are decoded, and of two the last counts, so what follows the question mark is compared whole
_ZONES = "/usr/share/zoneinfo/"

_Place = tuple[str, str, str]
"""The file of the code that did it; that of who had it done, past the library's functions of paths; the module's line."""


def install(descriptor: int, folder: str, reads: tuple[str, ...]) -> None:
    """Tell of effects from here on.

    Args:
        descriptor: Of the pipe to the gate.
        folder: Of the modules, with a slash at its end.
        reads: Where Python itself is, which its library may read for its own purposes.
    """
    report, place = _reporter(descriptor, folder), _placer(folder)
    kinds = {event: kind for kind, events in _EVENTS.items() for event in events.split()}
    special = _special_kinds(folder, tuple(f"{path}/" for path in reads))

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in kinds and event not in special:
            return
        where = place(2)
        if where is None:
            return
        found = kinds[event] if event in kinds else special[event](arguments, where)
        for kind in found.split():
            report(kind, event, arguments[0] if arguments else None, where)

    sys.addaudithook(hook)


def teller(descriptor: int, folder: str) -> Report:
    """A way to tell of effects for functions that the module can reach: none of it is part of the hook."""
    report, place = _reporter(descriptor, folder), _placer(folder)

    def tell(kind: str, what: str) -> None:
        where = place(2)
        if where is not None:
            report(kind, what, None, where)

    return tell


def locator(folder: str) -> Callable[[], str | None]:
    """Says which line of the modules is running, from the function that asks; None for what is not the module's doing."""
    place = _placer(folder)

    def line() -> str | None:
        where = place(2)
        return where[2] if where else None

    return line


def _reporter(descriptor: int, modules: str) -> Callable[[str, str, object, _Place], None]:
    """What sends a report, once for each kind, event and line."""
    write, quote, exact, text, size = os.write, encode_basestring_ascii, type, str, len
    doing = tuple((f"{_LIBRARY}/{name}", kinds) for name, kinds in _OWN_DOING.items())
    no_payload, most, clients, of_clients = bytes(4), _MOST_TEXT, _CLIENTS, _CLIENTS_DOING
    told: set[tuple[str, str, str]] = set()

    def report(kind: str, what: str, about: object, where: _Place) -> None:
        _, asker, line = where
        for name, kinds in doing:
            if asker.startswith(name) and kind in kinds:
                return
        if kind in of_clients and not asker.startswith(modules):
            for name in clients:
                if name in asker:
                    return
        if (kind, what, line) in told:
            return
        told.add((kind, what, line))
        if exact(about) is text:
            what = f"{what} {about[:most]!r}"  # type: ignore[index]  # it is a text
        message = f'{{"event":"effect","kind":"{kind}","what":{quote(what)},"line":{quote(line)}}}'.encode()
        write(descriptor, size(message).to_bytes(4, "big") + no_payload + message)

    return report


def _placer(modules: str) -> Callable[[int], _Place | None]:
    """Says whose code is running, from a number of frames above; nothing for what is not the module's doing."""
    get_frame, ident = sys._getframe, get_ident  # pyright: ignore[reportPrivateUsage] - there is no other way
    here, watch, inside, paths, loop_time = (
        _HERE,
        (_WATCH, _DATABASES, _CLOCK, _CONNECTIONS, _CLIENT, _METADATA),
        f"{_INSIDE}/",
        _PATH_FILES,
        _LOOP_TIME,
    )
    not_its_own = (_IMPORT, _SEALED)
    looking: set[int] = set()

    def place(above: int) -> _Place | None:
        # looking for a frame raises events too
        if (thread := ident()) in looking:
            return None
        looking.add(thread)
        frame, doer, asker, line = get_frame(above), "", "", None
        while frame is not None and line is None:
            code = frame.f_code
            file = code.co_filename
            if file in watch:
                frame = frame.f_back
                continue
            doer = doer or file
            if not asker and file not in paths and (file, code.co_name) != loop_time:
                asker = file
            if file.startswith(modules):
                line = f"{file.removeprefix(modules)}:{frame.f_lineno}"
            elif doer == here or asker.startswith(inside) or file.startswith(not_its_own):
                break  # a reporter looks for frames; it is the host; something is imported, or a sibling's doing
            frame = frame.f_back
        else:
            looking.discard(thread)
            return doer, asker, line or ""
        looking.discard(thread)
        return None

    return place


_Special = Callable[[tuple[Any, ...], _Place], str]


def _special_kinds(modules: str, reads: tuple[str, ...]) -> dict[str, _Special]:
    """The kinds of events that depend on their arguments."""
    exact, text, makers, read_only = type, str, _CLASS_MAKERS, _READ_ONLY
    replaces, unix, calls = _REPLACES, _AF_UNIX, _calls()

    def exec_kind(arguments: tuple[Any, ...], where: _Place) -> str:
        return "DYNAMIC" if where[0] not in makers and calls(arguments[0]) else ""

    def reach_kind(arguments: tuple[Any, ...], where: _Place) -> str:
        return "DYNAMIC" if where[0].startswith(modules) else ""

    def replacement_kind(arguments: tuple[Any, ...], where: _Place) -> str:
        return "DYNAMIC" if arguments[1] in replaces and where[0] not in makers else ""

    def socket_kind(arguments: tuple[Any, ...], where: _Place) -> str:
        return "" if arguments[1] == unix else "NETWORK"

    def database_kind(arguments: tuple[Any, ...], where: _Place) -> str:
        name = arguments[0]
        if exact(name) is not text:
            return "WRITE"
        if name in {"", ":memory:"}:
            return ""
        # without `uri` this would be the name of a file, which a connection tells (`databases`)
        is_plain = name[:5] == "file:" and "#" not in name
        return "READ" if is_plain and name.partition("?")[2] in read_only else "WRITE"

    return {
        "open": _open_kind(modules, reads),
        "exec": exec_kind,
        "compile": reach_kind,
        "code.__new__": reach_kind,
        "function.__new__": reach_kind,
        "sys._getframe": reach_kind,
        "object.__getattr__": reach_kind,
        "object.__setattr__": replacement_kind,
        "socket.__new__": socket_kind,
        "sqlite3.connect": database_kind,
    }


def _open_kind(modules: str, reads: tuple[str, ...]) -> _Special:
    exact, text, null, stat = type, str, os.devnull, os.stat
    writes, made, access, mode_of = set("wax+"), os.O_CREAT | os.O_TRUNC | os.O_EXCL, os.O_ACCMODE, 0o170000
    folder, failures, any_of, zones = 0o040000, OSError, any, _ZONES

    def is_library(path: str, doer: str) -> bool:
        # the library reads its own files; the module's own are read by nobody
        if ".." in path or path.startswith(modules):
            return False
        return path.startswith(zones) or (path.startswith(reads) and not doer.startswith(modules))

    def open_kind(arguments: tuple[Any, ...], where: _Place) -> str:
        path, mode, flags = arguments
        if exact(path) is text and (path == null or (mode == "r" and is_library(path, where[0]))):
            return ""
        if exact(mode) is text:
            kind = "WRITE " if any_of(mark in mode for mark in writes) else ""
            return kind + ("READ" if "r" in mode or not kind else "")
        if flags & access:
            return "WRITE" if flags & made else "READ WRITE"
        try:
            return "LOOK" if stat(path).st_mode & mode_of == folder else "READ"
        except failures:
            return "READ"

    return open_kind


def _calls() -> Callable[[Any], bool]:
    """Whether executing code calls anything: an annotation that is a text is evaluated by the library."""
    import dis

    calling = frozenset(
        number for name, number in dis.opmap.items() if name.startswith(("CALL", "PRECALL", "IMPORT"))
    )
    code_type, exact = type(_calls.__code__), type

    def calls(code: Any) -> bool:
        return exact(code) is not code_type or not calling.isdisjoint(code.co_code[::2])

    return calls
