from ..initials import initials

__all__ = ["banner"]


def banner(name: str) -> str:
    return f"* {initials(name)} *"
