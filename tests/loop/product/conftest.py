"""Real processes of the factory, and one uninterrupted run to compare with."""

from testkit.cli.projects import released_once, waiting_once
from testkit.loop.approved_products import approved
from testkit.loop.changed_products import shop
from testkit.loop.processes import endpoint, job, uninterrupted, workshop
from testkit.loop.reported_products import faulty
from testkit.roles.overheard_run import run

__all__ = [
    "approved",
    "endpoint",
    "faulty",
    "job",
    "released_once",
    "run",
    "shop",
    "uninterrupted",
    "waiting_once",
    "workshop",
]
