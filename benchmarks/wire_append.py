"""The speed of appends to the log, compared with raw SQLite (docs/design.md#testing).

The target is one Wire a commit within 1.6 times a bare insert, validation included.
`python benchmarks/wire_append.py` prints the figures of one run; it asserts nothing, since machines differ.

There are two peers, both with the log's pragmas (WAL, `synchronous=FULL`) and with a body and 48 bytes of hash in each
row. Their rows are prepared: they parse, check, order and hash nothing.

- *bare insert*: the log's table of entries with its primary key, and no trigger. The target is about this peer.
- *keyed insert*: also with unique constraints on the Wire's id and on its place in the stream, the least that SQLite
  alone needs for idempotent appends with an expected sequence.

The log is measured whole, and once more with every Wire inspected beforehand (bytes, schema, credentials), which is
its cost without validation. Three shapes: one Wire a commit, as the factory appends; a hundred a commit; and four
threads that append one Wire each and wait for it.

All four write to the same disk in short turns, in changing order, and each round has its own files. The figures are
medians over the rounds, ratios within each round, and processor time, which a busy machine distorts less than wall
time.
"""

import argparse
import gc
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, Protocol

from wire_throughput import wires

from agent_wire.admission import Admission, CheckedWire, default_admission, default_schemas
from agent_wire.canonical_json import JsonObject
from agent_wire.log import SqliteWireLog
from agent_wire.tables import default_tables

TOPIC = "0.0.1001"
BARE = """
CREATE TABLE entry (
    topic_id TEXT NOT NULL, sequence_number INTEGER NOT NULL,
    consensus_seconds INTEGER NOT NULL, consensus_nanos INTEGER NOT NULL,
    body BLOB NOT NULL, running_hash BLOB NOT NULL,
    PRIMARY KEY (topic_id, sequence_number)
) STRICT
"""
KEYED = """
CREATE TABLE entry (
    topic_id TEXT NOT NULL, sequence_number INTEGER NOT NULL,
    consensus_seconds INTEGER NOT NULL, consensus_nanos INTEGER NOT NULL,
    body BLOB NOT NULL, running_hash BLOB NOT NULL,
    wire_id TEXT NOT NULL UNIQUE, stream_id TEXT NOT NULL, stream_seq INTEGER NOT NULL,
    PRIMARY KEY (topic_id, sequence_number), UNIQUE (stream_id, stream_seq)
) STRICT
"""


class Log(Protocol):
    """Something that Wires are appended to."""

    def append(self, wires: Sequence[Any]) -> object:
        """Write, and return when it is on the disk."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class RawTable:
    """Rows into a table, a transaction for each append."""

    def __init__(self, path: Path, schema: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", schema):
            self._connection.execute(statement)
        columns = len(self._connection.execute("SELECT * FROM entry").description)
        self._insert = f"INSERT INTO entry VALUES ({', '.join('?' * columns)})"
        self._lock = threading.Lock()
        self._last = 0

    def append(self, wires: Sequence[tuple[Any, ...]]) -> None:
        """Write rows."""
        with self._lock:
            rows = [(TOPIC, self._last + place, *row) for place, row in enumerate(wires, start=1)]
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(self._insert, rows)
            self._connection.execute("COMMIT")
            self._last += len(rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class Inspected(Admission):
    """The rules for Wires that were inspected before."""

    def __init__(self, checked: Sequence[CheckedWire]) -> None:
        super().__init__(default_tables(), default_schemas())
        self._checked = {each.wire_id: each for each in checked}

    def inspect(self, wire: JsonObject) -> CheckedWire:
        """Look it up."""
        return self._checked[str(wire["wire_id"])]


def rows_of(checked: Sequence[CheckedWire]) -> list[tuple[Any, ...]]:
    """The rows of the bare peer."""
    return [(1_778_083_200, nanos, each.body, bytes(48)) for nanos, each in enumerate(checked)]


def keys_of(wire: Any) -> tuple[str, str, int]:
    """The further columns of the keyed peer: the Wire's id and its place."""
    return wire["wire_id"], wire["stream"]["stream_id"], wire["stream"]["stream_seq"]


def checked_of(sample: Sequence[JsonObject]) -> Iterator[CheckedWire]:
    """Every Wire, inspected."""
    for wire in sample:
        result = default_admission().inspect(wire)
        if isinstance(result, CheckedWire):
            yield result


class Duration(NamedTuple):
    """Seconds of wall time, and of processor time of all threads."""

    wall: float
    processor: float

    def plus(self, other: "Duration") -> "Duration":
        """Both."""
        return Duration(self.wall + other.wall, self.processor + other.processor)


def appended(log: Log, shares: Sequence[Sequence[Any]], group: int) -> Duration:
    """Append, a thread for each share, this many a commit."""

    def write(share: Sequence[Any]) -> None:
        ready.wait()
        for start in range(0, len(share), group):
            log.append(share[start : start + group])

    ready = threading.Barrier(len(shares) + 1)
    with ThreadPoolExecutor(len(shares)) as pool:
        writers = [pool.submit(write, share) for share in shares]
        ready.wait()
        wall, processor = time.perf_counter(), time.process_time()
        for writer in writers:
            writer.result()
    return Duration(time.perf_counter() - wall, time.process_time() - processor)


class Shape(NamedTuple):
    """How Wires are appended.

    Args:
        name: For the table.
        threads: How many append.
        group: How many Wires an append has.
        turn: How many Wires a candidate appends before the next one's turn; all threads together.
    """

    name: str
    threads: int
    group: int
    turn: int

    def turns(self, values: Sequence[Any]) -> Iterator[list[Sequence[Any]]]:
        """For each turn the share of each thread; a thread goes on in its own part of the values."""
        part, each = len(values) // self.threads, self.turn // self.threads
        for start in range(0, part - each + 1, each):
            places = range(start, part * self.threads, part)
            yield [values[place : place + each] for place in places]


SHAPES = (
    Shape("one a commit", 1, 1, 20),
    Shape("a hundred a commit", 1, 100, 400),
    Shape("4 threads, one each", 4, 1, 80),
)


def one_round(
    shape: Shape, candidates: Mapping[str, tuple[Callable[[Path], Log], Sequence[Any]]]
) -> dict[str, Duration]:
    """What every candidate took, in turns."""
    names = list(candidates)
    sums = dict.fromkeys(names, Duration(0, 0))
    with tempfile.TemporaryDirectory() as folder:
        logs = {name: opened(Path(folder) / name) for name, (opened, _) in candidates.items()}
        turns = {name: shape.turns(values) for name, (_, values) in candidates.items()}
        while shares := {name: part for name in names if (part := next(turns[name], None))}:
            for name in names:
                sums[name] = sums[name].plus(appended(logs[name], shares[name], shape.group))
            names.append(names.pop(0))  # nobody always follows the same neighbour
        for log in logs.values():
            log.close()
    return sums


def measure(shape: Shape, sample: list[dict[str, Any]], rounds: int) -> None:
    """Print the figures of one shape."""
    checked = list(checked_of(sample))
    rows, inspected = rows_of(checked), Inspected(checked)
    keyed = [(*row, *keys_of(each.wire)) for row, each in zip(rows, checked, strict=True)]
    gc.collect()
    gc.freeze()  # the sample is not the log's
    found = [
        one_round(
            shape,
            {
                "bare": (lambda path: RawTable(path, BARE), rows),
                "keyed": (lambda path: RawTable(path, KEYED), keyed),
                "log": (lambda path: SqliteWireLog(path, TOPIC, time.time_ns, admission=inspected), sample),
                "whole": (lambda path: SqliteWireLog(path, TOPIC, time.time_ns), sample),
            },
        )
        for _ in range(rounds)
    ]
    gc.unfreeze()
    micro = 1e6 / (len(sample) // shape.turn * shape.turn)

    def ratio(kind: str, peer: str) -> float:
        return median(each[kind].wall / each[peer].wall for each in found)

    def cost(kind: str) -> str:
        wall, processor = (median(each[kind][place] for each in found) * micro for place in (0, 1))
        return f"{wall:.0f} ({processor:.0f})"

    print(
        f"{shape.name:<21} {ratio('whole', 'bare'):.2f} of a bare insert (<= 1.6), {ratio('log', 'bare'):.2f} without "
        f"validation; of a keyed insert {ratio('whole', 'keyed'):.2f}, {ratio('log', 'keyed'):.2f}\n"
        f"{'':<21} us a Wire (processor): bare {cost('bare')}, keyed {cost('keyed')}, log without validation "
        f"{cost('log')}, whole {cost('whole')}; load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Appends beside raw SQLite.")
    parser.add_argument(
        "--wires", type=int, default=4_000, help="how many, in the shape of a hundred a commit"
    )
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    sample = wires(max(options.wires, 400))
    for shape in SHAPES:
        number = len(sample) if shape.group > 1 else max(len(sample) // 4, shape.turn)
        measure(shape, sample[: number // shape.turn * shape.turn], options.rounds)


if __name__ == "__main__":
    main()
