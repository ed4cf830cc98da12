"""What a sandboxed process is for, what it may see, and what it may use (design: ship-gate)."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

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
