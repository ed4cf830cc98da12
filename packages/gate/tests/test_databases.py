"""SQLite databases that a module writes: changed to see whether a test reads them, and compared by what is in them."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from ship_gate.fuzz.determinism import Answer, same_content
from ship_gate.inside.fuzz.dangerous_values import lay_out_files
from ship_gate.inside.variants.changes import files_below, perturb_files


def run(path, *statements):
    """Execute statements in a database, each committed."""
    with closing(sqlite3.connect(path, timeout=0)) as database:
        for statement in statements:
            database.execute(statement)
            database.commit()
    return path


def rows(path, table="notes"):
    """What a table holds."""
    with closing(sqlite3.connect(path, timeout=0)) as database:
        return database.execute(f"select * from {table} order by 1").fetchall()


@pytest.fixture
def notes(tmp_path):
    """A database with two rows."""
    return run(
        tmp_path / "n.db",
        "create table notes (id integer primary key, text not null, stars integer)",
        "insert into notes values (1, 'old', 3), (2, 'also old', null)",
    )


INSERT = "insert into notes values (3, 'new', 5)"


@pytest.mark.parametrize(
    ("variation", "left"),
    [
        ("alter", [(1, "old", 3), (2, "also old", None), (4, "ofx", 6)]),
        ("clear", []),
        ("undo", [(1, "old", 3), (2, "also old", None)]),
        ("move", [(1, "old", 3), (2, "also old", None), (3, "new", 5)]),
    ],
)
def test_the_rows_that_a_call_wrote_are_changed_in_a_database_that_stays_one(notes, variation, left):
    """D-44-01: other values of the new rows, no rows, and the database as it was."""
    before = files_below(notes.parent)
    run(notes, INSERT)
    perturb_files(notes.parent, before, variation)
    assert rows(notes) == left


def test_a_database_that_came_goes_with_what_is_beside_it(tmp_path):
    """D-44-01: a write-ahead log belongs to the database."""
    before = files_below(tmp_path)
    with closing(sqlite3.connect(tmp_path / "n.db")) as database:
        database.executescript("pragma journal_mode = wal; create table notes (text)")
        assert (tmp_path / "n.db-wal").exists()
        assert [*files_below(tmp_path)] == [str(tmp_path), str(tmp_path / "n.db")]
        perturb_files(tmp_path, before, "undo")
    assert [*tmp_path.iterdir()] == []


def test_rows_that_only_a_log_holds_are_read_and_put_back(notes):
    """D-44-01: somebody has the database open, so that nothing is in its file yet."""
    with closing(sqlite3.connect(notes)) as other:
        other.execute("pragma journal_mode = wal")
        before = files_below(notes.parent)
        run(notes, INSERT)
        perturb_files(notes.parent, before, "undo")
        assert len(other.execute("select * from notes").fetchall()) == 2


def test_a_lock_outlives_those_who_look_at_the_file(notes):
    """D-44-01: whoever closes a file gives up the locks that the process has on it."""
    with closing(sqlite3.connect(notes, isolation_level=None)) as holder:
        holder.execute("begin exclusive")
        before = files_below(notes.parent)
        perturb_files(notes.parent, before, "alter")
        source = f"import sqlite3; sqlite3.connect({str(notes)!r}, timeout=0).execute('begin immediate')"
        assert "locked" in ended(source)
        holder.execute("rollback")
    assert ended(source) == ""


def ended(source):
    """The last words of another program."""
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False).stderr


def clock_after(tmp_path, script):
    """What a program prints whose databases are watched, but for `holder`, a connection to one with a table."""
    head = f"""
import sqlite3, time
from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.observation.databases import watch_databases
holder = sqlite3.connect({str(tmp_path / "n.db")!r}, isolation_level=None)
holder.execute("create table notes (text)")
clock = ModuleClock()
clock.set("2024-05-01T12:00:00+00:00")
watch_databases(lambda kind, what: None, clock)
def opened(**options):
    return sqlite3.connect({str(tmp_path / "n.db")!r}, **options)
def refused(action):
    before, began = len(clock.slept), time.perf_counter()
    try:
        action()
    except sqlite3.OperationalError as error:
        print(error, clock.slept[before:], time.perf_counter() - began < 4)
"""
    ran = subprocess.run([sys.executable, "-c", head + script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split("\n")[:-1]


def test_a_wait_for_a_lock_passes_on_the_clock_alone(tmp_path):
    """A lock that is held is waited for as long as the connection says, by `timeout`, by a pragma, or five seconds; the
    module's clock shows it, and nobody waits (D-44-01)."""
    script = """
holder.execute("begin exclusive")
refused(lambda: opened().execute("insert into notes values (1)"))
refused(lambda: opened(timeout=60).execute("select * from notes"))
refused(lambda: opened(timeout=0.25).cursor().executemany("insert into notes values (?)", [(1,)]))
refused(lambda: opened(timeout=8, isolation_level="IMMEDIATE").executescript("create table other (text)"))
patient = opened()
patient.execute("pragma busy_timeout = 90000")
refused(lambda: patient.execute("begin immediate"))
print(clock.now())
holder.execute("rollback")
opened().execute("insert into notes values (1)").connection.commit()
reader = opened(isolation_level=None)
reader.execute("begin")
reader.execute("select * from notes").fetchall()
writer = opened(timeout=3)
writer.execute("insert into notes values (2)")
refused(writer.commit)
refused(lambda: writer.__exit__(None, None, None))
"""
    waits = [f"database is locked [{seconds}] True" for seconds in (5.0, 60.0, 0.25, 8.0, 90.0, 3.0, 3.0)]
    told = clock_after(tmp_path, script)
    assert told == [*waits[:5], "2024-05-01 12:02:43.250000+00:00", *waits[5:]]


def test_what_sqlite_refuses_at_once_takes_no_time(tmp_path):
    """A connection that does not wait, a transaction that has read before it writes, one that reads an old state, and an
    error that only looks like a lock: the clock stands still (D-44-01)."""
    script = """
holder.execute("insert into notes values (1)")
def lying():
    error = sqlite3.OperationalError("only a look")
    error.sqlite_errorcode, error.sqlite_errorname = sqlite3.SQLITE_BUSY, "SQLITE_BUSY"
    for _ in range(9):
        __import__("select").select([], [], [], 0.001)
    raise error
    yield
refused(lambda: opened().executemany("insert into notes values (?)", lying()))
holder.execute("begin immediate")
for hasty in [opened(timeout=0), opened(timeout=-1), opened(timeout=1e300)]:
    refused(lambda: hasty.execute("insert into notes values (1)"))
late = opened(isolation_level=None)
late.execute("begin")
late.execute("select * from notes").fetchall()
refused(lambda: late.execute("insert into notes values (1)"))
late.execute("rollback")
holder.execute("rollback")
holder.execute("pragma journal_mode = wal")
late.execute("begin")
late.execute("select * from notes").fetchall()
holder.execute("insert into notes values (2)")
refused(lambda: late.execute("insert into notes values (1)"))
print(clock.now(), type(late.execute("select 1")) is sqlite3.Cursor)
"""
    assert clock_after(tmp_path, script) == [
        "only a look [] True",
        *["database is locked [] True"] * 5,
        "2024-05-01 12:00:00+00:00 True",
    ]


def test_rows_that_must_differ_are_changed_as_far_as_they_may(tmp_path):
    """D-44-01: keys, checks, tables without row numbers, and tables behind a virtual one."""
    place = tmp_path / "n.db"
    before = files_below(tmp_path)
    run(
        place,
        "create table pairs (a text, b integer check (b < 3), primary key (a, b)) without rowid",
        "insert into pairs values ('x', 1), ('x', 2)",
        "create table once (only integer primary key check (only = 1))",
        "insert into once values (1)",
        "create virtual table words using fts5 (text)",
        "insert into words values ('some words')",
    )
    perturb_files(tmp_path, before, "alter")
    assert rows(place, "pairs") == [("y", 1), ("y", 2)]
    assert rows(place, "once") == [(1,)]
    assert rows(place, "words") == [("tpnf xpset",)]


def test_databases_are_compared_by_what_is_in_them(tmp_path):
    """D-44-01: counters of changes, numbers that nobody chose and the order of rows are no content."""
    make = "create table notes (text, stars)"
    one = run(tmp_path / "1", make, "insert into notes values ('a', 1), ('b', 2)").read_bytes()
    other = run(
        tmp_path / "2",
        make,
        "insert into notes values ('b', 2), ('c', 3), ('a', 1)",
        "delete from notes where text = 'c'",
    ).read_bytes()
    third = run(tmp_path / "3", make, "insert into notes values ('a', 1), ('b', 3)").read_bytes()
    assert one != other
    assert same_content(one, other)
    assert not same_content(one, third)
    assert not same_content(one, run(tmp_path / "1", "pragma user_version = 7").read_bytes())
    assert not same_content(one, one[:700] + b"\xff" * 2000)
    assert not same_content(one, b"")
    answers = [
        Answer("", b"", "", {"n.db": data, "n.db-journal": beside})
        for data, beside in [(one, b"1"), (other, b"")]
    ]
    assert answers[0].same_as(answers[1])
    assert answers[0].difference(Answer("", b"", "", {"n.db": third}))[0].endswith("in n.db")


def test_a_database_that_takes_for_ever_is_not_read_to_its_end(tmp_path):
    """D-44-01: the schema of a database that nobody vouches for may compute."""
    texts = [
        f"create table notes (a, b generated always as (zeroblob(900000000 + {number})))" for number in (1, 2)
    ]
    one, other = [
        run(tmp_path / str(number), text, "insert into notes values (1)").read_bytes()
        for number, text in enumerate(texts)
    ]
    assert not same_content(one, other)


def test_the_fuzz_lays_out_databases_and_trees(tmp_path):
    """D-44-01: another program's database, a damaged and a short one; links that lead back, bytes that are no text."""
    lay_out_files(tmp_path / "a", ["databases", "notes"])
    assert rows(tmp_path / "a/other.db", "other") == [(1, "x")]
    assert rows(tmp_path / "a/short.db", "other") == [(None, None)]
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        rows(tmp_path / "a/corrupt.db", "other")
    assert (tmp_path / "a/notes/inner/up/one.md").exists()
    assert not (tmp_path / "a/notes/gone.md").exists()
    lay_out_files(tmp_path / "b")
    assert not (tmp_path / "b/other.db").exists()
