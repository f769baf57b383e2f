"""A view that was saved and restored goes on as if it had never been saved.

It is restored in the same engine, in another one, and in another process.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interrupted import FOLDER, Interrupter, Moment, respect_held_interrupts
from upstream import ContinuousView, Engine, ManualClock, PositionNotKeptError
from upstream.errors import NameTakenError, QueryError, StatementError, UnknownNameError

EXAMPLES = max(1, settings.get_profile(settings.get_current_profile_name()).max_examples // 8)
SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"
VIEWS = {
    "sums": "SELECT k, sum(x) AS n, count(*) AS c, max(x) AS m FROM bids GROUP BY k",
    "totals": "SELECT count(*) AS c, sum(f) AS s, min(note) AS n FROM bids",
    "floats": "SELECT k, sum(f) AS s, avg(f) AS a, stddev_pop(f) AS d FROM bids GROUP BY k",
    "texts": "SELECT k, min(note) AS s, max(note) AS m, arg_max(note, x) a FROM bids GROUP BY k",
    "different": "SELECT k, count(DISTINCT x) AS n FROM bids GROUP BY k",
    "best": "SELECT k, x, note FROM bids"
    " QUALIFY row_number() OVER (PARTITION BY k ORDER BY x DESC, note, f) <= 2",
    "newest": "SELECT k, sum(x) AS n, sum(f) AS s FROM latest(bids) GROUP BY k",
    "runs": "SELECT note, sum(x) AS n FROM latest(bids, rows => 2, per => note) GROUP BY note",
    "expiring": "SELECT count(*) AS c, sum(x) AS n"
    " FROM latest(bids, rows => 2, expire_after => INTERVAL '5 seconds')",
    "joined": "SELECT k, sum(x * v) AS n FROM bids JOIN names USING (k) GROUP BY k",
    "streams": "SELECT k, n, m FROM (SELECT k, sum(x) AS n FROM bids GROUP BY k)"
    " JOIN (SELECT k, max(x) AS m FROM asks GROUP BY k) USING (k)",
    "roads": "SELECT k, l.x, n FROM latest(bids) l"
    " JOIN (SELECT k, sum(x) AS n FROM bids GROUP BY k) USING (k)",
    "casts": "SELECT k, sum(note::INT) AS n FROM bids GROUP BY k",
}
SCHEMA = pa.schema(
    {"k": pa.string(), "x": pa.int64(), "f": pa.float64(), "note": pa.string()}.items()
)
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


def made(stack: ExitStack, at: float = 0.0) -> Engine:
    """Return an engine with two streams and a table."""
    engine = stack.enter_context(Engine(clock=ManualClock(at)))
    for name in ("bids", "asks"):
        engine.sql(f"CREATE STREAM {name} (k TEXT, x BIGINT, f DOUBLE, note TEXT) KEY (k)")
    engine.sql("CREATE TABLE names AS SELECT chr(97 + range::INT) AS k, range AS v FROM range(3)")
    return engine


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def engine(stack: ExitStack) -> Engine:
    return made(stack)


@pytest.fixture
def other(stack: ExitStack) -> Engine:
    return made(stack)


def feed(engine: Engine, *rows: tuple[object, ...], stream: str = "bids") -> None:
    """Append rows of a key, a number and more."""
    full = [(*row, *(1, 0.0, "1")[len(row) - 1 :]) for row in rows]
    columns = [pa.array(column, kind) for column, kind in zip(zip(*full), SCHEMA.types)]  # noqa: B905  # no rows, no columns
    if columns:
        engine.append(stream, pa.Table.from_arrays(columns, schema=SCHEMA))


def take(engine: Engine, steps: Sequence[Step]) -> None:
    for step in steps:
        assert isinstance(engine._clock, ManualClock)
        engine._clock.advance(step.seconds)
        feed(engine, *step.rows, stream=step.stream)
        if step.deleted:
            engine.delete(step.stream, {"k": [step.deleted]})
        if step.is_read:
            answer(engine)


def answer(engine: Engine, name: str = "v") -> list[str] | str:
    """Return the rows of a view exactly, in any order, or the reason why it has none."""
    try:
        return sorted(map(repr, engine.view(name).table().to_pylist()))
    except QueryError as error:
        return error.reason


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


def saved(engine: Engine, path: Path, query: str = SUMS) -> ContinuousView:
    """Create the view `v`, feed it, and save it."""
    engine.sql(f"CREATE VIEW v AS {query}")
    feed(engine, ("a", 1), ("b", 2))
    engine.view("v").save(path / "v")
    return engine.view("v")


def test_a_restored_view_has_its_name_columns_and_options(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    engine.sql(
        "CREATE VIEW Sums (key) WITH (max_staleness = INTERVAL '5 seconds', on_error = 'skip') AS"
        " SELECT k, sum(note::INT) AS n FROM bids GROUP BY k"
    )
    feed(engine, ("a", 1, 0.0, "7"), ("a", 1, 0.0, "x"))
    engine.view("sums").save(str(tmp_path / "sums"))
    view = other.restore_view(str(tmp_path / "sums"))
    assert (view.name, view.text) == ("Sums", engine.view("sums").text)
    assert view.schema == engine.view("sums").schema
    assert view.table().to_pylist() == [{"key": "a", "n": 7}]
    assert view.statistics().rows_failed == 1
    feed(other, ("a", 1, 0.0, "8"))
    assert view.table().to_pylist() == [{"key": "a", "n": 7}]  # fresh enough
    assert isinstance(other._clock, ManualClock)
    other._clock.advance(5.0)
    assert view.table().to_pylist() == [{"key": "a", "n": 15}]


def test_a_view_over_views_reads_those_that_there_are(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    saved(engine, tmp_path)
    engine.sql("CREATE VIEW total AS SELECT sum(n) AS n FROM v")
    engine.view("total").save(tmp_path / "total")
    assert engine.view("total").positions == {}
    with pytest.raises(UnknownNameError, match="no view named 'v'"):
        other.restore_view(tmp_path / "total")
    other.restore_view(tmp_path / "v")
    assert other.restore_view(tmp_path / "total").table().to_pylist() == [{"n": 3}]
    feed(other, ("a", 5))
    assert other.view("total").table().to_pylist() == [{"n": 8}]


def test_what_a_file_needs_does_not_grow_with_the_rows_that_came(
    engine: Engine, tmp_path: Path
) -> None:
    saved(engine, tmp_path)
    small = (tmp_path / "v").stat().st_size
    for _ in range(20):
        feed(engine, *[("a", 1)] * 1_000)
    engine.view("v").save(tmp_path / "v")
    assert (tmp_path / "v").stat().st_size < small + 200
    assert [path.name for path in tmp_path.iterdir()] == ["v"]


def test_a_view_whose_sum_is_too_large_is_restored_with_its_failure(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    query = "SELECT sum(x::DECIMAL(38, 0) * 10000000000000000000) AS n FROM bids"
    saved(engine, tmp_path, query)
    for _ in range(3):
        feed(engine, ("a", 1 << 62))
        answer(engine)
    assert "overflow" in str(answer(engine)).lower()
    engine.view("v").save(tmp_path / "v")
    other.restore_view(tmp_path / "v")
    assert answer(other) == answer(engine)
    for each in (engine, other):
        feed(each, ("a", -(1 << 62)), ("a", -(1 << 62)))
    assert answer(other) == answer(engine) != "overflow"


# Where a restored view goes on


def test_in_the_same_engine_it_reads_what_came_later(engine: Engine, tmp_path: Path) -> None:
    saved(engine, tmp_path)
    engine.sql("DROP VIEW v")
    feed(engine, ("a", 10))
    view = engine.restore_view(tmp_path / "v")
    assert view.positions == {"bids": 2}
    assert answer(engine) == ["{'k': 'a', 'n': 11}", "{'k': 'b', 'n': 2}"]
    assert view.positions == {"bids": 3}


@pytest.mark.parametrize("query", [SUMS, VIEWS["newest"]], ids=["rows", "newest rows"])
def test_rows_that_are_not_kept_any_more_cannot_be_read(
    query: str, engine: Engine, tmp_path: Path
) -> None:
    saved(engine, tmp_path, query)
    engine.sql("DROP VIEW v")
    feed(engine, ("a", 10))
    engine.sql("FROM bids")
    with pytest.raises(PositionNotKeptError, match="only rows 3 to 3 are kept"):
        engine.restore_view(tmp_path / "v")
    assert not engine.views


def test_a_deletion_that_is_not_kept_any_more_cannot_be_followed(
    engine: Engine, tmp_path: Path
) -> None:
    saved(engine, tmp_path, VIEWS["newest"])
    engine.sql("DROP VIEW v")
    engine.delete("bids", {"k": ["a"]})
    engine.sql("FROM bids")
    with pytest.raises(PositionNotKeptError):
        engine.restore_view(tmp_path / "v")


def test_in_another_engine_a_feed_goes_on_where_the_position_says(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    rows = [("a", number) for number in range(10)]
    engine.sql(f"CREATE VIEW v AS {SUMS}")
    feed(engine, *rows[:6])
    engine.view("v").save(tmp_path / "v")
    view = other.restore_view(tmp_path / "v")
    assert view.positions == {"bids": 6}
    feed(other, *rows[view.positions["bids"] :])
    assert answer(other) == ["{'k': 'a', 'n': 45}"]
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
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    saved(engine, tmp_path)
    feed(other, ("a", 1), ("a", 1), ("a", 1))
    with pytest.raises(StatementError, match="bids has 3 rows here, and the saved view contains 2"):
        other.restore_view(tmp_path / "v")
    assert not other.views


def test_views_that_were_saved_at_different_rows_are_not_mixed(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    saved(engine, tmp_path)
    engine.sql("CREATE VIEW counts AS SELECT count(*) AS n FROM bids")
    feed(engine, ("c", 5))
    engine.view("counts").save(tmp_path / "counts")
    other.restore_view(tmp_path / "v")
    with pytest.raises(StatementError, match=r"bids has rows 2 to 2 here, and .* follows row 3"):
        other.restore_view(tmp_path / "counts")
    feed(other, ("c", 5))
    assert other.restore_view(tmp_path / "counts").table().to_pylist() == [{"n": 1}]
    feed(other, ("c", 6))
    assert other.view("counts").table().to_pylist() == [{"n": 2}]
    assert other.view("counts").positions == {"bids": 4}
    assert other.view("v").positions == {"bids": 2}
    other.view("v").table()
    assert other.view("v").positions == {"bids": 4}


def test_a_stream_that_was_dropped_since_is_another_one(engine: Engine, tmp_path: Path) -> None:
    saved(engine, tmp_path)
    engine.sql("DROP VIEW v")
    engine.sql("DROP STREAM bids")
    engine.sql("CREATE STREAM bids (k TEXT, x BIGINT, f DOUBLE, note TEXT) KEY (k)")
    engine.restore_view(tmp_path / "v")
    feed(engine, ("a", 10))
    assert answer(engine) == ["{'k': 'a', 'n': 11}", "{'k': 'b', 'n': 2}"]


def test_while_other_threads_append_all_that_reads_a_stream_is_saved_at_one_row(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    engine.sql(
        "CREATE VIEW v AS SELECT max(x) AS newest, any_value(n) AS n"
        " FROM latest(bids), (SELECT count(*) AS n FROM bids)"
    )
    is_done = Event()

    def append() -> None:
        number = 0
        while not is_done.is_set():
            number += 1
            feed(engine, ("a", number))

    thread = Thread(target=append)
    thread.start()
    try:
        for number in range(10):
            engine.view("v").save(tmp_path / str(number))
    finally:
        is_done.set()
        thread.join()
    for number in range(10):
        view = other.restore_view(tmp_path / str(number))
        [row] = view.table().to_pylist()
        assert (row["newest"] or 0) == row["n"] == view.positions["bids"]
        other.sql("DROP VIEW v")
        other.sql("DROP STREAM bids")
        other.sql("CREATE STREAM bids (k TEXT, x BIGINT, f DOUBLE, note TEXT) KEY (k)")


RESTORE = """
import sys
from upstream import Engine
with Engine() as engine:
    engine.sql("CREATE STREAM bids (k TEXT, x BIGINT, f DOUBLE, note TEXT) KEY (k)")
    engine.sql("CREATE TABLE names AS SELECT chr(97 + range::INT) AS k, range AS v FROM range(3)")
    view = engine.restore_view(sys.argv[1])
    engine.append("bids", {"k": ["b"], "x": [10], "f": [0.5], "note": ["1"]})
    print(dict(view.positions), sorted(map(repr, view.table().to_pylist())))
"""


def test_a_view_is_restored_in_another_process(engine: Engine, tmp_path: Path) -> None:
    saved(engine, tmp_path, VIEWS["joined"])
    command = [sys.executable, "-c", RESTORE, str(tmp_path / "v")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == "{'bids': 2} [\"{'k': 'a', 'n': 0}\", \"{'k': 'b', 'n': 12}\"]\n"


# What is refused


def test_a_view_over_windows_cannot_be_saved(engine: Engine, tmp_path: Path) -> None:
    engine.sql("CREATE VIEW v AS SELECT count(*) AS n FROM rows(bids, 2)")
    assert engine.view("v").positions == {}
    with pytest.raises(StatementError, match="reads windows, and such views cannot be saved yet"):
        engine.view("v").save(tmp_path / "v")
    assert not [*tmp_path.iterdir()]


def test_a_view_whose_rows_meet_a_macro_cannot_be_saved(engine: Engine, tmp_path: Path) -> None:
    engine.sql("CREATE MACRO twice(x) AS 2 * x")
    with pytest.raises(StatementError, match=r"whose rows meet the macro twice\(\)"):
        saved(engine, tmp_path, "SELECT k, sum(twice(x)) AS n FROM bids GROUP BY k")


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
    statements: list[str], reason: str, engine: Engine, other: Engine, tmp_path: Path
) -> None:
    saved(engine, tmp_path, VIEWS["joined"])
    for statement in statements:
        other.sql(statement)
    views, left = {*other.views}, lent(other)
    with pytest.raises((StatementError, NameTakenError, UnknownNameError), match=reason):
        other.restore_view(tmp_path / "v")
    assert ({*other.views}, lent(other)) == (views, left)
    assert all(entry.log.origin is None for entry in other._catalogue.streams.values())


def test_another_version_of_duckdb_is_refused(
    engine: Engine, other: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(engine, tmp_path)
    monkeypatch.setattr("duckdb.__version__", "0.0.1")
    with pytest.raises(StatementError, match=r"and here it is DuckDB 0\.0\.1"):
        other.restore_view(tmp_path / "v")


def test_a_clock_before_the_moment_of_saving_is_refused_where_keys_expire(
    stack: ExitStack, tmp_path: Path
) -> None:
    engine = made(stack, 100.0)
    saved(engine, tmp_path, VIEWS["expiring"])
    with pytest.raises(StatementError, match=r"the clock is at 0\.000 s, before the moment"):
        made(stack).restore_view(tmp_path / "v")


def test_a_view_of_what_a_query_fills_is_restored_in_its_engine_only(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    for each in (engine, other):
        each.sql(
            "CREATE STREAM means KEY (k) AS SELECT k, sum(x) AS x FROM rows(bids, 2) GROUP BY k"
        )
    saved(engine, tmp_path, "SELECT k, sum(x) AS n FROM means GROUP BY k")
    with pytest.raises(StatementError, match="means is filled by a query, whose state"):
        other.restore_view(tmp_path / "v")
    engine.sql("DROP VIEW v")
    feed(engine, ("a", 10), ("b", 20))
    engine.restore_view(tmp_path / "v")
    assert answer(engine) == ["{'k': 'a', 'n': 11}", "{'k': 'b', 'n': 22}"]


# Interruptions

PLACES = 2 * int(os.environ.get("INTERRUPTED_LINES", "6"))
"""At about how many moments each action is interrupted once."""
FILES = tuple(
    f"{FOLDER}/queries/{name}"
    for name in ("maintained_view", "saved_view", "view", "catalogue", "evaluation/view")
)


def lent(engine: Engine) -> tuple[int, int, int]:
    """Return how many tables are lent, how many are our own, and the readers of streams."""
    gc.collect()
    engine._duck._relations.sweep()
    views = engine._duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")
    own = engine._duck.rows(
        "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, '__')"
    )
    logs = [entry.log for entry in engine._catalogue.streams.values()]
    return len(views), len(own), sum(len(log._readers) for log in logs)


def interrupted(act: Callable[[], object]) -> Iterator[Moment]:
    """Do something, interrupted at one moment, then at a later one, and so on."""
    watcher = Interrupter("line", files=FILES)
    with watcher.watching():
        act()
    assert watcher.count > 50
    for number in range(0, watcher.count, max(1, watcher.count // PLACES)):
        once = Interrupter("line", lambda moment: moment.number == number, files=FILES)  # noqa: B023  # used here
        with suppress(KeyboardInterrupt), once.watching():
            act()
        if once.raised:
            yield next(each for each in once.seen.values() if each.number == number)


two_kinds = pytest.mark.parametrize(
    "query", [VIEWS["joined"], VIEWS["roads"]], ids=["joined", "roads"]
)


@two_kinds
def test_an_interrupted_save_leaves_the_old_file_or_the_new_one(
    query: str, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    respect_held_interrupts(monkeypatch)
    view = saved(engine, tmp_path, query)
    contents = [(tmp_path / "v").read_bytes()]

    def save() -> None:
        feed(engine, ("a", 1))
        view.save(tmp_path / "v")

    for place in interrupted(save):
        assert [path.name for path in tmp_path.iterdir()] == ["v"], f"interrupted at {place}"
        contents.append((tmp_path / "v").read_bytes())
        with ExitStack() as stack:
            again = made(stack).restore_view(tmp_path / "v")
            known = view.positions["bids"]
            assert again.positions["bids"] in range(2, known + 1), f"interrupted at {place}"
    assert 1 < len({*contents}) < len(contents), "some were interrupted before the end"
    view.save(tmp_path / "v")
    with ExitStack() as stack:
        other = made(stack)
        assert other.restore_view(tmp_path / "v").positions == view.positions
        assert answer(other) == answer(engine)


@two_kinds
def test_an_interrupted_restore_leaves_nothing_or_the_view(
    query: str,
    engine: Engine,
    other: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    respect_held_interrupts(monkeypatch)
    saved(engine, tmp_path, query)
    nothing = lent(other)

    def restore() -> None:
        other.sql("DROP VIEW IF EXISTS v")
        other.restore_view(tmp_path / "v")

    for place in interrupted(restore):
        if other.views:
            assert other._catalogue.streams["bids"].log.origin == 2
            assert answer(other) == answer(engine)
            other.sql("DROP VIEW v")
        assert lent(other) == nothing, f"interrupted at {place}"
