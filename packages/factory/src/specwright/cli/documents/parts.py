"""What many documents have in common."""

from typing import Literal

from typing_extensions import TypedDict

Verdict = Literal["PASS", "FAIL"]


class Document(TypedDict):
    """What every document has."""

    schema: str
    version: int


class Finding(TypedDict):
    """What is wrong, and where."""

    code: str
    where: str
    message: str
