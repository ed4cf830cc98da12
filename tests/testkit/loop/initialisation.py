"""Laying out the task files of an approved spec, and why that is refused."""

from pathlib import Path

import pytest

from specwright.application import tasks
from specwright.domain.spec.product_spec import ProductSpec
from specwright.errors import InputError
from testkit.loop.project_workbench import ProjectWorkbench


def files_of(directory: Path) -> dict[str, bytes]:
    """What a person finds: the task files, the store; not the run's own log and journal."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and ".specwright" not in path.parts
    }


def initialised(directory: Path, spec: ProductSpec) -> list[str]:
    """The task files of an approved spec."""
    with ProjectWorkbench(directory) as bench:
        bench.approve(spec)
        tasks.initialise(bench.factory)
    return sorted(
        name.removeprefix("project/") for name in files_of(directory) if name.startswith("project/")
    )


def refused(directory: Path, spec: ProductSpec) -> InputError:
    """Why a spec cannot be laid out; that nothing was written is checked."""
    with ProjectWorkbench(directory) as bench:
        bench.approve(spec)
        before, wires = files_of(directory), len(list(bench.log.entries()))
        with pytest.raises(InputError) as caught:
            tasks.initialise(bench.factory)
        assert files_of(directory) == before
        assert len(list(bench.log.entries())) == wires
        assert not (directory / "project").exists()
        assert not (directory / "state_store" / "project").exists()
    return caught.value
