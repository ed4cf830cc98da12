"""Projects on Postgres, and the processes that kill them."""

from testkit.bare_environment import bare_environment
from testkit.loop.processes import endpoint, job, uninterrupted, workshop

__all__ = ["bare_environment", "endpoint", "job", "uninterrupted", "workshop"]
