"""A continuous view from outside: its result, its counts, what it says of itself, its failures."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from upstream import ClosedError, Engine, ManualClock
from upstream.errors import QueryError, UnknownNameError
from upstream.queries.maintained_view import MaintainedView

SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"
CASTS = "SELECT k, sum(note::INT) AS n FROM bids GROUP BY k"
MANY, GROUPS = 1_000_000, 1_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(clock: ManualClock) -> Iterator[Engine]:
    with Engine(clock=clock) as engine:
        engine.sql("CREATE STREAM bids (k TEXT, x BIGINT, note TEXT) KEY (k)")
        yield engine


def feed(engine: Engine, *rows: tuple[str, int | None, str]) -> None:
    keys, numbers, notes = zip(*rows, strict=True)
    engine.append("bids", {"k": keys, "x": numbers, "note": notes})


def maintained(engine: Engine, name: str) -> MaintainedView:
    """Return a view as the engine has it."""
    return engine._catalogue.view(name)


def lacks(engine: Engine, name: str) -> float | None:
    """Return since when the last result of a view has lacked something."""
    view = maintained(engine, name)
    assert view._known is not None
    return view.first_waiting(view._known[1])


def rows(engine: Engine, name: str) -> list[tuple[object, ...]]:
    found = engine.sql(f"FROM {name}").to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


# The result


def test_a_view_has_a_name_columns_and_a_text(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW Sums (key) AS\n  {SUMS} ;")
    view = engine.view("sums")
    assert view.name == "Sums"
    assert view.schema == pa.schema([("key", pa.string()), ("n", pa.int64())])
    assert maintained(engine, "sums").definition.is_view
    assert view.streams == frozenset({"bids"})
    assert view.tables == maintained(engine, "sums").static_tables == frozenset()
    assert view.text == SUMS
    assert repr(view) == "<ContinuousView 'Sums' over bids>"
    with pytest.raises(UnknownNameError, match="view named 'others'"):
        engine.view("others")


def test_without_news_the_result_is_the_same_table(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    view = maintained(engine, "sums")
    feed(engine, ("a", 1, ""))
    first = view.table()
    assert view.table() is first
    assert view.is_current(first)
    feed(engine, ("a", 2, ""))
    assert not view.is_current(first)
    second = view.table()
    assert second.to_pylist() == [{"k": "a", "n": 3}]
    assert view.is_current(second)
    assert not view.is_current(first)
    assert not view.is_current(None)


def test_a_view_before_any_row_returns_what_its_query_returns_over_none(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    engine.sql("CREATE VIEW counts AS SELECT count(*) AS n, max(x) AS m FROM bids")
    assert rows(engine, "sums") == []
    assert rows(engine, "counts") == [(0, None)]


def test_a_scan_returns_the_columns_that_are_wanted(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    feed(engine, ("a", 1, ""))
    assert maintained(engine, "sums").scan(["n"]).to_pydict() == {"n": [1]}
    assert maintained(engine, "sums").scan().schema.names == ["k", "n"]


def test_rows_that_wait_are_taken_in_without_an_answer(clock: ManualClock, engine: Engine) -> None:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    view = maintained(engine, "sums")
    assert view.first_waiting(None) is None
    clock.advance(5.0)
    feed(engine, ("a", 1, ""))
    clock.advance(2.0)
    feed(engine, ("b", 2, ""))
    assert view.first_waiting(None) == 5.0
    assert view.view_statistics().rows_waiting == 2
    view.evaluate()
    assert view.first_waiting(None) == 5.0  # the result lacks it
    assert view.view_statistics().rows_waiting == 0
    assert rows(engine, "sums") == [("a", 1), ("b", 2)]
    assert view.first_waiting(view.table()) is None


def test_a_view_counts_rows_and_holds_groups(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    for _ in range(5):
        feed(engine, ("a", 1, ""), ("b", 2, ""))
        engine.sql("FROM sums")
    counts = engine.view("sums").statistics()
    assert (counts.rows_read, counts.rows_held, counts.rows_waiting) == (10, 2, 0)
    assert (counts.rows_failed, counts.error) == (0, None)
    assert (counts.reads, counts.refreshes) == (5, 5)


def test_views_stand_on_views(engine: Engine) -> None:
    engine.sql("CREATE TABLE names AS SELECT 'a' AS k, 10 AS v")
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    engine.sql("CREATE VIEW named AS SELECT k, n * v AS n FROM sums JOIN names USING (k)")
    engine.sql("CREATE VIEW most AS SELECT max(n) AS n FROM named")
    assert rows(engine, "most") == [(None,)]
    feed(engine, ("a", 1, ""))
    assert rows(engine, "most") == [(10,)]
    engine.sql("UPDATE names SET v = 7")
    assert rows(engine, "most") == [(7,)]
    assert engine.view("most").streams == {"named"}
    assert lacks(engine, "most") is None
    feed(engine, ("a", 1, ""))
    assert lacks(engine, "most") == 0.0
    assert rows(engine, "most") == [(14,)]


def test_a_closed_view_answers_no_more(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    view = engine.view("sums")
    feed(engine, ("a", 1, ""))
    view.table()
    engine.sql("DROP VIEW sums")
    with pytest.raises(ClosedError, match="view is closed"):
        view.table()
    assert view.statistics().rows_read == 1


def test_an_engine_closes_its_views(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    view = engine.view("sums")
    engine.close()
    with pytest.raises(ClosedError):
        view.table()


# Descriptions


def test_explain_says_what_runs_once_at_insert_and_at_the_query(engine: Engine) -> None:
    engine.sql("CREATE TABLE names AS SELECT 'a' AS k, 10 AS v")
    engine.sql("CREATE TABLE sectors AS SELECT 'a' AS k, 'x' AS sector")
    engine.sql(
        "CREATE VIEW v AS SELECT sector, s FROM sectors JOIN"
        " (SELECT k, sum(x * v) AS s FROM bids JOIN names USING (k) GROUP BY k) USING (k)"
    )
    once, arrival, read, last = engine.view("v").explain().splitlines()
    assert once == "once, when the view was created: names"
    assert arrival.startswith("as rows arrive in bids: sum(x * v) by k")
    assert read.startswith("when the view is read: the rest of the query")
    assert read.endswith("with sectors")
    assert last.startswith("if nothing has come")
    assert "GROUP BY" in engine.view("v").explain(sql=True)


def test_explain_of_a_view_over_windows_is_that_of_a_standing_query(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT sum(x) AS n FROM rows(bids, 3)")
    feed(engine, ("a", 1, ""), ("b", 2, ""), ("a", 4, ""), ("b", 8, ""))
    assert rows(engine, "v") == [(7,)]
    assert engine.view("v").explain().startswith("incrementally: sum(x)")


# Failures


def test_a_row_that_fails_makes_a_view_fail_and_is_counted(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW v AS {CASTS}")
    feed(engine, ("a", 1, "5"), ("b", 2, "x"), ("a", 3, "7"))
    for _ in range(2):
        with pytest.raises(QueryError, match="v has no result: 1 row fails: Conversion") as caught:
            engine.sql("FROM v")
        assert "WITH (on_error = 'skip')" in caught.value.hint
    counts = engine.view("v").statistics()
    assert (counts.rows_read, counts.rows_failed) == (3, 1)
    assert "Could not convert string 'x'" in str(counts.error)
    feed(engine, ("a", 1, "y"))
    with pytest.raises(QueryError, match="2 rows fail"):
        engine.sql("FROM v")


def test_a_view_may_leave_out_the_rows_that_fail(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW v WITH (on_error = 'skip') AS {CASTS}")
    feed(engine, ("a", 1, "5"), ("b", 2, "x"), ("a", 3, "7"))
    assert rows(engine, "v") == [("a", 12)]
    feed(engine, ("b", 1, "6"), ("b", 1, ""))
    assert rows(engine, "v") == [("a", 12), ("b", 6)]
    assert engine.view("v").statistics().rows_failed == 2


def test_a_row_that_fails_in_one_view_is_in_the_others(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW v AS {CASTS}")
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    feed(engine, ("a", 1, "x"))
    assert rows(engine, "sums") == [("a", 1)]


def test_a_view_works_again_when_a_sum_fits_again(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    feed(engine, ("a", 2**63 - 1, ""), ("a", 1, ""), ("b", 1, ""))
    with pytest.raises(QueryError, match="does not fit in 64 bits: write sum") as caught:
        engine.sql("FROM sums")
    assert not caught.value.hint
    assert engine.view("sums").statistics().rows_failed == 0
    feed(engine, ("a", -5, ""))
    assert rows(engine, "sums") == [("a", 2**63 - 5), ("b", 1)]


def test_a_view_works_again_when_its_table_is_put_right(engine: Engine) -> None:
    engine.sql("CREATE TABLE notes AS SELECT '5' AS note")
    engine.sql(
        "CREATE VIEW v AS SELECT n, m FROM (SELECT count(*) AS n FROM bids),"
        " (SELECT max(note::INT) AS m FROM notes)"
    )
    assert rows(engine, "v") == [(0, 5)]
    engine.sql("INSERT INTO notes VALUES ('x')")
    with pytest.raises(QueryError, match="v has no result: Conversion Error"):
        engine.sql("FROM v")
    engine.sql("DELETE FROM notes WHERE note = 'x'")
    assert rows(engine, "v") == [(0, 5)]


def test_a_view_of_newest_rows_works_again_when_a_newer_row_comes(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT k, note::INT AS n FROM latest(bids)")
    feed(engine, ("a", 1, "5"), ("b", 1, "x"))
    with pytest.raises(QueryError, match="'x'"):
        engine.sql("FROM v")
    feed(engine, ("b", 1, "6"))
    assert rows(engine, "v") == [("a", 5), ("b", 6)]


def test_the_error_of_a_view_below_names_that_view(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW below AS {CASTS}")
    engine.sql("CREATE VIEW above AS SELECT max(n) AS n FROM below")
    feed(engine, ("a", 1, "x"))
    with pytest.raises(QueryError, match="below has no result"):
        engine.sql("FROM above")


# Memory


def test_what_a_view_holds_does_not_grow_with_the_rows_that_came(engine: Engine) -> None:
    engine.sql("CREATE STREAM many (g INT, x BIGINT)")
    engine.sql(
        "CREATE VIEW v AS SELECT g, sum(x) AS s, count(*) AS n, avg(x) AS a, max(x) AS m"
        " FROM many GROUP BY g"
    )
    batch, held = MANY // 10, set[int]()
    for first in range(0, MANY, batch):
        numbers = range(first, first + batch)
        engine.append("many", pa.table({"g": [n % GROUPS for n in numbers], "x": numbers}))
        found = engine.sql("SELECT sum(n)::BIGINT AS n, sum(s)::BIGINT AS s FROM v").to_pylist()
        assert found == [{"n": first + batch, "s": (first + batch) * (first + batch - 1) // 2}]
        held.add(engine.view("v").statistics().rows_held)
        assert lacks(engine, "v") is None
    assert len(held) == 1
    assert held.pop() <= 2 * GROUPS
    assert engine.view("v").statistics().rows_read == MANY
