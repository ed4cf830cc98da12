"""The value types of the standard library that may cross a module's boundary, in one table (design: contracts).

A row says what the type is called, where it comes from, and what some of its values look like. Whoever needs to know the
types reads this table: the rules, the stub's imports, the reader of signatures, the fuzz. How a value is packed,
drawn and altered is in the table of `inside.values.value_types`, which has a row for each type of this one.

It imports nothing of the project, because the sandboxed processes read this file as well.
"""

from typing import NamedTuple


class ValueType(NamedTuple):
    """A type.

    Args:
        name: As a contract writes it.
        module: That it is imported from; empty for a builtin.
        examples: Values as Python expressions, the plainest first.
    """

    name: str
    module: str
    examples: tuple[str, ...]


PATTERNS = ("re.Pattern[str]", "re.Pattern[bytes]")
"""The types that a contract writes by a dotted name: `Pattern` alone is a good name for a class of one's own."""

VALUE_TYPES: tuple[ValueType, ...] = (
    ValueType("Decimal", "decimal", ("Decimal('1.5')", "Decimal('0')", "Decimal('-1')", "Decimal('NaN')")),
    ValueType("datetime", "datetime", ("datetime(2024, 2, 29, 12, 30)", "datetime(1, 1, 1)")),
    ValueType("date", "datetime", ("date(2024, 2, 29)", "date(1, 1, 1)")),
    ValueType("time", "datetime", ("time(12, 30)",)),
    ValueType(
        "timedelta", "datetime", ("timedelta(days=1, seconds=5)", "timedelta(0)", "timedelta(days=-1)")
    ),
    ValueType("UUID", "uuid", ("UUID(int=1)",)),
    ValueType("Path", "pathlib", ("Path('a.txt')",)),
    ValueType(
        "Fraction", "fractions", ("Fraction(1, 2)", "Fraction(0)", "Fraction(-7, 3)", "Fraction(10**40, 3)")
    ),
    ValueType(
        "ZoneInfo", "zoneinfo", ("ZoneInfo('UTC')", "ZoneInfo('Europe/Berlin')", "ZoneInfo('Asia/Kathmandu')")
    ),
    ValueType(
        "IPv4Address",
        "ipaddress",
        ("IPv4Address('192.0.2.1')", "IPv4Address(0)", "IPv4Address('255.255.255.255')"),
    ),
    ValueType(
        "IPv6Address",
        "ipaddress",
        ("IPv6Address('2001:db8::1')", "IPv6Address(0)", "IPv6Address('::ffff:192.0.2.1')"),
    ),
    ValueType(
        "IPv4Network",
        "ipaddress",
        ("IPv4Network('192.0.2.0/24')", "IPv4Network('0.0.0.0/0')", "IPv4Network('192.0.2.7/32')"),
    ),
    ValueType(
        "IPv6Network",
        "ipaddress",
        ("IPv6Network('2001:db8::/32')", "IPv6Network('::/0')", "IPv6Network('::1/128')"),
    ),
    ValueType("bytearray", "", ("bytearray(b'a')", "bytearray()", "bytearray(b'\\xff\\x00')")),
    ValueType("complex", "", ("complex(1, 2)", "complex(0)", "complex(0, -1.5)", "complex('nan')")),
    ValueType(
        PATTERNS[0],
        "re",
        ("re.compile('a')", "re.compile('')", "re.compile('(x)|([0-9]+)')", "re.compile('^$')"),
    ),
    ValueType(PATTERNS[1], "re", ("re.compile(b'a')", "re.compile(b'')", "re.compile(b'[0-9]+')")),
)

CONTAINERS = {"list": 1, "set": 1, "frozenset": 1, "dict": 2}
"""Containers that cross both ways, with the number of types that they take; a `tuple` takes any number."""

TAKEN_CONTAINERS = {"Sequence": 1, "Collection": 1, "Iterable": 1, "Mapping": 2}
"""What a parameter may be declared as, from `collections.abc`: a caller passes any container that is one."""

ITERATORS = ("Iterable", "Iterator")
"""What a whole parameter or the whole result may be, with a stated number of items at most."""

CALLABLE = "Callable"
"""What a whole parameter may be: a function that the module calls."""

TYPE_VARIABLE = "T"
"""What stands for a type that the caller has, in the inputs and outputs of a generic function."""

ABSTRACT = (*TAKEN_CONTAINERS, "Iterator", CALLABLE)
"""The types that come from `collections.abc`."""
