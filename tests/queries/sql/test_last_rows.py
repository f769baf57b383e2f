"""The condition of a punctuation is evaluated from left to right, and is never NULL."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.sql.last_rows import IS_LAST, ROW, ROWS, last_rows_query
from upstream.queries.sql.lending import run_once

TRUTHS = [True, False, None]
TABLE = pa.table(
    {
        "a": [a for a in TRUTHS for _ in range(9)],
        "b": [b for _ in TRUTHS for b in TRUTHS for _ in range(3)],
        "c": TRUTHS * 9,
        ROW: range(27),
    }
)

conditions = st.recursive(
    st.sampled_from(["a", "b", "c", "NOT a", "a IS NULL", "b = c", "(a OR b) = c", "NULL"]),
    lambda inner: (
        inner.map(lambda part: f"NOT ({part})")
        | st.lists(inner, min_size=2, max_size=3).flatmap(
            lambda parts: st.sampled_from([" AND ", " OR "]).map(
                lambda word: word.join(f"({part})" for part in parts)
            )
        )
    ),
    max_leaves=6,
)


@given(condition=conditions)
def test_the_rows_are_those_for_which_a_filter_holds(shared_duck: Duck, condition: str) -> None:
    found = run_once(shared_duck, last_rows_query(condition), {ROWS: TABLE})
    where = query_of(f"SELECT {ROW} FROM {ROWS} WHERE {condition}")
    kept = run_once(shared_duck, where, {ROWS: TABLE})
    last = found.filter(found[IS_LAST])
    assert sorted(last[ROW].to_pylist()) == sorted(kept[ROW].to_pylist())
    assert found[IS_LAST].null_count == 0


NOTES = pa.table({"note": ["", "7", "x", None], "n": [1, 0, 2, 3], ROW: range(4)})


@pytest.mark.parametrize(
    "condition",
    [
        "note IN ('', '7') AND note <> '' AND note::INT = 7",
        "NOT (note IS NULL OR note IN ('', 'x') OR note::INT <> 7)",
        "note = '7' OR note NOT IN ('', 'x') AND note::INT = 0",
    ],
)
def test_what_is_decided_on_the_left_is_not_evaluated_on_the_right(
    duck: Duck, condition: str
) -> None:
    found = run_once(duck, last_rows_query(condition), {ROWS: NOTES})
    assert found.filter(found[IS_LAST])[ROW].to_pylist() == [1]


def test_what_is_on_the_left_is_evaluated_first(duck: Duck) -> None:
    query = last_rows_query("note::INT = 7 AND note = '7'")
    with pytest.raises(DatabaseError, match="Could not convert string"):
        run_once(duck, query, {ROWS: NOTES})


def test_a_condition_has_any_number_of_parts(duck: Duck) -> None:
    for word, last in ((" OR ", [0, 1, 2, 3]), (" AND ", [])):
        condition = word.join(f"n = {number}" for number in range(2_000))
        found = run_once(duck, last_rows_query(condition), {ROWS: NOTES})
        assert found.filter(found[IS_LAST])[ROW].to_pylist() == last


@pytest.mark.parametrize("name", ["set", "reset", "comment", "call", "begin", "update", "user"])
def test_a_column_may_be_named_like_a_statement(duck: Duck, name: str) -> None:
    rows = pa.table({name: [1, 2], ROW: range(2)})
    found = run_once(duck, last_rows_query(f'"{name}" = 2'), {ROWS: rows})
    unquoted = name if name != "user" else f'"{name}"'  # in DuckDB, user is a function
    assert found == run_once(duck, last_rows_query(f"{unquoted} = 2"), {ROWS: rows})
    assert found[IS_LAST].to_pylist() == [False, True]
