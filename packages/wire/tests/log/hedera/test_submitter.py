"""The log on a Hedera topic, by the unmodified SDK against a network on this machine (D47, D36)."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from agent_wire import envelope
from agent_wire.errors import BusyError, CorruptionError, InputError, NetworkUnavailableError, RefusedError
from agent_wire.hedera.network import Account, HieroNetwork, Patience
from agent_wire.hedera.submitter import VALID_SECONDS, Outbox, Placement, Submitter
from agent_wire.hedera.topic import MirrorNode, reduce_messages
from wire_testkit.damage import open_log
from wire_testkit.ledger import OPERATOR, TOPIC, Ledger, serving
from wire_testkit.story import HAPPY_PATH, Story

PATIENCE = Patience(call=2.0, request=3.0, pause=0.001, longest_pause=0.002, attempts=3)


class Bench:
    """A log, its outbox, and a ledger; each submitter is a process that begins anew."""

    def __init__(self, folder: Path, ledger: Ledger) -> None:
        self.folder, self.ledger = folder, ledger
        self.log = open_log(folder / "wire.db")

    def write(self, tasks: int = 1) -> list[bytes]:
        """Append the Wires of so many tasks; what the log holds."""
        story = Story(1000 * tasks)
        for number in range(tasks):
            self.log.append(story.wires(*HAPPY_PATH, stream_id=f"task:TSK-{number:03d}:attempt:1"))
        return self.bodies()

    def bodies(self) -> list[bytes]:
        """What the log holds."""
        return [entry.body for entry in self.log.stored()]

    def account(self, **changes: str) -> Account:
        """The operator."""
        own = {
            "network": self.ledger.network,
            "topic": TOPIC,
            "operator": OPERATOR,
            "operator_key": self.ledger.operator_key.to_string_der(),
            "submit_key": self.ledger.submit_key.to_string_der(),
        }
        return Account(**own | changes)

    def run(self, network: Any = None, **changes: Any) -> int:
        """Begin, submit, end."""
        opened = HieroNetwork(self.account(), PATIENCE) if network is None else network
        outbox = Outbox(self.folder / "hedera.db", TOPIC)
        submitter = Submitter(self.log, outbox, opened, self.topic(), self.ledger.clock, lambda _: None)
        try:
            return replace(submitter, **changes).catch_up()
        finally:
            outbox.close()
            opened.close()

    def topic(self) -> MirrorNode:
        """The mirror node."""
        return MirrorNode(self.ledger.mirror_url, TOPIC, lambda _: None)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A ledger of two nodes, without faults."""
    with serving(Ledger(), nodes=2) as ledger:
        yield Bench(tmp_path, ledger)


def test_a_log_is_submitted_in_order_and_read_back_with_its_proof(bench: Bench):
    """The same bytes in the same order, nanoseconds kept, every running hash recomputed (D-47-05, D-36-01)."""
    bodies = bench.write(2)

    assert (bench.run(), bench.run()) == (12, 0)
    assert bench.ledger.bodies() == bodies

    messages = bench.topic().checked_messages()
    assert [message.body for message in messages] == bodies
    assert [message.consensus_seconds * 10**9 + message.consensus_nanos for message in messages] == [
        message.nanoseconds for message in bench.ledger.messages
    ]
    assert {str(message.payer) for message in messages} == {OPERATOR}
    reduction = reduce_messages(messages)
    assert reduction.rejected == ()
    assert {task["task_state"] for task in reduction.tasks().values()} == {"completed"}

    bench.log.append([Story(7000).wire("task.created", "task:TSK-050:attempt:1")])
    assert bench.run() == 1
    assert bench.ledger.bodies() == bench.bodies()


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_goes_wrong_each_wire_is_on_the_topic_once_and_in_order(tmp_path: Path, seed: int):
    """Dropped before and after it was taken, busy, slow, sent twice, an unsteady mirror node, restarts (D-47-05)."""
    draw = random.Random(seed)
    faults = (draw.choice(["ok", "busy", "lost", "unheard", "slow", "twice"]) for _ in count())
    with serving(Ledger(faults), nodes=2) as ledger:
        bench = Bench(tmp_path, ledger)
        bodies = bench.write(3)
        for _ in range(40):
            ledger.rest_faults.extend(draw.choices([200, 503, 0], k=3))
            try:
                bench.run(sleep=lambda _: None)
            except NetworkUnavailableError:
                continue  # a process that gave up; the next one goes on
            break
        ledger.rest_faults.clear()

        assert ledger.bodies() == bodies
        assert ledger.calls > len(bodies)
        assert [message.body for message in bench.topic().checked_messages()] == bodies


class Cut:
    """A network whose process dies at a call."""

    def __init__(self, network: HieroNetwork, dies: Callable[[str, int], bool]) -> None:
        self._network, self._dies, self._calls = network, dies, count(1)
        self.new_transaction_id, self.close = network.new_transaction_id, network.close

    def submit(self, transaction_id: str, message: bytes) -> None:
        number = next(self._calls)
        if self._dies("before", number):
            raise KeyboardInterrupt
        self._network.submit(transaction_id, message)
        if self._dies("after", number):
            raise KeyboardInterrupt

    def receipt(self, transaction_id: str, *, waiting: bool = True) -> Placement | None:
        return self._network.receipt(transaction_id, waiting=waiting)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", [1, 4])
def test_a_process_that_dies_at_a_submission_leaves_nothing_lost_or_doubled(
    bench: Bench, when: str, number: int
):
    """The transaction id is on the disk before it is used, and the next process asks for it (D-47-05)."""
    bodies = bench.write()
    network = Cut(
        HieroNetwork(bench.account(), PATIENCE), lambda place, call: (place, call) == (when, number)
    )
    with pytest.raises(KeyboardInterrupt):
        bench.run(network)

    assert len(bench.ledger.messages) == number - (when == "before")
    assert bench.run() == 6 - (number - 1)
    assert bench.ledger.bodies() == bodies


@pytest.mark.parametrize("taken", [True, False])
def test_an_expired_transaction_is_looked_up_before_another_is_drawn(bench: Bench, taken: bool):
    """Hours later no receipt is left: the mirror node says whether the message is on the topic (D-47-05)."""
    bodies = bench.write()
    when = "after" if taken else "before"
    network = Cut(HieroNetwork(bench.account(), PATIENCE), lambda place, call: (place, call) == (when, 3))
    with pytest.raises(KeyboardInterrupt):
        bench.run(network)
    bench.ledger.receipts.clear()

    def hours_later() -> int:
        return time.time_ns() + 7200 * 10**9

    bench.ledger.mirror_behind_seconds = 2 * VALID_SECONDS
    with pytest.raises(NetworkUnavailableError, match="mirror node is behind"):
        bench.run(clock=hours_later)
    assert len(bench.ledger.messages) == 2 + taken

    bench.ledger.clock = hours_later
    bench.ledger.mirror_behind_seconds = 0
    later = Cut(HieroNetwork(bench.account(), PATIENCE), lambda place, call: False)
    later.new_transaction_id = (f"{OPERATOR}@{hours_later() // 10**9}.{n}" for n in count(1)).__next__
    assert bench.run(later, clock=hours_later) == 4
    assert bench.ledger.bodies() == bodies


def test_one_altered_byte_on_the_way_back_is_named(bench: Bench):
    """Message, time, payer, or a message left out: the message is named (D-47-05, D-36-02)."""
    bench.write()
    bench.run()
    altered: dict[str, Callable[[str], object]] = {
        "message": lambda text: text[:-8] + ("A" if text[-8] != "A" else "B") + text[-7:],
        "consensus_timestamp": lambda text: text[:-1] + str((int(text[-1]) + 1) % 10),
        "payer_account_id": lambda text: "0.0.1002",
        "sequence_number": lambda number: 9,
    }
    for column, change in altered.items():
        bench.ledger.alter = lambda row, column=column, change=change: (
            row | {column: change(row[column])} if row["sequence_number"] == 3 else row
        )
        with pytest.raises(CorruptionError, match="message 3 is"):
            bench.topic().checked_messages()


def test_of_two_claims_the_lower_sequence_number_wins(bench: Bench):
    """Two producers on one topic: the second claim is recorded as rejected, with its place (D-47-06, D-31-02)."""
    story = Story()
    first = story.wires("task.created", "task.available")
    mine = story.wire("task.claimed", body={"claimed_by": "agent:mine"})
    theirs = mine | {"wire_id": "wire_7" + "Z" * 25, "payload": {"claimed_by": "agent:theirs"}}
    bench.log.append(first)
    bench.run()
    bench.ledger.say(envelope.encode(theirs))
    bench.ledger.say(b"not a Wire")
    bench.log.append([mine])
    bench.run()

    reduction = reduce_messages(bench.topic().checked_messages())

    (task,) = reduction.tasks().values()
    assert task["claimed_by"] == "agent:theirs"
    assert [(one.position, one.rejection.code) for one in reduction.rejected] == [
        (4, "wire.not_json"),
        (5, "stream.sequence"),
    ]
    assert reduction.rejected[1].wire_id == mine["wire_id"]


def test_without_the_submit_key_the_network_refuses(bench: Bench):
    """A topic with a submit key takes messages that it signed; the refusal shows no key (D-47-05, D-S6-15)."""
    bench.write()
    for changes in ({"submit_key": ""}, {"operator_key": bench.ledger.submit_key.to_string_der()}):
        with pytest.raises(RefusedError, match="INVALID_SIGNATURE") as refused:
            bench.run(HieroNetwork(bench.account(**changes), PATIENCE))
        assert bench.ledger.operator_key.to_string_der() not in str(refused.value)
    assert bench.ledger.messages == []
    assert bench.run() == 6


def test_what_cannot_be_read_is_an_input_error_without_the_key(bench: Bench):
    """What and where, and never the key (D-S9-04, D-S6-15)."""
    for changes, words in (
        ({"operator_key": "hunter2"}, "operator key cannot be parsed"),
        ({"submit_key": "hunter2"}, "submit key cannot be parsed"),
        ({"operator": "me"}, "valid operator account id"),
        ({"topic": "notes"}, "valid topic id"),
        ({"network": "127.0.0.1:1"}, "node account"),
    ):
        with pytest.raises(InputError, match=words) as refused:
            HieroNetwork(bench.account(**changes), PATIENCE)
        assert "hunter2" not in str(refused.value)


def test_two_processes_do_not_submit_at_once(bench: Bench):
    """One submits, the other is told so (D-47-05)."""
    bench.write()
    outbox = Outbox(bench.folder / "hedera.db", TOPIC)
    with outbox.submitting(), pytest.raises(BusyError):
        bench.run()
    outbox.close()
    assert bench.ledger.messages == []
