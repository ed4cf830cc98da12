"""The journal by itself: what happened once is answered from it, and what it holds survives (DESIGN §4).

Left out: the models above it and the run around it (`tests/factory`).
"""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specwright.errors import CorruptionError, NonDeterminismError
from specwright.journal import FileJournal, SystemSource, read_records
from specwright.journal.journal import IDS

OPENED: list[FileJournal] = []


@pytest.fixture(autouse=True)
def journals_are_closed() -> Iterator[None]:
    """Close what the test opened."""
    yield
    while OPENED:
        OPENED.pop().close()


def opened(path: Path, **options: Any) -> FileJournal:
    """A journal, as a new process would open it."""
    OPENED.append(FileJournal(path, **options))
    return OPENED[-1]


def never() -> NoReturn:
    """A live answer that nobody may ask for."""
    raise AssertionError("asked live")


def says(answer: Any) -> Callable[[], Any]:
    """A live answer."""
    return lambda: answer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal lies."""
    return tmp_path / "journal.jsonl"


def test_what_was_answered_is_never_asked_again(path: Path):
    """A second process gets the answers of the first, in their order (D-S4-01, D-S4-03)."""
    first = opened(path).scope("TSK-001.1/x/round-1/proposer")
    assert [first.recall("model", n, says(f"answer {n}")) for n in range(3)] == [
        "answer 0",
        "answer 1",
        "answer 2",
    ]
    again = opened(path).scope("TSK-001.1/x/round-1/proposer")
    assert [again.recall("model", n, never) for n in range(3)] == ["answer 0", "answer 1", "answer 2"]
    assert again.recall("model", 3, says("new")) == "new"


def test_kinds_and_scopes_count_for_themselves(path: Path):
    """A place is scope, kind and ordinal; what lies between two records of one kind does not move them (D-S4-02)."""
    journal = opened(path)
    one, other = journal.scope("one"), journal.scope("other")
    for n, scope in enumerate((one, other, one)):
        scope.recall("model", "asked", says(n))
        scope.recall("tool", "looked", says(-n))
    assert [tuple(record.place) for record in read_records(path)] == [
        ("one", "model", 0),
        ("one", "tool", 0),
        ("other", "model", 0),
        ("other", "tool", 0),
        ("one", "model", 1),
        ("one", "tool", 1),
    ]


def test_the_records_of_one_kind_are_read_alone(path: Path):
    """Those of other kinds are left out, also where they name it: a count need not read a long journal (D-S4-01)."""
    journal = opened(path)
    for name in ("a", "b"):
        scope = journal.scope(name)
        scope.recall("model", "asked", lambda: "answer")
        scope.recall("tool", "text", lambda: '"kind":"model"')
        scope.recall("tool", "object", lambda: {"kind": "model"})
    assert [tuple(record.place) for record in read_records(path, "model")] == [
        ("a", "model", 0),
        ("b", "model", 0),
    ]
    assert len(list(read_records(path))) == 6


def test_a_scope_that_is_entered_again_begins_at_its_first_record(path: Path):
    """A node that runs again asks the same things in the same order (D-S4-07)."""
    journal = opened(path)
    for _ in range(2):
        scope = journal.scope("node")
        assert scope.recall("model", "asked", lambda: "answer") == "answer"
    assert len(list(read_records(path))) == 1


def test_a_request_that_differs_is_refused_and_names_its_place(path: Path):
    """Never served silently, never asked live; the journal stays as it was (D-S4-02)."""
    opened(path).scope("TSK-001.1/x").recall("model", {"prompt": "old"}, says("answer"))
    before = path.read_bytes()
    with pytest.raises(NonDeterminismError) as refused:
        opened(path).scope("TSK-001.1/x").recall("model", {"prompt": "new"}, never)
    assert "TSK-001.1/x, model 0" in refused.value.where
    assert refused.value.remedy
    assert path.read_bytes() == before


def test_what_fails_is_not_an_answer(path: Path):
    """An error passes through, nothing is recorded, and the place is still free (D-S4-03)."""
    scope = opened(path).scope("x")
    with pytest.raises(ZeroDivisionError):
        scope.recall("model", "asked", lambda: 1 // 0)
    assert list(read_records(path)) == []
    assert scope.recall("model", "asked", says("answer")) == "answer"


ANSWERS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(10**4000), max_value=10**4000)
    | st.floats(allow_nan=False)
    | st.text(st.characters()),  # unpaired surrogates among them
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40)
@given(answer=ANSWERS, request_=ANSWERS)
def test_whatever_a_model_can_write_comes_back_as_it_was(tmp_path_factory, answer: Any, request_: Any):
    """Unpaired surrogates, integers of thousands of digits, any text: a line each, and the same request (D-S4-01)."""
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    for live in (says(answer), never):
        journal = FileJournal(path)
        assert journal.scope("x").recall("model", request_, live) == answer
        journal.close()
    assert path.read_bytes().count(b"\n") == 1


def written(path: Path, answers: int) -> bytes:
    """A journal of so many records, and its bytes."""
    scope = opened(path).scope("x")
    for n in range(answers):
        scope.recall("model", n, says("ä" * n))
    return path.read_bytes()


@settings(max_examples=30)
@given(data=st.data())
def test_a_journal_that_is_cut_off_anywhere_holds_its_complete_records(tmp_path_factory, data: st.DataObject):
    """A partial line was never an answer; it is removed, and the next record has a line of its own (D-S4-03)."""
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    whole = written(path, 4)
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    complete = whole[:cut].count(b"\n")
    assert len(list(read_records(path))) == complete

    scope = opened(path).scope("x")
    assert [scope.recall("model", n, says("ä" * n)) for n in range(4)] == ["ä" * n for n in range(4)]
    assert path.read_bytes() == whole


@pytest.mark.parametrize("damage", [b"{}", b"not json", b'{"scope":"x"', b"\xff\xfe", b"[1, 2]", b""])
def test_damage_that_no_crash_can_do_is_told_by_its_line(path: Path, damage: bytes):
    """Corruption is not passed over: the file, the line, what to do; and nothing is written (D-S4-02)."""
    lines = written(path, 3).splitlines()
    lines[1] = damage
    path.write_bytes(b"\n".join([*lines, b""]))
    before = path.read_bytes()
    with pytest.raises(CorruptionError) as raised:
        opened(path)
    assert raised.value.where == f"{path}, line 2"
    assert raised.value.remedy
    assert path.read_bytes() == before


def test_two_answers_for_one_place_are_corruption(path: Path):
    """Which of them was served nobody could say (D-S4-02)."""
    first, _ = written(path, 2).splitlines(keepends=True)
    path.write_bytes(first * 2)
    with pytest.raises(CorruptionError, match="two answers"):
        opened(path)


class Counting(SystemSource):
    """A source whose draws differ."""

    def __init__(self) -> None:
        self._next = count()

    def uuid(self) -> str:
        return f"{next(self._next):08x}" + "0" * 24

    def now(self) -> str:
        return f"2030-01-01T00:00:{next(self._next):02d}.000Z"


def drawn(journal: FileJournal, times: int = 1) -> list[Any]:
    """Some draws of every kind."""
    scope = journal.scope("x")
    return [
        draw
        for n in range(times)
        for draw in (scope.hex8(), scope.now(), scope.wire_id(), scope.recall("draw", n, lambda n=n: n))
    ]


def test_draws_are_recorded_like_answers(path: Path):
    """Ids, times, Wire ids and measured values are drawn once (D-04-02, D-S4-01)."""
    first = drawn(opened(path, source=Counting()))
    assert drawn(opened(path, source=Counting())) == first
    assert [record.place.kind for record in read_records(path)] == ["step", "draw"]


class SetBack(Counting):
    """A source whose clock was set back by a year."""

    def now(self) -> str:
        return "2029-01-01T00:00:00.000Z"


def test_times_never_go_back(path: Path):
    """A clock that is set back, in a run or between two, stands until it has caught up (D-59-03)."""
    first = opened(path, source=Counting()).scope("x").now()
    journal = opened(path, source=SetBack())
    assert [journal.scope(name).now() for name in "yz"] == [first, first]
    assert opened(path).scope("later").now() > first or first > SystemSource().now()


def test_the_ids_and_the_time_of_a_step_are_one_record(path: Path):
    """A step that needs more ids than one record has draws again; its time stays (D-04-02)."""
    scope = opened(path).scope("x")
    times, ids = {scope.now() for _ in range(3)}, [scope.hex8() for _ in range(IDS)]
    assert [record.place.kind for record in read_records(path)] == ["step"]
    ids.append(scope.hex8())
    assert len(list(read_records(path))) == 2
    again = opened(path).scope("x")
    assert [again.hex8() for _ in ids] == ids
    assert {again.now()} == {scope.now()} == times


def test_an_id_is_drawn_again_until_no_other_of_the_journal_begins_so(path: Path):
    """Also after a restart; the redrawn ones are not met again (D-04-02)."""
    ids: list[str] = []
    for name in ("x", "y", "x"):
        scope = opened(path, source=Counting()).scope(name)
        ids += [scope.hex8() for _ in range(IDS)]
    assert len(set(ids)) == 2 * IDS


def test_several_threads_write_whole_lines(path: Path):
    """Tools of one answer may run at once, each in a scope of its own (D-S4-01)."""
    journal = opened(path)

    def work(number: int) -> None:
        scope = journal.scope(f"call-{number}")
        for n in range(20):
            scope.recall("tool", n, says("x" * 500))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(list(read_records(path))) == 160
    opened(path)


def test_a_record_is_on_the_disk_before_its_answer_is_seen(path: Path):
    """Written, then fsynced, then returned: "answered" means no less (D-S4-03)."""
    scope = opened(path).scope("x")
    called: list[str] = []

    def watch(frame: Any, event: str, argument: Any) -> None:
        if event == "c_call" and argument in (os.write, os.fsync):
            called.append(argument.__name__)
        elif event == "return" and frame.f_code.co_name == "recall":
            called.append("seen")

    sys.setprofile(watch)
    try:
        scope.recall("model", "asked", says("answer"))
    finally:
        sys.setprofile(None)
    assert called == ["write", "fsync", "seen"]


def child(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Python of its own, with a journal in `scope`."""
    head = (
        "import os, signal, sys, resource\nfrom pathlib import Path\nfrom specwright.journal import FileJournal\n"
        "scope = FileJournal(Path(sys.argv[1])).scope('x')\n"
    )
    search = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [sys.executable, "-c", head + code, str(path)],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        timeout=60,
    )


DIE = "os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize(
    ("code", "recorded"),
    [
        (f"scope.recall('model', 0, lambda: {DIE})", 0),
        (f"scope.recall('model', 0, lambda: 'a'); {DIE}", 1),
        (f"scope.recall('model', 0, lambda: 'a'); scope.recall('model', 1, lambda: {DIE})", 1),
    ],
    ids=["before the answer", "behind the answer", "before the next"],
)
def test_a_kill_keeps_what_was_answered_and_nothing_else(path: Path, code: str, recorded: int):
    """A call that was killed before its record may be sent again; one behind it never (D-S4-03)."""
    assert child(code, path).returncode == -signal.SIGKILL
    scope = opened(path).scope("x")
    assert len(list(read_records(path))) == recorded
    assert [scope.recall("model", n, never) for n in range(recorded)] == ["a"] * recorded


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit on file sizes")
def test_a_disk_that_is_full_leaves_the_journal_sound(path: Path):
    """Half a line is taken back at once; the error says what to do; later records stand on whole lines (D-S9-04)."""
    code = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
scope.recall('model', 0, lambda: 'first')
size = os.stat(sys.argv[1]).st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, resource.RLIM_INFINITY))
try:
    scope.recall('model', 1, lambda: 'x' * 500)
except Exception as error:
    print(type(error).__name__, error.what, os.stat(sys.argv[1]).st_size == size, bool(error.remedy))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
scope.recall('model', 1, lambda: 'second')
"""
    done = child(code, path)
    assert done.stdout == "InputError the journal cannot be written True True\n", done.stderr
    assert [json.loads(line)["answer"] for line in path.read_text().splitlines()] == ["first", "second"]
