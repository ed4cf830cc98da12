"""The fixtures of the role tests."""

from testkit.roles.overheard_run import run

__all__ = ["run"]
