"""The mirrors of a project's log: a database, and a Hedera topic (design: mirrors)."""

import os
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_wire import envelope
from agent_wire.entries import StoredEntry, StoredLog, consensus_timestamp
from agent_wire.errors import WireRefusedError
from agent_wire.hedera.submitter import Outbox
from agent_wire.hedera.topic import MirrorNode, TopicMessage, reduce_messages
from agent_wire.reducer import Reduction
from specwright.bootstrap.stores import RUNTIME, TOPIC, ProjectStore, begun_store
from specwright.domain.base.document import Document
from specwright.errors import CorruptionError, InputError, RefusedError
from specwright.installation import needing_extra
from specwright.settings import HederaSettings, load_settings

if TYPE_CHECKING:
    from agent_wire.mirror import Mirror, MirrorStatus


__all__ = ["Mirror", "MirrorStatus", "open_mirror"]


@contextmanager
def open_mirror(directory: Path, url: str = "") -> "Generator[tuple[Mirror, str]]":
    """Open the mirror of a project, and give its database's address without the password.

    Args:
        directory: The project.
        url: The database; by default the one of the setting `mirror`, else an SQLite file on this machine.

    Raises:
        InputError: there is no project, the URL is not of SQLite or Postgres, or SQLAlchemy is not installed.
    """
    url = url or load_settings(directory).mirror
    if url and not url.startswith(("sqlite", "postgres")):  # before the check of what is installed
        remedy = "give a URL such as sqlite:////home/me/model.db or postgresql://user@host/database"
        raise InputError(
            "a mirror is an SQLite or Postgres database", where=url.rpartition("@")[2], remedy=remedy
        )
    with needing_extra("mirror", "the read model needs"):
        from agent_wire.mirror import Mirror
        from agent_wire.mirror.model import ReadModel
    with (
        begun_store(directory) as store,
        closing(store.log(reading=True)) as log,
        closing(ReadModel(url or _file(store))) as model,
    ):
        yield Mirror(log, TOPIC, model), model.where


def _file(store: ProjectStore) -> str:
    """Return the URL of the mirror file, beside the project's other files that exist on this machine only."""
    place = store.workspace.parent
    place.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{place.resolve() / 'read_model.db'}"


OUTBOX = "hedera.db"


class SubmitStatus(Document, schema="hedera-submitted"):
    """How many Wires this call submitted, how many are on the topic, and how many the log has."""

    submitted: int
    placed: int
    log_end: int


class TopicState(NamedTuple):
    """A topic: its messages with their proofs, their reduction, and how many Wires of the log it holds."""

    topic: str
    messages: list[TopicMessage]
    reduction: Reduction
    placed: int


def submit_log(directory: Path, topic: str = "") -> SubmitStatus:
    """Submit the Wires of a project's log that the topic lacks.

    Args:
        directory: The project.
        topic: Replaces the topic of the settings.

    Raises:
        InputError: there is no project, a setting or a key is missing, or the SDK is not installed.
        BusyError: another process is submitting this log.
        NetworkUnavailableError: the network cannot be reached; the next call continues.
        RefusedError: the network rejects a Wire, or the topic belongs to another project.
    """
    found = _settings(directory, topic)
    with needing_extra("hedera", "submitting needs"):
        from agent_wire.hedera.network import Account, HieroNetwork
        from agent_wire.hedera.submitter import Submitter
    if not found.operator:
        raise InputError("no account is set that pays", remedy="set `operator` below [hedera]")
    key, submit_key = os.environ.get(found.operator_key, ""), os.environ.get(found.submit_key, "")
    if not key:
        raise InputError(
            "the operator's key is missing", remedy=f"set the environment variable {found.operator_key}"
        )
    account = Account(found.network, found.topic, found.operator, key, submit_key)
    with (
        begun_store(directory) as store,
        closing(store.log(reading=True)) as log,
        closing(_outbox(directory, found.topic)) as outbox,
        closing(HieroNetwork(account)) as network,
    ):
        mirror = MirrorNode(_mirror_url(found), found.topic)
        if not outbox.position():
            _require_own(found.topic, mirror, log)
        submitted = Submitter(log, outbox, network, mirror).catch_up()
        end = log.end()
        return SubmitStatus(
            submitted=submitted, placed=outbox.position(), log_end=end.sequence_number if end else 0
        )


def _require_own(topic: str, mirror: MirrorNode, log: StoredLog) -> None:
    """Refuse a topic whose first Wire belongs to another project: stream ids are unique within a project only."""
    first, own = next(mirror.messages(), None), next(iter(log.stored()), None)
    if first is None or own is None or (held := _context(first.body)) in ("", _context(own.body)):
        return
    raise RefusedError(
        f"the topic holds the Wires of another project, {held}",
        where=topic,
        remedy="make a topic for this project, and name it in `topic` below [hedera]",
    )


def _context(body: bytes) -> str:
    """Return the project of a message; empty if the message is not a Wire."""
    try:
        wire: Any = envelope.parse(body)
        return str(wire["stream"]["context_id"])
    except (WireRefusedError, LookupError, TypeError):
        return ""


def read_topic(directory: Path, topic: str = "") -> TopicState:
    """Read the topic back, prove its chain, and compare it with what was submitted.

    Of two claims on one task the one with the lower sequence number is admitted; the other is listed in `rejected`.

    Raises:
        InputError: there is no project, or no topic is set.
        NetworkUnavailableError: the mirror node cannot be read.
        CorruptionError: a message was changed, or a Wire that was submitted is not where the receipt placed it.
    """
    found = _settings(directory, topic)
    messages = MirrorNode(_mirror_url(found), found.topic).checked_messages()
    with (
        begun_store(directory) as store,
        closing(store.log(reading=True)) as log,
        closing(_outbox(directory, found.topic)) as outbox,
    ):
        placed = _compared(outbox, log.stored(), messages)
    return TopicState(found.topic, messages, reduce_messages(messages), placed)


def message_row(topic: str, message: TopicMessage) -> dict[str, Any]:
    """Return a message with its proof, in the form of `specwright wire log --json`."""
    return {
        "hcs": {
            "topic_id": topic,
            "sequence_number": message.sequence_number,
            "consensus_timestamp": consensus_timestamp(message.consensus_seconds, message.consensus_nanos),
            "running_hash": message.running_hash.hex(),
        },
        "payer": str(message.payer),
        "message": message.body.decode(errors="replace"),
    }


def _compared(outbox: Outbox, entries: Iterable[StoredEntry], messages: list[TopicMessage]) -> int:
    """Count the log's Wires that are on the topic; each must be where its receipt placed it."""
    by_number = {message.sequence_number: message for message in messages}
    bodies = {entry.sequence_number: entry.body for entry in entries}
    placed = [each for each in outbox.entries() if each.placement is not None]
    for number, transaction, placement in placed:
        assert placement is not None
        message = by_number.get(placement.topic_sequence)
        if message is None and placement.topic_sequence > len(messages):
            continue  # the mirror node does not show it yet
        if (
            message is None
            or message.body != bodies.get(number)
            or message.running_hash != placement.running_hash
        ):
            raise CorruptionError(
                f"message {placement.topic_sequence} is not Wire {number} of the log, which {transaction} placed there",
                remedy="ask another mirror node; `specwright verify` checks the log",
            )
    return sum(each.placement is not None and each.placement.topic_sequence in by_number for each in placed)


def _outbox(directory: Path, topic: str) -> Outbox:
    return Outbox(directory / RUNTIME / OUTBOX, topic)


def _settings(directory: Path, topic: str) -> HederaSettings:
    found = load_settings(directory).hedera
    found = found.model_copy(update={"topic": topic or found.topic})
    if not found.topic:
        raise InputError("no topic is set", remedy="use --topic, or set `topic` below [hedera]")
    return found


_MIRROR_NODES = {
    "mainnet": "https://mainnet-public.mirrornode.hedera.com",
    "testnet": "https://testnet.mirrornode.hedera.com",
    "previewnet": "https://previewnet.mirrornode.hedera.com",
}


def _mirror_url(found: HederaSettings) -> str:
    url = found.mirror_node or _MIRROR_NODES.get(found.network, "")
    if not url:
        raise InputError(
            "no mirror node is known for this network", remedy="set `mirror_node` below [hedera]"
        )
    return url
