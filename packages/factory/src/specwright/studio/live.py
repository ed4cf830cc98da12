"""Server-sent events: a page hears that its project has changed, and asks for itself again (design: studio).

The studio looks at the files of a project eight times a second, and reads the end of the log and what is at work when they
have changed. A page says which position it shows, so that one that was cut off is told at once what it missed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from specwright.bootstrap.views.positions import Positions
from specwright.studio.jobs import Jobs
from specwright.studio.projects import StudioProject

SECONDS_BETWEEN_LOOKS = 0.125
_LOOKS_BETWEEN_SIGNS_OF_LIFE = 80


def positions(places: Positions, projects: Sequence[StudioProject], jobs: Jobs) -> str:
    """Where some projects are, with the commands that this studio started for them."""
    found = (f"{places.of(one.directory)}{_job(jobs, one.key)}" for one in projects)
    return "-".join([f"{len(projects)}", *found])


def _job(jobs: Jobs, key: str) -> str:
    if (job := jobs.last(key)) is None:
        return ""
    return "r" if job.is_running else "f" if job.failure else "d"


async def changes(
    look: Callable[[], str], shown: str, pause: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> AsyncIterator[bytes]:
    """An event whenever the position is another one than the page shows, and now and then a sign of life.

    Args:
        look: Gives the position.
        shown: What the page shows.
        pause: Waits between two looks.
    """
    quiet = 0
    yield b"retry: 1000\n\n"
    while True:
        now = await asyncio.to_thread(look)
        if now != shown:
            shown, quiet = now, 0
            yield f"event: change\nid: {now}\ndata: {now}\n\n".encode()
        quiet += 1
        if quiet % _LOOKS_BETWEEN_SIGNS_OF_LIFE == 0:
            yield b": here\n\n"
        await pause(SECONDS_BETWEEN_LOOKS)
