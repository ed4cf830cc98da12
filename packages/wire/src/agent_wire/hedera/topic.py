"""Reads a topic from a mirror node's REST interface and proves that its messages are unchanged (design: mirrors)."""

import base64
import json
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from agent_wire.documents import read_numbered, reduce_numbered
from agent_wire.entries import GENESIS, HASH_VERSION, EntityId, StoredEntry, running_hash
from agent_wire.errors import CorruptionError, InputError, NetworkUnavailableError
from agent_wire.reducer import Reduction

_PAGE = 100
_ATTEMPTS = 6
_FIRST_PAUSE = 0.5
_TIMEOUT_SECONDS = 20.0


class TopicMessage(NamedTuple):
    """A message of a topic with its consensus time (whole seconds and nanoseconds) and running hash."""

    sequence_number: int
    consensus_seconds: int
    consensus_nanos: int
    payer: EntityId
    body: bytes
    running_hash: bytes
    hash_version: int


class MirrorNode:
    """A topic on a mirror node.

    Args:
        url: The address of the mirror node, `https://host`.
        topic_id: The topic.
        sleep: Waits for so many seconds.

    Raises:
        InputError: the URL or the topic id is invalid.
    """

    def __init__(self, url: str, topic_id: str, sleep: Callable[[float], None] = time.sleep) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InputError(f"{url!r} is not the URL of a mirror node", remedy="write it like https://host")
        self._url = url.rstrip("/")
        self._topic = EntityId.parse(topic_id)
        self._sleep = sleep

    def messages(self, *, since: int = 0) -> Iterator[TopicMessage]:
        """Yield the messages since a consensus time (seconds since 1970), in order.

        Raises:
            NetworkUnavailableError: the mirror node cannot be reached.
            CorruptionError: the answer has an unexpected form.
        """
        query = urlencode({"limit": _PAGE, "order": "asc", "timestamp": f"gte:{since}.0"})
        path: str | None = f"/api/v1/topics/{self._topic}/messages?{query}"
        while path:
            page = self._get(path)
            try:
                yield from map(_message, page["messages"])
                path = page.get("links", {}).get("next")
            except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
                raise CorruptionError(
                    f"the answer of the mirror node cannot be parsed: {type(error).__name__} {error}",
                    where=self._url,
                ) from error

    def latest_seconds(self) -> int:
        """Return the consensus time up to which the mirror node is complete, in whole seconds since 1970."""
        blocks = self._get("/api/v1/blocks?limit=1&order=desc").get("blocks", [])
        return int(str(blocks[0]["timestamp"]["to"]).partition(".")[0]) if blocks else 0

    def checked_messages(self) -> list[TopicMessage]:
        """Return every message after recomputing the chain of running hashes from the first.

        Raises:
            CorruptionError: a message is missing, out of order, or differs from the one that the network hashed.
        """
        found: list[TopicMessage] = []
        previous, time_before = GENESIS, (-1, 0)
        for number, message in enumerate(self.messages(), 1):
            at = message.consensus_seconds, message.consensus_nanos
            problem = (
                f"message {number} is missing"
                if message.sequence_number != number
                else f"message {number} is not later than the one before it"
                if at <= time_before
                else f"message {number} has a running hash of version {message.hash_version}"
                if message.hash_version != HASH_VERSION
                else f"message {number} is not what was submitted: its running hash does not match"
                if self._hash(previous, message) != message.running_hash
                else ""
            )
            if problem:
                raise CorruptionError(
                    f"topic {self._topic}: {problem}", where=self._url, remedy="ask another mirror node"
                )
            previous, time_before = message.running_hash, at
            found.append(message)
        return found

    def _hash(self, previous: bytes, message: TopicMessage) -> bytes:
        entry = StoredEntry(*message[:3], message.body, message.running_hash)
        return running_hash(previous, entry, payer=message.payer, topic=self._topic)

    def _get(self, path: str) -> dict[str, Any]:
        """Get a document from the mirror node, with retries while it is unavailable."""
        pause = _FIRST_PAUSE
        for attempt in range(_ATTEMPTS):
            try:
                with urlopen(self._url + path, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310 - http or https
                    return json.loads(answer.read())
            except HTTPError as error:
                if error.code == 404:
                    return {"messages": []}  # the topic has no messages
                problem: Exception = error
                if error.code < 500 and error.code != 429:
                    raise InputError(
                        f"the mirror node rejected the request: {error}", where=self._url + path
                    ) from error
            except (URLError, OSError, ValueError) as error:
                problem = error
            if attempt == _ATTEMPTS - 1:
                raise NetworkUnavailableError(
                    f"the mirror node cannot be read: {problem}", where=self._url
                ) from problem
            self._sleep(pause)
            pause *= 2
        raise AssertionError("the last attempt returns or raises")


def _message(row: dict[str, Any]) -> TopicMessage:
    seconds, _, nanos = str(row["consensus_timestamp"]).partition(".")
    return TopicMessage(
        int(row["sequence_number"]),
        int(seconds),
        int(nanos.ljust(9, "0")),
        EntityId.parse(str(row["payer_account_id"])),
        base64.b64decode(row["message"], validate=True),
        base64.b64decode(row["running_hash"], validate=True),
        int(row["running_hash_version"]),
    )


def reduce_messages(messages: Iterable[TopicMessage]) -> Reduction:
    """Reduce the messages of a topic; positions are sequence numbers of the topic."""
    return reduce_numbered(read_numbered((message.sequence_number, message.body) for message in messages))
