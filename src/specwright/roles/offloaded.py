"""The part of an agent's file system that is its own state: results too long for the conversation (DESIGN §7).

An agent can write there too, so that its searches and edits are bounded like those of its directory.
"""

from deepagents.backends import StateBackend
from deepagents.backends.protocol import EditResult, GlobResult, GrepResult, WriteResult

from specwright.domain.file_limits import MAX_CHARACTERS, edited_length
from specwright.domain.glob_patterns import compile_glob

__all__ = ["Offloaded"]

_TOO_LONG = f"the file would be too long; it has at most {MAX_CHARACTERS:,} characters."
_BAD_PATTERN = "this pattern is not valid here."


class Offloaded(StateBackend):
    """State with patterns that end in time and files that end at all."""

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        """Lines with a text."""
        try:
            wanted = compile_glob(glob) if glob else None
        except ValueError:
            return GrepResult(error=_BAD_PATTERN, matches=[])
        found = super().grep(pattern, path)
        seen = [m for m in found.matches or [] if wanted is None or wanted(_below(m["path"], path))]
        cut = max_count is not None and len(seen) > max_count
        return GrepResult(error=found.error, matches=seen[:max_count] if cut else seen, truncated=cut)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Files by a pattern."""
        try:
            wanted = compile_glob(pattern)
        except ValueError:
            return GlobResult(error=_BAD_PATTERN)
        everything = [*(super().glob("*", path).matches or []), *(super().glob(".*", path).matches or [])]
        seen = [info for info in everything if wanted(_below(info["path"], path))]
        return GlobResult(matches=sorted(seen, key=lambda info: info["path"]))

    def write(self, file_path: str, content: str) -> WriteResult:
        """Write a file."""
        if len(content) > MAX_CHARACTERS:
            return WriteResult(error=_TOO_LONG)
        return super().write(file_path, content)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Edit a file."""
        data = super().read(file_path, 0, MAX_CHARACTERS).file_data
        text = data["content"] if data else ""
        if edited_length(text, old_string, new_string, replace_all=replace_all) > MAX_CHARACTERS:
            return EditResult(error=_TOO_LONG)
        return super().edit(file_path, old_string, new_string, replace_all)


def _below(path: str, base: str | None) -> str:
    return path.removeprefix((base or "/").rstrip("/")).lstrip("/")
