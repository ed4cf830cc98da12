"""Verifying a project, and damage for it to find."""

from pathlib import Path

from specwright.application.history.verify import Verification
from specwright.bootstrap.verify import verify_project


def checked(project: Path) -> Verification:
    """What is proven."""
    return verify_project(project, at_rest=True)


def flip(path: Path, place: int | None = None) -> None:
    """Change one bit of one byte."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if place is None else place] ^= 1
    path.write_bytes(data)
