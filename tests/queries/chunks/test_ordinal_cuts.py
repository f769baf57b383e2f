"""Batches are divided into numbered chunks as by a loop that takes row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from math import isnan
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.interrupted import interrupt_everywhere
from upstream.queries.chunks import ordinal_cuts
from upstream.queries.chunks.ordinal_cuts import (
    ByCount,
    ByObject,
    ByPunctuation,
    Division,
    LastRows,
    OrdinalCut,
    OrdinalCuts,
)

SCHEMA = pa.schema(
    [("id", pa.int64()), ("mark", pa.string()), ("x", pa.float64()), ("t", pa.string())]
)
NAN = float("nan")


class Row(NamedTuple):
    """A row: its number, what the condition is for it, and the columns of an object."""

    id: int
    mark: str
    x: float | None
    t: str | None


def table(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist([row._asdict() for row in rows], SCHEMA)


def last_rows(rows: pa.Table) -> LastRows:
    """Find rows that are marked as the last of their chunk, and as failing."""
    marks = np.array(rows["mark"].to_pylist())
    failed = marks == "fails"
    return LastRows(marks == "last", failed, "it fails" if failed.any() else None)


class Model:
    """Which chunk a row belongs to; `ends_before` and `ends_after` tell where chunks end."""

    def __init__(
        self,
        *,
        ends_before: Callable[[Row, Row], bool] = lambda _last, _row: False,
        ends_after: Callable[[int, Row], bool] = lambda _count, _row: False,
        fails: Callable[[Row], bool] = lambda _: False,
    ) -> None:
        self.open = 0
        self.rows: list[Row] = []
        """The rows of the open chunk."""
        self._ends_before = ends_before
        self._ends_after = ends_after
        self._fails = fails

    def add(self, rows: Sequence[Row], at_least: int) -> tuple[dict[int, list[int]], Counter[int]]:
        """Return the numbers of the rows by chunk, and how many failed by chunk."""
        self.begin(at_least)
        chunks: dict[int, list[int]] = {}
        failed = Counter[int]()
        for row in rows:
            if self._fails(row):
                failed[self.open] += 1
                continue
            if self.rows and self._ends_before(self.rows[-1], row):
                self.end(0)
            chunks.setdefault(self.open, []).append(row.id)
            self.rows.append(row)
            if self._ends_after(len(self.rows), row):
                self.end(0)
        return chunks, failed

    def begin(self, at_least: int) -> None:
        if at_least > self.open:
            self.open, self.rows = at_least, []

    def end(self, at_least: int) -> int:
        self.begin(at_least)
        self.open, self.rows = self.open + 1, []
        return self.open


def same(value: float | str | None) -> object:
    """Return a value that is equal for values of one object."""
    return "NaN" if isinstance(value, float) and isnan(value) else value


KINDS: dict[str, tuple[Callable[[], Division], Callable[[], Model]]] = {
    "one row": (
        lambda: ByCount(1),
        lambda: Model(ends_after=lambda _count, _row: True),
    ),
    "three rows": (
        lambda: ByCount(3),
        lambda: Model(ends_after=lambda count, _: count == 3),
    ),
    "a number": (
        lambda: ByObject(("x",)),
        lambda: Model(ends_before=lambda last, row: same(last.x) != same(row.x)),
    ),
    "a number and a text": (
        lambda: ByObject(("x", "t")),
        lambda: Model(ends_before=lambda last, row: (same(last.x), last.t) != (same(row.x), row.t)),
    ),
    "a condition": (
        lambda: ByPunctuation(last_rows),
        lambda: Model(
            ends_after=lambda _, row: row.mark == "last", fails=lambda row: row.mark == "fails"
        ),
    ),
}
every_kind = pytest.mark.parametrize("kind", KINDS)

rows_of_batches = st.lists(
    st.tuples(
        st.sampled_from(["", "", "", "last", "fails"]),
        st.sampled_from([None, NAN, 0.0, -0.0, 1.0]),
        st.sampled_from([None, "", "a"]),
        st.integers(1, 3),
    ),
    max_size=8,
).map(lambda rows: [row[:3] for row in rows for _ in range(row[3])])
steps = st.lists(
    st.tuples(st.none() | rows_of_batches, st.sampled_from([0, 0, 0, 1, 2, 4])), max_size=8
)


@every_kind
@given(steps=steps, pieces_of=st.integers(1, 3))
def test_a_batch_is_divided_as_if_its_rows_came_one_by_one(
    kind: str,
    steps: list[tuple[list[tuple[str, float | None, str | None]] | None, int]],
    pieces_of: int,
) -> None:
    make, model_of = KINDS[kind]
    cuts, model = OrdinalCuts(make()), model_of()
    came = 0
    for given_rows, ahead in steps:
        at_least = max(0, cuts.open + ahead - 1)
        if given_rows is None:
            assert cuts.end(at_least) == model.end(at_least) == cuts.open
            continue
        rows = [Row(came + number, *row) for number, row in enumerate(given_rows)]
        came += len(rows)
        cut = cuts.cut(in_pieces(table(rows), pieces_of), at_least)
        by_chunk, failed = model.add(rows, at_least)
        assert ids(cut) == by_chunk
        assert (cut.failed, cut.left_out) == (tuple(sorted(failed.items())), failed.total())
        assert (cut.error is None) == (not failed)
        cuts.took(cut)
        assert (cuts.open, cuts.open_rows) == (cut.open, len(model.rows))
        assert cuts.open == model.open


def in_pieces(rows: pa.Table, size: int) -> pa.Table:
    """Return rows in Arrow chunks of this size, as slices of other rows."""
    around = pa.concat_tables([rows.slice(0, 1), rows, rows.slice(0, 1)]).combine_chunks()
    starts = range(0, rows.num_rows, size)
    parts = [around.slice(1 + at, min(size, rows.num_rows - at)) for at in starts]
    return pa.concat_tables(parts) if parts else rows


def ids(cut: OrdinalCut) -> dict[int, list[int]]:
    """Return the numbers of rows by chunk, whose pieces are in order and have rows."""
    chunks = [chunk for chunk, _ in cut.pieces]
    assert chunks == sorted(set(chunks))
    assert all(rows.num_rows and rows.schema.equals(SCHEMA) for _, rows in cut.pieces)
    return {chunk: rows["id"].to_pylist() for chunk, rows in cut.pieces}


def some_rows(*marks: str) -> pa.Table:
    return table([Row(i, mark, float(i // 2), "a") for i, mark in enumerate(marks)])


def as_told(cut: OrdinalCut) -> tuple[object, ...]:
    last = None if cut.chunk.last is None else cut.chunk.last.to_pylist()
    return ids(cut), cut.open, cut.chunk.rows, last, cut.failed, cut.error


@every_kind
@pytest.mark.parametrize("event", ["line", "c_call"])
def test_an_interrupted_cut_changes_nothing(kind: str, event: str) -> None:
    batch = some_rows("", "last", "fails", "")

    def make() -> OrdinalCuts:
        cuts = OrdinalCuts(KINDS[kind][0]())
        cuts.took(cuts.cut(some_rows("", "")))
        return cuts

    expected = as_told(make().cut(batch))

    def check(cuts: OrdinalCuts) -> None:
        assert as_told(cuts.cut(batch)) == expected

    moments = interrupt_everywhere(
        make, lambda cuts: cuts.cut(batch), check, event=event, files=ordinal_cuts.__file__
    )
    assert moments > 2


def test_a_cut_that_is_not_taken_changes_nothing() -> None:
    cuts = OrdinalCuts(ByCount(3))
    for _ in range(2):
        assert ids(cuts.cut(some_rows("", "", "", ""))) == {0: [0, 1, 2], 1: [3]}
        assert ids(cuts.cut(some_rows(""), at_least=2)) == {2: [0]}
    assert (cuts.open, cuts.open_rows) == (0, 0)


def test_a_chunk_has_rows_of_several_batches() -> None:
    cuts = OrdinalCuts(ByObject(("t",)))
    for _ in range(2):
        cut = cuts.cut(some_rows("", ""))
        assert (ids(cut), cut.open) == ({0: [0, 1]}, 0)
        cuts.took(cut)
    assert cuts.open_rows == 4


def test_a_chunk_that_was_ended_before_its_number_is_not_used_again() -> None:
    cuts = OrdinalCuts(ByCount(3))
    assert (cuts.end(), cuts.end()) == (1, 2)
    assert cuts.end(at_least=7) == 8
    assert list(ids(cuts.cut(some_rows("")))) == [8]


def test_a_batch_without_rows_can_begin_a_chunk() -> None:
    cuts = OrdinalCuts(ByCount(3))
    cuts.took(cuts.cut(some_rows("", "")))
    cut = cuts.cut(some_rows(), at_least=2)
    assert (cut.pieces, cut.open) == ([], 2)
    cuts.took(cut)
    assert (cuts.open, cuts.open_rows) == (2, 0)


def test_rows_that_all_fail_end_no_chunk() -> None:
    cuts = OrdinalCuts(ByPunctuation(last_rows))
    cuts.took(cuts.cut(some_rows("", "last", "")))
    cut = cuts.cut(some_rows("fails", "fails"))
    assert (cut.pieces, cut.open, cut.failed, cut.error) == ([], 1, ((1, 2),), "it fails")
    cuts.took(cut)
    assert cuts.open_rows == 1


def test_the_value_of_the_last_row_does_not_keep_its_batch_in_memory() -> None:
    cuts = OrdinalCuts(ByObject(("x", "t")))
    rows = pa.table(
        {"x": np.arange(100_000.0), "t": pa.array(["text"] * 100_000), "y": np.ones(100_000)}
    )
    cut = cuts.cut(rows)
    cuts.took(cut)
    assert cut.chunk.last is not None
    assert cut.chunk.last.to_pylist() == [{"x": 99_999.0, "t": "text"}]
    assert cut.chunk.last.get_total_buffer_size() < 100


VALUES: dict[pa.DataType, tuple[object, object]] = {
    pa.bool_(): (True, False),
    pa.int8(): (-1, 0),
    pa.int64(): (2**62, 2**62 + 1),
    pa.uint64(): (2**64 - 1, 2**64 - 2),
    pa.float32(): (NAN, 0.5),
    pa.decimal128(38, 2): (Decimal("1.00"), Decimal("1.01")),
    pa.timestamp("us"): (1, 2),
    pa.timestamp("us", "UTC"): (1, 2),
    pa.date32(): (1, 2),
    pa.time64("us"): (1, 2),
    pa.string(): ("a", "a\0"),
    pa.binary(): (b"a", b""),
}


@pytest.mark.parametrize("type_", VALUES, ids=str)
def test_values_of_every_type_are_compared_with_the_value_of_the_batch_before(
    type_: pa.DataType,
) -> None:
    one, other = VALUES[type_]
    cuts = OrdinalCuts(ByObject(("v",)))
    lengths: Counter[int] = Counter()
    for values in ([one], [one, one, other], [other, None], [None, one], [one]):
        cut = cuts.cut(pa.table({"v": pa.array(values, type_)}))
        lengths.update({chunk: rows.num_rows for chunk, rows in cut.pieces})
        cuts.took(cut)
    assert lengths == {0: 3, 1: 2, 2: 2, 3: 2}


def test_intervals_are_not_compared_since_a_month_equals_thirty_days_in_duckdb() -> None:
    months = pa.array([pa.MonthDayNano([1, 0, 0]), pa.MonthDayNano([0, 30, 0])])
    with pytest.raises(AssertionError, match="intervals"):
        OrdinalCuts(ByObject(("v",))).cut(pa.table({"v": months}))
