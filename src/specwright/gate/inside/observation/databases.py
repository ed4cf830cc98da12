"""Watches the databases that a module opens: whether they are written, which files are attached, and what would hide that
(design: ship-gate).

A connection raises an audit event when it is opened, which knows neither whether the name is a URI nor what is attached
later. So every connection is one of this module's, with an authorizer that the module cannot take off. A lock that
somebody else holds is not waited for: nobody gives it back while a call is answered. A disk is not waited for either.
"""

import contextlib
from typing import Any

from specwright.gate.inside.observation.audit import Report

_PLACE_OF_FACTORY = 5
_REFUSED = ("set_authorizer", "enable_load_extension", "load_extension")
_BUSY_SECONDS = 0.005


def watch_databases(tell: Report) -> None:
    """Put connections in place that tell of what they do.

    Args:
        tell: Takes an effect.
    """
    import sqlite3
    from sqlite3 import dbapi2

    plain_connection: Any = sqlite3.Connection
    plain: Any = sqlite3.connect

    def authorize(action: int, what: str | None, value: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_PRAGMA and what == "busy_timeout" and value:
            return sqlite3.SQLITE_IGNORE
        if action == sqlite3.SQLITE_ATTACH and what not in {"", ":memory:"}:
            tell("READ", "attach")
            tell("WRITE", "attach")
        return sqlite3.SQLITE_OK

    class Connection(sqlite3.Connection):
        """With an authorizer."""

        def __init__(self, database: Any, *args: Any, **kwargs: Any) -> None:
            if not kwargs.get("uri") and str(database).startswith("file:"):
                tell("WRITE", "sqlite3.connect")
            super().__init__(database, *_hasty(args), **_with_timeout(args, kwargs))
            _do_not_sync(self)
            plain_connection.set_authorizer(self, authorize)

    for name in _REFUSED:
        setattr(Connection, name, _telling(tell, name, getattr(plain_connection, name, None)))

    def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        if len(args) <= _PLACE_OF_FACTORY:
            kwargs.setdefault("factory", Connection)
        return plain(*args, **kwargs)

    for module in (sqlite3, dbapi2):
        module.__dict__.update(connect=connect, Connection=Connection)


def shorten_waits() -> None:
    """Let no connection of this process wait for a lock, or for a disk; for a process in which a module is not watched."""
    import sqlite3
    from sqlite3 import dbapi2

    plain: Any = sqlite3.connect

    def connect(database: Any, *args: Any, **kwargs: Any) -> sqlite3.Connection:
        opened = plain(database, *_hasty(args), **_with_timeout(args, kwargs))
        _do_not_sync(opened)
        return opened

    for module in (sqlite3, dbapi2):
        module.__dict__["connect"] = connect


def _do_not_sync(connection: Any) -> None:
    """Leave it to the system when a disk is written: the machine that stops is no matter of the gate."""
    with contextlib.suppress(Exception):  # whoever uses a file that is no database will be told
        connection.execute("pragma synchronous = off")


def _hasty(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return (_BUSY_SECONDS, *args[1:]) if args else ()


def _with_timeout(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return kwargs if args else {**kwargs, "timeout": _BUSY_SECONDS}


def _telling(tell: Report, name: str, method: Any) -> Any:
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        tell("EXTENSION", f"sqlite3.Connection.{name}")
        return method(self, *args, **kwargs)

    return watched
