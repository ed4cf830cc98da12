"""A mirror follows its log over lost connections and kills, and tells readers and operators how far it is (D47)."""

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlsplit

import psycopg
import pytest

from agent_wire.errors import DatabaseUnavailableError
from agent_wire.mirror import MirrorStatus
from agent_wire.mirror.model import ReadModel
from agent_wire.reducer import reduce_wires
from testkit.processes import process
from testkit.proxy import Proxy, proxy_to
from wire_testkit.damage import open_log
from wire_testkit.project_story import project
from wire_testkit.tables import expected_rows, reduced_rows, rows, tables
from wire_testkit.writer import wires_of


@pytest.fixture
def line(postgres: str) -> Iterator[tuple[Proxy, str]]:
    """A line to that database that can be cut, and the URL through it."""
    server = urlsplit(postgres)
    with proxy_to(server.hostname or "", server.port or 5432) as proxy:
        yield proxy, postgres.replace(server.netloc, f"{server.username}@127.0.0.1:{proxy.port}")


def waiting_for_a_lock(url: str) -> list[int]:
    """The backends of a database that wait for a lock."""
    with psycopg.connect(url) as connection:
        query = (
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return [pid for (pid,) in connection.execute(query)]


def test_a_mirror_follows_its_log(log, make_mirror):
    """It tells each new position once, and waits in between (D-47-02)."""
    wires, pauses = project(), []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        log.append(wires[4 * (len(pauses) - 1) : 4 * len(pauses)])

    log.append(wires[:1])
    following = make_mirror().follow(pause)
    found = [next(following).position.sequence_number for _ in range(4)]

    assert found == [1, 4, 8, 12]
    assert set(pauses) == {0.5}


def test_a_cut_network_shows_as_a_growing_lag_and_ends_at_none(log, line, postgres, mirror_to):
    """The log goes on; the mirror tries at growing intervals, and then has it all, once (D-47-04, D-47-02)."""
    proxy, url = line
    wires, pauses = project(), []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        log.append(wires[2 * len(pauses) : 2 * len(pauses) + 2])
        if len(pauses) in (1, 7):
            (proxy.cut if len(pauses) == 1 else proxy.mend)()

    log.append(wires[:2])
    following = mirror_to(url, batch=3).follow(pause)
    seen: list[MirrorStatus] = [next(following) for _ in range(9)]

    assert [(bool(status.problem), status.lag) for status in seen[:7]] == [
        (False, 0),
        *((True, lag) for lag in range(2, 14, 2)),
    ]
    assert "reached" in seen[1].problem
    assert pauses[1:7] == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0]
    assert [status.lag for status in seen[7:]] == [0, 0]
    assert reduced_rows(postgres) == expected_rows(reduce_wires(wires))
    assert len(rows(postgres, "wire_events")) == len(wires)


def test_a_connection_that_is_ended_in_a_transaction_costs_nothing(log, postgres, mirror_to):
    """The server ends the backend while it writes, as a restart does; the batch is written again, once (D-47-02)."""
    log.append(project()[:4])
    mirror = mirror_to(postgres)
    mirror.catch_up()
    before = tables(postgres)
    log.append(project()[4:])
    with psycopg.connect(postgres) as blocker, ThreadPoolExecutor(1) as pool:
        blocker.execute("LOCK TABLE project_decisions IN ACCESS EXCLUSIVE MODE")
        writing = pool.submit(mirror.catch_up)
        while not (blocked := waiting_for_a_lock(postgres)):
            time.sleep(0.01)
        blocker.execute("SELECT pg_terminate_backend(%s)", blocked)
        with pytest.raises(DatabaseUnavailableError):
            writing.result(30)
        blocker.rollback()

    assert tables(postgres) == before
    assert mirror.catch_up().lag == 0
    assert reduced_rows(postgres) == expected_rows(reduce_wires(project()))


def test_an_idle_connection_that_was_ended_is_not_noticed(log, postgres, mirror_to):
    """A server that was restarted between two batches (D-47-02)."""
    mirror = mirror_to(postgres)
    for wire in project():
        log.append([wire])
        mirror.catch_up()
        with psycopg.connect(postgres) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    assert reduced_rows(postgres) == expected_rows(reduce_wires(project()))


def test_readers_are_notified_of_the_log_that_they_listen_to(log, postgres, tmp_path, mirror_to):
    """After each batch, with the position; of another log nothing is told (D-47-01)."""
    log.append(project())
    other = open_log(tmp_path / "other.db")
    other.append(project("project:other-0a1b2c3d", first_id=5000))
    channel = str(project()[0]["wire_id"]).lower()
    with psycopg.connect(postgres, autocommit=True) as reader:
        reader.execute(f"LISTEN {channel}")  # pyright: ignore
        mirror_to(postgres, other).catch_up()
        mirror_to(postgres, batch=10).catch_up()
        heard = list(reader.notifies(timeout=10, stop_after=2))

    assert [(each.channel, each.payload) for each in heard] == [
        (channel, "10"),
        (channel, str(len(project()))),
    ]


def test_two_mirrors_at_once_write_everything_once(log, url, make_mirror):
    """They take turns, whatever their batches (D-47-02)."""
    log.append([wire for task in range(60) for wire in wires_of(task)])
    mirrors = [make_mirror(batch=size) for size in (7, 11, 13)]
    ready = threading.Barrier(len(mirrors))

    def mirror(number: int) -> int:
        ready.wait()
        return mirrors[number].catch_up().position.sequence_number

    with ThreadPoolExecutor(len(mirrors)) as pool:
        assert set(pool.map(mirror, range(len(mirrors)))) == {360}
    assert len(rows(url, "wire_events")) == 360
    assert len(rows(url, "agent_tasks")) == 60


_SERVER = """
import os, sys, time
from pathlib import Path
from agent_wire.mirror import Mirror
from agent_wire.mirror.model import ReadModel
from wire_testkit.damage import TOPIC, open_log
for line in sys.stdin:
    path, url = line.split()
    pid = os.fork()
    if not pid:
        for _ in Mirror(open_log(Path(path)), TOPIC, ReadModel(url)).follow(time.sleep):
            pass
    print(pid, flush=True)
    os.waitpid(pid, 0)
"""
"""Starts a mirror for each line of arguments, at the price of a fork."""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_mirror_that_is_killed_twenty_times_ends_equal(url, log, tmp_path, make_mirror):
    """SIGKILL at random moments, while the log grows; then what it wrote is what a rebuild writes (D-47-02)."""
    growing = open_log(tmp_path / "growing.db")
    wires = [wire for task in range(20 * TASKS) for wire in wires_of(task)]
    chance, positions = random.Random(7), [0]
    with closing(ReadModel(url)) as reader, process(_SERVER, stdin=subprocess.PIPE, stderr=None) as server:
        for start in range(0, len(wires), 6 * TASKS):
            growing.append(wires[start : start + 6 * TASKS])
            pid = _answer(server, f"{tmp_path / 'growing.db'} {url}")
            while reader.position(str(wires[0]["wire_id"])).sequence_number == positions[-1]:
                assert server.poll() is None
                time.sleep(0.002)
            time.sleep(chance.random() * 0.04)
            os.kill(pid, signal.SIGKILL)
            positions.append(reader.position(str(wires[0]["wire_id"])).sequence_number)
        server.stdin.close()  # pyright: ignore

    mirror = make_mirror(growing)
    assert mirror.catch_up().position.sequence_number == len(wires)
    live = tables(url)
    mirror.rebuild()
    assert tables(url) == live
    assert reduced_rows(url) == expected_rows(reduce_wires(wires))
    in_between = [position for position in positions if position % (6 * TASKS)]
    assert len(in_between) > 4, positions


TASKS = 200
"""How many the log gets before each kill."""


def _answer(server: "subprocess.Popen[str]", line: str) -> int:
    server.stdin.write(f"{line}\n")  # pyright: ignore
    server.stdin.flush()  # pyright: ignore
    return int(server.stdout.readline())  # pyright: ignore
