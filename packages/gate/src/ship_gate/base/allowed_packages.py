"""Third-party packages that a project's settings allow to its modules (design: contracts).

Roles that write imports are told their names; the product requires those that one of its modules imports.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ship_gate.syntax_tree import imported_roots, parse_module


class AllowedPackage(NamedTuple):
    """A package that is allowed.

    Args:
        requirement: As the settings say it: `attrs>=25`.
        installed: What is installed here and what modules are proved with: `attrs==25.3.0`.
        imports: The names by which it is imported.
    """

    requirement: str
    installed: str
    imports: tuple[str, ...]


def import_names(packages: Iterable[AllowedPackage]) -> frozenset[str]:
    """All names that may be imported."""
    return frozenset(name for package in packages for name in package.imports)


def required_by(packages: Sequence[AllowedPackage], sources: Iterable[bytes]) -> tuple[str, ...]:
    """The requirements on those packages that Python files import, in the order of the settings.

    Args:
        packages: That are allowed.
        sources: Python files that can be parsed.
    """
    imported = {name for source in sources for name in imported_roots(parse_module(source))}
    return tuple(package.requirement for package in packages if imported.intersection(package.imports))
