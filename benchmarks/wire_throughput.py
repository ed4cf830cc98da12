"""The speed of checking and replaying Wires (docs/design.md#testing); `wire_append.py` measures appends.

`python benchmarks/wire_throughput.py` prints the figures of one run; it asserts nothing, since machines differ:

- schema validation compared with orjson.loads on the same bytes (target: at least 0.25 of its speed), and with the
  second validator of the tests;
- replay and reduce of stored canonical bytes of 900 each (target: at least 100,000 a second).
"""

import argparse
import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from agent_wire import envelope, tables
from agent_wire.admission import default_admission, default_schemas
from agent_wire.envelope import make_stream, make_wire, task_stream_id
from agent_wire.stream import AdmissionState

SIZE = 900
ARTIFACTS = 5
LONGEST_WORD = 96
"""In an extension."""
ROUNDS = 5


def story(task: int) -> list[tuple[str, dict[str, Any]]]:
    """The events of a task with some artifacts."""
    names = [f"MM-{task:04x}{number:04x}" for number in range(ARTIFACTS)]
    announced = [
        {
            "artifact_id": name,
            "name": "parse_note",
            "media_type": "text/x-python",
            "uri": f"state_store/modules/{name}/1.0.0",
            "sha256": hashlib.sha256(name.encode()).hexdigest(),
            "version": "1.0.0",
            "size_bytes": 5120,
            "lineage": {"task": f"TSK-{task:04d}", "attempt": 1, "inputs": ["MM-0b7d22e4@1.0.0"]},
        }
        for name in names
    ]
    done = {"artifact_ids": names, "primary_artifact_id": names[0], "verification": {"mechanical": "pass"}}
    return [
        ("task.created", {"definition_sha256": hashlib.sha256(b"definition").hexdigest()}),
        ("task.available", {}),
        ("task.claimed", {"claimed_by": "agent:quinn-03"}),
        ("task.started", {}),
        *[("artifact.ready", payload) for payload in announced],
        ("task.complete", done),
    ]


def wires(number: int) -> list[dict[str, Any]]:
    """Admissible Wires of `SIZE` canonical bytes each."""
    result: list[dict[str, Any]] = []
    task = 0
    while len(result) < number:
        task += 1
        for place, (event, payload) in enumerate(story(task), start=1):
            wire = make_wire(
                wire_id=f"wire_01JZ{task:018d}{place:04d}",
                ts="2026-05-06T16:00:00Z",
                type=event,
                sender="system",
                stream=make_stream(
                    stream_id=task_stream_id(f"TSK-{task:04d}", 1),
                    stream_seq=place,
                    context_id="project:notes-1f0c9a2e",
                ),
                payload=payload,
                extensions={"org.example.pad": []},
            )
            wire["extensions"] = {"org.example.pad": words(SIZE - len(envelope.encode(wire)))}
            result.append(wire)
    return result[:number]


def words(room: int) -> list[str]:
    """Words for an extension, which take so many bytes in a list, or none if there is room for none."""
    result: list[str] = []
    while room > len('"p",'):
        word = min(LONGEST_WORD, room - len('"",' if result else '""'))
        if 0 < room - word - len('"",') <= len('"p",'):
            word -= len('"p",')  # or the next would find no room
        result.append("p" * word)
        room -= word + len('"",' if result[1:] else '""')
    return result


def seconds(run: Callable[[], object]) -> float:
    """The best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def each(action: Callable[[Any], object], values: Sequence[Any]) -> Callable[[], None]:
    """A run of an action over values."""

    def run() -> None:
        for value in values:
            action(value)

    return run


def show(what: str, rate: float, remark: str = "") -> None:
    """Print one figure."""
    print(f"{what:<22}{rate:>10,.0f} /s   {remark}".rstrip())


def validation(sample: list[dict[str, Any]], bodies: list[bytes]) -> None:
    """Schema validation beside the parser and beside the plain Python validator."""
    registry = Registry().with_resources(
        (str(schema["$id"]), Resource.from_contents(schema)) for schema in tables.schemas().values()
    )
    plain = {
        name: Draft202012Validator(schema, registry=registry) for name, schema in tables.schemas().items()
    }
    parse = seconds(each(orjson.loads, bodies))
    check = seconds(each(default_schemas().check, sample))
    few = sample[:200]
    python = seconds(
        each(lambda wire: plain[f"{wire['type'].replace('.', '-')}.schema.json"].is_valid(wire), few)
    )
    slower = (python / len(few)) / (check / len(sample))
    show("orjson.loads", len(bodies) / parse)
    show("schema validation", len(sample) / check, f"{parse / check:.2f} of orjson.loads (>= 0.25)")
    show("plain validator", len(few) / python, f"{slower:.0f} times slower")


def replay(bodies: list[bytes]) -> None:
    """Stored bytes to state."""
    rules = default_admission()

    def run() -> None:
        ledger = AdmissionState()
        for body in bodies:
            rules.replay(ledger, orjson.loads(body), body)

    size = sum(map(len, bodies)) // len(bodies)
    show("replay and reduce", len(bodies) / seconds(run), f"of {size} bytes each (>= 100,000)")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Figures for Wires: validation, replay.")
    parser.add_argument("--wires", type=int, default=20_000)
    sample = wires(parser.parse_args().wires)
    bodies = [envelope.encode(wire) for wire in sample]
    validation(sample, bodies)
    replay(bodies)


if __name__ == "__main__":
    main()
