"""Hints on the wording of a spec: criteria 12-14 of F§3.2.3. They only give warnings."""

import re
from collections.abc import Iterator, Sequence

_OBSERVABLE = re.compile(
    r"\b(?:return|rais|reject|refus|display|show|print|emit|writ|read|validat|check|accept|contain|creat|delet|remov|keep|"
    r"kept|giv|gave|fail|leav|sort|convert|round|skip|ignor|stop|exit|sav|stor|send|sent|call|ask|equal|stand|hold|prevent|"
    r"produc|updat|add|match|report|mov|tak|pass|set|join|split|open|clos|us(?:e|es|ed|ing)\b|retr(?:y|i))\w*",
    re.IGNORECASE,
)
"""The verbs of F§3.2.3 and others that say what can be observed, by how they begin."""

_ERROR_NAME = re.compile(r"[A-Z]\w*(?:Error|Exception|Warning)\b|\b[45]\d\d\b")
_NAMES_NOTHING = re.compile(
    r"^\W*(?:none|nothing|may fail)\b|\b(?:errors?|exceptions?|failures?|something)\b.*\b(?:may|might|can|occur|arise)\b",
    re.IGNORECASE,
)
"""As F§3.2.3 has it: "errors may occur"."""

_ARTICLES = frozenset(("a", "an", "the"))
_NEARLY = 0.8
"""Share of common words from which two subtasks count as the same."""


def is_testable(criterion: str) -> bool:
    """Whether a criterion has a verb of observable behaviour (criterion 12)."""
    return _OBSERVABLE.search(criterion) is not None


def near_duplicates(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs (earlier, later) of texts that share nearly all words, each later one once (criterion 13)."""
    bags = [frozenset(re.findall(r"\w+", text.casefold())) - _ARTICLES for text in texts]
    for later, bag in enumerate(bags):
        for earlier in range(later):
            if len(bags[earlier] & bag) >= _NEARLY * len(bags[earlier] | bag):
                yield earlier, later
                break


def names_an_error(text: str) -> bool:
    """Whether error surfaces say anything beyond "errors may occur" (criterion 14)."""
    return _ERROR_NAME.search(text) is not None or _NAMES_NOTHING.search(text) is None
