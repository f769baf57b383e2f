"""Numbers by places, which are written after all of them are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from upstream.queries.partials.cells import Cells, PlacedPartial, ValueCounts, counts_in

if TYPE_CHECKING:
    from upstream.rows.arrow_words import Present

COUNTS = pa.table({"n": [2, 1]})


def placed(
    *places: int, known: int = 0, size: int = 4, sign: int = 1, table: pa.Table = COUNTS
) -> PlacedPartial:
    return PlacedPartial(table, np.array(places), known, size, sign)


def test_a_new_place_has_the_value_to_fill_in() -> None:
    cells = Cells(np.inf)
    assert cells.at(placed(1, 3)).tolist() == [np.inf, np.inf]
    cells.write(np.array([1, 3]), np.array([1.5, 2.5]))
    assert cells.at(placed(0, 3, 900, size=901)).tolist() == [np.inf, 2.5, np.inf]


def test_nothing_changes_before_it_is_written() -> None:
    cells = Cells(0)
    values = cells.integers_at(placed(0, 1))
    values += 1
    assert cells.of(2).tolist() == [0, 0]
    cells.write(np.array([0, 1]), values)
    assert cells.of(2).tolist() == [1, 1]


def test_values_that_were_given_out_do_not_change() -> None:
    cells = Cells(0, width=2)
    cells.at(placed(0, 1))
    for live in (2, np.array([0, 1])):
        before = cells.of(live)
        cells.write(np.array([0]), before[:1] + 1)
        assert (before[0] + 1).tolist() == cells.of(1)[0].tolist()


def test_values_are_loaded_as_a_copy() -> None:
    cells, values = Cells(0), np.array([1, 2])
    cells.load(values)
    values[0] = 9
    assert cells.of(2).tolist() == [1, 2]
    with pytest.raises(AssertionError):
        cells.load(np.array([1.5]))
    with pytest.raises(AssertionError):
        cells.load(np.array([[1, 2]]))


def write(counts: ValueCounts, partial: PlacedPartial, present: Present) -> None:
    for cells, values in counts.changed(partial, present):
        cells.write(partial.places, values)


def test_nothing_is_kept_until_there_is_a_null() -> None:
    counts = ValueCounts("x")
    write(counts, placed(0, 1, size=2), None)
    assert counts.cells is None
    assert counts.present(2) is None
    write(counts, placed(1, 2, known=2, size=3), np.array([False, False]))
    present = counts.present(3)
    assert present is not None
    assert present.tolist() == [True, True, False]
    write(counts, placed(2, 3, known=3, size=4), None)
    present = counts.present(4)
    assert present is not None
    assert present.tolist() == [True, True, True, True]


def test_a_null_that_was_not_written_leaves_all_values_present() -> None:
    counts = ValueCounts("x")
    write(counts, placed(0, 1, size=2), None)
    counts.changed(placed(1, 2, known=2, size=3), np.array([True, False]))
    present = counts.present(2)
    assert present is None or present.all()


def test_a_column_of_counts_tells_when_the_last_value_is_gone() -> None:
    counts = ValueCounts("x", "n")
    write(counts, placed(0, 1, size=2), None)
    write(counts, placed(1, 0, size=2, sign=-1, table=pa.table({"n": [1, 1]})), None)
    present = counts.present(2)
    assert present is not None
    assert present.tolist() == [True, False]


def test_no_more_values_are_taken_away_than_were_added() -> None:
    counts = ValueCounts("x", "n")
    write(counts, placed(0, 1, size=2), None)
    with pytest.raises(AssertionError, match="more values of x"):
        counts.changed(placed(1, 0, size=2, sign=-1), None)


def test_a_column_without_counts_has_no_nulls_if_anything_is_taken_away() -> None:
    counts = ValueCounts("x")
    write(counts, placed(0, 1, size=2), None)
    write(counts, placed(0, 1, size=2, sign=-1), None)
    with pytest.raises(AssertionError, match="not counted"):
        counts.changed(placed(0, 1, size=2, sign=-1), np.array([True, False]))


def test_counts_are_integers_without_nulls() -> None:
    assert counts_in(COUNTS, "n").tolist() == [2, 1]
    with pytest.raises(AssertionError):
        counts_in(pa.table({"n": [1, None]}), "n")
    with pytest.raises(AssertionError):
        counts_in(pa.table({"n": [1.5]}), "n")
