"""The hash of what a person was shown, so that nothing is decided by a page that is old (design: approval, escalation).

An answer may name the hash of the spec, the escalation or the exception that it is about. It is refused if what waits now
has another one: a spec that was written anew, an exception about which somebody has decided since.
"""

import re

from agent_wire import canonical_json
from specwright.application.factory import ProjectView
from specwright.application.interface_change.decisions import exceptions
from specwright.application.stages.draft_history import draft_files
from specwright.application.stages.product import shown_hash
from specwright.errors import InputError, RefusedError

_SHA256 = re.compile(r"[0-9a-f]{64}")


def shown_sha256(view: ProjectView, name: str = "") -> str:
    """The SHA-256 of what a person is shown.

    Args:
        view: The project.
        name: Of an escalation or of an interface change exception; empty for the spec that waits.

    Returns:
        The hash in hex; empty if there is no such thing.
    """
    if not name:
        return shown_hash(view) if view.store.exists(draft_files(view).spec) else ""
    if name.startswith("ESC-"):
        exists = view.escalations.exists(name)
        return canonical_json.digest(view.escalations.escalation(name).to_json()) if exists else ""
    for known in exceptions(view):
        if known.record.exception_id == name:
            rows = (known.record, *known.decisions, *known.outcomes)
            return canonical_json.digest([row.to_json() for row in rows])
    return ""


def require_shown(view: ProjectView, sha256: str, name: str = "") -> None:
    """Refuse an answer to something else than what waits now.

    Args:
        view: The project.
        sha256: Of what the person was shown; empty to take what waits now.
        name: As `shown_sha256`.

    Raises:
        InputError: it is no SHA-256.
        RefusedError: what waits now has another one.
    """
    if not sha256:
        return
    if not _SHA256.fullmatch(sha256.lower()):
        raise InputError(
            f"{sha256[:80]!r} is no SHA-256",
            where="--sha256",
            remedy="`specwright status --json` and `specwright escalations --json` show it",
        )
    if (now := shown_sha256(view, name)) and now != sha256.lower():
        raise RefusedError(
            f"{name or 'the spec'} is not what was shown: the answer names {sha256.lower()}, this one has {now}",
            where=name or view.store.address,
            remedy="look at it again, and answer what it says now",
        )
