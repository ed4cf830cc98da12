"""What to write where something is missing, and findings in the words of a source tree (design: adoption, package)."""

import re
from collections.abc import Callable

EXAMPLE_TO_WRITE = (
    "a doctest of it in the docstring or the README: `>>> ` and the call, below it what comes of it; of an error "
    "`Traceback (most recent call last):` and a line `ErrorName: message`"
)
"""What to write where an example is missing."""
EXAMPLE_IN_MODULE = (
    "in examples.md a heading, a sentence, a block of code that ends in the call, and a block with what comes of it, "
    "`ErrorName: message` of an error"
)
"""The same in the module directory that was made."""
TESTS_TO_WRITE = {
    "happy path": "a test that calls it and asserts what comes of it",
    "error surface": "a test with the one call that raises it below `with pytest.raises({}):`",
}
"""What to write where a test is missing, by what it has to show."""
_PLACE = re.compile(r"implementation/[\w/]+\.py:\d+")
_OF_MODULES = (
    (re.compile(r" \((?:/(?:inputs|outputs|error_surfaces|effects)/[\w/]+|the empty pointer)\)"), ""),
    (
        re.compile(r"\bclaims? (?=happy path|input constraint|output invariant|error |effect)"),
        "should show the ",
    ),
    (re.compile(r"\bthe contract does not declare that; handle"), "nothing states that; handle"),
    (re.compile(r"(?<=small faults put into )the module\b"), "it and what it calls"),
    (re.compile(r"\braise a declared error\b"), "raise an error that `Raises` in the docstring names"),
)
"""What messages say in the words of module directories, and the same where there is none."""


def in_source_words(message: str, place: Callable[[str], str]) -> str:
    """A message of the gate with places of the source in place of those of the module, and without what only a module has.

    Args:
        message: The gate's.
        place: A place of the implementation as one of the source.
    """
    told = _PLACE.sub(lambda found: place(found[0]), message)
    for pattern, text in _OF_MODULES:
        told = pattern.sub(text, told)
    return told
