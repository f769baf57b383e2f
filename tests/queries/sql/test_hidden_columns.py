"""Epochs have columns that `*` does not include, and that no result shows by their own names."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.database.duck import Duck
from upstream.errors import QueryError, UnknownColumnError, WindowError
from upstream.queries.sql import ParsedQuery, check, read_query
from upstream.queries.sql.lending import run_once
from upstream.rows.stream_definition import StreamDefinition

from .example_streams import STREAMS, refused, select_of

OWN = StreamDefinition("own", pa.schema({"t": pa.int64(), "Epoch": pa.string()}), (), "t")
"""A stream with a column of that name."""


def read(text: str, duck: Duck | None = None) -> ParsedQuery:
    return read_query(text, STREAMS | {"own": OWN}, duck)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT EPOCH, window_start AS w, (window_end) FROM epochs(ticks, 10)",
            """SELECT ticks.__epoch AS epoch, ticks.__window_start AS w,
                (ticks.__window_end) AS window_end FROM chunk_0 AS ticks""",
        ),
        (
            "SELECT x.epoch - y.epoch AS d FROM epochs(ticks, 10) x, epochs(ticks, 10) y",
            "SELECT x.__epoch - y.__epoch AS d FROM chunk_0 AS x, chunk_1 AS y",
        ),
        (
            "SELECT *, count(*) OVER (PARTITION BY epoch) AS n FROM epochs(ticks, 10)",
            """SELECT * EXCLUDE ("__epoch"), COUNT(*) OVER (PARTITION BY ticks.__epoch) AS n
                FROM chunk_0 AS ticks""",
        ),
        (
            "SELECT epoch, count(*) AS n FROM epochs(ticks, 10) GROUP BY epoch ORDER BY epoch",
            """SELECT ticks.__epoch AS epoch, COUNT(*) AS n FROM chunk_0 AS ticks
                GROUP BY ticks.__epoch ORDER BY ticks.__epoch""",
        ),
        (
            "SELECT x.*, y.* FROM epochs(ticks, 10) x, latest(news) y WHERE epoch > window_end",
            """SELECT x.* EXCLUDE ("__epoch", "__window_end"), y.* FROM chunk_0 AS x,
                chunk_1 AS y WHERE x.__epoch > x.__window_end""",
        ),
        (
            "SELECT COLUMNS(*), COLUMNS(x.*) FROM epochs(ticks, 10) AS X WHERE epoch > 1",
            """SELECT COLUMNS(* EXCLUDE ("__epoch")), COLUMNS(x.* EXCLUDE ("__epoch"))
                FROM chunk_0 AS X WHERE X.__epoch > 1""",
        ),
        (
            "SELECT * EXCLUDE (sensor) REPLACE (epoch AS tick) FROM epochs(ticks, 10)",
            """SELECT * EXCLUDE (sensor, "__epoch") REPLACE (ticks.__epoch AS tick)
                FROM chunk_0 AS ticks""",
        ),
        (
            "SELECT * RENAME (tick AS epoch) FROM epochs(ticks, 10) WHERE epoch > 1",
            """SELECT * EXCLUDE ("__epoch") RENAME (tick AS epoch) FROM chunk_0 AS ticks
                WHERE ticks.__epoch > 1""",
        ),
        (
            'SELECT *, epoch FROM (SELECT * FROM epochs(ticks, 10) WHERE tick > 3) AS "select"',
            """SELECT * EXCLUDE ("__epoch"), "select".__epoch AS epoch FROM (SELECT *
                EXCLUDE ("__epoch"), ticks.__epoch FROM chunk_0 AS ticks WHERE tick > 3)
                AS "select\"""",
        ),
        (
            "SELECT epoch, x.epoch + 1 AS f FROM (SELECT * FROM epochs(ticks, 10)) x",
            """SELECT x.__epoch AS epoch, x.__epoch + 1 AS f FROM (SELECT * EXCLUDE ("__epoch"),
                ticks.__epoch FROM chunk_0 AS ticks) AS x""",
        ),
        (
            "SELECT epoch FROM (SELECT * FROM epochs(ticks, 10))",
            """SELECT __epoch AS epoch FROM (SELECT * EXCLUDE ("__epoch"), ticks.__epoch
                FROM chunk_0 AS ticks)""",
        ),
        (
            """WITH w AS (SELECT * FROM epochs(ticks, 10))
                SELECT a.epoch, a.*, b.* FROM w a, w b(p, q)""",
            """WITH w AS (SELECT * EXCLUDE ("__epoch"), ticks.__epoch FROM chunk_0 AS ticks)
                SELECT a.__epoch AS epoch, a.* EXCLUDE ("__epoch"), b.* EXCLUDE ("__epoch")
                FROM w AS a, w AS b(p, q)""",
        ),
        (
            "SELECT * FROM epochs(ticks, 10) x SEMI JOIN epochs(ticks, 10) y ON y.epoch = 1",
            "SELECT * FROM chunk_0 AS x SEMI JOIN chunk_1 AS y ON y.__epoch = 1",
        ),
        (
            "SELECT * FROM (SELECT abs( epoch )+1, epoch FROM epochs(ticks, 10)) AS x",
            """SELECT * FROM (SELECT ABS(ticks.__epoch) + 1 AS "abs( epoch )+1",
                ticks.__epoch AS epoch FROM chunk_0 AS ticks) AS x""",
        ),
        (
            "SELECT (SELECT max(k) FROM latest(days) WHERE k > epoch) AS m FROM epochs(ticks, 10)",
            """SELECT (SELECT MAX(k) FROM chunk_0 AS days WHERE k > ticks.__epoch) AS m
                FROM chunk_1 AS ticks""",
        ),
        (
            """SELECT epoch FROM epochs(ticks, 10) UNION ALL BY NAME
                SELECT * FROM epochs(ticks, 10) WHERE epoch > 1 ORDER BY epoch""",
            """SELECT ticks.__epoch AS epoch FROM chunk_0 AS ticks UNION ALL BY NAME
                SELECT * EXCLUDE ("__epoch") FROM chunk_1 AS ticks WHERE ticks.__epoch > 1
                ORDER BY epoch""",
        ),
    ],
)
def test_a_hidden_column_is_read_from_its_chunk(text: str, expected: str, duck: Duck) -> None:
    parsed = read(text, duck)
    assert parsed.query.sql("duckdb") == " ".join(expected.split())
    assert not any(name.startswith("__") for name in check(parsed, STREAMS, duck).inner.names)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT epoch FROM epochs(own, 10)",
        "SELECT own.epoch FROM epochs(own, 10)",
        "SELECT epoch FROM epochs(ticks, 10) AS x(a, epoch)",
        "SELECT tick % 7 AS epoch FROM epochs(ticks, 10) GROUP BY epoch",
        "SELECT x.epoch FROM epochs(ticks, 10), (SELECT 1 AS epoch) x",
        "SELECT [epoch + 1 FOR epoch IN [1, 2]] AS l FROM epochs(ticks, 10)",
        "SELECT list_transform([1], lambda epoch: epoch + 1) AS l FROM epochs(ticks, 10)",
        "SELECT epoch(TIMESTAMP '2020-01-01') AS e FROM epochs(ticks, 10)",
        "SELECT x, COLUMNS('t.*'), #1 FROM epochs(ticks, 10) x",
    ],
)
def test_a_chunk_has_no_hidden_columns_if_something_else_is_meant(text: str, duck: Duck) -> None:
    parsed = read(text, duck)
    assert parsed.hidden == {}
    check(parsed, STREAMS | {"own": OWN}, duck)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (
            "SELECT x FROM epochs(ticks, 10) x WHERE epoch > 3",
            "x FROM",
            "beside epoch, x is used as a row[^$]*name the columns instead",
        ),
        (
            "SELECT count(DISTINCT x) AS n, max(window_end) FROM epochs(ticks, 10) x",
            "count(",
            "beside window_end, x is used as a row",
        ),
        (
            "SELECT 1 FROM epochs(ticks, 10) x SEMI JOIN epochs(ticks, 10) y ON y.epoch = hash(y)",
            "1 FROM",
            "beside epoch, y is used as a row",
        ),
        (
            "SELECT COLUMNS('t.*'), epoch FROM epochs(ticks, 10)",
            "COLUMNS",
            r"beside epoch, COLUMNS\(…\) with a pattern or a function",
        ),
        (
            "SELECT COLUMNS(lambda c: c LIKE 't%'), epoch FROM epochs(ticks, 10)",
            "COLUMNS",
            r"beside epoch, COLUMNS\(…\) with a pattern or a function",
        ),
        ("SELECT * LIKE 't%', epoch FROM epochs(ticks, 10)", "*", "a star inside an expression"),
        ("SELECT #3, epoch FROM epochs(ticks, 10), news", "epoch", "a column by its number"),
        (
            "SELECT x.epoch, y.epoch FROM epochs(ticks, 10) x NATURAL JOIN epochs(ticks, 10) y",
            "y",
            "a NATURAL JOIN is not allowed beside epoch[^$]*write JOIN … USING",
        ),
        (
            """WITH w AS (SELECT * FROM epochs(ticks, 10)) SELECT *, (SELECT max(epoch) FROM w) AS m
                FROM w PIVOT (count(*) FOR sensor IN ('a'))""",
            "w PIVOT",
            "w has hidden columns here, and PIVOT would group by them",
        ),
        (
            "SELECT a, epoch FROM epochs(ticks, 10) x(a, b, c)",
            "c)",
            "x has 2 columns, and more are named",
        ),
        (
            """WITH w AS (SELECT * FROM epochs(ticks, 10)), v AS (SELECT * FROM w b(p, q, r))
                SELECT a.epoch, b.* FROM w a, v b""",
            "r))",
            "b has 2 columns, and more are named",
        ),
        (
            """WITH w AS (SELECT * FROM epochs(ticks, 10)) SELECT epoch FROM w
                WHERE tick IN (SELECT p FROM w AS b(p, q, r))""",
            "r))",
            "b has 2 columns, and more are named",
        ),
    ],
)
def test_what_could_mean_all_columns_is_refused(
    text: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(WindowError, place, reason) as caught:
        read(text, duck)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (
            "SELECT epoch FROM epochs(ticks, 10) x, epochs(ticks, 10) y",
            "epoch FROM",
            r"several relations may have epoch[^$]*write x\.epoch",
        ),
        (
            "SELECT epoch FROM epochs(ticks, 10), read_csv('x.csv')",
            "epoch FROM",
            r"several relations may have epoch[^$]*write ticks\.epoch",
        ),
        (
            "SELECT ticks.epoch FROM epochs(ticks, 10), epochs(ticks, 10)",
            "ticks.epoch",
            "several relations are named ticks[^$]*give each of them another alias",
        ),
        (
            "SELECT 1 FROM epochs(ticks, 10) x JOIN epochs(ticks, 10) y USING (sensor, epoch)",
            "epoch)",
            r"USING cannot name epoch[^$]*write ON x\.epoch = y\.epoch",
        ),
    ],
)
def test_a_name_that_is_not_clear_is_refused_where_it_is(
    text: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(UnknownColumnError, place, reason):
        read(text, duck)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELECT epoch FROM tumble(ticks, 10)", "choose one of"),
        ("SELECT epoch FROM landmark(ticks)", "choose one of"),
        ("SELECT epoch FROM (SELECT tick FROM epochs(ticks, 10))", "name epoch in the select list"),
        (
            "SELECT epoch FROM (SELECT DISTINCT * FROM epochs(ticks, 10))",
            "name epoch in the select list",
        ),
        (
            "SELECT epoch FROM (SELECT * FROM companies LEFT JOIN epochs(ticks, 10) ON true)",
            "name epoch in the select list",
        ),
        ("SELECT list_transform([1], epoch -> epoch) FROM epochs(ticks, 10)", "invalid lambda"),
    ],
)
def test_only_a_relation_that_is_epochs_has_an_epoch(text: str, hint: str, duck: Duck) -> None:
    parsed = read(text, duck)
    with pytest.raises(QueryError, match=hint):
        check(parsed, STREAMS, duck)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (
            "SELECT count(*) AS n, epoch FROM epochs(ticks, 10)",
            "epoch FROM",
            'column "epoch" must appear in the GROUP BY[^$]*add GROUP BY ALL',
        ),
        (
            "SELECT window_endd FROM epochs(ticks, 10) WHERE window_end > 3",
            "window_endd",
            "did you mean window_end?",
        ),
    ],
)
def test_an_error_shows_the_names_that_users_know(
    text: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(QueryError, place, reason) as caught:
        check(read(text, duck), STREAMS, duck)
    assert "__" not in str(caught.value)


def test_no_user_can_name_a_hidden_column() -> None:
    with pytest.raises(QueryError, match="the name __epoch is reserved"):
        read("SELECT __epoch FROM epochs(ticks, 10) WHERE epoch > 1")


QUERIES = [
    "SELECT epoch, count(*) AS n, max(window_end) AS w FROM {x} x GROUP BY epoch ORDER BY epoch",
    "SELECT epoch, sensor, sum(tick) AS s FROM {x} x GROUP BY ALL HAVING epoch > 1 ORDER BY ALL",
    "SELECT tick, sensor FROM {x} x ORDER BY epoch DESC, tick, sensor LIMIT 4",
    """SELECT x.epoch - y.epoch AS d, count(*) AS n FROM {x} x JOIN {y} y
        ON x.sensor = y.sensor AND y.epoch - x.epoch BETWEEN 0 AND 2 GROUP BY ALL ORDER BY d""",
    """SELECT x.tick, x.epoch, y.tick AS other, y.window_start AS w FROM {x} x FULL JOIN {y} y
        ON x.sensor = y.sensor AND x.epoch = y.epoch ORDER BY ALL""",
    """SELECT tick, epoch FROM {x} x WHERE NOT EXISTS (SELECT 1 FROM {y} y
        WHERE y.sensor = x.sensor AND y.epoch < epoch) ORDER BY ALL""",
    """SELECT tick, count(*) OVER (PARTITION BY epoch) AS n FROM {x} x
        WHERE tick >= window_start ORDER BY ALL""",
    "SELECT DISTINCT ON (epoch) epoch, tick FROM {x} x ORDER BY epoch, tick",
    """SELECT e, sum(tick) AS s FROM (SELECT tick, epoch % 2 AS e FROM {x} x) z
        GROUP BY ROLLUP (e) ORDER BY ALL""",
    "WITH w AS (SELECT * FROM {x} x) SELECT max(epoch) AS m, min(w.window_end) AS n FROM w",
    """SELECT sum(tick) OVER (ORDER BY epoch RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS s
        FROM {x} x ORDER BY s""",
]
ROWS = st.lists(st.tuples(st.integers(0, 39), st.sampled_from("ab")), max_size=12)


def chunk_of(rows: list[tuple[int, str]], names: tuple[str, str, str]) -> pa.Table:
    """Return rows with the number and the bounds of their chunk of ten ticks."""
    schema = pa.schema(
        [("tick", pa.int64()), ("sensor", pa.string()), *((name, pa.int64()) for name in names)]
    )
    of_rows = [(t, s, t // 10, t // 10 * 10, t // 10 * 10 + 10) for t, s in rows]
    return pa.Table.from_pylist(
        [dict(zip(schema.names, row, strict=True)) for row in of_rows], schema
    )


@pytest.mark.parametrize("query", QUERIES)
@given(one=ROWS, other=ROWS)
def test_a_query_gives_what_it_gives_over_a_table_that_has_these_columns(
    query: str, one: list[tuple[int, str]], other: list[tuple[int, str]], duck: Duck
) -> None:
    parsed = read(query.format(x="epochs(ticks, 10)", y="epochs(ticks, 10)"), duck)
    hidden = ("__epoch", "__window_start", "__window_end")
    chunks = {
        name: chunk_of(rows, hidden)
        for name, rows in [("chunk_0", one), ("chunk_1", other)]
        if name in query.replace("{x}", "chunk_0").replace("{y}", "chunk_1")
    }
    found = run_once(duck, parsed.query, chunks)
    plain = ("epoch", "window_start", "window_end")
    tables = {"table_x": chunk_of(one, plain), "table_y": chunk_of(other, plain)}
    expected = run_once(duck, select_of(query.format(x="table_x", y="table_y")), tables)
    assert found == expected
