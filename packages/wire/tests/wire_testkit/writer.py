"""Processes that append Wires one by one and acknowledge each.

`writer.py FILE TASK_FROM TASK_TO [THREADS]`: the tasks' Wires, the tasks shared out among threads.
`writer.py FILE rival NAME PLACES`: a Wire of its own for each place of one stream, and what became of it.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agent_wire.errors import WireRefusedError
from agent_wire.log import SqliteWireLog
from wire_testkit.story import CONTEXT, HAPPY_PATH, make_stream, make_wire, payload


def wires_of(task: int):
    """The Wires of one task; the same ids in every run (D32)."""
    lineage = {"task": f"TSK-{task:03d}", "attempt": 1, "inputs": []}
    for place, event in enumerate(HAPPY_PATH, start=1):
        usual = payload(event)
        yield make_wire(
            wire_id=f"wire_01JZ{task:020d}{place:02d}",
            ts="2026-05-06T16:00:00Z",
            type=event,
            sender="system",
            stream=make_stream(
                stream_id=f"task:TSK-{task:03d}:attempt:1",
                stream_seq=place,
                context_id="project:notes-1f0c9a2e",
            ),
            payload=usual | {"lineage": lineage} if event == "artifact.ready" else usual,
        )


def wire_of_rival(name: str, place: int):
    """What a rival wants to stand at a place of the project's stream."""
    return make_wire(
        wire_id=f"wire_01JZ{name * 10}{place:012d}",
        ts="2026-05-06T16:00:00Z",
        type="review.recorded",
        sender="system",
        stream=make_stream(stream_id=CONTEXT, stream_seq=place, context_id=CONTEXT),
        payload=payload("review.recorded"),
    )


def write(log: SqliteWireLog, first: int, last: int, threads: int) -> None:
    """Append every Wire of the tasks."""

    def append(tasks: range) -> None:
        for task in tasks:
            for wire in wires_of(task):
                log.append([wire])
                acknowledge(str(wire["wire_id"]))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(append, [range(first + thread, last, threads) for thread in range(threads)]))


def contend(log: SqliteWireLog, name: str, places: int) -> None:
    """Want every place of one stream, and tell what came of it."""
    sys.stdin.readline()  # so that all begin at once
    for place in range(1, places + 1):
        try:
            log.append([wire_of_rival(name, place)])
            acknowledge(f"{place} won")
        except WireRefusedError as error:
            acknowledge(f"{place} {error.rejection.code}")


def acknowledge(line: str) -> None:
    """Acknowledge on standard output, in one piece."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Do what the arguments say."""
    path, *rest = sys.argv[1:]
    log = SqliteWireLog(Path(path), "0.0.1001", time.time_ns)
    if rest[0] == "rival":
        contend(log, rest[1], int(rest[2]))
    else:
        first, last, threads = (*map(int, rest), 1)[:3]
        write(log, first, last, threads)
    log.close()


if __name__ == "__main__":
    main()
