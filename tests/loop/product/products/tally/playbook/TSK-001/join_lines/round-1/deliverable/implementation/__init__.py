__all__ = ["join_lines"]


def join_lines(lines: list[str], separator: str = ", ") -> str:
    """Put lines in one."""
    if not lines:
        raise ValueError("there are no lines")
    return separator.join(lines)
