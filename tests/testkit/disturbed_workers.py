"""Projects on workers that are killed and cut off at random, and what came of it.

Each worker is on a host of its own. The endpoint asks the database with each request whether the journal has its answer
already: that would be a call that is paid for twice.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg

from ship_gate.trust import record_trust
from specwright.postgres import StoreAddress
from testkit.endpoint import Endpoint, ReceivedRequest, serving
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK
from testkit.network import Host, hosts
from testkit.postgres import own_database
from testkit.processes import until
from testkit.proxy import proxy_to
from testkit.workers import QueuedProject, WorkerProcess, queued, worker

__all__ = ["Disturbances", "Ended", "disturbed"]

_GIVEN_UP_AFTER = 4
"""Seconds after which the database gives up a worker that is cut off; a real one takes half a minute."""
_ANSWER_SECONDS = 0.4
_CUTS = (0.5, 2.0, 6.0, 9.0)
"""Seconds; the longer ones end the sessions of the worker."""


class Disturbances(NamedTuple):
    """What is done to workers while they wait for an answer, each time to the one that has asked.

    Args:
        kills: SIGKILLs of whole workers.
        cuts: Of their lines.
        among: So many requests, the first ones, without those that come of it.
        seed: Of the choice.
    """

    kills: int
    cuts: int
    among: int
    seed: int = 46

    def chosen(self) -> dict[int, tuple[str, float]]:
        """What is done at which request, and how long a cut takes."""
        random = Random(self.seed)
        kinds = ["kill"] * self.kills + ["cut"] * self.cuts
        random.shuffle(kinds)
        places = random.sample(range(self.among), len(kinds))
        return {place: (kind, random.choice(_CUTS)) for place, kind in zip(places, kinds, strict=True)}


class Ended(NamedTuple):
    """What came of it.

    Args:
        projects: All of them.
        repeated: Requests whose answers the journal had when they came.
        requests: How many there were.
        answered: Answers that the journals have.
        seconds: From the first worker to the end.
        disturbances: How many of each kind.
    """

    projects: Sequence[QueuedProject]
    repeated: Sequence[str]
    requests: int
    answered: int
    seconds: float
    disturbances: "Counter[str]"


class _Watch:
    """Looks up each request in the journal of its project."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._connection = psycopg.connect(database, autocommit=True)
        self.asked: Counter[tuple[str, str, int]] = Counter()
        self.repeated: list[str] = []
        self.disturb: Callable[[int, str], None] = lambda number, client: None
        """Called with the number of each request and the address that it comes from."""

    def __call__(self, asked: ReceivedRequest) -> None:
        """Note a request, and let it take a moment: it is what kills and cuts come upon."""
        project, scope = asked.path.split("/")[2], asked.place.run_id
        with self._lock:
            number = self.asked.total()
            self.asked[project, scope, asked.ordinal] += 1
            found = self._connection.execute(
                f"SELECT 1 FROM specwright_{project}.journal WHERE scope = %s AND kind = 'model' AND ordinal = %s",
                (scope, asked.ordinal),
            ).fetchone()
            if found:
                self.repeated.append(f"{project} {scope} {asked.ordinal}")
        self.disturb(number, asked.client)
        time.sleep(_ANSWER_SECONDS)

    def journalled(self) -> int:
        """How many answers the journals have; each of them was asked for."""
        places: set[tuple[str, str, int]] = set()
        for project in {project for project, _, _ in self.asked}:
            rows = self._connection.execute(
                f"SELECT scope, ordinal FROM specwright_{project}.journal WHERE kind = 'model'"
            )
            places |= {(project, scope, ordinal) for scope, ordinal in rows}
        assert places == set(self.asked)  # so the look-up finds what it should
        return len(places)

    def unfinished(self) -> int:
        """How many jobs are left."""
        row = self._connection.execute(
            "SELECT count(*) FROM specwright__workers.procrastinate_jobs"
            " WHERE task_name = 'drive' AND status IN ('todo', 'doing')"
        ).fetchone()
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class _Fleet:
    """Workers on hosts, which are killed and cut off as planned; one that has ended is started again."""

    def __init__(
        self, stack: ExitStack, url: str, places: Sequence[Host], concurrency: int, planned: Disturbances
    ) -> None:
        self._stack, self._url, self._concurrency = stack, url, concurrency
        self._places = {place.address: place for place in places}
        self._planned = planned.chosen()
        self._lock = threading.Lock()
        self._cutting: dict[str, threading.Lock] = {place.address: threading.Lock() for place in places}
        self._running: dict[str, WorkerProcess] = {}
        self.done: Counter[str] = Counter()
        for place in places:
            self._start(place)

    def _start(self, place: Host) -> None:
        running = self._stack.enter_context(
            worker(self._url, before=place.enter, concurrency=self._concurrency)
        )
        self._running[place.address] = running
        threading.Thread(target=running.finish, daemon=True).start()  # reads what it prints

    def disturb(self, number: int, address: str) -> None:
        """Do what is planned for a request to the host that it comes from."""
        kind, seconds = self._planned.get(number, ("", 0.0))
        if kind == "kill":
            self._running[address].kill()
        elif kind == "cut":
            threading.Thread(target=self._cut, args=(address, seconds), daemon=True).start()
        self.done.update([kind] if kind else [])

    def _cut(self, address: str, seconds: float) -> None:
        with self._cutting[address]:
            self._places[address].cut()
            time.sleep(seconds)
            self._places[address].mend()

    def revive(self) -> None:
        """Start again what has ended, as a service manager does; a worker whose first connection fails ends."""
        with self._lock:
            for address, place in self._places.items():
                if self._running[address].process.poll() is not None:
                    self._start(place)


@contextmanager
def disturbed(
    directory: Path,
    projects: int,
    workers: int,
    planned: Disturbances,
    *,
    concurrency: int = 1,
    patience: float = 600.0,
) -> Iterator[Ended]:
    """So many projects, queued and driven to the end; the database is there until the block ends.

    Args:
        directory: For the settings of the projects.
        projects: How many, of one module each.
        workers: How many, each on a host of its own.
        planned: What is done to them.
        concurrency: Of each worker.
        patience: Seconds that all may take.
    """
    with ExitStack() as stack:
        address, places = stack.enter_context(hosts(workers))
        database = stack.enter_context(own_database())
        endpoint: Endpoint = stack.enter_context(serving(PLAYBOOK, address))
        server = urlsplit(database)
        line = stack.enter_context(
            proxy_to(server.hostname or "", server.port or 5432, address, _GIVEN_UP_AFTER)
        )
        run = ("--spec", NAMEPLATE_SPEC, "--model", "openai:test", "--approve")
        made = [
            queued(
                directory / f"p{number}",
                f"{database}?project=p{number}",
                *run,
                "--base-url",
                f"{endpoint.base_url}/p{number}",
            )
            for number in range(projects)
        ]
        watch = _Watch(database)
        stack.callback(watch.close)
        endpoint.watch = watch
        began = time.monotonic()
        reached = database.replace(f"{server.hostname}:{server.port or 5432}", f"{address}:{line.port}")
        for number in range(
            projects
        ):  # the workers' user takes the endpoint, at the address by which they see the project
            record_trust(
                str(StoreAddress.parse(f"{reached}?project=p{number}")),
                {"base_url": f"{endpoint.base_url}/p{number}"},
            )
        fleet = _Fleet(stack, reached, places, concurrency, planned)
        watch.disturb = fleet.disturb
        until(lambda: fleet.revive() or not watch.unfinished(), patience)
        seconds = time.monotonic() - began
        yield Ended(made, watch.repeated, watch.asked.total(), watch.journalled(), seconds, fleet.done)
