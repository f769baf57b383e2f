"""The query over pairs leaves out the pairs on which it fails, if it is asked to."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.evaluation.over_pairs import OverPairs
from upstream.queries.rewriting.paired import paired
from upstream.queries.sql.names import PAIR

SCHEMA = pa.schema([("k", pa.int64()), ("note", pa.string())])
SQL = "SELECT x.note::BIGINT AS n, y.note AS m FROM chunk_0 x LEFT JOIN chunk_1 y ON x.k = y.k"
RESULT = pa.schema([("n", pa.int64()), ("m", pa.string())])


def over_pairs(duck: Duck) -> OverPairs:
    schemas = {0: SCHEMA, 1: SCHEMA}
    lent = {f"chunk_{number}": schema for number, schema in schemas.items()}
    return OverPairs(paired(query_of(SQL), (0, 1), lent, duck), schemas, duck, RESULT)


def rows(notes: list[str], pairs: list[int]) -> pa.Table:
    columns = {"k": pa.array([1] * len(notes), pa.int64()), "note": pa.array(notes, pa.string())}
    return pa.table({**columns, PAIR: pa.array(pairs, pa.int64())})


def test_rows_of_one_pair_meet_and_a_row_without_a_partner_stays(duck: Duck) -> None:
    tables = {0: rows(["1", "2", "3"], [0, 1, 2]), 1: rows(["a", "b"], [1, 0])}
    found = over_pairs(duck).run(tables).sort_by("n")
    assert found.to_pylist() == [{"n": 1, "m": "b"}, {"n": 2, "m": "a"}, {"n": 3, "m": None}]


def test_a_pair_that_fails_is_left_out_and_counted(duck: Duck) -> None:
    tables = {0: rows(["1", "x", "3", "y"], [0, 1, 2, 3]), 1: rows(["a", "b"], [1, 2])}
    query = over_pairs(duck)
    with pytest.raises(DatabaseError, match="Could not convert"):
        query.run(tables)
    table, spared = query.sparing(tables)
    assert table.sort_by("n").to_pylist() == [{"n": 1, "m": None}, {"n": 3, "m": "b"}]
    assert (table.schema, spared.rows_failed) == (RESULT, 2)
    assert "could not convert" in (spared.error or "").lower()


def test_over_no_pairs_there_is_no_row(duck: Duck) -> None:
    query = over_pairs(duck)
    table, spared = query.sparing({0: rows([], []), 1: rows([], [])})
    assert (table.num_rows, table.schema, spared.rows_failed) == (0, RESULT, 0)
    query.close()
