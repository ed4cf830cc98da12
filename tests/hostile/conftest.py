"""Projects that wait or are done, the processes of tests, and what a stranger has ready."""

from testkit.bare_environment import bare_environment
from testkit.cli.projects import released_once, waiting_once
from testkit.strangers import database, secrets, web_server

__all__ = ["bare_environment", "database", "released_once", "secrets", "waiting_once", "web_server"]
