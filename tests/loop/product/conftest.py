"""Real processes of the factory, and one uninterrupted run to compare with."""

from testkit.loop.processes import endpoint, job, uninterrupted, workshop

__all__ = ["endpoint", "job", "uninterrupted", "workshop"]
