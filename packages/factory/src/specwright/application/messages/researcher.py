"""What a researcher reads of examples, of what cannot be built, and of interfaces (design: executable-spec, shell,
outside)."""

from specwright.application.rendering import rendered
from specwright.domain.acceptance.rules import EXAMPLE_IMPORTS


def researcher_notes() -> str:
    """What the researcher needs to know beyond its prompt."""
    return rendered("researcher.md", imports=sorted(EXAMPLE_IMPORTS))
