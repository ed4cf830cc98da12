"""Real processes of the factory, and one uninterrupted run to compare with."""

from testkit.loop.changed_products import shop
from testkit.loop.doors import halted_doors
from testkit.loop.processes import endpoint, job, uninterrupted, workshop
from testkit.loop.reported_products import faulty

__all__ = ["endpoint", "faulty", "halted_doors", "job", "shop", "uninterrupted", "workshop"]
