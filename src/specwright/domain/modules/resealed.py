"""A version that code sealed without a debate: a consumer, judged again against the later version of a module that it
calls (design: change)."""

from typing import Annotated

from pydantic import Field

from specwright.domain.base.ids import ModuleRefText
from specwright.domain.base.record import Record, Sha256, Text


class ResealedModule(Record):
    """What the log says of it.

    Args:
        module_ref: The version.
        replaces: The version whose files it has, apart from the references to the modules that it calls.
        sha256: The hash of all of its files.
        reason: Why, in one sentence.
    """

    module_ref: ModuleRefText
    replaces: ModuleRefText
    sha256: Annotated[Sha256, Field(description="Of its sealed files.")]
    reason: Text
