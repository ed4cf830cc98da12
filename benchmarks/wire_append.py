"""How fast Wires are appended, beside raw SQLite (DESIGN §11: within 1.3 times its group commit).

`python benchmarks/wire_append.py` prints the figures of one run; nothing is asserted, since machines differ.

The peer is raw SQLite with what any such log needs and nothing more: the same pragmas (WAL, `synchronous=FULL`),
the same columns with the body's bytes, the primary key of a place in the topic, and unique constraints on the
Wire's id and on the place in its stream, which in the log are rules of the admission. Its rows are made beforehand;
it parses, checks and hashes nothing. Appends of several threads share transactions in both by the same queue. Both
write to the same disk in turn, the same number of Wires a commit, and the best of the rounds counts.

Three shapes: one Wire a commit, as the factory appends; a hundred a commit; and sixteen threads that append one
Wire each and wait for it. Each is shown whole, and once more with every Wire inspected beforehand (bytes, schema,
content boundary), which is what the log costs without validation.
"""

import argparse
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from wire_throughput import wires

from specwright.canonical_json import JsonObject
from specwright.log.group_commit import GroupCommit, Pending
from specwright.log.sqlite_log import SqliteWireLog
from specwright.wire.admission import Admission, Sound, default_admission
from specwright.wire.tables import default_tables
from specwright.wire.validation import default_schemas

TOPIC = "0.0.1001"
ROUNDS = 5
SCHEMA = """
CREATE TABLE entry (
    topic_id TEXT NOT NULL, sequence_number INTEGER NOT NULL,
    consensus_seconds INTEGER NOT NULL, consensus_nanos INTEGER NOT NULL,
    wire_id TEXT NOT NULL UNIQUE, stream_id TEXT NOT NULL, stream_seq INTEGER NOT NULL,
    body BLOB NOT NULL, running_hash BLOB NOT NULL,
    PRIMARY KEY (topic_id, sequence_number), UNIQUE (stream_id, stream_seq)
) STRICT
"""


class Log(Protocol):
    """What both have."""

    def append(self, wires: Sequence[Any]) -> None:
        """Write, and return when it is on the disk."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class Raw:
    """Rows into a table, with the log's own queue."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", SCHEMA):
            self._connection.execute(statement)
        self._group: GroupCommit[tuple[Any, ...]] = GroupCommit(self._write)
        self._last = 0

    def append(self, wires: Sequence[tuple[Any, ...]]) -> None:
        """Write rows."""
        self._group.submit(wires)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _write(self, group: Sequence[Pending[tuple[Any, ...]]]) -> None:
        rows: list[tuple[Any, ...]] = []
        for pending in group:
            for row in pending.items:
                self._last += 1
                rows.append((TOPIC, self._last, *row))
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self._connection.execute("COMMIT")


class Inspected(Admission):
    """The rules for Wires that were inspected before."""

    def __init__(self, sounds: Sequence[Sound]) -> None:
        super().__init__(default_tables(), default_schemas())
        self._sounds = {sound.wire_id: sound for sound in sounds}

    def inspect(self, wire: JsonObject) -> Sound:
        """It is known."""
        return self._sounds[str(wire["wire_id"])]


def rows_of(sounds: Sequence[Sound]) -> list[tuple[Any, ...]]:
    """What the peer is given."""
    nanos = count()
    return [
        (1_778_083_200, next(nanos), sound.wire_id, *place_of(sound.wire), sound.body, bytes(48))
        for sound in sounds
    ]


def place_of(wire: Any) -> tuple[str, int]:
    """The place in its stream."""
    return wire["stream"]["stream_id"], wire["stream"]["stream_seq"]


def sounds_of(sample: Sequence[JsonObject]) -> Iterator[Sound]:
    """Every Wire, inspected."""
    for wire in sample:
        found = default_admission().inspect(wire)
        if isinstance(found, Sound):
            yield found


def seconds(log: Log, shares: Sequence[Sequence[Any]], group: int) -> float:
    """How long it takes, a thread for each share, this many a commit."""

    def write(share: Sequence[Any]) -> None:
        ready.wait()
        for start in range(0, len(share), group):
            log.append(share[start : start + group])

    ready = threading.Barrier(len(shares) + 1)
    threads = [threading.Thread(target=write, args=(share,)) for share in shares]
    for thread in threads:
        thread.start()
    ready.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    log.close()
    return took


def shape(name: str, sample: list[dict[str, Any]], threads: int, group: int) -> None:
    """Print the figures of one shape."""
    sounds = list(sounds_of(sample))
    rows, inspected = rows_of(sounds), Inspected(sounds)
    each = len(sample) // threads

    def shares(values: Sequence[Any]) -> list[Sequence[Any]]:
        return [values[start : start + each] for start in range(0, each * threads, each)]

    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = (Path(folder) / str(number) for number in count())
        candidates: dict[str, tuple[Callable[[Path], Log], Sequence[Any]]] = {
            "raw": (Raw, rows),
            "log": (lambda path: SqliteWireLog(path, TOPIC, time.time_ns, admission=inspected), sample),
            "whole": (lambda path: SqliteWireLog(path, TOPIC, time.time_ns), sample),
        }
        for _ in range(ROUNDS):
            for kind, (opened, values) in candidates.items():
                took = seconds(opened(next(paths)), shares(values), group)
                best[kind] = min(took, best.get(kind, took))
    done = each * threads
    raw, log, whole = (best[kind] for kind in ("raw", "log", "whole"))
    micro = 1e6 / done
    print(
        f"{name:<24}{done / whole:>9,.0f} /s   {whole / raw:.2f} of raw SQLite (<= 1.3), "
        f"{log / raw:.2f} without validation;   us a Wire: {raw * micro:.0f} raw, {log * micro:.0f}, {whole * micro:.0f}"
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Appends beside raw SQLite.")
    parser.add_argument("--wires", type=int, default=8_000)
    number = parser.parse_args().wires
    sample = wires(number)
    shape("one a commit", sample[: number // 8], 1, 1)
    shape("a hundred a commit", sample, 1, 100)
    shape("16 threads, one each", sample[: number // 2 // 160 * 160], 16, 1)


if __name__ == "__main__":
    main()
