"""Commands that install a package into the environment of Specwright, for pip, uv and pipx."""

import shlex
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement

from specwright.errors import InputError

_DISTRIBUTION = "specwright-factory"


def install_command(*packages: str, prefix: str = sys.prefix) -> str:
    """Return the command that installs packages into an environment of pip, uv or pipx.

    Args:
        packages: Requirements.
        prefix: The directory of the environment.
    """
    wanted = shlex.join(packages)
    if (Path(prefix) / "pipx_metadata.json").exists():
        return f"pipx inject {Path(prefix).name} {wanted}"
    python = shlex.quote(sys.executable)
    if (Path(prefix) / "uv-receipt.toml").exists() or find_spec("pip") is None:
        return f"uv pip install --python {python} {wanted}"
    return f"{python} -m pip install {wanted}"


def packages_of(extra: str, distribution: str = _DISTRIBUTION) -> Iterator[str]:
    """Yield the requirements of an extra. An extra of our own distributions is replaced by its requirements, because these
    distributions are on no index."""
    try:
        lines = requires(distribution) or []
    except PackageNotFoundError:  # running from a source tree
        return
    for one in map(Requirement, lines):
        if (
            one.marker is None
            or not one.marker.evaluate({"extra": extra})
            or one.marker.evaluate({"extra": ""})
        ):
            continue
        if one.name.startswith("specwright-"):
            for inner in one.extras:
                yield from packages_of(inner, one.name)
        else:
            one.marker = None
            yield str(one)


@contextmanager
def needing_extra(extra: str, who: str, where: str = "") -> Generator[None]:
    """Turn an `ImportError` in the block into an error that says what to install.

    Args:
        extra: The extra of this distribution that has the package.
        who: Subject and verb of the message: `workers need`.
        where: The setting or the command; by default the extra.

    Raises:
        InputError: a package is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise InputError(
            f"{who} the package {error.name}, which is not installed",
            where=where or extra,
            remedy=install_command(*packages_of(extra)),
        ) from error
