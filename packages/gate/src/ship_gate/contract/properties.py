"""Properties: what must hold for all values of some variables (design: executable-spec)."""

from collections.abc import Mapping
from typing import NamedTuple


class Property(NamedTuple):
    """Code over typed variables that must be true for all of their values.

    Args:
        heading: The criteria that it shows, and its title.
        code: Ends in the expression that must be true.
        variables: Each with its type in normal form.
        errors: Those that may come out instead.
        examples: Code of the approved examples, whose constants are tried.
        texts: Prose of the criteria, whose numbers are tried.
    """

    heading: str
    code: str
    variables: Mapping[str, str]
    errors: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
