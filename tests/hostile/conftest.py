"""Projects that wait or are done, and the processes of tests."""

from testkit.bare_environment import bare_environment
from testkit.cli.projects import released_once, waiting_once

__all__ = ["bare_environment", "released_once", "waiting_once"]
