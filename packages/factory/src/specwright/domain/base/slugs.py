"""Directory names made from names: slugs and sibling suffixes (design: ids).

`task_ids` checks for collisions of concatenated slugs across parents.
"""

import hashlib
import itertools
import keyword
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

MAX_LENGTH = 64
"""The length limit of a slug, sibling suffix included."""

_KEPT = 56
_HASH_DIGITS = 7
_RUN_OF_OTHERS = re.compile(r"[^a-z0-9]+")


def slugify(name: str) -> str:
    """Turn a name into a file name of `[a-z0-9-]`, at most 64 characters (design: ids).

    A longer slug is cut to 56 characters, a hyphen and 7 hex digits of its SHA-256. A name without usable characters
    becomes `n-` and 7 hex digits of its own SHA-256.
    """
    slug = _RUN_OF_OTHERS.sub("-", name.lower()).strip("-")
    if not slug:
        return f"n-{_short_hash(name)}"
    if len(slug) > MAX_LENGTH:
        return f"{slug[:_KEPT]}-{_short_hash(slug)}"
    return slug


def sibling_slugs(names: Sequence[str], taken: Collection[str] = ()) -> tuple[str, ...]:
    """Return different slugs for sibling names, in the same order (design: ids).

    The first of equal slugs stays as it is; later ones get `-2`, `-3`, ... A suffix never produces the slug of another
    sibling's name: of "Login", "Login", "Login 2" the second becomes `login-3`.

    Args:
        names: The siblings' names in declaration order.
        taken: Slugs that earlier siblings already have.
    """
    own = [slugify(name) for name in names]
    reserved = {*own, *taken}
    used = set(taken)
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(2))
    for index, slug in enumerate(own):
        if slug in used:
            candidates = (_suffixed(slug, number) for number in numbers[slug])
            own[index] = next(new for new in candidates if new not in reserved and new not in used)
        used.add(own[index])
    return tuple(own)


def _suffixed(slug: str, number: int) -> str:
    suffix = f"-{number}"
    return slug[: MAX_LENGTH - len(suffix)].rstrip("-") + suffix


def _short_hash(text: str) -> str:
    # surrogatepass: a lone surrogate in a name gives a slug, not a UnicodeEncodeError
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]


# sys.stdlib_module_names leaves out the standard package `test`
_TAKEN = sys.stdlib_module_names | {"test"}


def import_name(distribution: str) -> str:
    """Return the import name of a distribution: with underscores, and prefixed if Python could not import it.

    Args:
        distribution: The slug of the spec's title (design: release).
    """
    name = distribution.replace("-", "_")
    usable = name.isidentifier() and not keyword.iskeyword(name) and name not in _TAKEN
    return name if usable else f"product_{name}"
