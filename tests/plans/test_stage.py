"""An operator processes everything that waits for it."""

from __future__ import annotations

from collections.abc import Sequence

from upstream import Update
from upstream.plans.arc_queue import TupleArc
from upstream.plans.stage import RowStage, Stage

from .setting import Streams, number_of, values_of


class Recorded(Stage[Update]):
    """Passes on what comes from its first arc."""

    def __init__(self, streams: Streams) -> None:
        super().__init__([TupleArc("append", streams.clock) for _ in range(2)])
        self.output = TupleArc("append", streams.clock)
        self.batches: list[list[tuple[int, object]]] = []

    def process(self, batch: Sequence[tuple[int, Update]]) -> list[Update]:
        self.batches.append([(number, update.value) for number, update in batch])
        passed = [update for number, update in batch if number == 0]
        self.tally.filtered += len(batch) - len(passed)
        return passed


def fill(stage: Stage[Update]) -> None:
    for number, arc in enumerate(stage.arcs):
        for value in range(3):
            arc.put(Update("IBM", 10 * number + value, float(value)))


def test_it_takes_all_that_waits_on_any_arc_and_puts_on_what_is_made() -> None:
    stage = Recorded(Streams())
    fill(stage)
    stage.run(1)
    assert stage.batches == [[(0, 0), (0, 1), (0, 2), (1, 10), (1, 11), (1, 12)]]
    # this stage has an output
    assert values_of(stage.output.queue.snapshot()) == [0, 1, 2]  # type: ignore[union-attr]
    counted = stage.tally.statistics("recorded")
    assert (counted.taken, counted.delivered, counted.is_balanced) == (6, 3, True)


def test_it_takes_no_more_than_the_limit_from_an_arc_that_a_stream_feeds(streams: Streams) -> None:
    stage = Recorded(streams)
    stage.arcs[0].attach(streams.left, snapshot=False)
    fill(stage)
    stage.run(2)
    assert stage.batches == [[(0, 0), (0, 1), (1, 10), (1, 11), (1, 12)]]


def test_it_does_nothing_where_nothing_waits() -> None:
    stage = Recorded(Streams())
    stage.run(1)
    assert stage.batches == []


def test_a_row_becomes_another_or_none_or_fails() -> None:
    def halved(update: Update) -> Update | None:
        number = number_of(update)
        return None if number % 2 else update._replace(value=number / 2)

    stage = RowStage(halved, [TupleArc("append", Streams().clock)])
    values = [2, 3, "two", 4]
    made = stage.process([(0, Update("IBM", value, 0.0)) for value in values])
    assert values_of(made) == [1, 2]
    assert (stage.tally.filtered, stage.tally.failed) == (1, 1)
