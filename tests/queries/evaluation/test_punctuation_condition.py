"""The rows that end their chunk are found by DuckDB; those that fail are told apart."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.chunks.ordinal_cuts import ByPunctuation, OrdinalCuts
from upstream.queries.evaluation.punctuation_condition import PunctuationCondition

SCHEMA = pa.schema([("k", pa.string()), ("Note", pa.string())])


def rows(*notes: str | None) -> pa.Table:
    return pa.table({"k": ["a"] * len(notes), "Note": pa.array(notes, pa.string())}, SCHEMA)


def test_rows_are_last_where_the_condition_is_true(duck: Duck) -> None:
    find = PunctuationCondition("note = 'end'", SCHEMA, duck)
    for _ in range(3):  # the statement is prepared when it runs again
        is_last, failed, error = find(rows("end", "", None, "end"))
        assert (is_last.tolist(), failed, error) == ([True, False, False, True], None, None)
    assert find(rows()).is_last.tolist() == []


def test_rows_on_which_it_fails_are_not_last_and_are_told(duck: Duck) -> None:
    find = PunctuationCondition("note::INT = 7", SCHEMA, duck)
    is_last, failed, error = find(rows("x", "7", "1", None, "y", "7", "z"))
    assert is_last.tolist() == [False, True, False, False, False, True, False]
    assert failed is not None
    assert failed.tolist() == [True, False, False, False, True, False, True]
    assert error is not None
    assert "Could not convert string" in error


def test_rows_that_fail_are_left_out_of_the_chunk_in_which_they_came(duck: Duck) -> None:
    cuts = OrdinalCuts(ByPunctuation(PunctuationCondition("note::INT = 0", SCHEMA, duck)))
    cut = cuts.cut(rows("1", "x", "0", "y", "z", "2"))
    pieces = [(chunk, piece["Note"].to_pylist()) for chunk, piece in cut.pieces]
    assert pieces == [(0, ["1", "0"]), (1, ["2"])]
    assert (cut.open, cut.left_out, cut.failed) == (1, 3, ((0, 1), (1, 2)))


@pytest.mark.parametrize("setting", ["SET preserve_insertion_order = false", "SET threads = 4"])
def test_the_order_in_which_duckdb_returns_rows_does_not_matter(duck: Duck, setting: str) -> None:
    duck.rows(setting)
    find = PunctuationCondition("note = '7'", SCHEMA, duck)
    notes = [str(number % 1_000) for number in range(300_000)]
    assert find(rows(*notes)).is_last.nonzero()[0].tolist() == list(range(7, 300_000, 1_000))


def test_a_closed_condition_lends_nothing(duck: Duck) -> None:
    find = PunctuationCondition("note = 'end'", SCHEMA, duck)
    find(rows("end"))
    find(rows("end"))
    find.close()
    assert duck.rows("FROM duckdb_prepared_statements()") == []
