"""What a Proposer is told of modules that use a database, where there is one (design: module-directory)."""

import re
from collections.abc import Iterable

from specwright.domain.contract.contract import EffectType, MicroModuleContract

READ_ONLY = "`sqlite3.connect(f'file:{quote(str(path))}?mode=ro', uri=True)`, with `urllib.parse.quote`"
"""The one way of opening a database that counts as reading it."""

_FOR_FILES = """A database is a file: `sqlite3.connect(path)` writes it, whatever is done then, and needs WRITE on it. \
One that is only read is opened by {read_only}. Close each connection. A file that is no database, \
has another schema or is locked comes to a declared error: catch `sqlite3.Error`. Extensions and authorizers are refused. \
A test may make and read one with `sqlite3` itself; for a relative path it calls within `contextlib.chdir(tmp_path)`."""

_DATABASE = re.compile(r"\b(?:sqlite\w*|databases?)\b", re.IGNORECASE)


def databases_of(contracts: Iterable[MicroModuleContract]) -> list[str]:
    """What follows contracts of which one uses a database; nothing for others."""
    used = any(
        effect.type in (EffectType.WRITE, EffectType.CALL)
        and _DATABASE.search(f"{effect.target} {effect.description}")
        for contract in contracts
        for effect in contract.effects
    )
    return [_FOR_FILES.format(read_only=READ_ONLY)] if used else []
