"""Real processes of the factory, and one uninterrupted run to compare with."""

from testkit.loop.changed_products import shop
from testkit.loop.processes import endpoint, job, uninterrupted, workshop
from testkit.loop.reported_products import faulty

__all__ = ["endpoint", "faulty", "job", "shop", "uninterrupted", "workshop"]
