"""Starts one process in a sandbox, and ends it with everything that it started (design: ship-gate).

The process sees the standard library, this package's `inside` folder and the paths of its plan, under their own names;
its environment is empty but for what Python needs, its input is closed, and two pipes connect it to the gate. It confines
itself before it loads anything of a candidate (`inside.start`). No file and no process outlives it.
"""

import compileall
import contextlib
import functools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.base import boundary_values
from ship_gate.errors import ShipGateError

_MIB = 1024 * 1024


class SandboxKind(StrEnum):
    """How a candidate is kept from everything else."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    NONE = "none"


class Surrounding(StrEnum):
    """What surrounds a module and may be another in a consumer's program; no answer may follow it. The value says it."""

    NAME = "another package name and place"
    CALLERS = "other callers and arguments of the program"
    LOOP = "a running event loop"
    ZONE = "another time zone"
    HASHES = "another hash seed"
    LOCALE = "another locale"
    LISTING = "names of a folder in another order"


class Limits(NamedTuple):
    """What a sandboxed process may use, besides wall-clock time.

    Args:
        memory: Bytes of address space.
        cpu_seconds: Processor time.
        file_size: Bytes of one file.
        scratch_size: Bytes of all files of a run together.
        scratch_files: How many files and folders.
        open_files: At a time.
        output: Bytes printed, of each process.
        call_seconds: For one call, and for what a test does between two, without what they wait for a processor.
    """

    memory: int = 1024 * _MIB
    cpu_seconds: int = 60
    file_size: int = 16 * _MIB
    scratch_size: int = 64 * _MIB
    scratch_files: int = 4_000
    open_files: int = 128
    output: int = 4 * _MIB
    call_seconds: float = 10.0


class Plan(NamedTuple):
    """What a process is for and what it may see.

    Args:
        role: A module of `inside`, or of `package`.
        scratch: The folder that it works in; it may write there and in nothing else.
        reads: What it may read besides Python.
        site: A folder of third-party packages.
        limits: What it may use.
        more: For the role itself.
        surroundings: What is another than usual.
        package: The import name and the folder of another package than `inside` that holds the role.
    """

    role: str
    scratch: Path
    reads: tuple[Path, ...] = ()
    site: Path | None = None
    limits: Limits = Limits()
    more: Mapping[str, str | bool] = {}
    surroundings: frozenset[Surrounding] = frozenset()
    package: tuple[str, Path] | None = None


_INSIDE = Path(__file__).parents[1] / "inside"
_END_SECONDS = 5.0
_UNDER_ANOTHER_NAME = """
import sys
with open(sys.argv[1], "rb") as script:
    code = compile(script.read(), "/opt/application/main.py", "exec")
__file__ = sys.argv.pop(1)
exec(code)
"""


class Child:
    """A process in a sandbox, from the gate's side.

    Args:
        process: It, or the sandbox around it.
        reads: Descriptor of what it sends, not blocking.
        writes: Descriptor of what it receives, not blocking.
    """

    def __init__(self, process: subprocess.Popen[bytes], reads: int, writes: int) -> None:
        assert process.stdout is not None  # asked for where it is started
        self._process = process
        self._stdout = process.stdout
        self.reads = reads
        self.writes = writes
        self.prints = process.stdout.fileno()
        for descriptor in (reads, writes, self.prints):
            os.set_blocking(descriptor, False)

    @property
    def pid(self) -> int:
        """Of the process, or of the sandbox around it."""
        return self._process.pid

    def used_up(self) -> bool:
        """Whether it has ended because its processor time was used up."""
        try:
            status = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        # the sandbox around it says of a signal what a shell says
        return status in {-signal.SIGXCPU, 128 + signal.SIGXCPU}

    def stop(self) -> None:
        """End it; when this returns nothing of it runs any more."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._await_last_writer()
        for descriptor in (self.reads, self.writes):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._stdout.close()

    def _await_last_writer(self) -> None:
        """The kernel kills a namespace's processes after its first; the pipe ends when all are gone."""
        deadline = time.monotonic() + 5
        while (left := deadline - time.monotonic()) > 0:
            select.select([self.reads], [], [], left)
            with contextlib.suppress(BlockingIOError):
                if not os.read(self.reads, 65536):
                    return


def start(plan: Plan, kind: SandboxKind) -> Child:
    """Start a process; it says that it is ready by its first message.

    Raises:
        ShipGateError: it could not be started at all.
    """
    _compile(_INSIDE)
    if plan.package:
        _compile(plan.package[1])
    from_gate, writes = os.pipe()
    reads, to_gate = os.pipe()
    text = json.dumps(_plan_text(plan, kind, from_gate, to_gate))
    command = [*_python(plan), *_script(plan), text]
    # the namespace's first process holds this end too, so the pipe ends when that one is gone as well
    last = os.dup(to_gate)
    if kind is SandboxKind.BUBBLEWRAP:
        command = [*_bubblewrap(plan), "--sync-fd", str(last), "--", *command]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[from_gate, to_gate, *([last] if kind is SandboxKind.BUBBLEWRAP else [])],
            start_new_session=True,
            cwd=plan.scratch,
            env=_environment(plan),
        )
    except OSError as error:
        os.close(reads)
        os.close(writes)
        raise ShipGateError(
            f"the gate could not start a process: {error}",
            where=command[0],
            remedy="free processes and memory",
        ) from error
    finally:
        for descriptor in (from_gate, to_gate, last):
            os.close(descriptor)
    return Child(process, reads, writes)


@functools.cache
def _compile(folder: Path) -> None:
    """Sandboxed processes write no bytecode; where nobody did it for them, each would compile the folder again."""
    if not sys.dont_write_bytecode:
        compileall.compile_dir(folder, quiet=2)  # what cannot be written is left


def _plan_text(plan: Plan, kind: SandboxKind, from_gate: int, to_gate: int) -> dict[str, Any]:
    limits = plan.limits
    return {
        "role": plan.role,
        "holder": [plan.package[0], str(plan.package[1])] if plan.package else [],
        "sandbox": kind.value,
        "from_gate": from_gate,
        "to_gate": to_gate,
        "scratch": str(plan.scratch),
        "site": str(plan.site) if plan.site else "",
        "reads": [*map(str, _python_paths()), *map(str, _reads(plan)), "/dev/urandom", "/dev/null"],
        "writes": [str(plan.scratch), "/dev/null"],
        "limits": {
            "AS": limits.memory,
            "CPU": limits.cpu_seconds + 1,
            "FSIZE": limits.file_size,
            "NOFILE": limits.open_files,
            "CORE": 0,
        },
        **plan.more,
    }


def _python(plan: Plan) -> list[str]:
    # neither site packages nor the user's environment; the hash seed is kept: the gate gives the same verdict twice,
    # also for a module whose output follows a set's order
    encoding = "utf8=0" if Surrounding.LOCALE in plan.surroundings else "utf8"
    return [_executable(), "-P", "-s", "-S", "-B", "-X", encoding]


def _script(plan: Plan) -> list[str]:
    script = str(_INSIDE / "start.py")
    # the first frames of the process have no file of ours either
    return ["-c", _UNDER_ANOTHER_NAME, script] if Surrounding.CALLERS in plan.surroundings else [script]


def _executable() -> str:
    # a virtual environment's Python is a link; its site packages are not wanted
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _environment(plan: Plan) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "HOME": str(plan.scratch),
        "TMPDIR": str(plan.scratch),
        "LC_ALL": "C.UTF-8",
        # without a name, so that no file of time zones is looked for
        "TZ": "<+0545>-05:45" if Surrounding.ZONE in plan.surroundings else "UTC",
        "PYTHONHASHSEED": "1945" if Surrounding.HASHES in plan.surroundings else "0",
    }


def _python_paths() -> list[Path]:
    """What Python itself needs: its library, those that it is linked with, and time zones."""
    base = Path(sys.base_prefix)
    paths = [
        Path(_executable()),
        Path(sysconfig.get_path("stdlib", vars={"installed_base": str(base), "base": str(base)})),
        Path(sysconfig.get_path("platstdlib", vars={"platbase": str(base), "installed_platbase": str(base)})),
        *(base / "lib").glob("libpython*"),
        Path(sysconfig.get_config_var("DESTSHARED") or base / "lib"),
        *map(Path, ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo")),
        Path("/etc/ld.so.cache"),
        _INSIDE,
        # with its bytecode, or each process would compile it again
        *(Path(str(at)) for at in (boundary_values.__file__, boundary_values.__cached__)),
    ]
    # os.path, since `exists` of a Path raises where a folder above may not be entered
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]  # noqa: PTH110 - see above


def _reads(plan: Plan) -> tuple[Path, ...]:
    return (*plan.reads, plan.package[1]) if plan.package else plan.reads


def _bubblewrap(plan: Plan) -> list[str]:
    command = [str(bubblewrap_path()), "--unshare-user", "--unshare-all", "--die-with-parent"]
    command += ["--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "sandbox"]
    for path in [*_python_paths(), *_reads(plan)]:
        command += _bound(path)
    command += [
        "--dir",
        "/dev",
        "--dev-bind",
        "/dev/null",
        "/dev/null",
        "--dev-bind",
        "/dev/urandom",
        "/dev/urandom",
    ]
    command += [
        "--bind",
        str(plan.scratch),
        str(plan.scratch),
        "--remount-ro",
        "/",
        "--chdir",
        str(plan.scratch),
    ]
    return command


def _bound(path: Path) -> Iterable[str]:
    if path.is_symlink() and path.parent == Path("/"):
        # /lib is a link to /usr/lib where the two were merged
        return ("--symlink", os.readlink(path), str(path))  # noqa: PTH115 - relative as it is
    return ("--ro-bind", str(path), str(path))


def bubblewrap_path() -> str | None:
    """Where bubblewrap is."""
    return shutil.which("bwrap", path=os.defpath + ":/usr/local/bin")
