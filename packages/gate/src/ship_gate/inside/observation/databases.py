"""Watches the databases that a module opens: whether they are written, which files are attached, and what would hide that
(design: ship-gate).

A connection raises an audit event when it is opened, which knows neither whether the name is a URI nor what is attached
later. So every connection is one of this module's, with an authorizer that the module cannot take off. A lock that
somebody else holds is not waited for: nobody gives it back while a call is answered. Where SQLite would wait for it, the
module's clock goes on by as long as the connection says. A disk is not waited for either.

Whether it would wait is SQLite's to say: a transaction that has read already is refused at once. So it waits for a few
milliseconds, in pauses for which it gives up the processor; the system counts them, however busy the machine is.

Left out: a lock that is given back in the meantime, and cursors of a class of the module's own.
"""

import contextlib
import resource
import weakref
from collections.abc import Callable
from typing import Any

from ship_gate.inside.observation.audit import Report
from ship_gate.inside.observation.clock import ModuleClock

_PLACE_OF_FACTORY = 5
_REFUSED = ("set_authorizer", "enable_load_extension", "load_extension")
_BUSY_SECONDS = 0.005
_PAUSES = 3
"""That SQLite makes in these seconds: of one, two and two milliseconds."""
_USUAL_SECONDS = 5.0
_MOST_SECONDS = 2_147_483
"""What SQLite counts in milliseconds of 32 bits; it does not wait for longer."""
_OF_CURSORS = ("execute", "executemany", "executescript", "fetchone", "fetchmany", "fetchall", "__next__")
_OF_CONNECTIONS = ("commit", "__exit__")
_WHO = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)


class _LockClock:
    """How long connections wait for a lock, in seconds; the module reaches it by no name.

    Args:
        clock: Shows what was waited.
    """

    def __init__(self, clock: ModuleClock) -> None:
        self._clock = clock
        self._seconds: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()

    def state(self, connection: Any, seconds: float) -> None:
        """Let a connection wait so long from now on."""
        self._seconds[connection] = float(seconds) if 0.001 <= seconds <= _MOST_SECONDS else 0.0

    def watched(self, method: Any, connection_of: Callable[[Any], Any]) -> Any:
        """A method of a connection or a cursor, after which the clock shows what was waited for a lock."""

        def watched(own: Any, *args: Any, **kwargs: Any) -> Any:
            pauses = _pauses()
            try:
                return method(own, *args, **kwargs)
            except Exception as error:  # raised again as it is, whatever it is; only the clock is set
                if _is_busy(error) and _pauses() - pauses >= _PAUSES:
                    self._pass(connection_of(own))
                raise

        watched.__name__ = method.__name__
        return watched

    def _pass(self, connection: Any) -> None:
        if seconds := self._seconds.get(connection):
            self._clock.wait(seconds)


def watch_databases(tell: Report, clock: ModuleClock) -> None:
    """Put connections in place that tell of what they do.

    Args:
        tell: Takes an effect.
        clock: The module's, which shows what was waited for a lock.
    """
    import sqlite3
    from sqlite3 import dbapi2

    plain: Any = sqlite3.connect
    waits = _LockClock(clock)
    cursor = _cursor_class(waits)
    connection = _connection_class(tell, waits, cursor)

    def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        if len(args) <= _PLACE_OF_FACTORY:
            kwargs.setdefault("factory", connection)
        return plain(*args, **kwargs)

    for module in (sqlite3, dbapi2):
        module.__dict__.update(connect=connect, Connection=connection, Cursor=cursor)


def shorten_waits(clock: ModuleClock) -> None:
    """Let no connection of this process wait for a lock, or for a disk; for a process in which a module is not watched."""
    watch_databases(lambda kind, what: None, clock)


def _cursor_class(waits: _LockClock) -> Any:
    import sqlite3

    plain: Any = sqlite3.Cursor
    watched = {name: waits.watched(getattr(plain, name), lambda own: own.connection) for name in _OF_CURSORS}
    return type("Cursor", (plain,), watched)


def _connection_class(tell: Report, waits: _LockClock, cursor_class: Any) -> Any:
    import sqlite3

    plain: Any = sqlite3.Connection

    class Connection(sqlite3.Connection):
        """With an authorizer."""

        def __init__(self, database: Any, *args: Any, **kwargs: Any) -> None:
            if not kwargs.get("uri") and str(database).startswith("file:"):
                tell("WRITE", "sqlite3.connect")
            stated = args[0] if args else kwargs.get("timeout", _USUAL_SECONDS)
            if hasattr(stated, "__float__"):
                args, kwargs = _hasty(args), _with_timeout(args, kwargs)
            super().__init__(database, *args, **kwargs)
            _do_not_sync(self)
            waits.state(self, stated)
            plain.set_authorizer(self, _authorizer(tell, waits, weakref.ref(self)))

        def cursor(self, factory: Any = cursor_class) -> Any:
            return super().cursor(factory)

        def execute(self, *args: Any) -> Any:
            return Connection.cursor(self).execute(*args)

        def executemany(self, *args: Any) -> Any:
            return Connection.cursor(self).executemany(*args)

        def executescript(self, *args: Any) -> Any:
            return Connection.cursor(self).executescript(*args)

    for name in _OF_CONNECTIONS:
        setattr(Connection, name, waits.watched(getattr(plain, name), lambda own: own))
    for name in _REFUSED:
        setattr(Connection, name, _telling(tell, name, getattr(plain, name, None)))
    return Connection


def _authorizer(tell: Report, waits: _LockClock, connection: Callable[[], Any]) -> Any:
    import sqlite3

    def authorize(action: int, what: str | None, value: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_PRAGMA and what == "busy_timeout" and value:
            waits.state(connection(), int(value) / 1000 if value.isdecimal() else 0)
            return sqlite3.SQLITE_IGNORE
        if action == sqlite3.SQLITE_ATTACH and what not in {"", ":memory:"}:
            tell("READ", "attach")
            tell("WRITE", "attach")
        return sqlite3.SQLITE_OK

    return authorize


def _pauses() -> int:
    """How often this thread gave up the processor by itself."""
    return resource.getrusage(_WHO).ru_nvcsw


def _is_busy(error: Exception) -> bool:
    """Whether SQLite refused for a lock; code of the module that it calls, an iterator of rows, may raise what looks so."""
    is_own = error.__traceback__ is None or error.__traceback__.tb_next is None
    return is_own and getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


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
