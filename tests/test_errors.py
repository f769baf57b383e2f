"""Exceptions survive the way to another process; each is tested for itself where it is raised."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable

import pytest

from upstream import (
    BytesCodec,
    InPlaceScheduler,
    OnDemandMemory,
    PagePool,
    StorageManager,
    Update,
    UpdateQueue,
    UpStreamError,
    make_queue,
)


def enqueue_when_closed(queue: UpdateQueue) -> None:
    queue.close()
    queue.enqueue("A", 1)


RAISED: dict[str, Callable[[UpdateQueue], object]] = {
    "key": lambda queue: queue.enqueue([], 1),  # type: ignore[arg-type]  # that is the mistake
    "time": lambda queue: queue.enqueue("A", 1, math.nan),
    "lengths": lambda queue: queue.enqueue_many(["A"], []),
    "column": lambda queue: queue.enqueue_many("A", [1]),
    "delivery": lambda queue: queue.deliver(Update("A", 1, 0.0)),
    "unknown key": lambda queue: queue.forget("A"),
    "attachment": lambda queue: queue.stream.detach(UpdateQueue(InPlaceScheduler())),
    "closed": enqueue_when_closed,
    "policy": lambda _: make_queue("fastest"),
    "cost": lambda _: make_queue(processing_cost=-1.0),
    "name": lambda _: StorageManager().queue("none"),
    "codec": lambda _: BytesCodec().encode(1),
    "length": lambda _: OnDemandMemory(PagePool(4096)).allocate(bytes(5000), 0.0),
}


@pytest.mark.parametrize("cause", RAISED.values(), ids=RAISED)
def test_an_exception_is_the_same_in_another_process(
    cause: Callable[[UpdateQueue], object],
) -> None:
    with pytest.raises(UpStreamError) as raised:
        cause(UpdateQueue(InPlaceScheduler()))
    error = raised.value
    pickled = pickle.loads(pickle.dumps(error))  # noqa: S301 - made just now
    for again in (pickled, copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert repr(vars(again)) == repr(vars(error))
