"""A view that was saved and restored goes on as if it had never been saved.

It is restored in the same engine, in another one, and in another process.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream import Engine, ManualClock, PositionNotKeptError
from upstream.errors import NameTakenError, StatementError, UnknownNameError

from .saving import SUMS, VIEWS, answer, feed, lent, made, saved

EXAMPLES = max(1, settings.get_profile(settings.get_current_profile_name()).max_examples // 20)
ROWS = st.tuples(
    st.sampled_from("abcd"),
    st.sampled_from([None, 1, 2, 3, 100, 1 << 62]),
    st.sampled_from([None, 0.1, 0.2, 1e16, -1e16, -0.0]),
    st.sampled_from(["1", "2", "x"]),
)


@dataclass(frozen=True)
class Step:
    """Time passes, rows arrive, a key is deleted, and the view is read or not."""

    seconds: float
    stream: str
    rows: Sequence[tuple[object, ...]]
    deleted: str
    is_read: bool


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from([0.0, 1.0, 3.0]),
        st.sampled_from(["bids", "asks"]),
        st.lists(ROWS, max_size=5),
        st.sampled_from(["", "", "a", "b"]),
        st.booleans(),
    ),
    max_size=6,
)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def take(engine: Engine, steps: Sequence[Step]) -> None:
    for step in steps:
        assert isinstance(engine._clock, ManualClock)
        engine._clock.advance(step.seconds)
        feed(engine, *step.rows, stream=step.stream)
        if step.deleted:
            engine.delete(step.stream, {"k": [step.deleted]})
        if step.is_read:
            answer(engine)


@pytest.mark.slow
@pytest.mark.parametrize("name", VIEWS)
@given(steps=st.tuples(STEPS, STEPS, STEPS), on_error=st.sampled_from(["skip", "fail"]))
@settings(max_examples=EXAMPLES)
def test_a_restored_view_goes_on_as_if_it_had_not_been_saved(
    name: str,
    steps: tuple[list[Step], list[Step], list[Step]],
    on_error: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("saved") / "v"
    before, between, after = steps
    with ExitStack() as stack:
        saving, never = made(stack), made(stack)
        for each in (saving, never):
            each.sql(f"CREATE VIEW v WITH (on_error = '{on_error}') AS {VIEWS[name]}")
            take(each, before)
        saving.view("v").save(path)
        expected = answer(never)
        other = made(stack, saving._clock.now())
        other.restore_view(path)
        assert answer(saving) == answer(other) == expected
        saving.sql("DROP VIEW v")
        unread = [
            Step(each.seconds, each.stream, each.rows, each.deleted, False) for each in between
        ]
        for each in (saving, never, other):
            take(each, unread)
        saving.restore_view(path)
        for step in [*after, Step(0.0, "bids", [], "", True)]:
            for each in (saving, never, other):
                take(each, [step])
            assert answer(saving) == answer(other) == answer(never)
            assert other.view("v").positions == saving.view("v").positions
            assert other.view("v").positions == never.view("v").positions
            failed = [each.view("v").statistics().rows_failed for each in (saving, other, never)]
            assert len(set(failed)) == 1


# What a restored view is


def test_a_restored_view_has_its_name_columns_and_options(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    saving.sql(
        "CREATE VIEW Sums (key) WITH (max_staleness = INTERVAL '5 seconds', on_error = 'skip') AS"
        " SELECT k, sum(note::INT) AS n FROM bids GROUP BY k"
    )
    feed(saving, ("a", 1, 0.0, "7"), ("a", 1, 0.0, "x"))
    saving.view("sums").save(str(tmp_path / "sums"))
    view = restoring.restore_view(str(tmp_path / "sums"))
    assert (view.name, view.text) == ("Sums", saving.view("sums").text)
    assert view.schema == saving.view("sums").schema
    assert view.table().to_pylist() == [{"key": "a", "n": 7}]
    assert view.statistics().rows_failed == 1
    feed(restoring, ("a", 1, 0.0, "8"))
    assert view.table().to_pylist() == [{"key": "a", "n": 7}]  # fresh enough
    assert isinstance(restoring._clock, ManualClock)
    restoring._clock.advance(5.0)
    assert view.table().to_pylist() == [{"key": "a", "n": 15}]


def test_rows_are_taken_away_from_a_restored_view(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    for engine in (saving, restoring):
        engine.sql("CREATE STREAM orders (k TEXT, x BIGINT, op TINYINT)")

    def append(engine: Engine, *rows: tuple[str, int, int]) -> None:
        keys, numbers, signs = zip(*rows, strict=True)
        engine.append("orders", {"k": keys, "x": numbers, "op": signs})

    saving.sql(
        "CREATE VIEW v WITH (sign = 'op', on_error = 'skip') AS"
        " SELECT k, sum(x) AS n, count(DISTINCT x) AS m FROM orders GROUP BY k"
    )
    append(saving, ("a", 1, 1), ("a", 2, 1), ("b", 5, -1), ("c", 9, 0))
    saving.view("v").save(tmp_path / "v")
    view = restoring.restore_view(tmp_path / "v")
    assert answer(saving) == answer(restoring)
    assert "have not been added, for k = 'b'" in answer(restoring)
    assert view.positions == {"orders": 4}
    append(restoring, ("b", 5, 1), ("a", 2, -1), ("a", 3, 7))
    assert view.table().to_pylist() == [{"k": "a", "n": 1, "m": 1}]
    assert view.statistics().rows_failed == 2
    append(restoring, ("a", 1, -1))
    view.save(tmp_path / "v")
    restoring.sql("DROP VIEW v")
    append(restoring, ("d", 4, 1))
    assert restoring.restore_view(tmp_path / "v").table().to_pylist() == [
        {"k": "d", "n": 4, "m": 1}
    ]
    restoring.sql("DROP VIEW v")
    restoring.sql("DROP STREAM orders")
    restoring.sql("CREATE STREAM orders (k TEXT, x BIGINT, op INTEGER)")
    with pytest.raises(StatementError, match="its column op was int8, and is int32"):
        restoring.restore_view(tmp_path / "v")


def test_a_view_over_views_reads_those_that_there_are(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    saved(saving, tmp_path)
    saving.sql("CREATE VIEW total AS SELECT sum(n) AS n FROM v")
    saving.view("total").save(tmp_path / "total")
    assert saving.view("total").positions == {}
    with pytest.raises(UnknownNameError, match="no view named 'v'"):
        restoring.restore_view(tmp_path / "total")
    restoring.restore_view(tmp_path / "v")
    assert restoring.restore_view(tmp_path / "total").table().to_pylist() == [{"n": 3}]
    feed(restoring, ("a", 5))
    assert restoring.view("total").table().to_pylist() == [{"n": 8}]


def test_what_a_file_needs_does_not_grow_with_the_rows_that_came(
    saving: Engine, tmp_path: Path
) -> None:
    saved(saving, tmp_path)
    small = (tmp_path / "v").stat().st_size
    for _ in range(20):
        feed(saving, *[("a", 1)] * 1_000)
    saving.view("v").save(tmp_path / "v")
    assert (tmp_path / "v").stat().st_size < small + 200
    assert [path.name for path in tmp_path.iterdir()] == ["v"]


def test_a_view_whose_sum_is_too_large_is_restored_with_its_failure(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    query = "SELECT sum(x::DECIMAL(38, 0) * 10000000000000000000) AS n FROM bids"
    saved(saving, tmp_path, query)
    for _ in range(3):
        feed(saving, ("a", 1 << 62))
        answer(saving)
    assert "overflow" in str(answer(saving)).lower()
    saving.view("v").save(tmp_path / "v")
    restoring.restore_view(tmp_path / "v")
    assert answer(restoring) == answer(saving)
    for each in (saving, restoring):
        feed(each, ("a", -(1 << 62)), ("a", -(1 << 62)))
    assert answer(restoring) == answer(saving) != "overflow"


# Where a restored view goes on


def test_in_the_same_engine_it_reads_what_came_later(saving: Engine, tmp_path: Path) -> None:
    saved(saving, tmp_path)
    saving.sql("DROP VIEW v")
    feed(saving, ("a", 10))
    view = saving.restore_view(tmp_path / "v")
    assert view.positions == {"bids": 2}
    assert answer(saving) == ["{'k': 'a', 'n': 11}", "{'k': 'b', 'n': 2}"]
    assert view.positions == {"bids": 3}


@pytest.mark.parametrize("query", [SUMS, VIEWS["newest"]], ids=["rows", "newest rows"])
def test_rows_that_are_not_kept_any_more_cannot_be_read(
    query: str, saving: Engine, tmp_path: Path
) -> None:
    saved(saving, tmp_path, query)
    saving.sql("DROP VIEW v")
    feed(saving, ("a", 10))
    saving.sql("FROM bids")
    with pytest.raises(PositionNotKeptError, match="only rows 3 to 3 are kept"):
        saving.restore_view(tmp_path / "v")
    assert not saving.views


def test_a_deletion_that_is_not_kept_any_more_cannot_be_followed(
    saving: Engine, tmp_path: Path
) -> None:
    saved(saving, tmp_path, VIEWS["newest"])
    saving.sql("DROP VIEW v")
    saving.delete("bids", {"k": ["a"]})
    saving.sql("FROM bids")
    with pytest.raises(PositionNotKeptError):
        saving.restore_view(tmp_path / "v")


def test_in_another_engine_a_feed_goes_on_where_the_position_says(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    rows = [("a", number) for number in range(10)]
    saving.sql(f"CREATE VIEW v AS {SUMS}")
    feed(saving, *rows[:6])
    saving.view("v").save(tmp_path / "v")
    view = restoring.restore_view(tmp_path / "v")
    assert view.positions == {"bids": 6}
    feed(restoring, *rows[view.positions["bids"] :])
    assert answer(restoring) == ["{'k': 'a', 'n': 45}"]
    assert view.positions == {"bids": 10}


def test_a_view_can_be_saved_and_restored_again_and_again(stack: ExitStack, tmp_path: Path) -> None:
    first = made(stack)
    first.sql(f"CREATE VIEW v AS {SUMS}")
    engines = [first]
    for turn in range(4):
        feed(engines[-1], ("a", 1), ("a", turn))
        engines[-1].view("v").save(tmp_path / "v")
        engines.append(made(stack))
        assert engines[-1].restore_view(tmp_path / "v").positions == {"bids": 2 * turn + 2}
    assert answer(engines[-1]) == ["{'k': 'a', 'n': 10}"]


def test_a_stream_with_more_rows_than_the_view_is_refused(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    saved(saving, tmp_path)
    feed(restoring, ("a", 1), ("a", 1), ("a", 1))
    with pytest.raises(StatementError, match="bids has 3 rows here, and the saved view contains 2"):
        restoring.restore_view(tmp_path / "v")
    assert not restoring.views


def test_views_that_were_saved_at_different_rows_are_not_mixed(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    saved(saving, tmp_path)
    saving.sql("CREATE VIEW counts AS SELECT count(*) AS n FROM bids")
    feed(saving, ("c", 5))
    saving.view("counts").save(tmp_path / "counts")
    restoring.restore_view(tmp_path / "v")
    with pytest.raises(StatementError, match=r"bids has rows 2 to 2 here, and .* follows row 3"):
        restoring.restore_view(tmp_path / "counts")
    feed(restoring, ("c", 5))
    assert restoring.restore_view(tmp_path / "counts").table().to_pylist() == [{"n": 1}]
    feed(restoring, ("c", 6))
    assert restoring.view("counts").table().to_pylist() == [{"n": 2}]
    assert restoring.view("counts").positions == {"bids": 4}
    assert restoring.view("v").positions == {"bids": 2}
    restoring.view("v").table()
    assert restoring.view("v").positions == {"bids": 4}


def test_a_stream_that_was_dropped_since_is_another_one(saving: Engine, tmp_path: Path) -> None:
    saved(saving, tmp_path)
    saving.sql("DROP VIEW v")
    saving.sql("DROP STREAM bids")
    saving.sql("CREATE STREAM bids (k TEXT, x BIGINT, f DOUBLE, note TEXT) KEY (k)")
    saving.restore_view(tmp_path / "v")
    feed(saving, ("a", 10))
    assert answer(saving) == ["{'k': 'a', 'n': 11}", "{'k': 'b', 'n': 2}"]


def test_while_other_threads_append_all_that_reads_a_stream_is_saved_at_one_row(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    saving.sql(
        "CREATE VIEW v AS SELECT max(x) AS newest, any_value(n) AS n"
        " FROM latest(bids), (SELECT count(*) AS n FROM bids)"
    )
    feed(saving, ("a", 1))
    is_done = Event()

    def append() -> None:
        number = 1
        while not is_done.is_set():
            number += 1
            feed(saving, ("a", number))

    thread = Thread(target=append)
    thread.start()
    try:
        for number in range(10):
            saving.view("v").save(tmp_path / str(number))
    finally:
        is_done.set()
        thread.join()
    for number in range(10):
        view = restoring.restore_view(tmp_path / str(number))
        [row] = view.table().to_pylist()
        assert row["newest"] == row["n"] == view.positions["bids"]
        restoring.sql("DROP VIEW v")
        restoring.sql("DROP STREAM bids")
        restoring.sql("CREATE STREAM bids (k TEXT, x BIGINT, f DOUBLE, note TEXT) KEY (k)")


RESTORE = """
import sys
from upstream import Engine
with Engine() as saving:
    saving.sql("CREATE STREAM bids (k TEXT, x BIGINT, f DOUBLE, note TEXT) KEY (k)")
    saving.sql("CREATE TABLE names AS SELECT chr(97 + range::INT) AS k, range AS v FROM range(3)")
    view = saving.restore_view(sys.argv[1])
    saving.append("bids", {"k": ["b"], "x": [10], "f": [0.5], "note": ["1"]})
    print(dict(view.positions), sorted(map(repr, view.table().to_pylist())))
"""


def test_a_view_is_restored_in_another_process(saving: Engine, tmp_path: Path) -> None:
    saved(saving, tmp_path, VIEWS["joined"])
    command = [sys.executable, "-c", RESTORE, str(tmp_path / "v")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == "{'bids': 2} [\"{'k': 'a', 'n': 0}\", \"{'k': 'b', 'n': 12}\"]\n"


# What is refused


def test_a_view_over_windows_cannot_be_saved(saving: Engine, tmp_path: Path) -> None:
    saving.sql("CREATE VIEW v AS SELECT count(*) AS n FROM rows(bids, 2)")
    assert saving.view("v").positions == {}
    with pytest.raises(StatementError, match="reads windows, and such views cannot be saved yet"):
        saving.view("v").save(tmp_path / "v")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("definition", "query"),
    [
        ("CREATE MACRO own(x) AS 2 * x", "SELECT k, sum(Own(x)) AS n FROM bids GROUP BY k"),
        ("CREATE TYPE own AS INT", "SELECT k, sum(x::OWN) AS n FROM bids GROUP BY k"),
    ],
    ids=["macro", "type"],
)
def test_a_view_whose_rows_meet_what_the_user_defined_cannot_be_saved(
    definition: str, query: str, saving: Engine, tmp_path: Path
) -> None:
    saving.sql(definition)
    with pytest.raises(StatementError, match="whose rows meet own, which may be defined otherwise"):
        saved(saving, tmp_path, query)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        pytest.param(["DROP STREAM bids"], "there is no stream named 'bids'", id="no stream"),
        pytest.param(
            ["DROP STREAM bids", "CREATE STREAM bids (k TEXT, x INT, note TEXT) KEY (k)"],
            "its column x was int64, and is int32; its column f was double, and is missing",
            id="columns",
        ),
        pytest.param(
            ["DROP STREAM bids", "CREATE STREAM bids (x BIGINT, k TEXT, f DOUBLE, note TEXT)"],
            r"its columns were in the order k, x, f, note; its key was \['k'\], and is \[\]",
            id="order and key",
        ),
        pytest.param(
            ["INSERT INTO names VALUES ('a', 5)"],
            "names has other rows than when the view was saved",
            id="rows of a table",
        ),
        pytest.param(
            ["UPDATE names SET v = 7 WHERE k = 'b'"],
            "names has other rows than when the view was saved",
            id="values of a table",
        ),
        pytest.param(["SET TimeZone = 'Asia/Tokyo'"], "here it is TimeZone Asia/Tokyo", id="zone"),
        pytest.param(["CREATE TABLE v AS SELECT 1 AS x"], "table named 'v'", id="name of a table"),
        pytest.param(["CREATE VIEW v AS SELECT count(*) AS n FROM asks"], "'v'", id="name"),
    ],
)
def test_a_view_is_not_restored_where_it_would_be_another_one(
    statements: list[str], reason: str, saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    saved(saving, tmp_path, VIEWS["joined"])
    for statement in statements:
        restoring.sql(statement)
    views, left = {*restoring.views}, lent(restoring)
    with pytest.raises((StatementError, NameTakenError, UnknownNameError), match=reason):
        restoring.restore_view(tmp_path / "v")
    assert ({*restoring.views}, lent(restoring)) == (views, left)
    assert all(entry.log.origin is None for entry in restoring._catalogue.streams.values())


def test_another_version_of_duckdb_is_refused(
    saving: Engine, restoring: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(saving, tmp_path)
    monkeypatch.setattr("duckdb.__version__", "0.0.1")
    with pytest.raises(StatementError, match=r"and here it is DuckDB 0\.0\.1"):
        restoring.restore_view(tmp_path / "v")


def test_a_clock_before_the_moment_of_saving_is_refused_where_keys_expire(
    stack: ExitStack, tmp_path: Path
) -> None:
    engine = made(stack, 100.0)
    saved(engine, tmp_path, VIEWS["expiring"])
    with pytest.raises(StatementError, match=r"the clock is at 0\.000 s, before the moment"):
        made(stack).restore_view(tmp_path / "v")


def test_a_view_of_what_a_query_fills_is_restored_in_its_engine_only(
    saving: Engine, restoring: Engine, tmp_path: Path
) -> None:
    for each in (saving, restoring):
        each.sql(
            "CREATE STREAM means KEY (k) AS SELECT k, sum(x) AS x FROM rows(bids, 2) GROUP BY k"
        )
    saved(saving, tmp_path, "SELECT k, sum(x) AS n FROM means GROUP BY k")
    with pytest.raises(StatementError, match="means is filled by a query, whose state"):
        restoring.restore_view(tmp_path / "v")
    saving.sql("DROP VIEW v")
    feed(saving, ("a", 10), ("b", 20))
    saving.restore_view(tmp_path / "v")
    assert answer(saving) == ["{'k': 'a', 'n': 11}", "{'k': 'b', 'n': 22}"]
