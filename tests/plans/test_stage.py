"""An operator works on all that waits for it."""

from __future__ import annotations

from collections.abc import Sequence

from upstream import Update
from upstream.plans import Arc, Source
from upstream.plans.arc_queue import TupleArc
from upstream.plans.stage import Stage, Work, tuple_stage

from .setting import Streams, values_of


class Recorded(Work[Update]):
    """Passes on what comes from its first arc."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[tuple[int, object]]] = []

    def process(self, batch: Sequence[tuple[int, Update]]) -> list[Update]:
        self.batches.append([(number, update.value) for number, update in batch])
        passed = [update for number, update in batch if number == 0]
        self.tally.filtered += len(batch) - len(passed)
        return passed


def stage_of(streams: Streams, work: Recorded) -> Stage[Update]:
    arcs = [Arc(Source(streams.left)), Arc(Source(streams.right))]
    stage = tuple_stage(work, arcs, ["append", "append"], streams.clock)
    stage.output = TupleArc("append", streams.clock)
    return stage


def fill(stage: Stage[Update]) -> None:
    for number, arc in enumerate(stage.arcs):
        for value in range(3):
            arc.put(Update("IBM", 10 * number + value, float(value)))


def test_it_takes_all_that_waits_on_any_arc_and_puts_on_what_is_made() -> None:
    work = Recorded()
    stage = stage_of(Streams(), work)
    fill(stage)
    stage.run(1)
    assert work.batches == [[(0, 0), (0, 1), (0, 2), (1, 10), (1, 11), (1, 12)]]
    # this stage has an output
    assert values_of(stage.output.queue.snapshot()) == [0, 1, 2]  # type: ignore[union-attr]
    counted = stage.tally.statistics("recorded")
    assert (counted.taken, counted.delivered, counted.is_balanced) == (6, 3, True)


def test_it_takes_no_more_than_the_limit_from_an_arc_that_a_stream_feeds() -> None:
    streams, work = Streams(), Recorded()
    stage = stage_of(streams, work)
    stage.arcs[0].attach(streams.left, snapshot=False)
    fill(stage)
    stage.run(2)
    assert work.batches == [[(0, 0), (0, 1), (1, 10), (1, 11), (1, 12)]]


def test_it_does_nothing_where_nothing_waits() -> None:
    work = Recorded()
    stage = stage_of(Streams(), work)
    stage.run(1)
    assert work.batches == []
