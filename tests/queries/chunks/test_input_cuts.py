"""Batches are cut by time, by arrival, by the numbers of rows, and by what the rows say."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from upstream.queries.chunks.cutter import Cut, Cutter
from upstream.queries.chunks.grid import EvenGrid
from upstream.queries.chunks.input_cuts import (
    ArrivalCuts,
    InputCuts,
    NumberCuts,
    OrderCuts,
    SourceCuts,
    cuts_along,
)
from upstream.queries.chunks.ordinal_cuts import ByCount, ByPunctuation, LastRows, OrdinalCuts
from upstream.queries.chunks.progress import Progress
from upstream.queries.sql.window_clause import Axis
from upstream.tables.log import Batch, Log

from .feed import DEFINITION, pieces

TEN = Cutter(EvenGrid(10))


def batch(*times: int, arrival: float = 0.0, first: int = 0) -> Batch:
    rows = pa.table({"time": times}, DEFINITION.schema)
    return Batch(rows, arrival, first, first + len(times), 0)


def progress(axis: Axis = Axis.SOURCE, newest: int | None = None) -> Progress:
    found = Progress(axis, None)
    found.newest = found.newest_row = newest
    return found


def cut_all(cuts: InputCuts, *batches: Sequence[int]) -> list[Cut]:
    found = []
    for times in batches:
        found.append(cuts.cut(batch(*times), None))
        cuts.took(found[-1])
    return found


def test_each_axis_has_its_cuts() -> None:
    reader = Log().reader()
    kinds = {Axis.SOURCE: SourceCuts, Axis.ARRIVAL: ArrivalCuts, Axis.ROWS: NumberCuts}
    for axis, kind in kinds.items():
        assert type(cuts_along(axis, DEFINITION, TEN, reader)) is kind


def test_the_chunk_of_the_newest_row_can_be_ended() -> None:
    cuts = SourceCuts(DEFINITION, TEN)
    assert cuts.end_of_open(progress()) is None
    assert cuts.end_of_open(progress(newest=23)) == 30
    assert cuts.end_of_open(progress(newest=30)) == 40
    silent = progress(newest=23)
    silent.newest = 55  # time had passed further already
    assert cuts.end_of_open(silent) == 55


def test_rows_are_cut_by_their_times_and_late_ones_are_counted() -> None:
    cut = SourceCuts(DEFINITION, TEN).cut(batch(12, 25, 14), 5)
    assert (pieces([cut]), cut.late) == ([(1, [12]), (2, [25])], 1)


def test_rows_that_arrive_together_are_in_one_chunk() -> None:
    cuts = ArrivalCuts(Cutter(EvenGrid(1_000_000)))
    assert pieces([cuts.cut(batch(70, 3, arrival=2.5), None)]) == [(2, [70, 3])]
    assert cuts.end_of_open(progress(Axis.ARRIVAL, 5)) is None


def test_rows_are_numbered_from_where_the_query_began() -> None:
    cuts = NumberCuts(Cutter(EvenGrid(2)), 7)
    assert pieces([cuts.cut(batch(1, 2, 3, first=8), None)]) == [(0, [1]), (1, [2, 3])]
    assert cuts.end_of_open(progress(Axis.ROWS, 5)) is None


def no_failure(chunk: int, count: int, error: str | None) -> None:
    raise AssertionError


def test_chunks_in_the_order_of_arrival_are_numbered_from_zero() -> None:
    cuts = OrderCuts(OrdinalCuts(ByCount(2)), no_failure)
    first, second = cut_all(cuts, [1, 2, 3], [4])
    assert pieces([first, second]) == [(0, [1, 2]), (1, [3]), (1, [4])]
    assert (first.progress, first.oldest, first.newest, second.progress) == (1, 0, 1, 2)
    assert cuts.end_of_open(progress(Axis.ORDINAL, 2)) == 3  # a chunk without rows ends as well


def test_an_input_that_comes_back_goes_on_at_the_open_epoch() -> None:
    cuts = OrderCuts(OrdinalCuts(ByCount(3)), no_failure)
    cut_all(cuts, [1])
    cut = cuts.cut(batch(2, 3), 5)
    assert pieces([cut]) == [(5, [2, 3])]
    assert pieces([cuts.cut(batch(2), None)]) == [(0, [2])]  # nothing has changed until `took`


def test_rows_on_which_a_condition_fails_are_noted_when_the_batch_is_taken() -> None:
    def find(rows: pa.Table) -> LastRows:
        times = rows["time"].to_numpy()
        return LastRows(times == 0, times < 0, "negative")

    failures: list[tuple[int, int, str | None]] = []
    cuts = OrderCuts(OrdinalCuts(ByPunctuation(find)), lambda *each: failures.append(each))
    cut = cuts.cut(batch(1, -1, 0, -2, -3), None)
    assert (pieces([cut]), failures) == ([(0, [1, 0])], [])
    cuts.took(cut)
    assert failures == [(0, 1, "negative"), (1, 2, "negative")]


def test_a_batch_without_pieces_tells_which_chunk_is_open() -> None:
    def find(rows: pa.Table) -> LastRows:
        return LastRows(rows["time"].to_numpy() == 0, rows["time"].to_numpy() < 0, "negative")

    cuts = OrderCuts(OrdinalCuts(ByPunctuation(find)), lambda *_: None)
    cut = cuts.cut(batch(-1), 4)
    assert (cut.pieces, cut.progress) == ([], 4)
