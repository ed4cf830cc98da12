"""A port whose process does not live past the call of one method."""

from typing import Any, NoReturn

__all__ = ["Cut", "PowerCutError"]


class PowerCutError(Exception):
    """The process would be gone here."""


class Cut:
    """A port with a deadly method.

    Args:
        port: That it stands before.
        method: The name of the method.
        behind: Whether the call is carried out first.
    """

    def __init__(self, port: Any, method: str, *, behind: bool = False) -> None:
        self._port, self._method, self._behind = port, method, behind

    def __getattr__(self, name: str) -> Any:
        return self._die if name == self._method else getattr(self._port, name)

    def _die(self, *arguments: Any) -> NoReturn:
        if self._behind:
            getattr(self._port, self._method)(*arguments)
        raise PowerCutError
