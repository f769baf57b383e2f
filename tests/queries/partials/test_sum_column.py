"""What columns of sums do, whatever their numbers are: on whole numbers they are all the same."""

from __future__ import annotations

from collections import deque

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.exact_sum import ExactSum
from upstream.queries.partials.live_rows import LiveRows
from upstream.queries.partials.subtracted_sum import SubtractedSum
from upstream.queries.partials.sum_column import SumColumn, SumPart

TYPES = [pa.int64(), pa.decimal128(38, 0), pa.float64()]
PARTS = st.lists(
    st.dictionaries(
        st.integers(0, 5), st.one_of(st.none(), st.integers(-9, 9)), min_size=1, max_size=5
    ),
    max_size=12,
)
Part = dict[int, int | None]


def column_of(type_: pa.DataType) -> SumColumn:
    return ExactSum(type_) if type_ == pa.float64() else SubtractedSum(type_)


def enter(column: SumColumn, live: LiveRows, type_: pa.DataType, part: Part) -> SumPart:
    values = column.read(pa.array(part.values(), pa.int64()).cast(type_))
    values.enter(live.enter(np.array(list(part))), live)
    return values


def sums_of(parts: list[Part]) -> dict[int, int | None]:
    places = {place for part in parts for place in part}
    known = {
        place: [part[place] for part in parts if part.get(place) is not None] for place in places
    }
    return {place: sum(filter(None, values)) if values else None for place, values in known.items()}


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_sums_are_those_of_the_parts_in_the_window(type_: pa.DataType) -> None:
    @given(PARTS, st.integers(1, 3))
    def check(parts: list[Part], window: int) -> None:
        column, live = column_of(type_), LiveRows()
        held = deque[tuple[Part, SumPart]]()
        for part in parts:
            held.append((part, enter(column, live, type_, part)))
            if len(held) > window:
                left, values = held.popleft()
                rows = live.leave(np.array(list(left)))
                values.leave(rows)
                moves = live.sweep(rows)
                if moves is not None:
                    column.move(moves)
            column._check(live)
            sums = column.column(live)
            assert sums is not None
            assert sums.type == type_
            found = dict(zip(live.places.tolist(), sums.to_pylist(), strict=True))
            assert found == sums_of([part for part, _ in held])

    check()


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_a_column_that_was_given_does_not_change(type_: pa.DataType) -> None:
    column, live = column_of(type_), LiveRows()
    enter(column, live, type_, {0: 1, 1: None})
    before = column.column(live)
    enter(column, live, type_, {0: 1, 1: 1})
    column.column(live)
    assert before is not None
    assert before.to_pylist() == [1, None]


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_when_everything_leaves_at_once_nothing_stays(type_: pa.DataType) -> None:
    column, live = column_of(type_), LiveRows()
    enter(column, live, type_, {0: 1, 1: None, 2: 3})
    column.clear()
    live.clear()
    enter(column, live, type_, {7: None, 8: 5})
    sums = column.column(live)
    assert sums is not None
    assert sums.to_pylist() == [None, 5]
