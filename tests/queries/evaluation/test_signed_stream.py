"""Which views may have a column of signs, and what is said about those that may not."""

from __future__ import annotations

import pytest

from tests.queries.sql.example_streams import refused
from upstream import Engine, StatementError, UnboundedQueryError
from upstream.errors import QueryError, QuerySyntaxError, UnknownColumnError

SUMS = "SELECT k, sum(x) AS n FROM orders GROUP BY k"


@pytest.fixture
def engine(engine: Engine) -> Engine:
    columns = "time BIGINT, k TEXT, x BIGINT, f DOUBLE, kinds TEXT[]"
    for name, more in (("orders", ", op TINYINT"), ("plain", ""), ("others", ", OP INTEGER")):
        engine.sql(f"CREATE STREAM {name} ({columns}{more}) TIME (time)")
    return engine


def make(engine: Engine, query: str, sign: str = "'op'") -> None:
    engine.sql(f"CREATE VIEW v WITH (sign = {sign}) AS {query}")


# The column


@pytest.mark.parametrize("sign", ["'op'", "'OP'", "Op"])
def test_the_column_is_found_in_any_case(engine: Engine, sign: str) -> None:
    make(engine, SUMS, sign)
    engine.append("orders", {"time": [1, 2], "k": ["a", "a"], "x": [1, 2], "op": [1, 1]})
    engine.append("orders", {"time": [3], "k": ["a"], "x": [2], "op": [-1]})
    assert engine.sql("FROM v").to_pylist() == [{"k": "a", "n": 1}]
    assert "added or taken away by op" in engine.view("v").explain()


@pytest.mark.parametrize("kind", ["TINYINT", "SMALLINT", "INTEGER", "BIGINT"])
def test_the_column_is_an_integer_of_any_size(engine: Engine, kind: str) -> None:
    engine.sql(f"CREATE STREAM s (k TEXT, sign {kind})")
    make(engine, "SELECT k, count(*) AS n FROM s GROUP BY k", "'sign'")
    engine.append("s", {"k": ["a", "a", "b", "a"], "sign": [-1, 1, 1, 1]})
    assert engine.sql("FROM v ORDER BY k").to_pylist() == [{"k": "a", "n": 1}, {"k": "b", "n": 1}]


@pytest.mark.parametrize("kind", ["UTINYINT", "DOUBLE", "TEXT", "BOOLEAN", "DECIMAL(3, 0)"])
def test_a_column_of_another_type_is_refused(engine: Engine, kind: str) -> None:
    engine.sql(f"CREATE STREAM s (k TEXT, op {kind})")
    with refused(StatementError, "'op'", "the column op of s has the type .*, which cannot") as e:
        make(engine, "SELECT count(*) AS n FROM s")
    assert e.value.hint == "give op the type TINYINT; its values are 1 and -1"


@pytest.mark.parametrize(
    ("query", "sign", "reason", "hint"),
    [
        ("SELECT count(*) AS n FROM plain", "'op'", "plain has no column op", "choose one of"),
        (SUMS, "'opp'", "orders has no column opp", "did you mean op?"),
        (
            "SELECT n, m FROM (SELECT count(*) AS n FROM plain), (SELECT max(x) AS m FROM plain)",
            "'op'",
            "plain has no column op",
            "choose one of",
        ),
        (
            "SELECT (SELECT count(*) FROM orders) AS n, (SELECT count(*) FROM others) AS m",
            "'op'",
            "the column op must be in one stream only, and it is in orders and others",
            "make a view of each WITH (sign = 'op'), and read these views here",
        ),
        (
            "SELECT count(*) AS n FROM latest(orders)",
            "'op'",
            "a column of signs needs a stream of which the view reads all rows",
            "leave sign out",
        ),
        (
            "SELECT (SELECT count(*) FROM orders) AS n, (SELECT max(x) FROM latest(orders)) AS m",
            "'op'",
            "the newest row of a key of orders may be one that takes a row away",
            "read latest(orders) in a view of its own",
        ),
        (
            "SELECT count(*) AS n FROM hop(orders, 10, 5)",
            "'op'",
            r"rows of hop\(…\) cannot be taken away by a column of signs",
            "leave sign out, and write the sign into sums: sum(op * x)",
        ),
        (
            "SELECT count(*) AS n FROM rows(orders, 1000, 10)",
            "'op'",
            r"rows of rows\(…\) cannot be taken away",
            "leave sign out",
        ),
        (SUMS, "'time'", "the column time is the time of orders", "give orders another column"),
    ],
)
def test_a_column_that_no_stream_or_another_one_has_is_refused(
    engine: Engine, query: str, sign: str, reason: str, hint: str
) -> None:
    with refused(StatementError, sign, reason) as caught:
        make(engine, query, sign)
    assert caught.value.hint.startswith(hint)
    assert not engine.views


def test_a_column_of_the_key_is_refused(engine: Engine) -> None:
    engine.sql("CREATE STREAM s (k TEXT, op TINYINT) KEY (k, op)")
    with refused(StatementError, "'op'", "the column op is part of the key of s"):
        make(engine, "SELECT count(*) AS n FROM s")


@pytest.mark.parametrize("value", ["1", "TRUE", "INTERVAL '1 second'", "''"])
def test_the_option_is_the_name_of_a_column(engine: Engine, value: str) -> None:
    with pytest.raises(QuerySyntaxError, match="sign is the name of a column") as caught:
        make(engine, SUMS, value)
    assert caught.value.hint == "write sign = 'op', for a column op of the values 1 and -1"


def test_a_view_over_a_view_reads_no_rows_with_signs(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW sums WITH (sign = 'op') AS {SUMS}")
    with refused(StatementError, "'op'", "needs a stream of which the view reads all rows"):
        make(engine, "SELECT sum(n) AS n FROM sums")
    engine.sql("CREATE VIEW v AS SELECT sum(n) AS n FROM sums")
    engine.append("orders", {"time": [1, 2], "k": ["a", "a"], "x": [4, 2], "op": [1, -1]})
    engine.append("orders", {"time": [3], "k": ["a"], "x": [2], "op": [1]})
    assert engine.sql("FROM v").to_pylist() == [{"n": 4}]


# What the query reads


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, sum(op * x) AS n FROM orders GROUP BY k",
        "SELECT count(*) AS n FROM orders WHERE op = 1",
        "SELECT OP, count(*) AS n FROM orders AS o GROUP BY o.OP",
    ],
)
def test_the_rows_have_no_column_of_signs(engine: Engine, query: str) -> None:
    with pytest.raises(UnknownColumnError, match=r"there is no column named (op|OP)") as caught:
        make(engine, query)
    assert caught.value.hint.startswith("op tells whether a row of orders is added")
    assert caught.value.text.startswith("CREATE VIEW v WITH")
    assert caught.value.column is not None
    assert caught.value.column > len("CREATE VIEW v WITH (sign = 'op') AS")


def test_another_column_that_is_missing_is_told_as_always(engine: Engine) -> None:
    with pytest.raises(UnknownColumnError, match="there is no column named y") as caught:
        make(engine, "SELECT sum(y) AS n FROM orders")
    assert "op" not in caught.value.hint


def test_a_star_stands_for_the_other_columns(engine: Engine) -> None:
    engine.sql("CREATE STREAM s (k TEXT, op TINYINT, x BIGINT)")
    make(engine, "SELECT DISTINCT * FROM s")
    engine.append("s", {"k": ["a", "a", "b"], "x": [1, 1, 2], "op": [1, 1, 1]})
    engine.append("s", {"k": ["a", "b"], "x": [1, 2], "op": [-1, -1]})
    assert engine.sql("FROM v").to_pylist() == [{"k": "a", "x": 1}]


def test_another_stream_keeps_its_column_of_that_name_beside_it(engine: Engine) -> None:
    engine.sql("CREATE STREAM newest (k TEXT, op TEXT) KEY (k)")
    query = "SELECT l.op, n FROM latest(newest) AS l"
    make(engine, f"{query} JOIN (SELECT k, count(*) AS n FROM orders GROUP BY k) USING (k)")
    engine.append("newest", {"k": ["a"], "op": ["open"]})
    engine.append("orders", {"time": [1, 2, 3], "k": ["a", "a", "a"], "op": [1, 1, -1]})
    assert engine.sql("FROM v").to_pylist() == [{"op": "open", "n": 1}]


# Leaves that rows cannot be taken away from

NEWEST = "leave sign out and read latest(orders), the newest row of each key"
DISTINCT = "or aggregate over a subquery with SELECT DISTINCT, which keeps all values"


@pytest.mark.parametrize(
    ("query", "reason", "hint"),
    [
        (
            "SELECT k, max(x) AS m, min(f) AS n, sum(x) AS a FROM orders GROUP BY k",
            r"a value cannot be taken away from max\(x\) and min\(f\): the next one is not kept",
            f"{NEWEST}, {DISTINCT}",
        ),
        (
            "SELECT bool_and(x > 1) AS m, any_value(k) AS a FROM orders",
            r"from bool_and\(x > 1\) and any_value\(k\)",
            f"{NEWEST}, {DISTINCT}",
        ),
        ("SELECT max(k, 3) AS m FROM orders", r"max\(k, 3\)", NEWEST),
        ("SELECT arg_max(k, x) AS m FROM orders", r"arg_max\(k, x\)", NEWEST),
        (
            "SELECT k, sum(f) AS m FROM orders GROUP BY k",
            r"sum\(f\) does not add integers or decimals",
            "cast the values, as in sum(x::DECIMAL(18, 2))",
        ),
        ("SELECT avg(x / 2) AS m FROM orders", r"avg\(x / 2\) does not add integers", "cast"),
        (
            "SELECT k, stddev(x) AS m, count(*) AS n FROM orders GROUP BY k",
            r"^stddev\(x\) would not be exact any more",
            f"use sums, counts and averages, or {NEWEST}",
        ),
        ("SELECT corr(x, f) AS m FROM orders", r"corr\(x, f\) would not be exact", "use sums"),
        (
            "SELECT kinds, count(*) AS n FROM orders GROUP BY kinds",
            "rows cannot be taken away from groups of this type: kinds",
            "group by numbers, texts or times",
        ),
        (
            "SELECT DISTINCT k, kinds FROM orders",
            "rows cannot be taken away from groups of this type: kinds",
            "group by numbers, texts or times",
        ),
        ("SELECT k, x FROM orders ORDER BY x LIMIT 3", "the first rows of an order", NEWEST),
        (
            "SELECT k, x FROM orders QUALIFY row_number() OVER (PARTITION BY k ORDER BY x) <= 2",
            "the first rows of an order cannot be followed: the next ones are not kept",
            NEWEST,
        ),
        ("SELECT DISTINCT ON (k) k, x FROM orders ORDER BY x", "the first rows", NEWEST),
    ],
)
def test_what_has_no_inverse_is_refused(engine: Engine, query: str, reason: str, hint: str) -> None:
    with refused(StatementError, "orders", reason) as caught:
        make(engine, query)
    assert caught.value.hint.startswith(hint)
    assert not engine.views
    engine.sql(f"CREATE VIEW without AS {query}")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT median(x) AS m FROM orders", "needs every value"),
        ("SELECT k, x FROM orders", "the result contains its rows"),
    ],
)
def test_what_would_keep_all_rows_is_refused(engine: Engine, query: str, reason: str) -> None:
    with refused(UnboundedQueryError, "orders", reason) as caught:
        make(engine, query)
    expected = "aggregate the rows of orders by sums and counts, or read latest(orders)"
    assert caught.value.hint == expected


def test_extremes_of_distinct_values_follow(engine: Engine) -> None:
    make(engine, "SELECT k, max(x) AS m FROM (SELECT DISTINCT k, x FROM orders) GROUP BY k")
    rows = {"time": [1, 2, 3], "k": ["a", "a", "a"], "x": [5, 9, 9]}
    engine.append("orders", {**rows, "op": [1, 1, 1]})
    engine.append("orders", {"time": [4], "k": ["a"], "x": [9], "op": [-1]})
    assert engine.sql("FROM v").to_pylist() == [{"k": "a", "m": 9}]
    engine.append("orders", {"time": [4], "k": ["a"], "x": [9], "op": [-1]})
    assert engine.sql("FROM v").to_pylist() == [{"k": "a", "m": 5}]


def test_a_macro_that_rows_have_met_cannot_become_another_one(engine: Engine) -> None:
    engine.sql("CREATE MACRO half(a) AS a // 2")
    make(engine, "SELECT half(x) AS h, count(*) AS n FROM orders GROUP BY h")
    engine.append("orders", {"time": [1], "x": [4], "op": [1]})
    with pytest.raises(QueryError, match="half"):
        engine.sql("CREATE OR REPLACE MACRO half(a) AS a // 4")
    engine.append("orders", {"time": [1], "x": [4], "op": [-1]})
    assert engine.sql("FROM v").to_pylist() == []


# Replacing


def test_a_view_may_be_replaced_by_one_without_signs(engine: Engine) -> None:
    make(engine, SUMS)
    engine.append("orders", {"time": [1, 2], "k": ["a", "a"], "x": [4, 2], "op": [1, 1]})
    engine.sql(f"CREATE OR REPLACE VIEW v AS {SUMS}")
    engine.append("orders", {"time": [3], "k": ["a"], "x": [2], "op": [-1]})
    assert engine.sql("FROM v").to_pylist() == [{"k": "a", "n": 2}]
    engine.sql(f"CREATE OR REPLACE VIEW v WITH (sign = 'op') AS {SUMS}")
    engine.append("orders", {"time": [4, 4], "k": ["a", "a"], "x": [2, 8], "op": [-1, 1]})
    engine.append("orders", {"time": [5], "k": ["a"], "x": [2], "op": [1]})
    assert engine.sql("FROM v").to_pylist() == [{"k": "a", "n": 8}]
