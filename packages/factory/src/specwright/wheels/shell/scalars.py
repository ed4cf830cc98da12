"""Single values as words: those of a command line, of a path or a query, and of JSON texts."""

import datetime
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

__all__ = ["SCALARS", "ValueProblem", "word_of"]


class ValueProblem(ValueError):  # noqa: N818 - it is a sentence for the user, and no fault of the program
    """What is wrong with a value that came from outside, in a sentence."""


_WHOLE = re.compile(r"[+-]?[0-9]+")
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_SPAN = re.compile(r"([+-])?" + "".join(rf"(?:([0-9]+(?:\.[0-9]+)?){unit})?" for unit in _UNITS))
_YES, _NO = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


def _int(word: str) -> int:
    if not _WHOLE.fullmatch(word.strip()):
        raise ValueError(word)
    return int(word)


def _bool(word: str) -> bool:
    if word.lower() in _YES | _NO:
        return word.lower() in _YES
    raise ValueError(word)


def _span(word: str) -> datetime.timedelta:
    found = _SPAN.fullmatch(word.strip())
    if found is None or not any(found.groups()[1:]):
        raise ValueError(word)
    pairs = zip(found.groups()[1:], _UNITS.values(), strict=True)
    seconds = sum(Decimal(amount) * size for amount, size in pairs if amount)
    return datetime.timedelta(seconds=float(-seconds if found[1] == "-" else seconds))


def _path(word: str) -> Path:
    if not word or "\0" in word:
        raise ValueError(word)
    return Path(word)


def _date(word: str) -> datetime.date:
    # the extended form alone: a number such as 20260101 is more likely a slip
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", word):
        raise ValueError(word)
    return datetime.date.fromisoformat(word)


def _fraction(word: str) -> Fraction:
    # without exponents, of which a short one is a number that fills the memory
    if not re.fullmatch(r"[+-]?[0-9]+(/[0-9]+|\.[0-9]+)?", word.strip()):
        raise ValueError(word)
    return Fraction(word)


def _zone(word: str) -> ZoneInfo:
    try:
        return ZoneInfo(word)
    except (LookupError, OSError) as error:
        raise ValueError(word) from error


SCALARS: dict[str, tuple[Callable[[str], Any], str]] = {
    "str": (str, "a text"),
    "int": (_int, "a whole number"),
    "float": (float, "a number"),
    "bool": (_bool, "true or false"),
    "Decimal": (Decimal, "a number"),
    "date": (_date, "a date such as 2026-01-31"),
    "datetime": (datetime.datetime.fromisoformat, "a time such as 2026-01-31T12:00:00+00:00"),
    "time": (datetime.time.fromisoformat, "a time of day such as 12:30"),
    "timedelta": (_span, "a span such as 90s, 2m or 1h30m"),
    "UUID": (UUID, "a UUID"),
    "Path": (_path, "a path"),
    "Fraction": (_fraction, "a fraction such as 2/3"),
    "ZoneInfo": (_zone, "a time zone such as Europe/Berlin"),
    "IPv4Address": (IPv4Address, "an address such as 192.0.2.1"),
    "IPv6Address": (IPv6Address, "an address such as 2001:db8::1"),
    "IPv4Network": (IPv4Network, "a network such as 192.0.2.0/24"),
    "IPv6Network": (IPv6Network, "a network such as 2001:db8::/32"),
}
"""The types of which a word is a value: how it is read, and what it is called."""


def word_of(kind: str, word: str) -> Any:
    """The value of a word.

    Args:
        kind: A type of `SCALARS`.
        word: As the user wrote it.

    Raises:
        ValueProblem: it is none.
    """
    read, called = SCALARS[kind]
    try:
        return read(word)
    except (ValueError, ArithmeticError, InvalidOperation) as error:
        raise ValueProblem(f"{word!r} is not {called}") from error
