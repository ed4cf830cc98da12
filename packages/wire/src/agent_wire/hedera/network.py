"""Connects to the consensus nodes with the Hiero SDK, which only this module imports (design: mirrors).

After a failed connection the client is replaced: the SDK would avoid that node for seconds, while a new client tries it
immediately. Error messages never contain keys.
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
"""The networks whose nodes are built into the SDK."""


class Account(NamedTuple):
    """The topic to submit to, and the account that pays.

    Args:
        network: `mainnet`, `testnet`, `previewnet`, or nodes such as `host:port=0.0.3`, separated by commas.
        topic: The topic.
        operator: The account that pays.
        operator_key: Its private key.
        submit_key: The private submit key of the topic; empty if anyone may submit.
    """

    network: str
    topic: str
    operator: str
    operator_key: str
    submit_key: str = ""


class Patience(NamedTuple):
    """Time limits for the SDK in seconds (one call, one request with all attempts, pauses), and the most attempts."""

    call: float = 10.0
    request: float = 40.0
    pause: float = 0.25
    longest_pause: float = 4.0
    attempts: int = 6


class HieroNetwork:
    """The consensus nodes; implements `agent_wire.hedera.submitter.Network`.

    Raises:
        InputError: an id, a key or a node cannot be parsed.
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
        """Generate a transaction id of the operator, valid from a few seconds ago."""
        return TransactionId.generate(self._operator).to_string()

    def submit(self, transaction_id: str, message: bytes) -> None:
        """Submit a message with a transaction id."""
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
        """Return the placement of a transaction's message, or None if the network does not know the transaction."""
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
        """Run a request, and close the client if the connection fails."""
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
        return NetworkUnavailableError(f"the network does not answer: {said}", where=self._account.network)

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
        nodes[address] = _parsed(AccountId.from_string, account, "node account")
    return Client.for_network(nodes)


def _parsed(parse: Callable[[str], T], text: str, what: str) -> T:
    try:
        return parse(text)
    except (ValueError, TypeError) as error:
        raise InputError(f"{text!r} is not a valid {what} id", remedy="write it like 0.0.1234") from error


def _key(text: str, whose: str) -> PrivateKey:
    try:
        return PrivateKey.from_string(text)
    except (ValueError, TypeError):
        raise InputError(
            f"the {whose} key cannot be parsed", remedy="give the private key in hex, as DER or raw"
        ) from None


def _refused(status: Any) -> RefusedError | NetworkUnavailableError:
    """Build the error for a status that the network returned."""
    name = ResponseCode(status).name
    if status in _LATER:
        return NetworkUnavailableError(f"the network returned {name}")
    return RefusedError(
        f"the network rejected the message: {name}", remedy="check the topic, the account and its keys"
    )


_LATER = {
    ResponseCode.BUSY,
    ResponseCode.UNKNOWN,
    ResponseCode.PLATFORM_NOT_ACTIVE,
    ResponseCode.PLATFORM_TRANSACTION_NOT_CREATED,
    ResponseCode.INVALID_NODE_ACCOUNT,
}
"""Statuses after which the request can be repeated."""
