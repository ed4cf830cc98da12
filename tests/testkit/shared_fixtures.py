"""Directories that are expensive to make: made once for all workers of a test run, copied for each."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

__all__ = ["made_once"]


def made_once(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str, name: str, make: Callable[[Path], None]
) -> Path:
    """This worker's copy of a directory.

    Args:
        tmp_path_factory: pytest's.
        worker_id: pytest-xdist's.
        name: Of the directory; unique in the test run.
        make: Fills the directory, in one of the workers.
    """
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / f"shared-{name}"
    with FileLock(f"{shared}.lock"):
        if not shared.is_dir():
            making = Path(f"{shared}.making")
            shutil.rmtree(making, ignore_errors=True)  # of a worker whose attempt failed
            making.mkdir()
            with pytest.MonkeyPatch.context() as environment:
                environment.setenv("SPECWRIGHT_GATE_FUZZ_EXAMPLES", "50")  # these modules are sound
                make(making)
            making.rename(shared)
    return Path(shutil.copytree(shared, tmp_path_factory.mktemp(name), dirs_exist_ok=True, symlinks=True))
