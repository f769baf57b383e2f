"""Batches are taken from a real service as Spark does it, kills included."""

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


@dataclass
class Query:
    """A query with its checkpoint. Each run is a process of its own unless a taker is given."""

    client: Client
    options: QueueOptions
    checkpoint: Checkpoint = field(default_factory=Checkpoint)

    def taker(self) -> BatchTaker:
        queue = ServiceQueue(self.client, self.options.address.url, self.options.queue)
        return BatchTaker(queue, self.options)

    def put(self, keys: int, *, prefix: str = "k") -> None:
        updates = [(f"{prefix}{number}", number) for number in range(keys)]
        self.client.put_many(self.options.queue, updates)

    def take_and_write_down(self) -> None:
        """Take a batch and write its end to the checkpoint, and no more."""
        taker = self.taker()
        self.checkpoint.offsets.append(json.dumps(taker.next(taker.initial(), 4).as_dict()))

    def last_offset(self) -> Offset:
        return Offset.of(json.loads(self.checkpoint.offsets[-1]))

    def sizes(self) -> list[int]:
        return [len(rows) for rows in self.checkpoint.sink.values()]

    def run(
        self,
        taker: BatchTaker | None = None,
        *,
        batches: int = 1_000,
        most: int | None = 4,
        random: Random | None = None,
        risk: float = 0.0,
    ) -> None:
        """Do what Spark does for some batches, or until none waits; a kill has this risk."""
        taker, checkpoint = taker or self.taker(), self.checkpoint

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
            offset = self.last_offset()
            answers = taker.answers(offset) if offset.batch else []
            survive()
            checkpoint.write(number, rows_of(answers))
            survive()
            checkpoint.done += 1
            survive()

    def assert_balanced(self) -> None:
        """Assert that every arrival was dequeued or superseded once, and is delivered."""
        counts = self.client.statistics(self.options.queue)
        assert (counts.waiting, counts.in_process, counts.returned) == (0, 0, 0)
        assert counts.arrived == counts.dequeued + counts.superseded
        assert counts.delivered == counts.dequeued


@pytest.fixture
def query(client: Client, url: str, name: str) -> Query:
    """Return a query over a queue with leases, which the stream of the same name feeds."""
    client.create_queue(name, lease_seconds=60)
    return Query(client, QueueOptions(Address(url), name, max_updates=4, partitions=2))


@pytest.mark.parametrize("seed", range(8))
def test_kills_at_any_point_neither_lose_nor_repeat_updates(query: Query, seed: int) -> None:
    random = Random(seed)
    sent: Rows = {}
    query.run()  # so that its name is in the checkpoint
    kills = 0
    for _ in range(12):
        updates = {f"key-{random.randrange(9)}": random.random() for _ in range(6)}
        query.client.put_many(query.options.queue, list(updates.items()))
        sent |= updates
        try:
            query.run(random=random, risk=0.15)
        except KilledError:
            kills += 1
    query.run()
    assert kills > 3
    assert query.checkpoint.newest() == sent
    assert sum(query.sizes()) == query.client.statistics(query.options.queue).dequeued
    query.assert_balanced()


def test_a_batch_is_delivered_when_the_next_one_is_requested(query: Query) -> None:
    query.put(2)
    taker = query.taker()
    query.run(taker, batches=1)
    assert query.client.queue(query.options.queue).in_process == 2
    query.run(taker, batches=1)
    assert query.client.queue(query.options.queue).in_process == 0
    assert query.checkpoint.sink == {0: {"k0": 0, "k1": 1}}


def test_a_finished_batch_is_delivered_by_the_next_process(query: Query) -> None:
    query.put(2)
    query.run(batches=1)
    query.run()
    assert query.sizes() == [2]
    query.assert_balanced()


def test_a_batch_that_was_not_written_down_is_taken_again(query: Query) -> None:
    query.run()
    query.put(3)
    start = query.last_offset()
    lost = query.taker().next(start, 4)
    assert query.client.queue(query.options.queue).waiting == 0
    assert query.taker().next(start, 4) == lost


def test_a_batch_that_is_not_used_yet_is_returned_again(query: Query) -> None:
    query.put(1)
    taker = query.taker()
    first = taker.next(taker.initial(), 4)
    assert first.batch == 1
    assert taker.next(taker.initial(), 4) == first


def test_there_is_no_batch_if_no_update_waits(query: Query) -> None:
    taker = query.taker()
    assert taker.next(taker.initial(), 4) == taker.initial()
    assert query.client.statistics(query.options.queue).dequeued == 0


def test_updates_that_others_process_cause_at_most_one_empty_batch(query: Query) -> None:
    query.run()
    query.put(1)
    query.client.dequeue(query.options.queue)
    query.run()
    assert query.sizes() == [0, 0]


def test_a_batch_is_bounded_and_consists_of_several_answers(query: Query) -> None:
    query.put(10)
    query.run()
    assert query.sizes() == [4, 4, 2]
    offset = Offset.of(json.loads(query.checkpoint.offsets[0]))
    assert (offset.answers, offset.limit) == (2, 2)


def test_without_a_bound_one_batch_has_all_waiting_updates(query: Query) -> None:
    query.put(10)
    query.run(most=None)
    assert query.sizes() == [10]


def test_a_query_may_end_with_the_updates_that_wait_now(query: Query) -> None:
    query.put(6)
    taker = query.taker()
    taker.stop_after_what_waits()
    query.run(taker, batches=1)
    query.put(6, prefix="late")
    query.run(taker)
    assert query.sizes() == [4, 2]
    assert query.client.queue(query.options.queue).waiting == 6


def test_updates_taken_before_a_kill_do_not_count_as_waiting(query: Query) -> None:
    query.run()
    query.put(10)
    query.taker().next(query.last_offset(), 4)
    taker = query.taker()
    taker.stop_after_what_waits()
    query.run(taker)
    assert query.sizes() == [0, 4, 4, 2]
    query.assert_balanced()


def test_a_query_may_continue_with_other_sizes(query: Query) -> None:
    query.put(10)
    query.take_and_write_down()
    query.options = QueueOptions(query.options.address, query.options.queue, max_updates=100)
    query.run(most=100)
    assert query.sizes() == [4, 6]
    assert query.checkpoint.newest() == {f"k{number}": number for number in range(10)}
    query.assert_balanced()


def test_a_batch_of_another_size_that_was_not_written_down_is_no_obstacle(query: Query) -> None:
    query.run()
    query.put(10)
    query.taker().next(query.last_offset(), 4)
    query.options = QueueOptions(query.options.address, query.options.queue, max_updates=100)
    query.run(most=100)
    assert len(query.checkpoint.newest()) == 6
    in_process = query.client.queue(query.options.queue).in_process
    assert in_process == 4, "until the service forgets their keys"


def test_a_queue_without_leases_is_refused(client: Client, url: str, name: str) -> None:
    client.create_queue(name)
    taker = Query(client, QueueOptions(Address(url), name)).taker()
    with pytest.raises(QueueUnfitError, match=r"has no leases.*lease_seconds=60"):
        taker.next(taker.initial(), 4)


def test_a_queue_of_another_stream_is_refused(query: Query) -> None:
    query.options = QueueOptions(query.options.address, query.options.queue, stream="another")
    with pytest.raises(QueueUnfitError, match="not to 'another'"):
        query.taker().stop_after_what_waits()


@pytest.fixture(scope="module")
def forgetful() -> Iterator[str]:
    """Return the address of a service that remembers a key for a second and keeps one answer."""
    environment = {"UPSTREAM_IDEMPOTENCY_SECONDS": "1", "UPSTREAM_IDEMPOTENCY_BYTES": "0"}
    with running(environment=environment) as server:
        yield server.url


def test_a_batch_that_the_service_has_forgotten_arrives_again(forgetful: str) -> None:
    with Client(forgetful) as client:
        client.create_queue("forgotten", lease_seconds=0.2)
        query = Query(client, QueueOptions(Address(forgetful), "forgotten", max_updates=4))
        query.put(2)
        query.take_and_write_down()
        while client.queue("forgotten").waiting == 0:
            time.sleep(0.1)
        client.put_many("forgotten", [("k0", 3)])
        query.run()
        assert query.checkpoint.newest() == {"k0": 3, "k1": 1}
        counts = client.statistics("forgotten")
        assert (counts.waiting, counts.in_process, counts.returned) == (0, 0, 2)
        assert counts.delivered == 2, "the leases of the repeated batch were delivered"


def test_a_batch_without_kept_answers_is_refused_and_not_lost(forgetful: str) -> None:
    options = QueueOptions(Address(forgetful), "large", max_updates=2, partitions=2)
    with Client(forgetful) as client:
        client.create_queue("large", lease_seconds=0.2)
        query = Query(client, options)
        query.put(2)
        query.take_and_write_down()
        with pytest.raises(BatchLostError, match="batch 1 of queue 'large' at http"):
            query.run()
        time.sleep(1.5)
        query.run()
        assert query.checkpoint.newest() == {"k0": 0, "k1": 1}
