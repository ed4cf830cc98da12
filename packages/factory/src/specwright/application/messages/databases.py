"""What roles are told of databases (design: module-scope, module-directory).

The researcher, and the planner of a task whose functions take a path, read what can be shown of a lock;
whoever writes a module and its tests reads how.
"""

import re
from collections.abc import Iterable

from ship_gate.contract.contract import EffectType, MicroModuleContract

READ_ONLY = "`sqlite3.connect(f'file:{quote(str(path))}?mode=ro', uri=True)`, with `urllib.parse.quote`"
"""The one way of opening a database that counts as reading it."""

NOT_SHOWN = "a lock that is given back while a call waits for it, and two programs that write at one moment"
"""What no test of a module, and no example, can show of a database."""

OF_LOCKS = f"""# Databases

A database is an SQLite file, opened by its path. What is in it after a call can be shown, and what comes of a file that is \
none, of another schema, and of a lock that another program holds for longer than a call waits: "for 5 seconds" is shown \
at its limit. No test shows {NOT_SHOWN}: no criterion and no contract asks for it. Functions that use one file are built \
and tried each alone: the sketch and the contract of each have its tables to the letter, in the same words."""

_FOR_FILES = """A database is a file: `sqlite3.connect(path)` writes it, whatever is done then, and needs WRITE on it. \
One that is only read is opened by {read_only}. Close each connection. A file that is no database, \
has another schema or is locked comes to a declared error: catch `sqlite3.Error`. Extensions and authorizers are refused. \
A test may make and read one with `sqlite3` itself; for a relative path it calls within `contextlib.chdir(tmp_path)`. \
A test locks a database by `begin exclusive` on a connection of its own. Nobody waits: the seconds of `timeout` pass on the \
module's clock, and `clock.slept` lists them (`from modules.testing import clock`, also where no clock is declared). No \
test shows {not_shown}."""


def databases_of(contracts: Iterable[MicroModuleContract]) -> list[str]:
    """What follows contracts of which one writes a file, or reads one that it is given; nothing for others."""
    if not any(_uses_file(contract) for contract in contracts):
        return []
    return [_FOR_FILES.format(read_only=READ_ONLY, not_shown=NOT_SHOWN)]


def _uses_file(contract: MicroModuleContract) -> bool:
    names = {one.name for one in contract.inputs}
    return any(
        one.type is EffectType.WRITE
        or (one.type is EffectType.CALL and names.intersection(re.findall(r"\w+", one.target)))
        for one in contract.effects
    )
