"""Views share the state of a stream if they keep the same of the same rows, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.queries.setting import append
from upstream import Engine, ManualClock
from upstream.errors import QueryError
from upstream.queries.evaluation.stream_state import StreamState
from upstream.tables.log import Log

SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"
BELOW = "SELECT k, sum(x * v) AS n FROM bids JOIN names USING (k) GROUP BY k"
BEST = "SELECT k, x FROM bids QUALIFY row_number() OVER (PARTITION BY k ORDER BY x DESC) <= {}"


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.sql("CREATE TABLE names AS SELECT * FROM (VALUES ('a', 2), ('b', 3)) AS t(k, v)")
    return engine


def create(engine: Engine, *queries: str) -> None:
    """Create the views v0, v1 and so on."""
    for number, query in enumerate(queries):
        engine.sql(f"CREATE VIEW v{number} AS {query}")


def states(engine: Engine, name: str) -> list[StreamState]:
    return [share.state for share in engine._catalogue.views[name].shares]


def share(engine: Engine, one: str = "v0", other: str = "v1") -> bool:
    """Tell whether two views share all of their states."""
    pairs = zip(states(engine, one), states(engine, other), strict=True)
    return all(state is another for state, another in pairs)


def readers(engine: Engine, stream: str = "bids") -> int:
    """Return how many views read all rows of a stream; its newest rows have a reader, too."""
    return len(engine._catalogue.streams[stream].log._readers) - 1


def own_tables(engine: Engine) -> int:
    text = "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, '__static')"
    return len(engine._duck.rows(text))


def pairs(engine: Engine, name: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in engine.sql(f"FROM {name}").to_pylist())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SUMS, SUMS),
        (SUMS, f"{SUMS} HAVING sum(x) > 3"),
        (SUMS, f"SELECT max(n) AS n FROM ({SUMS})"),
        (SUMS, f"SELECT k, n * v AS n FROM ({SUMS}) JOIN names USING (k)"),
        (SUMS, f"SELECT k, n, l.x FROM ({SUMS}) JOIN latest(asks) AS l USING (k)"),
        ("SELECT avg(x) AS n FROM bids", "SELECT sum(x) / count(x) AS n FROM bids"),
        (BELOW, BELOW),
        (BELOW, f"SELECT max(n) AS n FROM ({BELOW})"),
        (BEST.format(2), BEST.format(2)),
        ("SELECT count(*) AS n FROM bids", "SELECT count(*) AS n FROM landmark(bids) AS bids"),
    ],
)
def test_views_whose_leaves_are_the_same_share_a_state(
    engine: Engine, one: str, other: str
) -> None:
    create(engine, one, other)
    assert share(engine)
    assert readers(engine) == 1
    append(engine, "bids", (1, 5), (2, 7, "b"), (3, 1))
    append(engine, "asks", (1, 5), (2, 7, "b"))
    engine.sql(f"CREATE VIEW alone AS {other}")
    assert not share(engine, "v1", "alone")
    append(engine, "bids", (1, 6), (2, 8, "b"), (3, 2))
    with Engine(clock=ManualClock()) as reference:
        rows = [(5, "a"), (7, "b"), (1, "a"), (6, "a"), (8, "b"), (2, "a")]
        values = ", ".join(f"({x}, '{k}')" for x, k in rows)
        reference.sql(f"CREATE TABLE bids AS SELECT * FROM (VALUES {values}) AS v(x, k)")
        reference.sql("CREATE TABLE names AS SELECT * FROM (VALUES ('a', 2), ('b', 3)) AS t(k, v)")
        reference.sql("CREATE TABLE asks AS SELECT * FROM (VALUES (5, 'a'), (7, 'b')) AS t(x, k)")
        for name, query in (("v0", one), ("v1", other)):
            plain = query.replace("landmark(bids)", "bids").replace("latest(asks)", "asks")
            reference.sql(f"CREATE VIEW {name} AS {plain}")
            assert pairs(engine, name) == pairs(reference, name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SUMS, "SELECT k, sum(x) AS n FROM asks GROUP BY k"),
        (SUMS, "SELECT k, sum(x + 1) AS n FROM bids GROUP BY k"),
        (SUMS, "SELECT note, sum(x) AS n FROM bids GROUP BY note"),
        (SUMS, "SELECT k, sum(x) AS n FROM bids WHERE x > 3 GROUP BY k"),
        (SUMS, "SELECT k, max(x) AS n FROM bids GROUP BY k"),
        (SUMS, "SELECT k, sum(x) AS n, count(*) AS c FROM bids GROUP BY k"),
        (BELOW, BELOW.replace("names", "(SELECT k, v FROM names WHERE k = 'a') AS names")),
        (BEST.format(2), BEST.format(3)),
        (BEST.format(2), BEST.format(2).replace("DESC", "ASC")),
        (SUMS, f"SELECT k, n, m FROM ({SUMS}) JOIN (SELECT max(x) AS m FROM bids) ON n = m"),
    ],
)
def test_views_whose_leaves_differ_share_nothing(engine: Engine, one: str, other: str) -> None:
    create(engine, one, other)
    assert not share(engine)
    engine.sql("DROP VIEW v0")
    create(engine, other)
    assert share(engine)


def test_the_order_of_leaves_does_not_matter(engine: Engine) -> None:
    parts = "(SELECT sum(x) AS s FROM bids) AS a", "(SELECT max(x) AS m FROM bids) AS b"
    create(
        engine,
        f"SELECT s, m FROM {parts[0]}, {parts[1]}",
        f"SELECT s, m FROM {parts[1]}, {parts[0]}",
    )
    assert share(engine)
    append(engine, "bids", (1, 5), (2, 7))
    assert pairs(engine, "v0") == pairs(engine, "v1") == [(12, 7)]


def test_of_two_streams_each_state_is_shared_for_itself(engine: Engine) -> None:
    asks = "SELECT sum(x) AS m FROM asks"
    create(engine, asks, f"SELECT k, n, m FROM ({SUMS}), ({asks})", SUMS)
    assert states(engine, "v1") == [*states(engine, "v2"), *states(engine, "v0")]
    append(engine, "asks", (1, 3))
    append(engine, "bids", (1, 5))
    assert pairs(engine, "v0") == [(3,)]
    assert pairs(engine, "v1") == [("a", 5, 3)]
    assert pairs(engine, "v2") == [("a", 5)]


def test_equal_leaves_of_one_view_are_evaluated_once(engine: Engine) -> None:
    create(
        engine,
        f"SELECT a.k, a.n, b.n AS m FROM ({SUMS}) AS a JOIN ({SUMS}) AS b ON a.k = b.k",
        f"SELECT a.k, a.n, b.n AS m FROM ({BELOW}) AS a JOIN ({BELOW}) AS b ON a.k = b.k",
        SUMS,
    )
    assert [len(states(engine, f"v{i}")[0].leaves) for i in range(3)] == [1, 1, 1]
    assert share(engine, "v0", "v2")
    assert own_tables(engine) == 1
    append(engine, "bids", (1, 5), (2, 7, "b"))
    assert pairs(engine, "v0") == [("a", 5, 5), ("b", 7, 7)]
    assert pairs(engine, "v1") == [("a", 10, 10), ("b", 21, 21)]
    assert engine.view("v1").statistics().rows_held == 2


def test_views_that_need_other_groups_of_a_state_each_get_theirs(engine: Engine) -> None:
    ordered = f"SELECT k, n FROM ({SUMS}) ORDER BY n {{}} LIMIT 2"
    engine.sql("INSERT INTO names SELECT 'k' || range::TEXT, range FROM range(40, 50)")
    matched = f"SELECT k, n FROM ({SUMS}) JOIN names USING (k) WHERE v = 43"
    create(engine, ordered.format("DESC"), SUMS, ordered.format("ASC"), matched, SUMS)
    assert len({states(engine, f"v{number}")[0] for number in range(5)}) == 1
    for _ in range(2):
        append(engine, "bids", *[(1, number + 1, f"k{number}") for number in range(50)])
        for order in (range(5), range(4, -1, -1)):
            found = {number: pairs(engine, f"v{number}") for number in order}
            [(_, one)] = found[3]
            assert isinstance(one, int)
            assert found[0] == [("k48", 49 * one // 44), ("k49", 50 * one // 44)]
            assert found[2] == [("k0", one // 44), ("k1", 2 * one // 44)]
            assert len(found[1]) == len(found[4]) == 50


# When rows have come


@pytest.mark.parametrize("is_read", [False, True], ids=["waiting", "read"])
def test_a_state_is_not_shared_once_a_row_has_come(engine: Engine, is_read: bool) -> None:
    engine.sql(f"CREATE VIEW v0 AS {SUMS}")
    append(engine, "bids", (1, 5))
    if is_read:
        engine.sql("FROM v0")
    engine.sql(f"CREATE VIEW v1 AS {SUMS}")
    assert not share(engine)
    append(engine, "bids", (1, 7))
    assert pairs(engine, "v0") == [("a", 12)]
    assert pairs(engine, "v1") == [("a", 7)]


def test_rows_that_came_before_both_views_do_not_matter(engine: Engine) -> None:
    append(engine, "bids", (1, 5))
    create(engine, SUMS, SUMS)
    assert share(engine)


def test_a_row_that_arrives_while_a_view_is_planned_keeps_it_from_sharing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.sql(f"CREATE VIEW v0 AS {BELOW}")
    is_empty = StreamState.is_empty
    asked: list[bool] = []

    def with_insert(self: StreamState, log: Log) -> bool:
        asked.append(found := is_empty(self, log))
        if len(asked) == 1:
            append(engine, "bids", (1, 5))  # as another thread could
        return found

    monkeypatch.setattr(StreamState, "is_empty", with_insert)
    engine.sql(f"CREATE VIEW v1 AS {BELOW}")
    assert asked == [True, False]
    assert not share(engine)
    append(engine, "bids", (1, 7))
    assert pairs(engine, "v0") == [("a", 24)]
    assert pairs(engine, "v1") == [("a", 14)]


def test_a_moment_that_outlived_its_query_does_not_hide_rows_from_a_new_view(
    engine: Engine,
) -> None:
    engine.sql(f"CREATE VIEW v0 AS {SUMS}")
    block = engine._catalogue.at_one_moment()
    block.__enter__()  # as if an exception had kept it from ending
    append(engine, "bids", (1, 5))
    engine.sql(f"CREATE VIEW v1 AS {SUMS}")
    assert not share(engine)
    assert pairs(engine, "v1") == []
    del block


def test_a_restored_view_has_a_state_of_its_own(engine: Engine, tmp_path: Path) -> None:
    create(engine, SUMS, SUMS)
    append(engine, "bids", (1, 5))
    engine.view("v1").save(tmp_path / "v1")
    engine.sql("DROP VIEW v1")
    engine.restore_view(tmp_path / "v1")
    engine.sql(f"CREATE VIEW v2 AS {SUMS}")
    assert len({states(engine, f"v{i}")[0] for i in range(3)}) == 3
    append(engine, "bids", (1, 7))
    assert [pairs(engine, f"v{i}") for i in range(3)] == [[("a", 12)], [("a", 12)], [("a", 7)]]


def test_a_view_is_saved_at_one_row_when_another_view_has_read_on(
    engine: Engine, tmp_path: Path
) -> None:
    newest = f"SELECT k, n, l.x FROM ({SUMS}) JOIN latest(bids) AS l USING (k)"
    create(engine, SUMS, newest)
    append(engine, "bids", (1, 5))
    engine.sql("FROM v0")
    assert engine.view("v1").positions == {"bids": 0}  # the newest rows are not read yet
    engine.view("v1").save(tmp_path / "v1")
    assert engine.view("v1").positions == {"bids": 1}
    engine.sql("DROP VIEW v1")
    append(engine, "bids", (2, 7))
    engine.restore_view(tmp_path / "v1")
    assert pairs(engine, "v1") == [("a", 12, 7)]
    assert pairs(engine, "v0") == [("a", 12)]


# Tables below a stream


def test_static_parts_are_kept_once_for_all_views(engine: Engine) -> None:
    create(engine, BELOW, BELOW, f"SELECT max(n) AS n FROM ({BELOW})")
    assert own_tables(engine) == 1
    engine.sql("DROP VIEW v0")
    with pytest.raises(QueryError, match="names"):
        engine.sql("UPDATE names SET v = 5")
    append(engine, "bids", (1, 5))
    assert (pairs(engine, "v1"), pairs(engine, "v2")) == ([("a", 10)], [(10,)])
    engine.sql("DROP VIEW v1")
    assert own_tables(engine) == 1
    engine.sql("DROP VIEW v2")
    assert own_tables(engine) == 0


def test_a_statement_that_may_change_tables_matters_to_views_that_read_them_only(
    engine: Engine,
) -> None:
    create(engine, BELOW, SUMS)
    engine.sql("CREATE TABLE others AS SELECT 1 AS x")
    engine.sql(f"CREATE VIEW below AS {BELOW}")
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    assert not share(engine, "v0", "below")
    assert share(engine, "v1", "sums")


@pytest.mark.parametrize("form", ["read_csv('{}')", "'{}'", "listed"])
def test_a_file_that_has_changed_is_not_the_same(engine: Engine, tmp_path: Path, form: str) -> None:
    file = tmp_path / "rates.csv"
    file.write_text("k,v\na,2\n")
    engine.sql(f"CREATE VIEW listed AS FROM '{file}'")
    query = BELOW.replace("JOIN names", f"JOIN {form.format(file)} AS names")
    create(engine, query, query)
    assert share(engine)
    file.write_text("k,v\na,20\n")
    engine.sql(f"CREATE VIEW v2 AS {query}")
    assert not share(engine, "v0", "v2")
    append(engine, "bids", (1, 5))
    assert [pairs(engine, f"v{i}") for i in range(3)] == [[("a", 10)], [("a", 10)], [("a", 100)]]


def test_a_macro_is_the_same_as_long_as_nothing_can_have_changed_it(engine: Engine) -> None:
    engine.sql("CREATE MACRO double(x) AS 2 * x")
    query = "SELECT sum(double(x)) AS n FROM bids"
    create(engine, query, query)
    assert share(engine)
    engine.sql("CREATE TEMP MACRO double(x) AS 3 * x")
    engine.sql(f"CREATE VIEW v2 AS {query}")
    assert not share(engine, "v0", "v2")


# The end of a share


def test_a_dropped_view_leaves_the_state_to_the_others(engine: Engine) -> None:
    create(engine, SUMS, SUMS, SUMS)
    append(engine, "bids", (1, 5))
    assert pairs(engine, "v0") == [("a", 5)]
    engine.sql("DROP VIEW v0")
    append(engine, "bids", (1, 7))
    assert pairs(engine, "v1") == [("a", 12)]
    engine.sql("DROP VIEW v1")
    append(engine, "bids", (1, 1))
    assert pairs(engine, "v2") == [("a", 13)]
    assert readers(engine) == 1
    engine.sql("DROP VIEW v2")
    assert readers(engine) == 0


def test_a_replaced_view_gives_its_share_to_the_new_one(engine: Engine) -> None:
    create(engine, BELOW, BELOW)
    [state] = states(engine, "v0")
    engine.sql(f"CREATE OR REPLACE VIEW v0 AS SELECT max(n) AS n FROM ({BELOW})")
    assert share(engine)
    assert len(state.shares) == 2
    append(engine, "bids", (1, 5))
    assert (pairs(engine, "v0"), pairs(engine, "v1")) == ([(10,)], [("a", 10)])
    engine.sql(f"CREATE OR REPLACE VIEW v0 AS {BELOW}")
    assert [len(each.shares) for each in (state, *states(engine, "v0"))] == [1, 1]
    assert (pairs(engine, "v0"), pairs(engine, "v1")) == ([], [("a", 10)])
    assert own_tables(engine) == readers(engine) == 2


@pytest.mark.parametrize(
    "text",
    [
        f"CREATE VIEW other AS SELECT n, n FROM ({BELOW})",
        f"CREATE VIEW other(a, b, c) AS {BELOW}",
        f"CREATE OR REPLACE VIEW v0 AS SELECT q.n FROM ({BELOW}) AS q, v0",
        f"CREATE VIEW other AS SELECT n, x FROM ({BELOW}), asks",
    ],
    ids=["two columns of a name", "too many names", "reads itself", "keeps all rows"],
)
def test_a_view_that_fails_leaves_the_state_as_it_was(engine: Engine, text: str) -> None:
    create(engine, BELOW)
    [state] = states(engine, "v0")
    with pytest.raises(QueryError):
        engine.sql(text)
    assert len(state.shares) == readers(engine) == own_tables(engine) == 1
    append(engine, "bids", (1, 5))
    assert pairs(engine, "v0") == [("a", 10)]
    engine.sql("DROP VIEW v0")
    assert readers(engine) == own_tables(engine) == 0


# Signs


def test_views_share_a_state_only_if_they_have_the_same_signs(engine: Engine) -> None:
    engine.sql("CREATE STREAM orders (k TEXT, x BIGINT, op TINYINT, op2 TINYINT)")
    query = "SELECT k, sum(x) AS n, count(*) AS c FROM orders GROUP BY k"
    for number, sign in enumerate(["op", "op", "op2", ""]):
        option = f"WITH (sign = '{sign}')" if sign else ""
        engine.sql(f"CREATE VIEW v{number} {option} AS {query}")
    assert share(engine, "v0", "v1")
    assert len({states(engine, f"v{number}")[0] for number in range(4)}) == 3
    engine.append("orders", {"k": ["a"] * 3, "x": [1, 2, 1], "op": [1, 1, -1], "op2": [1, 1, 1]})
    found = [pairs(engine, f"v{number}") for number in range(4)]
    assert found == [[("a", 2, 1)], [("a", 2, 1)], [("a", 4, 3)], [("a", 4, 3)]]
