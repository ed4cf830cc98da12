"""The processes in which an installed product is tried (design: release)."""
