"""The first rows of each group since a landmark: kept by increments, and compared with a table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.queries.differential.comparison import difference
from tests.queries.setting import asked, held
from upstream import ContinuousQuery, Engine, ManualClock, UnboundedQueryError

SCHEMA = pa.schema(
    [
        pa.field("time", pa.int64()),
        pa.field("g", pa.string()),
        pa.field("x", pa.int64()),
        pa.field("y", pa.float64()),
    ]
)
FIRST = "row_number() OVER (PARTITION BY g ORDER BY x DESC, time)"
NUMBERED = f"(SELECT *, {FIRST} AS rn FROM stream)"

IN_ORDER = (
    "SELECT * FROM stream ORDER BY x DESC, y, time LIMIT 3 OFFSET 1",
    "SELECT * FROM stream ORDER BY y, g, time LIMIT 4",
    "SELECT * FROM stream ORDER BY y DESC NULLS LAST, time DESC LIMIT 4",
    "SELECT g, x FROM stream WHERE x > 0 ORDER BY ALL LIMIT 5",
    "SELECT * FROM stream LIMIT 4",
)
"""Queries whose results have an order."""
QUERIES = (
    *IN_ORDER,
    f"SELECT g, time FROM stream QUALIFY {FIRST} <= 3",
    f"SELECT *, {FIRST} AS rn FROM stream WHERE y IS NOT NULL QUALIFY rn < 3",
    f"SELECT *, {FIRST} AS rn FROM stream QUALIFY rn BETWEEN 2 AND 3 AND y > 0",
    "SELECT g, y FROM stream QUALIFY row_number() OVER (PARTITION BY g ORDER BY y) <= 2",
    "SELECT g, y FROM stream QUALIFY row_number() OVER (PARTITION BY g ORDER BY y DESC) = 1",
    """SELECT g, x, y FROM stream
    QUALIFY row_number() OVER (PARTITION BY g, x ORDER BY y NULLS FIRST) <= 2""",
    f"SELECT g, avg(x) AS x, count(*) AS n FROM {NUMBERED} WHERE rn <= 3 GROUP BY g",
    f"SELECT r.g, time, name FROM {NUMBERED} r JOIN names n ON r.g = n.g WHERE 2 >= rn AND y > 0",
    f"WITH r AS {NUMBERED} SELECT name, x FROM names n LEFT JOIN r ON n.g = r.g AND rn = 1",
    f"""WITH r AS {NUMBERED} SELECT a.time, b.time FROM r a JOIN r b ON a.g = b.g
    WHERE a.rn = 1 AND b.rn = 2""",
    """SELECT name, y FROM (SELECT name, y, row_number() OVER (PARTITION BY name ORDER BY y) AS rn
    FROM stream s JOIN names n ON s.g = n.g WHERE x > 0) WHERE rn <= 2""",
    "SELECT DISTINCT ON (g) g, x, time FROM stream ORDER BY g, x DESC, time",
    "SELECT DISTINCT ON (g) g, time FROM stream",
    "SELECT sum(x) AS x, count(*) AS n FROM (SELECT x FROM stream ORDER BY x DESC LIMIT 5)",
    """SELECT a.g, a.x, n FROM (SELECT g, x, row_number() OVER (PARTITION BY g ORDER BY x) AS rn
    FROM stream) a JOIN (SELECT g, count(*) AS n FROM stream GROUP BY g) USING (g) WHERE rn = 1""",
)
SETTINGS = (
    pytest.param("SELECT 1", id="as DuckDB has it"),
    pytest.param("SET default_null_order = 'nulls_first'", id="nulls first"),
    pytest.param("SET default_order = 'DESC'", id="descending"),
    pytest.param("SET default_collation = 'nocase'", id="a collation"),
)

_ROW = st.fixed_dictionaries(
    {
        "g": st.sampled_from(["a", "A", "b", "", None]),
        "x": st.integers(-2, 3) | st.none(),
        "y": st.sampled_from([0.0, -0.0, 0.5, 2.0, float("nan"), float("-inf"), None]),
    }
)
BATCHES = st.lists(st.lists(_ROW, max_size=8), min_size=1, max_size=4)
FEW = settings(max_examples=max(10, settings().max_examples // 5))


def in_batches(batches: Sequence[Sequence[dict[str, object]]]) -> Iterator[pa.Table]:
    """Yield tables of rows that arrive one after the other, each at a time of its own."""
    number = 0
    for rows in batches:
        numbered = [{**row, "time": number + i} for i, row in enumerate(rows)]
        number += len(rows)
        yield pa.Table.from_pylist(numbered, schema=SCHEMA)


class Both:
    """Standing queries over a landmark, and the same rows in an ordinary table."""

    def __init__(self, engine: Engine, stream: str) -> None:
        self._engine = engine
        self._queries: dict[str, ContinuousQuery] = {}
        self.refused: dict[str, str] = {}
        for text in QUERIES:
            try:
                query = engine.continuous_query(text.replace("stream", stream), emit="asked")
            except UnboundedQueryError as error:
                self.refused[text] = error.reason
            else:
                self._queries[text] = query

    def reset(self) -> None:
        """Forget all rows."""
        self._engine.sql("DELETE FROM copy")
        for query in self._queries.values():
            query.reset_landmark()

    def take(self, table: pa.Table, texts: Collection[str]) -> None:
        """Append rows to both, and compare the results of some queries."""
        self._engine.append("s", table)
        self._engine.create_table("more", table)
        self._engine.sql("INSERT INTO copy SELECT * FROM more")
        self._engine.sql("DROP TABLE more")
        for text in sorted(self._queries.keys() & texts):
            wanted = self._engine.sql(text.replace("stream", "copy"))
            found = asked(self._queries[text]).table
            told = difference(wanted, found, is_ordered=text in IN_ORDER)
            assert not told, f"{text}\n{told}"


@pytest.fixture(scope="module", params=SETTINGS)
def both(request: pytest.FixtureRequest) -> Iterator[Both]:
    with Engine(clock=ManualClock()) as engine:
        engine.sql(request.param)
        engine.sql("CREATE STREAM s (time BIGINT, g TEXT, x BIGINT, y DOUBLE) TIME (time)")
        engine.create_table("names", {"g": ["a", "b", None], "name": ["Ada", "Bob", "none"]})
        engine.create_table("copy", SCHEMA.empty_table())
        yield Both(engine, "landmark(s)")


@given(batches=BATCHES, texts=st.sets(st.sampled_from(QUERIES), min_size=1, max_size=4))
@FEW
def test_results_are_those_over_a_table_of_the_same_rows(
    both: Both, batches: list[list[dict[str, object]]], texts: set[str]
) -> None:
    both.reset()
    for table in in_batches(batches):
        both.take(table, texts)


def test_nothing_is_refused_except_groups_by_a_collation(both: Both) -> None:
    assert all("texts are compared by a collation" in each for each in both.refused.values())


# What is kept


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (time BIGINT, g TEXT, x BIGINT, y DOUBLE) TIME (time)")
        yield engine


def test_of_tied_rows_the_first_to_arrive_are_kept_in_whatever_batches(engine: Engine) -> None:
    numbered = "row_number() OVER (PARTITION BY g ORDER BY x)"
    texts = (
        f"SELECT time, {numbered} AS i FROM landmark(s) QUALIFY i <= 3 ORDER BY i",
        "SELECT time FROM landmark(s) ORDER BY x LIMIT 3",
        "SELECT time FROM landmark(s) LIMIT 3",
    )
    queries = [engine.continuous_query(text, emit="asked") for text in texts]
    for times in ([5, 3], [9], [4, 8, 1, 2], [6, 7]):
        engine.append("s", {"time": times, "g": ["a"] * len(times), "x": [0] * len(times)})
        for query in queries:
            asked(query)
    for query in queries:
        assert asked(query).table["time"].to_pylist() == [5, 3, 9]


def test_a_row_has_one_number_however_often_a_query_reads_the_numbers(engine: Engine) -> None:
    query = engine.continuous_query(
        """WITH r AS (SELECT *, row_number() OVER (ORDER BY x) AS i FROM landmark(s))
        SELECT a.time, b.time, c.time FROM r a, r b, r c WHERE a.i = 1 AND b.i = 2 AND c.i = 3""",
        emit="asked",
    )
    for first, count in ((0, 2), (2, 3), (5, 6_000)):
        times = range(first, first + count)
        engine.append("s", {"time": times, "x": [7 - (time % 2) for time in times]})
        asked(query)
    assert [column.to_pylist() for column in asked(query).table.columns] == [[1], [3], [5]]


def test_the_rows_that_are_held_depend_on_the_groups_and_not_on_the_rows(engine: Engine) -> None:
    queries = {
        3_000: "row_number() OVER (PARTITION BY g ORDER BY x DESC) <= 3",
        1_000: "row_number() OVER (PARTITION BY g ORDER BY x, time) = 1",
        10: "row_number() OVER (ORDER BY x) <= 10",
    }
    made = {
        kept: engine.continuous_query(
            f"SELECT * FROM landmark(s) QUALIFY {condition}", emit="asked"
        )
        for kept, condition in queries.items()
    }
    random = np.random.default_rng(18)
    count = 50_000
    for number in range(20):
        engine.append(
            "s",
            {
                "time": np.arange(number * count, (number + 1) * count),
                "g": random.integers(0, 1_000, count).astype(str),
                "x": random.integers(0, 1_000_000, count),
            },
        )
        for kept, query in made.items():
            query.results()
            assert held(query) <= 2 * kept + 10_000
    for kept, query in made.items():
        assert asked(query).table.num_rows == kept
        assert held(query) == kept


def test_chunks_that_are_not_due_yet_are_reduced_as_well(engine: Engine) -> None:
    text = "SELECT * FROM landmark(s, 1000000) QUALIFY row_number() OVER (ORDER BY x) <= 10"
    query = engine.continuous_query(text)
    for number in range(40):
        engine.append("s", {"time": [number] * 1_000, "x": range(1_000)})
        query.results()
    assert held(query) < 11_000
    engine.append("s", {"time": [1_000_000], "x": [0]})
    [result] = query.results()
    assert result.table["time"].to_pylist() == list(range(10))


# What is refused


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT x FROM s QUALIFY rank() OVER (ORDER BY x) <= 3", "use row_number() instead"),
        (
            "SELECT x FROM (SELECT x, dense_rank() OVER (ORDER BY x) AS i FROM s) WHERE i <= 3",
            "dense_rank() gives tied rows the same number",
        ),
        (
            "SELECT x, row_number() OVER (ORDER BY x) AS i FROM s",
            "row_number() is not bounded by a constant",
        ),
        (
            "SELECT x FROM s QUALIFY row_number() OVER (ORDER BY x) <= y",
            "row_number() is not bounded by a constant",
        ),
        (
            "SELECT x FROM s QUALIFY row_number() OVER (ORDER BY x) <= 3 OR x = 1",
            "row_number() is not bounded by a constant",
        ),
        (
            "SELECT sum(x) OVER () AS x FROM s QUALIFY row_number() OVER (ORDER BY x) <= 3",
            "a window function beside the bounded row_number needs all rows",
        ),
        (
            """SELECT row_number() OVER (ORDER BY y) AS i FROM s
            QUALIFY row_number() OVER (ORDER BY x) <= 3""",
            "a window function beside the bounded row_number needs all rows",
        ),
        (
            "SELECT x FROM s QUALIFY row_number() OVER (ORDER BY x ROWS 1 PRECEDING) <= 3",
            "only row_number() OVER (PARTITION BY … ORDER BY …) <= 3 is bounded",
        ),
        ("SELECT x FROM s ORDER BY x LIMIT 10%", "only by LIMIT and OFFSET with constants"),
        ("SELECT x FROM s ORDER BY x LIMIT (SELECT 3)", "only by LIMIT and OFFSET with constants"),
        ("SELECT x FROM s ORDER BY x OFFSET 3", "ORDER BY needs all rows"),
        (
            "SELECT unnest([x, x]) AS x FROM s ORDER BY x LIMIT 3",
            "an expression makes several rows of one",
        ),
        ("SELECT x FROM (SELECT x FROM s ORDER BY x) LIMIT 3", "the result contains its rows"),
    ],
)
def test_what_is_not_bounded_is_refused_with_the_reason(
    engine: Engine, text: str, reason: str
) -> None:
    with pytest.raises(UnboundedQueryError) as refused:
        engine.continuous_query(text.replace("FROM s", "FROM landmark(s)"))
    assert reason in str(refused.value)
    assert "keep the first of each group" in str(refused.value)
