"""The state store on disk: write-once publishing, atomic replacement, the driver's lock (design: store-layout, journal)."""

from specwright.storage.files import STAGING, DiskStateStore, DiskTree, driver_lock, driver_of

__all__ = ["STAGING", "DiskStateStore", "DiskTree", "driver_lock", "driver_of"]
