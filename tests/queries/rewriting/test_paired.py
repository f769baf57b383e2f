"""Queries over pairs of rows: beside the queries as they are, over the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.queries.differential.comparison import difference
from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.queries.rewriting.not_incremental import NotIncrementalError
from upstream.queries.rewriting.paired import PairedQuery, paired
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.lending import prepare
from upstream.queries.sql.names import PAIR, ROW
from upstream.queries.sql.trees import chunks_in

SCHEMAS = {
    f"chunk_{number}": pa.schema(
        [("k", pa.int64()), (name, pa.int64()), ("note", pa.string()), ("s", struct)]
    )
    for number, name in enumerate("vwz")
    for struct in [pa.struct([("a", pa.int64())])]
}


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    with closing(Duck()) as duck:
        duck.rows("CREATE TABLE names (k BIGINT, name VARCHAR)")
        duck.rows("INSERT INTO names VALUES (0, 'a'), (1, 'b'), (1, 'c'), (NULL, 'd')")
        duck.rows("CREATE TABLE taken (__pair BIGINT)")
        duck.run_as_written("CREATE MACRO known(n) AS n IN (SELECT k FROM names)", {})
        duck.rows("CREATE MACRO twice(n) AS 2 * n")
        yield duck


def pairs_of(sql: str, duck: Duck) -> PairedQuery:
    query = query_of(sql, DIALECT)
    return paired(query, chunks_in(query), SCHEMAS, duck)


# Forms, with the kind of their join

INNER = [
    "SELECT x.v, y.w FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k",
    "SELECT x.v, y.w FROM chunk_0 AS x, chunk_1 AS y WHERE x.k = y.k AND v > w",
    "SELECT x.v, y.w FROM chunk_0 x CROSS JOIN chunk_1 y",
    "SELECT * FROM chunk_0 x JOIN chunk_1 y USING (k) WHERE k > 0",
    "SELECT x.*, y.* EXCLUDE (s) FROM chunk_0 x JOIN chunk_1 y USING (k, note)",
    "SELECT v, w FROM chunk_0 x NATURAL JOIN chunk_1 y",
    "FROM chunk_0 x JOIN chunk_1 y USING (k)",
    "SELECT COLUMNS(*) FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k",
    "SELECT max(COLUMNS(x.*)) FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k",
    "SELECT x.k AS l FROM chunk_0 x JOIN chunk_1 y USING (k) WHERE l > 0 AND twice(x.v) > y.w",
    "SELECT * REPLACE (v + 1 AS v) FROM chunk_0 x, chunk_1 y WHERE x.s.a = y.s.a",
    "SELECT DISTINCT x.k FROM chunk_0 x JOIN chunk_1 y ON x.k <= y.k AND y.k <= x.k + 1",
    "SELECT k, count(*), sum(w) FROM chunk_0 x JOIN chunk_1 y USING (k) GROUP BY ALL",
    "SELECT count(*) AS n FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k HAVING count(*) > 1",
    "SELECT v, w FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k ORDER BY v, w LIMIT 3",
    "SELECT v, row_number() OVER (ORDER BY v, w) AS n FROM chunk_0 x, chunk_1 y WHERE v = w",
    "SELECT x.v, n.name FROM chunk_0 x, chunk_1 y, names n WHERE n.k = x.k AND x.v = y.w",
    "SELECT x.v, name FROM names n JOIN chunk_0 x USING (k) JOIN chunk_1 y ON y.k = n.k",
    "SELECT x.v, name FROM chunk_0 x LEFT JOIN names n USING (k) JOIN chunk_1 y ON x.k = y.k",
    "SELECT x.v FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k ANTI JOIN names n ON n.k = y.w",
    "SELECT x.v FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k AND known(x.v)",
    "SELECT x.v FROM chunk_0 x, chunk_1 y WHERE x.k = y.k AND x.k IN (SELECT k FROM names)",
    "SELECT v, w, z FROM chunk_0 x, chunk_1 y, chunk_2 z WHERE x.k = y.k AND y.w = z.z",
    "SELECT * FROM chunk_0 x JOIN chunk_1 y USING (k) JOIN chunk_2 z USING (k)",
    "SELECT v, w, z FROM chunk_0 x NATURAL JOIN chunk_1 y NATURAL JOIN chunk_2 z",
    "SELECT v, z FROM chunk_0 x JOIN chunk_1 y ON v = w CROSS JOIN chunk_2 z WHERE z.k = v",
    "WITH p AS (FROM chunk_0 x JOIN chunk_1 y USING (k)) SELECT max(v) FROM p GROUP BY w",
    "WITH a AS (SELECT * FROM chunk_0 WHERE v > 1) FROM a JOIN chunk_1 y ON a.k = y.k",
    "SELECT * FROM (SELECT k, 2 * v AS d, d + 1 AS e FROM chunk_0) x JOIN chunk_1 y USING (k)",
    "SELECT sum(n) FROM (SELECT v * w AS n FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k) p",
    (
        "SELECT v, (SELECT max(n.k) FROM names n WHERE n.k < x.v) FROM chunk_0 x, chunk_1 y"
        " WHERE x.k = y.k"
    ),
    (
        "SELECT name, (SELECT sum(v) FROM chunk_0 x, chunk_1 y WHERE x.k = y.k AND x.v > n.k) AS s"
        " FROM names n"
    ),
    (
        "SELECT list_filter([v, w], lambda e: e > 1) AS l FROM chunk_0 x JOIN chunk_1 y"
        " ON x.k = y.k WHERE len(list_filter([v, w], lambda e: e > 0)) > 0"
    ),
]
LEFT = [
    "SELECT x.v, y.w FROM chunk_0 x LEFT JOIN chunk_1 y ON x.k = y.k",
    "SELECT x.v, y.w FROM chunk_0 x LEFT OUTER JOIN chunk_1 y ON x.k = y.k AND x.v > 2",
    "SELECT * FROM chunk_0 x LEFT JOIN chunk_1 y USING (k) WHERE w IS NULL",
    "SELECT * FROM chunk_0 x NATURAL LEFT JOIN chunk_1 y",
    "SELECT x.k, name FROM chunk_0 x LEFT JOIN chunk_1 y ON v < w LEFT JOIN names n ON n.k = y.k",
    "SELECT x.k, name FROM chunk_0 x LEFT JOIN chunk_1 y ON v < w JOIN names n ON n.k = x.k",
    (
        "SELECT v, w FROM (SELECT k, v FROM chunk_0 WHERE v > 1) x"
        " LEFT JOIN (SELECT * FROM chunk_1 WHERE w < 3) y USING (k)"
    ),
]
OTHERS = {
    "right": [
        "SELECT x.v, y.w FROM chunk_0 x RIGHT JOIN chunk_1 y ON x.k = y.k AND y.w > 1",
        "SELECT * FROM chunk_0 x RIGHT JOIN chunk_1 y USING (k)",
    ],
    "full": [
        "SELECT x.v, y.w FROM chunk_0 x FULL JOIN chunk_1 y ON x.k = y.k AND x.v > 1",
        "SELECT k, v, w FROM chunk_0 x FULL OUTER JOIN chunk_1 y USING (k)",
    ],
    "semi": [
        "SELECT * FROM chunk_0 x SEMI JOIN chunk_1 y ON x.k = y.k AND y.w > x.v",
        "SELECT * FROM chunk_0 SEMI JOIN chunk_1 USING (k)",
        "SELECT v FROM chunk_0 x WHERE EXISTS (SELECT 1 FROM chunk_1 y WHERE y.k = x.k) AND v > 1",
        "SELECT v FROM chunk_0 x WHERE EXISTS (FROM chunk_1 y WHERE k = x.k OR w > v)",
        "SELECT v FROM chunk_0 x, names n WHERE x.k = n.k AND x.v IN (SELECT w FROM chunk_1 y)",
        "SELECT v FROM chunk_0 x WHERE k IN (SELECT k FROM chunk_1 y WHERE w > 1)",
        (
            "SELECT a.v FROM (FROM chunk_0 x WHERE EXISTS"
            " (SELECT * FROM (SELECT k AS l FROM chunk_1 WHERE w > 1) y WHERE l = k)) a"
        ),
    ],
    "anti": [
        "SELECT * FROM chunk_0 x ANTI JOIN chunk_1 y ON x.k = y.k",
        "SELECT v FROM chunk_0 x ANTI JOIN chunk_1 y USING (k) LEFT JOIN names n ON n.k = x.v",
        "SELECT v FROM chunk_0 x WHERE NOT EXISTS (SELECT y.k FROM chunk_1 y WHERE y.k = x.k)",
    ],
}
ACCEPTED = [
    *(("inner", sql) for sql in INNER),
    *(("left", sql) for sql in LEFT),
    *((kind, sql) for kind, texts in OTHERS.items() for sql in texts),
]

Row = tuple[int | None, int | None, str, int]
rows = st.lists(
    st.tuples(
        st.none() | st.integers(0, 2),
        st.none() | st.integers(0, 4),
        st.sampled_from(["", "a"]),
        st.integers(0, 1),
    ),
    max_size=7,
)


def table(name: str, values: Sequence[Row]) -> pa.Table:
    columns = [list(each) for each in zip(*values, strict=True)] or [[], [], [], []]
    columns[3] = [{"a": each} for each in columns[3]]
    arrays = [pa.array(each, kind) for each, kind in zip(columns, SCHEMAS[name].types, strict=True)]
    return pa.table(arrays, schema=SCHEMAS[name])


class OverPairs:
    """Finds the pairs of all rows, and runs the query over them and over rows without a partner."""

    def __init__(self, result: PairedQuery, duck: Duck) -> None:
        self.result = result
        self._lent = result.read_schemas(SCHEMAS)
        pair = pa.field(PAIR, pa.int64())
        with_pairs = {name: SCHEMAS[name].append(pair) for name in self._lent}
        self._pairs = [
            prepare(duck, result.pairs_of(number), self._lent) for number in result.windows
        ]
        self._whole = prepare(duck, result.whole, with_pairs)

    def run(self, chunks: Mapping[str, pa.Table]) -> pa.Table:
        pairs = self._found(chunks)
        matched = pairs
        first = self.result.windows[0]
        if self.result.kind in ("semi", "anti"):
            _, once = np.unique(pairs[first], return_index=True)
            once = once if self.result.kind == "semi" else once[:0]
            pairs = {number: each[once] for number, each in pairs.items()}
        tables, count = {}, len(pairs[first])
        for number in self.result.windows:
            rows = chunks[f"chunk_{number}"]
            alone = np.setdiff1d(np.arange(rows.num_rows), matched[number])
            alone = alone if number in self.result.preserved else alone[:0]
            order = np.concatenate([pairs[number], alone])
            numbers = [np.arange(len(pairs[first])), np.arange(count, count + len(alone))]
            count += len(alone)
            column = pa.array(np.concatenate(numbers))
            tables[f"chunk_{number}"] = rows.take(pa.array(order)).append_column(PAIR, column)
        return self._whole.run(**tables)

    def _found(self, chunks: Mapping[str, pa.Table]) -> dict[int, NDArray[np.int64]]:
        """Return the rows of the pairs, which each of the statements finds."""
        numbered = {
            name: chunks[name].append_column(ROW, pa.array(np.arange(chunks[name].num_rows)))
            for name in self._lent
        }
        read = {name: numbered[name].select(each.names) for name, each in self._lent.items()}
        found = [pairs.run(**read) for pairs in self._pairs]
        assert len({tuple(sorted(map(str, each.to_pylist()))) for each in found}) == 1
        return {
            number: found[0].column(f"{ROW}_{number}").to_numpy() for number in self.result.windows
        }


@pytest.mark.parametrize(("kind", "sql"), ACCEPTED)
def test_the_query_over_pairs_has_the_rows_of_the_query(duck: Duck, kind: str, sql: str) -> None:
    result = pairs_of(sql, duck)
    assert result.kind == kind
    over_pairs = OverPairs(result, duck)
    query = prepare(duck, query_of(sql, DIALECT), SCHEMAS)

    @given(drawn=st.tuples(*(rows for _ in result.windows)))
    def check(drawn: tuple[list[Row], ...]) -> None:
        names = [f"chunk_{number}" for number in result.windows]
        chunks = {name: table(name, each) for name, each in zip(names, drawn, strict=True)}
        expected, found = query.run(**chunks), over_pairs.run(chunks)
        assert found.schema.names == expected.schema.names
        assert not difference(expected, found, is_ordered="ORDER BY v, w LIMIT" in sql), sql

    check()


def test_pairs_have_the_conditions_that_read_only_inputs(duck: Duck) -> None:
    result = pairs_of(
        "SELECT v FROM chunk_0 x JOIN names n USING (k) JOIN chunk_1 y ON x.k = y.k"
        " WHERE v > w AND name = 'a' AND v IN (SELECT k FROM names)",
        duck,
    )
    assert result.pairs.sql(DIALECT).split(" WHERE ")[1] == (
        '"x"."v" > "y"."w" AND "x"."k" = "y"."k"'
    )
    assert result.reads == {0: ("k", "v"), 1: ("k", "w")}


def test_the_input_with_new_rows_comes_last(duck: Duck) -> None:
    result = pairs_of("SELECT v FROM chunk_0 x, chunk_1 y, chunk_2 z", duck)
    tables = [
        [each.this.name for each in [pairs.args["from_"], *pairs.args["joins"]]]
        for pairs in map(result.pairs_of, result.windows)
    ]
    assert [each[-1] for each in tables] == ["chunk_0", "chunk_1", "chunk_2"]


def test_the_inputs_are_in_the_order_of_from(duck: Duck) -> None:
    result = pairs_of("SELECT v FROM chunk_1 y LEFT JOIN chunk_0 x ON x.k = y.k", duck)
    assert result.windows == (1, 0)
    assert result.preserved == (1,)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (
            "SELECT v FROM chunk_0 x ASOF JOIN chunk_1 y ON x.k >= y.k",
            "ASOF joins are not made of pairs of rows",
        ),
        (
            "SELECT v FROM chunk_0 x POSITIONAL JOIN chunk_1 y",
            "POSITIONAL joins are not made of pairs of rows",
        ),
        (
            "SELECT v FROM chunk_0 x JOIN chunk_1 y ON random() < x.v",
            "random() returns another value each time",
        ),
        (
            "SELECT v FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k USING SAMPLE 10 ROWS",
            "a sample returns another value each time",
        ),
        (
            "SELECT v FROM chunk_0 x LEFT JOIN chunk_1 y ON v = w LEFT JOIN chunk_2 z ON v = z",
            "LEFT JOIN: three and more inputs can only be joined by inner joins",
        ),
        (
            "SELECT v FROM names n JOIN chunk_0 x USING (k) LEFT JOIN chunk_1 y ON x.k = y.k",
            "LEFT JOIN: the two inputs must come first in FROM, and tables after them",
        ),
        (
            "SELECT v FROM chunk_0 x JOIN chunk_1 y ON v = w RIGHT JOIN names n ON n.k = x.k",
            "RIGHT JOIN with a table keeps rows that are no pairs",
        ),
        (
            "SELECT v FROM chunk_0 x LEFT JOIN chunk_1 y ON x.k = y.k AND known(v)",
            (
                "the condition of an outer, semi or anti join reads more than columns of its two"
                " inputs, or a subquery"
            ),
        ),
        (
            "SELECT v FROM chunk_0 x LEFT JOIN chunk_1 y ON v IN (SELECT k FROM names)",
            (
                "the condition of an outer, semi or anti join reads more than columns of its two"
                " inputs, or a subquery"
            ),
        ),
        (
            (
                "SELECT x.v FROM chunk_0 x LEFT JOIN (SELECT k, w::VARCHAR AS v FROM chunk_1) y"
                " USING (k, v)"
            ),
            "v is a text in one input only: write ON instead of USING",
        ),
        (
            "SELECT x FROM chunk_0 x JOIN chunk_1 y USING (k)",
            "x is used as a row: name its columns instead",
        ),
        (
            "SELECT v, (SELECT y) AS r FROM chunk_0 x JOIN chunk_1 y USING (k)",
            "y is used as a row: name its columns instead",
        ),
        (
            "SELECT COLUMNS('v|k') FROM chunk_0 x JOIN chunk_1 y USING (k)",
            (
                "COLUMNS(…) with a pattern or a function can stand for any columns: name the"
                " columns instead"
            ),
        ),
        (
            "SELECT * LIKE 'v%' FROM chunk_0 x JOIN chunk_1 y USING (k)",
            "a star inside an expression stands for all columns: name the columns instead",
        ),
        (
            "SELECT w FROM chunk_0 x JOIN chunk_1 y USING (k), taken",
            "taken has a column __pair: rename it",
        ),
        (
            "SELECT v FROM chunk_0 x, chunk_1 y, LATERAL (SELECT x.k AS l) z",
            "LATERAL joins are not made of pairs of rows",
        ),
        (
            "SELECT #5 FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k",
            "a column by its number in FROM can be any column: name the columns instead",
        ),
    ],
)
def test_other_forms_are_refused_with_a_reason(sql: str, reason: str, duck: Duck) -> None:
    with pytest.raises(NotIncrementalError) as refused:
        pairs_of(sql, duck)
    assert refused.value.reason == reason
