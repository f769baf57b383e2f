"""Queries tried out on empty relations."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.names import STEP

from ..parsed import query_of


@pytest.fixture
def trial(duck: Duck) -> Trial:
    return Trial(duck, {"chunk_0": pa.schema([("x", pa.int32()), ("g", pa.string())])})


def test_the_shape_of_a_result_has_types_of_duckdb_and_of_arrow(trial: Trial) -> None:
    shape = trial.shape(query_of("SELECT g, sum(x), g FROM chunk_0 GROUP BY g"))
    assert shape.names == ("g", "sum(x)", "g")
    assert shape.types == ("VARCHAR", "HUGEINT", "VARCHAR")
    assert shape.schema.types == [pa.string(), pa.decimal128(38, 0), pa.string()]


def test_duckdbs_errors_are_raised_as_they_are(trial: Trial) -> None:
    with pytest.raises(DatabaseError):
        trial.shape(query_of("SELECT y FROM chunk_0"))


def test_chunks_can_have_steps(trial: Trial) -> None:
    assert trial.with_steps().shape(query_of("SELECT * FROM chunk_0")).names == ("x", "g", STEP)


def test_bounds_of_windows_have_no_steps(trial: Trial) -> None:
    with_bounds = trial.lending({"bounds_0": pa.schema([("window_end", pa.int64())])})
    found = with_bounds.with_steps().shape(query_of("SELECT * FROM chunk_0, bounds_0"))
    assert found.names == ("x", "g", STEP, "window_end")


def test_more_relations_can_be_lent(trial: Trial) -> None:
    lending = trial.lending({"merged_0": pa.schema([("y", pa.float64())])})
    assert lending.shape(query_of("SELECT y, x FROM merged_0, chunk_0")).types == (
        "DOUBLE",
        "INTEGER",
    )
