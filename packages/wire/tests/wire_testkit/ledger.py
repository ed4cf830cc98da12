"""A network of one topic on this machine: consensus nodes by gRPC, a mirror node by REST, and what goes wrong with them.

It speaks the protobufs that the SDK brings, so that the SDK is tested unmodified. It checks signatures, takes each
transaction once and within its time, and hashes as the network does.
"""

import base64
import hashlib
import json
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent import futures
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import grpc
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hiero_sdk_python import PrivateKey, ResponseCode
from hiero_sdk_python.hapi.services import (
    consensus_service_pb2_grpc,
    crypto_service_pb2_grpc,
    response_header_pb2,
    response_pb2,
    transaction_contents_pb2,
    transaction_get_receipt_pb2,
    transaction_pb2,
    transaction_receipt_pb2,
    transaction_response_pb2,
)

OPERATOR, TOPIC, NODE = "0.0.1001", "0.0.8830671", "0.0.3"
_PAGE = 4
"""Messages of a page of the mirror node, few, so that pages follow each other."""

_PREIMAGE = bytes.fromhex("aced0005757200025b42acf317f8060854e00200007870")


class Message(NamedTuple):
    """A message at consensus."""

    number: int
    nanoseconds: int
    payer: tuple[int, int, int]
    body: bytes
    running_hash: bytes


class Ledger:
    """The state of the network.

    Args:
        faults: What becomes of the submissions, in turn: `ok`, `busy`, `lost` (dropped before it is taken), `unheard`
            (taken, and the connection dropped before the answer), `slow`, `twice` (the transaction arrives twice).
        clock: Network time in nanoseconds.
    """

    def __init__(self, faults: Iterator[str] | None = None, clock: Callable[[], int] = time.time_ns) -> None:
        self.operator_key, self.submit_key = PrivateKey.generate_ed25519(), PrivateKey.generate_ed25519()
        self.messages: list[Message] = []
        self.receipts: dict[bytes, tuple[int, bytes]] = {}
        self.faults = faults or iter(())
        self.rest_faults: deque[int] = deque()
        self.clock = clock
        self.calls = 0
        self.mirror_behind_seconds = 0
        self.alter: Callable[[dict[str, Any]], dict[str, Any]] = lambda row: row
        self._lock = threading.Lock()
        self.addresses: list[str] = []
        self.mirror_url = ""

    @property
    def network(self) -> str:
        """The nodes, as the setting has them."""
        return ",".join(f"{address}=0.0.{3 + n}" for n, address in enumerate(self.addresses))

    def bodies(self) -> list[bytes]:
        """The messages, in their order."""
        return [message.body for message in self.messages]

    def take(self, signed: bytes) -> int:
        """A transaction that arrives; the answer of the precheck."""
        envelope = transaction_contents_pb2.SignedTransaction.FromString(signed)
        body = transaction_pb2.TransactionBody.FromString(envelope.bodyBytes)
        start = body.transactionID.transactionValidStart
        if self.clock() // 10**9 > start.seconds + body.transactionValidDuration.seconds:
            return ResponseCode.TRANSACTION_EXPIRED
        if not all(self._signed(envelope, key) for key in (self.operator_key, self.submit_key)):
            return ResponseCode.INVALID_SIGNATURE
        key = body.transactionID.SerializeToString()
        with self._lock:
            if key in self.receipts:
                return ResponseCode.DUPLICATE_TRANSACTION
            payer = body.transactionID.accountID
            message = self.say(
                body.consensusSubmitMessage.message, (payer.shardNum, payer.realmNum, payer.accountNum)
            )
            self.receipts[key] = message.number, message.running_hash
        return ResponseCode.OK

    def say(self, body: bytes, payer: tuple[int, int, int] = (0, 0, 4711)) -> Message:
        """Bring a message to consensus, of whomever."""
        last = self.messages[-1] if self.messages else Message(0, 0, payer, b"", bytes(48))
        number, now = last.number + 1, max(self.clock(), last.nanoseconds + 1)
        shard, realm, topic = map(int, TOPIC.split("."))
        numbers = struct.pack(">q3q3qqiq", 3, *payer, shard, realm, topic, now // 10**9, now % 10**9, number)
        parts = (
            *(_PREIMAGE, struct.pack(">i", 48), last.running_hash, b"\x77", bytes([len(numbers)]), numbers),
            *(bytes.fromhex("7571007e0000"), struct.pack(">i", 48), hashlib.sha384(body).digest()),
        )
        message = Message(number, now, payer, body, hashlib.sha384(b"".join(parts)).digest())
        self.messages.append(message)
        return message

    @staticmethod
    def _signed(envelope: Any, key: PrivateKey) -> bool:
        public = key.public_key().to_bytes_raw()
        for pair in envelope.sigMap.sigPair:
            if pair.pubKeyPrefix and public.startswith(pair.pubKeyPrefix):
                try:
                    Ed25519PublicKey.from_public_bytes(public).verify(pair.ed25519, envelope.bodyBytes)
                except InvalidSignature:
                    continue
                return True
        return False


class _Consensus(consensus_service_pb2_grpc.ConsensusServiceServicer):
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def submitMessage(self, request: Any, context: Any) -> Any:
        """Take a message, or misbehave."""
        self._ledger.calls += 1
        fault = next(self._ledger.faults, "ok")
        if fault == "lost":
            context.abort(grpc.StatusCode.UNAVAILABLE, "dropped before it was taken")
        if fault == "busy":
            return _answer(ResponseCode.BUSY)
        if fault == "slow":
            time.sleep(0.05)
        code = self._ledger.take(request.signedTransactionBytes)
        if fault == "twice":
            self._ledger.take(request.signedTransactionBytes)
        if fault == "unheard":
            context.abort(grpc.StatusCode.UNAVAILABLE, "dropped after it was taken")
        return _answer(code)


class _Crypto(crypto_service_pb2_grpc.CryptoServiceServicer):
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def getTransactionReceipts(self, request: Any, context: Any) -> Any:
        """The receipt of a transaction."""
        key = request.transactionGetReceipt.transactionID.SerializeToString()
        known = self._ledger.receipts.get(key)
        code = ResponseCode.OK if known else ResponseCode.RECEIPT_NOT_FOUND
        receipt = transaction_receipt_pb2.TransactionReceipt(status=ResponseCode.RECEIPT_NOT_FOUND)
        if known:
            receipt = transaction_receipt_pb2.TransactionReceipt(
                status=ResponseCode.SUCCESS,
                topicSequenceNumber=known[0],
                topicRunningHash=known[1],
                topicRunningHashVersion=3,
            )
        return response_pb2.Response(
            transactionGetReceipt=transaction_get_receipt_pb2.TransactionGetReceiptResponse(
                header=response_header_pb2.ResponseHeader(nodeTransactionPrecheckCode=code), receipt=receipt
            )
        )


def _answer(code: int) -> Any:
    return transaction_response_pb2.TransactionResponse(nodeTransactionPrecheckCode=code)


def _mirror(ledger: Ledger) -> type[BaseHTTPRequestHandler]:
    class Mirror(BaseHTTPRequestHandler):
        """The two resources of a mirror node that are asked for."""

        def do_GET(self) -> None:
            """Answer, or fail as the ledger says."""
            status = ledger.rest_faults.popleft() if ledger.rest_faults else 200
            if status == 0:
                self.connection.close()
                return
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            page = _blocks(ledger) if url.path.endswith("/blocks") else _messages(ledger, query)
            body = json.dumps(page if status == 200 else {"_status": {"messages": []}}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Mirror


def _blocks(ledger: Ledger) -> dict[str, Any]:
    now = ledger.clock() - ledger.mirror_behind_seconds * 10**9
    return {
        "blocks": [{"number": 1, "timestamp": {"from": "0.0", "to": f"{now // 10**9}.{now % 10**9:09d}"}}]
    }


def _messages(ledger: Ledger, query: dict[str, str]) -> dict[str, Any]:
    since = int(query["timestamp"].removeprefix("gte:").partition(".")[0]) * 10**9
    after = int(query.get("sequencenumber", "gt:0").removeprefix("gt:"))
    found = [m for m in ledger.messages if m.nanoseconds >= since and m.number > after][: _PAGE + 1]
    page, more = found[:_PAGE], found[_PAGE:]
    path = f"/api/v1/topics/{TOPIC}/messages?timestamp={query['timestamp']}&sequencenumber=gt:"
    return {
        "messages": [ledger.alter(_row(message)) for message in page],
        "links": {"next": f"{path}{page[-1].number}" if more else None},
    }


def _row(message: Message) -> dict[str, Any]:
    return {
        "chunk_info": None,
        "consensus_timestamp": f"{message.nanoseconds // 10**9}.{message.nanoseconds % 10**9:09d}",
        "message": base64.b64encode(message.body).decode(),
        "payer_account_id": ".".join(map(str, message.payer)),
        "running_hash": base64.b64encode(message.running_hash).decode(),
        "running_hash_version": 3,
        "sequence_number": message.number,
        "topic_id": TOPIC,
    }


@contextmanager
def serving(ledger: Ledger, nodes: int = 1) -> Generator[Ledger]:
    """Serve a ledger on loopback, by so many nodes."""
    servers: list[Any] = []
    rest = ThreadingHTTPServer(("127.0.0.1", 0), _mirror(ledger))
    thread = threading.Thread(target=rest.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        for _ in range(nodes):
            server = grpc.server(futures.ThreadPoolExecutor(4))
            consensus_service_pb2_grpc.add_ConsensusServiceServicer_to_server(_Consensus(ledger), server)
            crypto_service_pb2_grpc.add_CryptoServiceServicer_to_server(_Crypto(ledger), server)
            ledger.addresses.append(f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}")
            server.start()
            servers.append(server)
        ledger.mirror_url = f"http://127.0.0.1:{rest.server_port}"
        yield ledger
    finally:
        for server in servers:
            server.stop(0).wait()
        rest.shutdown()
        rest.server_close()
        thread.join()
