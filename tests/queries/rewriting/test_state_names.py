"""What the user wrote for the columns of partials."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

from upstream.database.duck import Duck
from upstream.queries.rewriting.split import split
from upstream.queries.rewriting.state_names import state_names
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

SCHEMA = pa.schema([("k", pa.string()), ("x", pa.int64())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT k, max(x) AS most FROM chunk_0 GROUP BY k",
            {"__g0": "k", "__s0": "max(x)"},
        ),
        ("SELECT avg(x) AS mean FROM chunk_0", {}),
        (
            "SELECT m, n FROM (SELECT max(x) AS m FROM chunk_0), (SELECT min(x) AS n FROM chunk_1)",
            {},
        ),
    ],
    ids=["as written", "states that nobody wrote", "one name for two things"],
)
def test_a_column_has_the_words_of_the_query(
    text: str, expected: dict[str, str], duck: Duck
) -> None:
    query = parse_one(text, dialect="duckdb")
    assert isinstance(query, exp.Query)
    schemas = {"chunk_0": SCHEMA, "chunk_1": SCHEMA}
    assert state_names(split(query, (WINDOW, WINDOW), schemas, duck)) == expected
