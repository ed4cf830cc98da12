"""The state store on disk: write-once publishing, atomic replacement, the driver's lock (F§7, DESIGN §4)."""

from specwright.storage.files import DiskStateStore, DiskTree
from specwright.storage.lock import UNFINISHED, driver_of, driving

__all__ = ["UNFINISHED", "DiskStateStore", "DiskTree", "driver_of", "driving"]
