"""The names of what holds other values at a module's boundary (design: contracts).

It imports nothing of the project, because the sandboxed processes read this file as well.
"""

from typing import Any

CLASSES: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "dict": dict}
"""The classes of values that hold others."""

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
