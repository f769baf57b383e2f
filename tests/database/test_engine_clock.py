"""SQL tells the time of the engine's clock, by whatever name it asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

import duckdb
import pytest

from upstream import Engine, ManualClock
from upstream.database.engine_clock import MACROS

START = datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START.timestamp())


@pytest.fixture
def engine(clock: ManualClock) -> Iterator[Engine]:
    with Engine(clock=clock) as engine:
        engine.sql("CREATE STREAM ticks (tick TIMESTAMPTZ, x BIGINT) TIME (tick)")
        yield engine


def value(engine: Engine, expression: str) -> object:
    return engine.sql(f"SELECT {expression} AS value")["value"][0].as_py()


def functions_of_time() -> list[str]:
    """Return the calls of DuckDB's functions without arguments that give a time."""
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE len(parameters) = 0 "
            "AND function_type = 'scalar' AND regexp_matches(return_type, '^(DATE|TIME)')"
        ).fetchall()
    return sorted(f"{name}()" for (name,) in rows)


def test_every_function_of_duckdb_that_gives_a_time_by_itself_is_replaced() -> None:
    assert functions_of_time() == sorted(MACROS)


@pytest.mark.parametrize(
    "call", [*sorted(MACROS), "current_timestamp", "current_date", "current_time", "localtime"]
)
def test_types_are_those_of_duckdb(engine: Engine, call: str) -> None:
    with duckdb.connect() as plain:
        row = plain.execute(f"SELECT typeof({call})").fetchone()
    assert row is not None
    assert value(engine, f"typeof({call})") == row[0]


@pytest.mark.parametrize("word", ["now()", "current_timestamp", "NOW()", "ago(INTERVAL 0 days)"])
def test_now_is_the_moment_of_the_clock(engine: Engine, clock: ManualClock, word: str) -> None:
    assert value(engine, word) == START
    clock.advance(90)
    assert value(engine, word) == START + timedelta(seconds=90)


def test_days_and_times_of_day_are_those_of_the_clock(engine: Engine) -> None:
    assert value(engine, "current_date") == value(engine, "today()") == date(2001, 9, 9)
    assert value(engine, "localtimestamp") == START.replace(tzinfo=None)
    assert value(engine, "localtime") == value(engine, "current_time") == time(1, 46, 40)
    assert value(engine, "age(TIMESTAMP '2001-09-08')::TEXT") == "1 day"
    assert value(engine, "age(TIMESTAMP '2001-09-08', TIMESTAMP '2001-09-07')::TEXT") == "1 day"


def test_a_row_that_is_inserted_as_of_now_has_the_time_of_the_clock(engine: Engine) -> None:
    engine.sql("INSERT INTO ticks VALUES (now(), 1)")
    assert engine.sql("SELECT tick FROM ticks")["tick"][0].as_py() == START


def test_what_has_now_inside_tells_the_time_of_its_use(engine: Engine, clock: ManualClock) -> None:
    engine.sql("CREATE TABLE made (x INT, tick TIMESTAMPTZ DEFAULT now())")
    engine.sql("CREATE VIEW seen AS SELECT current_timestamp AS tick")
    engine.sql("CREATE MACRO moment() AS now()")
    for seconds in (0, 60):
        clock.advance(seconds)
        moment = START + timedelta(seconds=seconds)
        engine.sql("INSERT INTO made (x) VALUES (1)")
        assert engine.sql("SELECT max(tick) AS tick FROM made")["tick"][0].as_py() == moment
        assert engine.sql("SELECT tick FROM seen")["tick"][0].as_py() == moment
        assert value(engine, "moment()") == moment


def test_a_standing_query_tells_the_time_of_each_evaluation(
    engine: Engine, clock: ManualClock
) -> None:
    rows = engine.continuous_query("SELECT x, epoch(now()) AS moment FROM ticks")
    window = engine.continuous_query(
        "SELECT count(*) FILTER (tick > now() - INTERVAL '10 seconds') AS n, "
        "epoch(now()) AS moment FROM tumble(ticks, INTERVAL '60 seconds')"
    )
    for turn in range(4):  # often enough to be a prepared statement
        minute = START + timedelta(seconds=60 * turn)
        engine.append(
            "ticks", {"tick": [minute, minute + timedelta(seconds=15)], "x": [turn, turn]}
        )
        clock.advance(60)
        now = clock.now()
        [result] = rows.results()
        assert result.table["moment"].to_pylist() == [now, now]
        for each in window.results():
            assert each.table["moment"].to_pylist() == [now]
            assert each.table["n"].to_pylist() == [0]


def test_statements_without_such_a_call_do_not_set_the_time(
    engine: Engine, clock: ManualClock
) -> None:
    engine.sql("SELECT now()")
    clock.advance(60)
    engine.sql("SELECT count(*) FROM ticks")
    assert engine.sql("SELECT getvariable('__engine_n' || 'ow') AS t")["t"][0].as_py() == START
