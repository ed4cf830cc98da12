from ..initials import initials

__all__ = ["monogram"]


def monogram(name: str) -> str:
    return initials(name, ".")
