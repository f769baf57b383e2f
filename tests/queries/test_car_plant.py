"""The example of the views paper: which stations of a car plant run low on parts (Figures 2 and 3).

Two streams are grouped as their rows arrive, and joined with each other and with a table when the
view is read.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from upstream import Engine, ManualClock

COLUMNS = "(part_id BIGINT, part TEXT, station BIGINT, worker BIGINT)"
RUNNING_LOW = """
    CREATE VIEW running_low AS
    WITH used AS (
        SELECT part, station, count(*) AS count FROM part_usage GROUP BY part, station
    ),
    restocked AS (
        SELECT part, station, count(*) AS count FROM part_restock GROUP BY part, station
    )
    SELECT r.part, s.location, s.supplier
    FROM station s, used u, restocked r
    WHERE s.id = u.station AND u.station = r.station AND u.part = r.part AND r.count - u.count < 5
"""


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        engine.sql(f"CREATE STREAM part_usage {COLUMNS}")
        engine.sql(f"CREATE STREAM part_restock {COLUMNS}")
        engine.sql("CREATE TABLE station (id BIGINT, plant TEXT, location TEXT, supplier TEXT)")
        engine.sql(
            "INSERT INTO station VALUES (1, 'Sparta', 'Gate 2 - E', 'N +1 555'),"
            " (2, 'Sparta', 'Gate 1 - S', 'E +1 555'), (3, 'Regensburg', 'Tor 2', '+49 555')"
        )
        engine.sql(RUNNING_LOW)
        yield engine


def put(engine: Engine, stream: str, part: str, station: int, count: int) -> None:
    rows = {"part": [part] * count, "station": [station] * count}
    engine.append(stream, {**rows, "part_id": range(count), "worker": [22] * count})


def running_low(engine: Engine) -> list[tuple[str, str]]:
    rows = engine.sql("SELECT part, location FROM running_low ORDER BY ALL").to_pylist()
    return [(row["part"], row["location"]) for row in rows]


def test_a_station_is_reported_while_it_has_fewer_than_five_of_a_part(engine: Engine) -> None:
    put(engine, "part_restock", "Seat", 2, 8)
    put(engine, "part_restock", "Wheel", 3, 20)
    assert running_low(engine) == []  # nothing was used yet
    put(engine, "part_usage", "Seat", 2, 4)
    put(engine, "part_usage", "Wheel", 3, 4)
    assert running_low(engine) == [("Seat", "Gate 1 - S")]
    put(engine, "part_restock", "Seat", 2, 1)
    assert running_low(engine) == []
    put(engine, "part_usage", "Wheel", 3, 12)
    assert running_low(engine) == [("Wheel", "Tor 2")]


def test_a_change_of_the_stations_is_seen_when_the_view_is_read_next(engine: Engine) -> None:
    put(engine, "part_restock", "Seat", 2, 8)
    put(engine, "part_usage", "Seat", 2, 4)
    assert running_low(engine) == [("Seat", "Gate 1 - S")]
    engine.sql("UPDATE station SET location = 'Gate 9' WHERE id = 2")
    assert running_low(engine) == [("Seat", "Gate 9")]
    engine.sql("DELETE FROM station WHERE id = 2")
    assert running_low(engine) == []


def test_each_part_of_the_query_runs_once_as_rows_arrive_or_when_it_is_read(
    engine: Engine,
) -> None:
    assert engine.view("running_low").explain().splitlines() == [
        "as rows arrive in part_usage: count(*) by part, station",
        "as rows arrive in part_restock: count(*) by part, station",
        "when the view is read: the rest of the query, over these results, with station",
        "if nothing has come since the view was last read, its last result is used again",
    ]
