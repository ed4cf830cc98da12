"""One overheard run for all tests, also where several processes share it."""

import pickle

import pytest
from filelock import FileLock

from testkit.roles.overheard import Run, overheard


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Run:
    """The run that the role table is read from."""
    alone = worker_id == "master"
    base = tmp_path_factory.getbasetemp() if alone else tmp_path_factory.getbasetemp().parent
    kept = base / "overheard.pickle"
    with FileLock(base / "overheard.lock"):
        if not kept.is_file():
            kept.write_bytes(pickle.dumps(overheard(tmp_path_factory.mktemp("overheard"))))
    return pickle.loads(kept.read_bytes())
