"""The mirror of a project's log (design: read-model)."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from specwright.bootstrap.storage.stores import TOPIC, ProjectStore, begun_store
from specwright.errors import InputError
from specwright.settings import load_settings

if TYPE_CHECKING:
    from agent_wire.mirror.mirror import Mirror, MirrorStatus

__all__ = ["Mirror", "MirrorStatus", "open_mirror"]


@contextmanager
def open_mirror(directory: Path, url: str = "") -> "Generator[tuple[Mirror, str]]":
    """A mirror of a project, and its database as it may be shown.

    Args:
        directory: The project.
        url: The database; left out that of the setting `mirror`, else a file of SQLite on this machine.

    Raises:
        InputError: there is no project, the URL is none, or SQLAlchemy is not installed.
    """
    url = url or load_settings(directory).mirror
    try:
        from agent_wire.mirror.mirror import Mirror
        from agent_wire.mirror.model import ReadModel
    except ImportError as error:
        raise InputError(
            f"{error.name} is not installed, which the read model needs",
            remedy='pip install "specwright-factory[mirror]"',
        ) from error
    with (
        begun_store(directory) as store,
        closing(store.log(reading=True)) as log,
        closing(ReadModel(url or _file(store))) as model,
    ):
        yield Mirror(log, TOPIC, model), model.where


def _file(store: ProjectStore) -> str:
    """The URL of the file beside what else a project has on this machine alone."""
    place = store.workspace.parent
    place.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{place.resolve() / 'read_model.db'}"
