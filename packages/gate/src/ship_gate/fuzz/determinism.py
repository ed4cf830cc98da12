"""Repeats calls of the fuzz in a second process of the module, in other surroundings: the same input gives the same result
there, prints and writes the same (design: module-directory, ship-gate).

What follows the order of a set of texts, the local time zone, the package's name or an address in memory is the same
each time within one process, and nowhere else. The second process differs in all of `Surrounding`. Nothing is drawn for
it: calls that the fuzz made go to it as they went to the first one, the last one first, and the answers are compared as
they came. So a result that follows the calls before it shows too. What differs is tried once more in processes that
differ in one respect only, so that a message can say which it was.

Left out: modules that declare clock, chance or environment; the tests are run for those (`strength.observation`).

Two SQLite databases hold the same if schema, the rows of each table in any order and the program's own numbers are the
same; a counter of changes, numbers of rows that nobody chose, and the order of pages differ between databases of one
content. The bytes come out of a module's process, so they are read in memory, with bounded lengths and steps, without
functions that a schema names, and without virtual tables.
"""

import contextlib
import os
import selectors
import sqlite3
import stat
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from ship_gate.inside.codec import Codec, UndecodableError
from ship_gate.inside.frames import frame
from ship_gate.inside.fuzz.dangerous_values import lay_out_files
from ship_gate.inside.values import shown
from ship_gate.sandbox.exchange import EndOfRun, ObservedEffect, Stream
from ship_gate.sandbox.kind import Sandbox
from ship_gate.sandbox.pair import host_plan
from ship_gate.sandbox.process import Child, Surrounding, start
from ship_gate.sandbox.staging import Staged, empty_tree
from ship_gate.sandbox.starvation import OwnTime

_HEADER = b"SQLite format 3\0"
_COMPANIONS = ("-journal", "-wal", "-shm")
_NO_LOG = b"\x01\x01"
_MOST_LENGTH = 1_000_000
_MOST_STEPS = 2_000_000

Files = Mapping[str, bytes | None]


def _comparable(files: Files) -> Files:
    """Files by their paths, without what SQLite keeps beside a database for itself."""
    bases = {path for path, data in files.items() if data and data.startswith(_HEADER)}
    return {
        path: data
        for path, data in files.items()
        if not any(path.endswith(end) and path.removesuffix(end) in bases for end in _COMPANIONS)
    }


def same_content(one: bytes | None, other: bytes | None) -> bool:
    """Whether two files hold the same: the same bytes, or databases with the same in them."""
    if one == other:
        return True
    if not one or not other or not (one.startswith(_HEADER) and other.startswith(_HEADER)):
        return False
    try:
        return _database_content(one) == _database_content(other)
    except sqlite3.Error:
        return False


def _database_content(data: bytes) -> tuple[object, ...]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_LENGTH)
        database.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MOST_LENGTH)
        database.set_progress_handler(lambda: 1, _MOST_STEPS)
        database.execute("pragma trusted_schema = off")
        database.deserialize(data[:18] + _NO_LOG + data[20:])
        database.execute("pragma cell_size_check = on")
        schema = database.execute(
            "select type, name, tbl_name, sql from sqlite_master order by name"
        ).fetchall()
        tables = [name for kind, name, _, sql in schema if kind == "table" and not _is_virtual(sql)]
        rows = {name: Counter(database.execute(f"select * from {_quoted(name)}")) for name in tables}  # noqa: S608 - quoted
        return schema, rows, data[60:64], data[68:72]


def _is_virtual(sql: object) -> bool:
    return str(sql).lower().startswith("create virtual")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_MOST_CALLS = 200
_MOST_BYTES = 1024 * 1024
_MOST_SECONDS = 0.4
"""Of what the calls took in the first process: so much the second one may take as well."""
_PATIENCE = 3.0
_MOST_SHOWN = 160
_MOST_FILES = 200
_MOST_FILE = 64 * 1024
_MOST_WRITTEN = 256 * 1024
"""Bytes of files that are compared of one call."""
_MOST_TRIED = 3
_DEPTH = "RecursionError"
_NOTHING_RAISED = b'[["list",0],["dict",0],["list",2]]'

ALL_OF_THEM = ", ".join(one.value for one in Surrounding)
"""What differs there, for a person."""
_ADVICE = {
    Surrounding.NAME: "let nothing follow the name or place of the package (__name__, __module__, __file__, the repr of a "
    "class or function), and import siblings by relative names",
    Surrounding.CALLERS: "let nothing follow who calls, the stack, loaded modules or the program's arguments",
    Surrounding.LOOP: "do the same whether an event loop runs or not",
    Surrounding.ZONE: "name the time zone",
    Surrounding.HASHES: "sort what comes out of a set, and use no hash()",
    Surrounding.LOCALE: "name the encoding of every file and text, and format without the locale",
    Surrounding.LISTING: "sort what a folder lists (iterdir, glob, os.walk, os.scandir), which comes in no order",
}
"""What to write where a result follows one of the surroundings."""
OTHER_ADVICE = (
    "sort what comes out of a set, name the time zone, and follow no address in memory and no earlier call"
)


class Answer(NamedTuple):
    """What came of a call.

    Args:
        error: The class of what it raised, or nothing.
        payload: What it returned, or the arguments and fields of what it raised, as they crossed.
        printed: What it printed.
        files: What it left in its folder, by relative paths; None for folders.
    """

    error: str
    payload: bytes
    printed: str = ""
    files: Mapping[str, bytes | None] = {}

    def same_as(self, other: "Answer") -> bool:
        """Whether the two come to the same; databases are compared by what is in them."""
        return self == other or (self[:3] == other[:3] and not self._differing_files(other))

    def _differing_files(self, other: "Answer") -> list[str]:
        one, another = _comparable(self.files), _comparable(other.files)
        missing = one.keys() ^ another.keys()
        both = one.keys() & another.keys()
        return sorted(missing | {path for path in both if not same_content(one[path], another[path])})

    def difference(self, other: "Answer") -> tuple[str, str]:
        """What the two say where they differ, each for a person."""
        if (self.error, self.payload) != (other.error, other.payload):
            return self._result(), other._result()
        if self.printed != other.printed:
            return f"prints {shown(self.printed)}", f"prints {shown(other.printed)}"
        place = self._differing_files(other)[0]
        return _left(self.files, place), _left(other.files, place)

    def _result(self) -> str:
        try:
            value = Codec({}).decode(self.payload)
        except UndecodableError:  # it holds a class of the module
            text = self.payload.decode(errors="replace")
        else:
            text = _shown_error(value) if self.error else shown(value)
        text = text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."
        return f"raises {self.error}{text}" if self.error else f"gives {text}"


def _shown_error(raised: Any) -> str:
    args, fields, *_ = raised
    parts = [*map(shown, args or ()), *(f"{name}={shown(value)}" for name, value in fields.items())]
    return f"({', '.join(parts)})" if parts else ""


def _left(files: Mapping[str, bytes | None], place: str) -> str:
    if place not in files:
        return f"leaves no {place}"
    content = files[place]
    return f"leaves the folder {place}" if content is None else f"leaves {shown(content)} in {place}"


class RecordedCall(NamedTuple):
    """A call that was made, and what came of it.

    Args:
        text: The call, for a person.
        header: Which entry point, and in which folder.
        payload: The arguments as they crossed.
        answer: What came of it.
        seconds: How long it took.
        found: What lay in its folder besides, for `lay_out_files`.
    """

    text: str
    header: dict[str, Any]
    payload: bytes
    answer: Answer
    seconds: float
    found: Sequence[str] = ()


def answer_of(header: Mapping[str, Any], payload: bytes, folder: Path | None = None) -> Answer:
    """What a reply of the module's process says.

    Args:
        header: Of the reply.
        payload: Of the reply.
        folder: Where the call could write.
    """
    error = str(header["error"][0][-1]) if header.get("error") else ""
    printed = f"{header.get('out', '')}{header.get('err', '')}"
    return Answer(error, payload, printed, files_in(folder) if folder else {})


def files_in(folder: Path) -> dict[str, bytes | None]:
    """What lies below a folder that a hostile process may have filled; of large files and large numbers a part."""
    found: dict[str, bytes | None] = {}
    left = _MOST_WRITTEN
    try:
        # by descriptors, since a name may lead somewhere else in the next moment
        for place, folders, names, descriptor in os.fwalk(folder, follow_symlinks=False):
            folders.sort()  # the walk goes into them in this order, so that the same part is read of the same files
            within = os.path.relpath(place, folder)
            found |= {os.path.normpath(f"{within}/{name}"): None for name in folders[:_MOST_FILES]}
            for name in sorted(names)[:_MOST_FILES]:
                content = _content(name, descriptor, min(left, _MOST_FILE))
                found[os.path.normpath(f"{within}/{name}")] = content
                left -= len(content)
            if len(found) > _MOST_FILES:
                break
    except OSError:  # the call deleted its own folder
        found["."] = b"gone"
    return found


def _content(name: str, folder: int, most: int) -> bytes:
    """What a file begins with, or where a link leads; nothing of what is neither."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            return os.readlink(name, dir_fd=folder).encode(errors="surrogateescape")
        return b""
    try:
        return os.read(descriptor, most) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    finally:
        os.close(descriptor)


class SecondProcess:
    """A process that holds the module in other surroundings.

    Args:
        child: It.
        folder: Its own, in which calls are made.
        package: The name of the package there.
    """

    def __init__(self, child: Child, folder: Path, package: str) -> None:
        self._stream = Stream(child, "the module's second process")
        self._child = child
        self._folder = folder
        self._package = package
        self.observed: dict[ObservedEffect, None] = {}

    def answers(self, surface: dict[str, Any], calls: Sequence[RecordedCall]) -> Iterator[Answer]:
        """What comes of calls here, in the words of the first process; fewer if it ends, or takes its time."""
        self._stream.outbox += frame({"surface": surface})
        own_time = OwnTime([self._child.pid])
        with selectors.DefaultSelector() as selector, contextlib.suppress(EndOfRun):
            selector.register(self._child.reads, selectors.EVENT_READ)
            for call in calls:
                first, here = str(call.header["cwd"]), self._folder
                empty_tree(here)
                if call.answer.files:
                    lay_out_files(here, call.found)
                # a path in an argument leads to this folder here, and one in a result is told as if it led to that one
                given = call.payload.replace(first.encode(), str(here).encode())
                self._stream.outbox += frame({**call.header, "cwd": str(here)}, given)
                while (reply := self._reply()) is None:
                    if self._stream.ended or own_time.is_over(_PATIENCE):
                        return
                    self._stream.write()
                    selector.select(0.001 if self._stream.outbox else 0.1)
                    self._stream.read()
                answer = answer_of(*reply, here if call.answer.files else None)
                yield answer if given == call.payload else _translated(answer, str(here), first)

    def _reply(self) -> tuple[dict[str, Any], bytes] | None:
        for header, payload in self._stream.frames():
            match header.get("event"):
                case "reply":
                    return header, payload
                case "effect" if len(self.observed) < _MOST_CALLS:
                    effect = ObservedEffect(*(str(header.get(part, "")) for part in ObservedEffect._fields))
                    self.observed[effect] = None
                case "ready" | "loaded" | "effect":
                    pass
                case _:
                    # it cannot be imported here, or gives what does not cross
                    reason = str(header.get("message", header.get("event"))).strip().rpartition("\n")[2]
                    return {"error": [["", reason]]}, _NOTHING_RAISED
        return None

    def anonymous(self, text: str) -> str:
        """A text without the package's name, which is drawn."""
        return text.replace(self._package, "package")


def _translated(answer: Answer, here: str, there: str) -> Answer:
    files = {
        path: data and data.replace(here.encode(), there.encode()) for path, data in answer.files.items()
    }
    return Answer(
        answer.error,
        answer.payload.replace(here.encode(), there.encode()),
        answer.printed.replace(here, there),
        files,
    )


@contextmanager
def second_process(
    staged: Staged, surroundings: frozenset[Surrounding] = frozenset(Surrounding)
) -> Generator[SecondProcess, None, None]:
    """Start a process in other surroundings, over folders that may still be empty.

    Raises:
        ShipGateError: the process could not be started.
    """
    sandbox = staged.sandbox or Sandbox.best()
    # paths of one length, whatever differs
    folder = Path(mkdtemp(prefix="process-", dir=staged.scratch))
    plan = host_plan(staged, folder.name, sandbox, surroundings)
    child = start(plan, sandbox.kind)
    try:
        yield SecondProcess(child, folder, str(plan.more["package"]))
    finally:
        child.stop()


class Difference(NamedTuple):
    """A call that comes to something else in other surroundings.

    Args:
        call: As it was made first.
        usual: What came of it, where that differs, for a person.
        other: What comes of it there, likewise.
        cause: Which of the surroundings alone is enough; None if it is none of them by itself.
    """

    call: RecordedCall
    usual: str
    other: str
    cause: Surrounding | None

    def text(self) -> str:
        """What happens and what to do, for a person."""
        where = f"with {self.cause.value}" if self.cause else "in another process"
        advice = _ADVICE[self.cause] if self.cause else OTHER_ADVICE
        return f"{self.usual}, and {where} it {self.other}; {advice}"


def first_difference(
    second: SecondProcess, staged: Staged, calls: Sequence[RecordedCall]
) -> tuple[Difference | None, int]:
    """The plainest call that comes to something else in other surroundings, and how many were compared.

    Args:
        second: Of `second_process`.
        staged: Laid out by `stage`.
        calls: In their order.
    """
    # the last one first: a result that follows how often the module was called before shows as well
    chosen = [*_chosen(calls)][::-1]
    pairs = [*zip(chosen, second.answers(dict(staged.surface), chosen), strict=False)]
    found = [(call, answer) for call, answer in pairs if _differs(call, answer)]
    for call, answer in sorted(found, key=lambda pair: len(pair[0].payload))[:_MOST_TRIED]:
        difference = difference_of(staged, call, answer, alone=True)
        if difference.cause is None and _names_its_folder(call):
            continue  # a result may follow the text of a path, as a hash of it does, and the folder is another one there
        usual, other = second.anonymous(difference.usual), second.anonymous(difference.other)
        return difference._replace(usual=usual, other=other), len(pairs)
    return None, len(pairs)


def _names_its_folder(call: RecordedCall) -> bool:
    """Whether an argument holds the path of the folder in which the call was made."""
    return str(call.header["cwd"]).encode() in call.payload


def difference_of(staged: Staged, call: RecordedCall, other: Answer, *, alone: bool) -> Difference:
    """What differs where a call came to something else, and why, if the call can be made alone."""
    return Difference(call, *call.answer.difference(other), _cause_of(staged, call) if alone else None)


def call_text(entry: str, payload: bytes) -> str:
    """A call as a person writes it; without its arguments where one is of a class of the module."""
    try:
        args, kwargs = Codec({}).decode(payload)
    except UndecodableError:
        return f"{entry}(...)"
    parts = [*map(shown, args), *(f"{name}={shown(value)}" for name, value in kwargs.items())]
    return f"{entry}({', '.join(parts)})"


def _cause_of(staged: Staged, call: RecordedCall) -> Surrounding | None:
    """Which of the surroundings alone makes a call come to something else, if it is not another process alone."""
    for one in (None, *Surrounding):
        with second_process(staged, frozenset({one} if one else ())) as process:
            if any(_differs(call, answer) for answer in process.answers(dict(staged.surface), [call])):
                return one
    return None


def _differs(call: RecordedCall, answer: Answer) -> bool:
    # the stack is deeper by a few calls there
    return not call.answer.same_as(answer) and _DEPTH not in {answer.error, call.answer.error}


def _chosen(calls: Sequence[RecordedCall]) -> Iterator[RecordedCall]:
    """Calls from all over the run, as many as may be made again."""
    seconds = size = 0.0
    for call in calls[:: max(1, len(calls) // _MOST_CALLS)]:
        seconds, size = seconds + call.seconds, size + len(call.payload)
        if seconds > _MOST_SECONDS or size > _MOST_BYTES:
            return
        yield call
