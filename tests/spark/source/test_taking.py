"""Batches are taken from a real service by something that behaves as Spark does, kills included."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import msgspec
import pytest

from tests.server_process import running
from upstream.client import Client
from upstream.spark.source.errors import BatchLostError, QueueUnfitError
from upstream.spark.source.offsets import Offset
from upstream.spark.source.options import Address, QueueOptions
from upstream.spark.source.raw_updates import raw_updates
from upstream.spark.source.service import ServiceQueue
from upstream.spark.source.taking import BatchTaker

Rows = dict[str, object]


class KilledError(Exception):
    """The process ends here, without another word."""


@dataclass
class Checkpoint:
    """What is left of a query when its process is killed, and where its rows went."""

    offsets: list[str] = field(default_factory=list)
    done: int = 0
    sink: dict[int, Rows] = field(default_factory=dict)

    def write(self, batch: int, rows: Rows) -> None:
        assert self.sink.setdefault(batch, rows) == rows, "a repeated batch has other rows"

    def newest(self) -> Rows:
        newest: Rows = {}
        for batch in sorted(self.sink):
            newest |= self.sink[batch]
        return newest


def rows_of(answers: list[bytes]) -> Rows:
    updates = [update for body in answers for update in raw_updates(body)]
    rows = {str(update.key): msgspec.json.decode(update.value) for update in updates}
    assert len(rows) == len(updates), "a batch has a key once"
    return rows


def run(
    taker: BatchTaker,
    checkpoint: Checkpoint,
    *,
    batches: int = 1_000,
    most: int | None = 4,
    random: Random | None = None,
    risk: float = 0.0,
) -> None:
    """Do what Spark does for some batches, or until nothing waits; at a risk of being killed."""

    def survive() -> None:
        if random is not None and random.random() < risk:
            raise KilledError

    while batches:
        batches -= 1
        if checkpoint.done == len(checkpoint.offsets):
            last = checkpoint.offsets[-1:] or [json.dumps(taker.initial().as_dict())]
            end = taker.next(Offset.of(json.loads(last[0])), most)
            survive()
            text = json.dumps(end.as_dict())
            if text == last[0] and checkpoint.offsets:
                return
            checkpoint.offsets.append(text)
            survive()
        number = len(checkpoint.offsets) - 1
        offset = Offset.of(json.loads(checkpoint.offsets[number]))
        answers = taker.answers(offset) if offset.batch else []
        survive()
        checkpoint.write(number, rows_of(answers))
        survive()
        checkpoint.done += 1
        survive()


@pytest.fixture
def options(client: Client, url: str, name: str) -> QueueOptions:
    """Return how a queue with leases is read that is fed by the stream of its name."""
    client.create_queue(name, lease_seconds=60)
    return QueueOptions(Address(url), name, max_updates=4, partitions=2)


def a_taker(client: Client, options: QueueOptions) -> BatchTaker:
    return BatchTaker(ServiceQueue(client, options.address.url, options.queue), options)


def assert_balanced(client: Client, queue: str) -> None:
    """Hold that all that arrived was dequeued or superseded, once each, and is delivered."""
    counts = client.statistics(queue)
    assert (counts.waiting, counts.in_process, counts.returned) == (0, 0, 0)
    assert counts.arrived == counts.dequeued + counts.superseded
    assert counts.delivered == counts.dequeued


@pytest.mark.parametrize("seed", range(8))
def test_whenever_it_is_killed_nothing_is_lost_or_comes_twice(
    client: Client, options: QueueOptions, seed: int
) -> None:
    random = Random(seed)
    sent: Rows = {}
    checkpoint = Checkpoint()
    run(a_taker(client, options), checkpoint)  # so that its name is in the checkpoint
    kills = 0
    for _ in range(12):
        updates = {f"key-{random.randrange(9)}": random.random() for _ in range(6)}
        client.put_many(options.queue, list(updates.items()))
        sent |= updates
        try:
            run(a_taker(client, options), checkpoint, random=random, risk=0.15)
        except KilledError:
            kills += 1
    run(a_taker(client, options), checkpoint)
    assert kills > 3
    assert checkpoint.newest() == sent
    rows = sum(map(len, checkpoint.sink.values()))
    assert rows == client.statistics(options.queue).dequeued
    assert_balanced(client, options.queue)


def test_a_batch_is_delivered_when_the_next_one_is_asked_for(
    client: Client, options: QueueOptions
) -> None:
    client.put_many(options.queue, [("a", 1), ("b", 2)])
    taker, checkpoint = a_taker(client, options), Checkpoint()
    run(taker, checkpoint, batches=1)
    assert client.queue(options.queue).in_process == 2
    run(taker, checkpoint, batches=1)
    assert client.queue(options.queue).in_process == 0
    assert checkpoint.sink == {0: {"a": 1, "b": 2}}


def test_a_batch_that_was_done_is_delivered_by_the_next_process(
    client: Client, options: QueueOptions
) -> None:
    client.put_many(options.queue, [("a", 1), ("b", 2)])
    checkpoint = Checkpoint()
    run(a_taker(client, options), checkpoint, batches=1)
    run(a_taker(client, options), checkpoint)
    assert len(checkpoint.sink) == 1
    assert_balanced(client, options.queue)


def test_what_was_taken_and_not_written_down_is_taken_again(
    client: Client, options: QueueOptions
) -> None:
    checkpoint = Checkpoint()
    run(a_taker(client, options), checkpoint)
    client.put_many(options.queue, [("a", 1), ("b", 2), ("c", 3)])
    start = Offset.of(json.loads(checkpoint.offsets[-1]))
    lost = a_taker(client, options).next(start, 4)
    assert client.queue(options.queue).waiting == 0
    assert a_taker(client, options).next(start, 4) == lost


def test_asked_again_before_a_batch_is_used_it_is_the_same(
    client: Client, options: QueueOptions
) -> None:
    client.put_many(options.queue, [("a", 1)])
    taker = a_taker(client, options)
    first = taker.next(taker.initial(), 4)
    assert first.batch == 1
    assert taker.next(taker.initial(), 4) == first


def test_nothing_waiting_is_no_batch(client: Client, options: QueueOptions) -> None:
    taker = a_taker(client, options)
    assert taker.next(taker.initial(), 4) == taker.initial()
    assert client.statistics(options.queue).dequeued == 0


def test_what_others_have_in_hand_makes_one_empty_batch_at_most(
    client: Client, options: QueueOptions
) -> None:
    checkpoint = Checkpoint()
    run(a_taker(client, options), checkpoint)
    client.put_many(options.queue, [("a", 1)])
    client.dequeue(options.queue)
    run(a_taker(client, options), checkpoint)
    assert len(checkpoint.sink) == 2
    assert checkpoint.newest() == {}


def test_a_batch_has_at_most_so_many_updates_in_several_answers(
    client: Client, options: QueueOptions
) -> None:
    client.put_many(options.queue, [(f"k{number}", number) for number in range(10)])
    taker, checkpoint = a_taker(client, options), Checkpoint()
    run(taker, checkpoint)
    assert [len(rows) for rows in checkpoint.sink.values()] == [4, 4, 2]
    offset = Offset.of(json.loads(checkpoint.offsets[0]))
    assert (offset.answers, offset.limit) == (2, 2)


def test_all_that_waits_is_one_batch_if_so_asked(client: Client, options: QueueOptions) -> None:
    client.put_many(options.queue, [(f"k{number}", number) for number in range(10)])
    checkpoint = Checkpoint()
    run(a_taker(client, options), checkpoint, most=None)
    assert [len(rows) for rows in checkpoint.sink.values()] == [10]


def test_told_to_stop_after_what_waits_it_stops(client: Client, options: QueueOptions) -> None:
    client.put_many(options.queue, [(f"k{number}", number) for number in range(6)])
    taker, checkpoint = a_taker(client, options), Checkpoint()
    taker.stop_after_what_waits()
    run(taker, checkpoint, batches=1)
    client.put_many(options.queue, [(f"late{number}", number) for number in range(6)])
    run(taker, checkpoint)
    assert [len(rows) for rows in checkpoint.sink.values()] == [4, 2]
    assert client.queue(options.queue).waiting == 6


def test_what_was_taken_before_a_kill_is_not_counted_among_what_waits(
    client: Client, options: QueueOptions
) -> None:
    checkpoint = Checkpoint()
    run(a_taker(client, options), checkpoint)
    client.put_many(options.queue, [(f"k{number}", number) for number in range(10)])
    start = Offset.of(json.loads(checkpoint.offsets[-1]))
    a_taker(client, options).next(start, 4)
    taker = a_taker(client, options)
    taker.stop_after_what_waits()
    run(taker, checkpoint)
    assert [len(rows) for rows in checkpoint.sink.values()] == [0, 4, 4, 2]
    assert_balanced(client, options.queue)


def test_a_query_may_go_on_with_other_sizes(client: Client, options: QueueOptions) -> None:
    client.put_many(options.queue, [(f"k{number}", number) for number in range(10)])
    checkpoint = Checkpoint()
    taker = a_taker(client, options)
    checkpoint.offsets.append(json.dumps(taker.next(taker.initial(), 4).as_dict()))
    larger = QueueOptions(options.address, options.queue, max_updates=100)
    run(a_taker(client, larger), checkpoint, most=100)
    assert [len(rows) for rows in checkpoint.sink.values()] == [4, 6]
    assert checkpoint.newest() == {f"k{number}": number for number in range(10)}
    assert_balanced(client, options.queue)


def test_what_was_taken_in_other_sizes_and_not_written_down_is_no_obstacle(
    client: Client, options: QueueOptions
) -> None:
    checkpoint = Checkpoint()
    run(a_taker(client, options), checkpoint)
    client.put_many(options.queue, [(f"k{number}", number) for number in range(10)])
    a_taker(client, options).next(Offset.of(json.loads(checkpoint.offsets[-1])), 4)
    larger = QueueOptions(options.address, options.queue, max_updates=100)
    run(a_taker(client, larger), checkpoint, most=100)
    assert len(checkpoint.newest()) == 6
    assert client.queue(options.queue).in_process == 4, "until the service forgets their keys"


def test_a_queue_without_leases_is_refused(client: Client, url: str, name: str) -> None:
    client.create_queue(name)
    taker = a_taker(client, QueueOptions(Address(url), name))
    with pytest.raises(QueueUnfitError, match=r"has no leases.*lease_seconds=60"):
        taker.next(taker.initial(), 4)


def test_a_queue_of_another_stream_is_refused(client: Client, options: QueueOptions) -> None:
    other = QueueOptions(options.address, options.queue, stream="another")
    with pytest.raises(QueueUnfitError, match="not to 'another'"):
        a_taker(client, other).stop_after_what_waits()


@pytest.fixture(scope="module")
def forgetful() -> Iterator[str]:
    """Return where a service listens that remembers a key for a second and keeps one answer."""
    environment = {"UPSTREAM_IDEMPOTENCY_SECONDS": "1", "UPSTREAM_IDEMPOTENCY_BYTES": "0"}
    with running(environment=environment) as server:
        yield server.url


def test_what_the_service_has_forgotten_comes_again(forgetful: str) -> None:
    options = QueueOptions(Address(forgetful), "forgotten", max_updates=4)
    with Client(forgetful) as client:
        client.create_queue("forgotten", lease_seconds=0.2)
        client.put_many("forgotten", [("a", 1), ("b", 2)])
        checkpoint = Checkpoint()
        taker = a_taker(client, options)
        checkpoint.offsets.append(json.dumps(taker.next(taker.initial(), 4).as_dict()))
        while client.queue("forgotten").waiting == 0:
            time.sleep(0.1)
        client.put_many("forgotten", [("a", 3)])
        run(a_taker(client, options), checkpoint)
        assert checkpoint.newest() == {"a": 3, "b": 2}
        counts = client.statistics("forgotten")
        assert (counts.waiting, counts.in_process, counts.returned) == (0, 0, 2)
        assert counts.delivered == 2, "the leases of the repeated batch were delivered"


def test_a_batch_whose_answers_were_not_kept_is_refused_and_not_lost(forgetful: str) -> None:
    options = QueueOptions(Address(forgetful), "large", max_updates=2, partitions=2)
    with Client(forgetful) as client:
        client.create_queue("large", lease_seconds=0.2)
        client.put_many("large", [("a", 1), ("b", 2)])
        checkpoint = Checkpoint()
        taker = a_taker(client, options)
        checkpoint.offsets.append(json.dumps(taker.next(taker.initial(), 4).as_dict()))
        with pytest.raises(BatchLostError, match="batch 1 of queue 'large' at http"):
            run(a_taker(client, options), checkpoint)
        time.sleep(1.5)
        run(a_taker(client, options), checkpoint)
        assert checkpoint.newest() == {"a": 1, "b": 2}
