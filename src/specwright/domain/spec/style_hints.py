"""Hints on the wording of a spec: criteria 12-14 of docs/design.md#product-spec. They only give warnings."""

import re
from collections.abc import Iterator, Sequence

_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return text.split()


_OBSERVABLE = frozenset(
    _words(
        """
        abort accept add allow answer append apply ask assign block calculate call cancel cause change
        clear close collapse compare complete compute contain convert count create default delete
        deliver deny detect disable discard display divide drop emit enable encode end enforce equal
        exclude exit expire export fail fetch fill filter finish flag format generate give group handle
        hide highlight ignore import include increase insert invoke keep leave limit list load lock log
        map match merge move normalise normalize notify omit open order output overwrite parse pass
        persist play preserve prevent print process produce prompt propagate provide raise read receive
        recognise recognize record redirect refuse reject release remain remove rename render repeat
        replace report reproduce request require reset resolve respond restore result retry return reuse
        round run save scroll select send serialise serialize set show skip sort split start stop store
        strip succeed suggest support survive switch take terminate throw time trigger trim truncate
        turn update upload use validate verify warn wrap write yield
        """
    )
)
_IRREGULAR = frozenset(
    _words("began begun chosen chose done gave given got held hidden kept left made paid ran read sent shown")
    + _words("stood taken thrown threw told took written wrote")
)

_FILLER = frozenset(
    _words(
        """
        a an and as at by for from in into is it its of on or the that to with
        """
    )
)

_VAGUE = frozenset(
    _words(
        """
        a all also an and any anything appropriate appropriately are arise arises as at available be
        been being bad break breaks by can case cases catch caught certain circumstance
        circumstances come condition conditions could depending different during edge error errors
        etc everything exception exceptions execution expected fail failed fails failure failures
        fault faults for from general generic get gets go goes gracefully handle handled handles
        handling happen happens has have if in input internal is issue issues it kind kinds like may
        maybe might mode modes must needed none occur occurs of on operation operations or other
        others output possible possibly potential potentially problem problems process processing
        properly raise rare rarely occasionally often scenario scenarios situation situations raised
        raises relevant return returned returns runtime several should so some somehow something
        sometimes sort standard such suitable system tbd that the there these they thing things this
        throw throws thrown to todo typical unexpected usual various way what when where which will
        with wrong
        """
    )
)
_BEFORE_NOUNS = frozenset(("the", "a", "an", "its", "their", "every"))
"""What stands right before a noun: "the list" lists nothing."""

_ERROR_NAME = re.compile(
    r"[A-Z]\w*(Error|Exception|Exit|Interrupt|Warning)\b|\bE_?[A-Z][A-Z0-9_]+\b|\b[1-5]\d\d\b"
)

_NEARLY = 0.8
"""Share of common words from which two subtasks count as the same."""


def is_testable(criterion: str) -> bool:
    """Whether a criterion has a verb of observable behaviour, in any of its forms (criterion 12); many are nouns as well."""
    words = [word.lower() for word in _WORD.findall(criterion)]
    return any(
        _is_observable(word) and before not in _BEFORE_NOUNS
        for before, word in zip(["", *words], words, strict=False)
    )


def near_duplicates(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs (earlier, later) of texts that share nearly all words, each later one once (criterion 13)."""
    bags = [_bag(text) for text in texts]
    for later, bag in enumerate(bags):
        for earlier in range(later):
            if _alike(bags[earlier], bag):
                yield earlier, later
                break


def names_an_error(text: str) -> bool:
    """Whether error surfaces say anything beyond "errors may occur" (criterion 14)."""
    if _ERROR_NAME.search(text):
        return True
    return any(word.lower() not in _VAGUE for word in _WORD.findall(text))


def _is_observable(word: str) -> bool:
    if word in _OBSERVABLE or word in _IRREGULAR:
        return True
    stems = [word.removesuffix(ending) for ending in ("s", "es", "d", "ed", "ing") if word.endswith(ending)]
    return any(not _OBSERVABLE.isdisjoint(_base_forms(stem)) for stem in stems)


def _base_forms(stem: str) -> tuple[str, ...]:
    """What a stem without its ending may be a form of: return, raise(d), retr(ies), emit(ted)."""
    return stem, f"{stem}e", f"{stem.removesuffix('i')}y", stem[:-1] if stem[-2:-1] == stem[-1:] else stem


def _bag(text: str) -> frozenset[str]:
    words = [word.casefold() for word in _WORD.findall(text)]
    telling = frozenset(_singular(word) for word in words if word not in _FILLER)
    return telling or frozenset(words) or frozenset((text.strip(),))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    return len(a & b) >= _NEARLY * len(a | b)
