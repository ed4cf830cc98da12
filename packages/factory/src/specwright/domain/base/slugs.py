"""Directory names made from names: slugs and sibling suffixes (design: ids).

docs/design.md#ids replaces the 24-character slugs and letter suffixes of docs/design.md#project-loop. Whether
concatenated slugs collide across parents is not seen here but in `task_ids`.
"""

import hashlib
import itertools
import keyword
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

MAX_LENGTH = 64
"""Characters of a slug, a sibling suffix included."""

_KEPT = 56
_HASH_DIGITS = 7
_RUN_OF_OTHERS = re.compile(r"[^a-z0-9]+")


def slugify(name: str) -> str:
    """A name as a file name of `[a-z0-9-]`, at most 64 characters (design: ids).

    Over 64 characters: the first 56, a hyphen, 7 hex of the SHA-256 of the whole slug. A name of which
    nothing is left becomes `n-` and 7 hex of its own SHA-256 (design: ids).
    """
    slug = _RUN_OF_OTHERS.sub("-", name.lower()).strip("-")
    if not slug:
        return f"n-{_short_hash(name)}"
    if len(slug) > MAX_LENGTH:
        return f"{slug[:_KEPT]}-{_short_hash(slug)}"
    return slug


def sibling_slugs(names: Sequence[str], taken: Collection[str] = ()) -> tuple[str, ...]:
    """The slugs of siblings, all different, in the order of their names (design: ids).

    The first of equal slugs keeps it, later ones get `-2`, `-3`, ... in declaration order. A suffix never
    makes a slug that a sibling owns by its own name: of "Login", "Login", "Login 2" the second is `login-3`.

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


# `test` is a standard library package that sys.stdlib_module_names leaves out
_TAKEN = sys.stdlib_module_names | {"test"}


def import_name(distribution: str) -> str:
    """The package of a distribution: its name with underscores, prefixed if Python could not import it so.

    Args:
        distribution: The slug of the spec's title (design: release).
    """
    name = distribution.replace("-", "_")
    usable = name.isidentifier() and not keyword.iskeyword(name) and name not in _TAKEN
    return name if usable else f"product_{name}"
