"""The consensus nodes through the Hiero SDK (design: mirrors). The only module that imports it.

A client that a connection failed is thrown away: the SDK would leave its node alone for seconds, and a new one asks at
once. Keys come in as texts and are in no message.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import grpc
from hiero_sdk_python import (
    AccountId,
    Client,
    PrivateKey,
    ResponseCode,
    TopicId,
    TopicMessageSubmitTransaction,
    TransactionGetReceiptQuery,
    TransactionId,
)
from hiero_sdk_python.client.network import Network as SdkNetwork
from hiero_sdk_python.exceptions import MaxAttemptsError, PrecheckError, ReceiptStatusError

from agent_wire.errors import InputError, NetworkUnavailableError, RefusedError
from agent_wire.hedera.submitter import ExpiredTransactionError, Placement

T = TypeVar("T")

PUBLIC = ("mainnet", "testnet", "previewnet")
"""The networks whose nodes the SDK knows."""


class Account(NamedTuple):
    """Who submits where.

    Args:
        network: `mainnet`, `testnet`, `previewnet`, or nodes as `host:port=0.0.3`, with commas between them.
        topic: The topic.
        operator: The account that pays.
        operator_key: Its private key.
        submit_key: That of the topic; empty if everybody may submit.
    """

    network: str
    topic: str
    operator: str
    operator_key: str
    submit_key: str = ""


class Patience(NamedTuple):
    """How long the SDK tries: seconds for one call and for all of one request, and between its attempts."""

    call: float = 10.0
    request: float = 40.0
    pause: float = 0.25
    longest_pause: float = 4.0
    attempts: int = 6


class HieroNetwork:
    """The nodes; implements `agent_wire.hedera.submitter.Network`.

    Raises:
        InputError: an id, a key or a node cannot be read.
    """

    def __init__(self, account: Account, patience: Patience | None = None) -> None:
        self._account = account
        self._patience = patience or Patience()
        self._topic = _parsed(TopicId.from_string, account.topic, "topic")
        self._operator = _parsed(AccountId.from_string, account.operator, "operator account")
        self._operator_key = _key(account.operator_key, "operator")
        self._submit_key = _key(account.submit_key, "submit") if account.submit_key else None
        self._client: Client | None = None
        self._connected()

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def new_transaction_id(self) -> str:
        """An id of the operator, valid from some seconds ago on."""
        return TransactionId.generate(self._operator).to_string()

    def submit(self, transaction_id: str, message: bytes) -> None:
        """Submit a message under a transaction id."""
        transaction = TopicMessageSubmitTransaction(self._topic, message)
        transaction.set_transaction_id(TransactionId.from_string(transaction_id))

        def execute(client: Client) -> None:
            transaction.freeze_with(client)
            if self._submit_key is not None:
                transaction.sign(self._submit_key)
            transaction.execute(client, wait_for_receipt=False)

        try:
            self._asked(execute)
        except PrecheckError as error:
            if error.status == ResponseCode.TRANSACTION_EXPIRED:
                raise ExpiredTransactionError(str(error)) from error
            if error.status != ResponseCode.DUPLICATE_TRANSACTION:
                raise _refused(error.status) from error

    def receipt(self, transaction_id: str, *, waiting: bool = True) -> Placement | None:
        """Where the message of a transaction stands; None if the network does not know it."""
        query = TransactionGetReceiptQuery(TransactionId.from_string(transaction_id))
        if not waiting:
            query.set_max_attempts(1)
        try:
            receipt = self._asked(query.execute)
        except PrecheckError as error:
            if error.status in (ResponseCode.RECEIPT_NOT_FOUND, ResponseCode.RECORD_NOT_FOUND):
                return None
            raise _refused(error.status) from error
        if receipt.status != ResponseCode.SUCCESS:
            raise _refused(receipt.status)
        return Placement(receipt.topic_sequence_number, receipt.topic_running_hash or b"")

    def _asked(self, execute: Callable[[Client], T]) -> T:
        """What the client gives; a failure of a connection closes it."""
        try:
            return execute(self._connected())
        except MaxAttemptsError as error:
            if isinstance(error.last_error, PrecheckError):
                raise error.last_error from error
            raise self._lost(error.last_error or error) from error
        except (grpc.RpcError, ReceiptStatusError, RuntimeError, OSError) as error:
            raise self._lost(error) from error

    def _lost(self, error: Exception | BaseException) -> NetworkUnavailableError:
        self.close()
        said = str(error.code()) if isinstance(error, grpc.Call) else str(error)
        return NetworkUnavailableError(f"the network gives no answer: {said}", where=self._account.network)

    def _connected(self) -> Client:
        if self._client is None:
            self._client = client = _client(self._account.network)
            client.logger.set_silent(True)  # it writes to stdout
            client.set_operator(self._operator, self._operator_key)
            client.set_max_attempts(self._patience.attempts)
            client.set_min_backoff(self._patience.pause)
            client.set_max_backoff(self._patience.longest_pause)
            client.set_grpc_deadline(self._patience.call)
            client.set_request_timeout(self._patience.request)
        return self._client


def _client(network: str) -> Client:
    if network in PUBLIC:
        return Client(SdkNetwork(network))
    nodes: dict[str, AccountId] = {}
    for node in network.split(","):
        address, _, account = node.strip().partition("=")
        nodes[address] = _parsed(AccountId.from_string, account, "account of a node")
    return Client.for_network(nodes)


def _parsed(parse: Callable[[str], T], text: str, what: str) -> T:
    try:
        return parse(text)
    except (ValueError, TypeError) as error:
        raise InputError(f"{text!r} is no {what}", remedy="write it like 0.0.1234") from error


def _key(text: str, whose: str) -> PrivateKey:
    try:
        return PrivateKey.from_string(text)
    except (ValueError, TypeError):
        raise InputError(
            f"the {whose} key cannot be read", remedy="write the private key in hex, as DER or raw"
        ) from None


def _refused(status: Any) -> RefusedError | NetworkUnavailableError:
    """The error for an answer of the network."""
    name = ResponseCode(status).name
    if status in _LATER:
        return NetworkUnavailableError(f"the network says {name}")
    return RefusedError(
        f"the network refuses the message: {name}", remedy="see the topic, the account and its keys"
    )


_LATER = {
    ResponseCode.BUSY,
    ResponseCode.UNKNOWN,
    ResponseCode.PLATFORM_NOT_ACTIVE,
    ResponseCode.PLATFORM_TRANSACTION_NOT_CREATED,
    ResponseCode.INVALID_NODE_ACCOUNT,
}
"""Answers that say that it may be tried again."""
