from __future__ import annotations

from ..decide import PathError, decide

__all__ = ["is_ignored", "PathError"]


def is_ignored(text: str, path: str, is_folder: bool = False) -> bool:
    return decide({"": text}, path, is_folder).ignored
