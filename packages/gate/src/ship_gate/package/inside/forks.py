"""Runs pieces of work in forks of a process that has loaded a package, a few at a time (design: package-gate).

What a fork does to itself, to the package or to the folder that it works in concerns no other. It says what it found in
lines of JSON that begin with a secret of its own; what it does not say within its time, or before it dies, is missing.
The process may not send signals, since code of the package runs in it: a fork stops itself by the limits that it sets
before it starts, and one that escapes them is left behind.
"""

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

_read, _write, _exit, _fork, _now = os.read, os.write, os._exit, os.fork, time.monotonic  # pyright: ignore[reportPrivateUsage]
_alarm, _dumps, _loads = signal.setitimer, json.dumps, json.loads
_PATIENCE = 2.0
_MOST_LINES = 200_000
_is_ours = False

Send = Callable[[dict[str, Any]], None]


class Work(NamedTuple):
    """Something to do in a fork.

    Args:
        do: Does it, and sends what it found.
        heard: Takes what was sent.
        ended: Takes how it ended: empty, `time`, `died`, or the error that it raised.
        silence: The most seconds between two messages.
        seconds: Of processor time.
    """

    do: Callable[[Send], None]
    heard: Callable[[dict[str, Any]], None]
    ended: Callable[[str], None]
    silence: float
    seconds: float


class _Running:
    def __init__(self, work: Work, reader: int, pid: int, secret: bytes, home: Path) -> None:
        self.work = work
        self.reader = reader
        self.secret = secret
        self.home = home
        self.pid = pid
        self.last = _now()
        self._data = b""
        self._lines = 0
        self._how: str | None = None

    def take(self) -> bool:
        """Read what is there; False once there is no more."""
        chunk = _read(self.reader, 1 << 20)
        self._data += chunk
        *lines, self._data = self._data.split(b"\n")
        for line in lines:
            self._lines += 1
            if line.startswith(self.secret) and self._lines < _MOST_LINES:
                self.last = _now()
                self._hear(line[len(self.secret) :])
        return bool(chunk)

    def _hear(self, line: bytes) -> None:
        with contextlib.suppress(ValueError):
            message = _loads(line)
            if isinstance(message, dict):
                self.work.heard(cast("dict[str, Any]", message))
            else:
                self._how = str(message)

    def is_overdue(self) -> bool:
        return _now() - self.last > self.work.silence + _PATIENCE

    def finish(self, *, overdue: bool) -> None:
        os.close(self.reader)
        how = "time"
        if not overdue:
            _, status = os.waitpid(self.pid, 0)
            stopped = os.WIFSIGNALED(status) and os.WTERMSIG(status)
            how = "time" if stopped in {signal.SIGALRM, signal.SIGXCPU} else "died"
        shutil.rmtree(self.home, ignore_errors=True)
        self.work.ended(how if self._how is None else self._how)


def forbid_other_forks() -> None:
    """From here on a fork that this module did not make ends at once."""
    os.register_at_fork(after_in_child=lambda: None if _is_ours else _exit(1))


def run_all(waiting: deque[Work], jobs: int, until: float) -> None:
    """Do all that waits, also what is added meanwhile.

    Args:
        waiting: It is emptied.
        jobs: So many at a time.
        until: The time, by `time.monotonic`, after which nothing is begun.
    """
    running: list[_Running] = []
    while running or (waiting and _now() < until):
        while waiting and len(running) < jobs and _now() < until:
            running.append(_started(waiting.popleft(), running))
        ready = select.select([one.reader for one in running], [], [], 0.1)[0]
        for one in list(running):
            is_over = one.reader in ready and not one.take()
            if is_over or one.is_overdue():
                running.remove(one)
                one.finish(overdue=not is_over)


def _started(work: Work, others: list[_Running]) -> _Running:
    global _is_ours
    home = Path(os.environ["HOME"]) / os.urandom(8).hex()
    secret = os.urandom(12).hex().encode()
    home.mkdir()
    reader, writer = os.pipe()
    _is_ours = True
    pid = _fork()
    if pid:
        _is_ours = False
        os.close(writer)
        return _Running(work, reader, pid, secret, home)
    try:
        for descriptor in (reader, *(other.reader for other in others)):
            os.close(descriptor)
        _work(work, writer, secret, home)
    finally:
        _exit(0)
    raise AssertionError("unreachable")


def _work(work: Work, writer: int, secret: bytes, home: Path) -> None:
    owner = os.getpid()
    # of each fork its own: pytest empties the folder below which it makes those of `tmp_path`
    os.environ["TMPDIR"] = tempfile.tempdir = str(home)
    most = int(work.seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard - 1)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def send(message: Any) -> None:
        if os.getpid() != owner:
            return
        _alarm(signal.ITIMER_REAL, work.silence)
        data = secret + _dumps(message).encode() + b"\n"
        while data:
            data = data[_write(writer, data) :]

    _alarm(signal.ITIMER_REAL, work.silence)
    try:
        work.do(send)
    except BaseException as error:  # the fork ends next; how is all that is left to say
        send(f"{type(error).__name__}: {error}"[:300])
    else:
        send("")
