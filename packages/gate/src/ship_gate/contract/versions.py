"""Which version of a module serves a reference to it (design: module-directory, release)."""

import re

from packaging.version import Version

_REFERENCE = re.compile(r"MM-[0-9a-f]{8}@\^?([0-9]+\.[0-9]+\.[0-9]+)")


def serves(version: str, ref: str) -> bool:
    """Whether a version is the one that a reference names or a compatible later one; in 0.x a minor breaks.

    Args:
        version: `x.y.z`.
        ref: `MM-...@x.y.z` or `MM-...@^x.y.z`. Both name a range: a release has one version of a module, and it
            serves every consumer.
    """
    if not (match := _REFERENCE.fullmatch(ref)):
        return False
    wanted, candidate = Version(match[1]), Version(version)
    promised = 1 if wanted.major else 2
    return candidate >= wanted and candidate.release[:promised] == wanted.release[:promised]
