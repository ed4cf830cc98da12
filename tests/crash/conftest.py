"""Real processes of the factory, and one uninterrupted run to compare with."""

from testkit.loop.changed_products import shop
from testkit.loop.doors import halted_doors
from testkit.loop.processes import endpoint, job, uninterrupted, workshop

__all__ = ["endpoint", "halted_doors", "job", "shop", "uninterrupted", "workshop"]
