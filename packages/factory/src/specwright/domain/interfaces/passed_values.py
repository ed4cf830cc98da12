"""What a caller of a function passes for the clock, and what results are as JSON, in words (design: shell).

The shell of a product does it, and roles, the person who approves and users are told of it here; a test compares the two.
"""

JSON_FORMS = (
    ("a record or a dict", "an object"),
    ("a list, a tuple or an iterator", "an array"),
    ("a set", "a sorted array"),
    ("a member of an Enum", "its value if that is a text, else its name"),
    ("a date, a datetime or a time", "its ISO text"),
    ("a timedelta", "its seconds"),
    ("bytes", "base64"),
    ("a Decimal, a UUID, a Path, NaN, an infinity and the like", "a text"),
)
"""Of values that JSON has no form of its own for: what is printed."""

OF_THE_CLOCK = (
    "`now` is a datetime with the machine's offset from UTC, and with microseconds; `today` is the machine's date. A "
    "datetime that somebody writes without an offset has none."
)

OF_RESULTS = (
    "As JSON, one output is its value, several are an object with their names, none is null; "
    + ", ".join(f"{what} is {form}" for what, form in JSON_FORMS)
    + "."
)

VALUES = f"{OF_THE_CLOCK} {OF_RESULTS}"
