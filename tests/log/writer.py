"""A process that appends Wires one by one and acknowledges each: `writer.py FILE TASK_FROM TASK_TO`."""

import sys
import time
from pathlib import Path

from specwright.log.sqlite_log import SqliteWireLog
from wire.story import HAPPY_PATH, make_stream, make_wire, payload


def wires_of(task: int):
    """The Wires of one task; the same ids in every run (D32)."""
    for place, event in enumerate(HAPPY_PATH, start=1):
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
            payload=payload(event),
        )


def main() -> None:
    """Append every Wire of the tasks, acknowledging each on standard output."""
    path, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    log = SqliteWireLog(path, "0.0.1001", time.time_ns)
    for task in range(first, last):
        for wire in wires_of(task):
            log.append([wire])
            sys.stdout.write(f"{wire['wire_id']}\n")
            sys.stdout.flush()
    log.close()


if __name__ == "__main__":
    main()
