"""Workers as processes of their own, and projects on Postgres that they drive."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from specwright.bootstrap.drive import Queue, queue_state
from specwright.bootstrap.stores import opened_store
from testkit.cli.commands import Told, specwright
from testkit.processes import process

__all__ = ["QUICK", "QueuedProject", "WorkerProcess", "queued", "tell", "worker"]

QUICK = (3.0, 1, 0.3)
"""`Times` of a worker in tests: its heartbeat is missed after three seconds."""

_WORKER = """
import json, sys
from specwright.bootstrap.worker import WorkerOptions, run_worker
from specwright.work_queue import Times

if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    options = WorkerOptions(**{**given, "times": Times(*given["times"])})
    sys.exit(min(1, run_worker(options, lambda event: print(json.dumps(event), flush=True))))
"""


class WorkerProcess:
    """A worker.

    Args:
        running: Its process, which prints its events.
    """

    def __init__(self, running: "subprocess.Popen[str]") -> None:
        self.process = running
        self.events: list[dict[str, Any]] = []

    def wait_for(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next event of a kind."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.events.append(json.loads(line))
            if wanted(self.events[-1]):
                return self.events[-1]
        raise AssertionError(f"the worker ended: {self.events}")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()

    def terminate(self) -> int:
        """Stop it; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.finish()

    def finish(self) -> int:
        """Read the events to the end; the exit code."""
        with suppress(AssertionError):
            self.wait_for(lambda event: False)
        return self.process.wait()


@contextmanager
def worker(
    url: str, times: Sequence[float] = QUICK, before: Sequence[str] = (), **options: Any
) -> Iterator[WorkerProcess]:
    """A worker until the block ends; for `before` see `process`."""
    given = json.dumps({"url": url, "times": times, **options})
    running = WorkerProcess(process(_WORKER, given, before=before))
    try:
        yield running
    finally:
        running.kill()
        if running.process.stdout:
            running.process.stdout.close()


class QueuedProject(NamedTuple):
    """A project that workers drive.

    Args:
        directory: Of its settings.
        url: Of its store.
    """

    directory: Path
    url: str

    def state(self) -> Queue:
        """What the queue says."""
        found = queue_state(self.directory)
        assert found is not None
        return found

    def status(self) -> Any:
        """The document of `status`."""
        return specwright("status", self.directory, "--json").document

    def leave(self, path: str, content: bytes) -> None:
        """Write a file of the project."""
        with opened_store(self.directory, self.url) as store:
            store.folder.replace(path, content)


def queued(directory: Path, url: str, *options: object) -> QueuedProject:
    """A project whose `run` has queued it."""
    directory.mkdir(parents=True)
    (directory / "specwright.toml").write_text(f'store = {json.dumps(url)}\ndrive = "workers"\n')
    project = QueuedProject(directory, url)
    tell(project, "run", *options)
    return project


def tell(project: QueuedProject, command: str, *options: object) -> Told:
    """Type a command for a project; it queues it."""
    told = specwright(command, project.directory, *options, "--json")
    assert told.code == 0, told
    assert told.document["where"] == "queued"
    return told
