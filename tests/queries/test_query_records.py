"""An engine with a directory continues its queries, and refuses what it cannot continue exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.queries.setting import append, make_streams, rows_of
from upstream import ContinuousQuery, Engine, ManualClock, ParameterError, ParquetSink, QueryError
from upstream.queries import Semantics

SUMS = "SELECT epoch, sum(x) AS x FROM epochs(bids, 10) GROUP BY epoch"
COUNTS = "SELECT sum(x) AS x FROM epochs(bids, rows => 2)"


@contextmanager
def opened(directory: Path) -> Iterator[Engine]:
    with Engine(clock=ManualClock(), directory=directory) as engine:
        make_streams(engine)
        yield engine


def sums(engine: Engine, text: str = SUMS, name: str = "sums") -> ContinuousQuery:
    return engine.continuous_query(text, name=name)


def numbers(query: ContinuousQuery) -> list[tuple[int | None, int | None]]:
    return [(each.number, each.epoch) for each in query.results()]


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "queries").iterdir())


def test_a_query_that_is_created_again_goes_on_with_the_next_number(tmp_path: Path) -> None:
    rows = [(time, 1) for time in range(0, 70, 5)]
    found = []
    for first, end in ((0, 5), (2, 9), (6, 14)):
        with opened(tmp_path) as engine:
            query = sums(engine)
            assert query.positions == {"bids": first}
            append(engine, "bids", *rows[first:end])
            found += numbers(query)
    assert found == [(n, n) for n in range(6)]


def test_results_that_were_not_taken_can_be_taken_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        query = engine.continuous_query(SUMS, name="sums", keep=3)
        append(engine, "bids", *[(time, time) for time in range(0, 70, 10)])
        query.evaluate()
        first = query._next()
        assert first is not None
        assert (first.number, first.missed) == (0, 3)
        assert (query.committed, query.consumed) == (2, 0)
    with opened(tmp_path) as engine:
        query = sums(engine)
        assert (query.committed, query.consumed) == (2, 0)
        counts = query.statistics()
        assert (counts.results_due, counts.results_waiting, counts.is_balanced) == (2, 2, True)
        found = query.results()
        assert [(each.number, each.missed, rows_of(each)) for each in found] == [
            (1, 0, [(4, 40)]),
            (2, 0, [(5, 50)]),
        ]
        assert query.statistics().is_balanced
        assert query.results() == []
    with opened(tmp_path) as engine:
        assert (sums(engine).results(), engine.query("sums").consumed) == ([], 2)


def test_an_update_query_goes_on_with_newer_epochs_only(tmp_path: Path) -> None:
    rows = [(time, 1) for time in range(0, 70, 5)]
    text = "SELECT count(*) AS n FROM epochs(bids, 10, keep => 2)"
    found, position = [], 0
    for end in (7, 8, 9, 14):
        with opened(tmp_path) as engine:
            query = engine.continuous_query(text, "update", name="newest")
            position = query.positions["bids"]
            append(engine, "bids", *rows[position:end])
            found += [(each.number, each.epoch, rows_of(each)) for each in query.results()]
    assert (found, position) == ([(0, 2, [(4,)]), (1, 3, [(4,)]), (2, 5, [(4,)])], 4)


def test_queries_with_different_positions_share_one_feed(tmp_path: Path) -> None:
    rows = [(time, 1) for time in range(0, 80, 5)]
    long = "SELECT epoch, count(*) AS n FROM epochs(bids, 10, keep => 3) GROUP BY epoch"
    with opened(tmp_path) as engine:
        append(engine, "bids", *rows[:2])
        first = sums(engine)
        append(engine, "bids", *rows[2:5])
        late = sums(engine, long, "long")
        append(engine, "bids", *rows[5:11])
        assert numbers(first) == [(0, 1), (1, 2), (2, 3), (3, 4)]
        assert len(late.results()) == 3
    with opened(tmp_path) as engine:
        late, first = sums(engine, long, "long"), sums(engine)
        assert first.positions == late.positions == {"bids": 5}
        append(engine, "bids", *rows[5:])
        assert numbers(first) == [(4, 5), (5, 6)]
        assert [rows_of(each) for each in late.results()] == [
            [(3, 2), (4, 2), (5, 2)],
            [(4, 2), (5, 2), (6, 2)],
        ]
        assert first.statistics().rows_read == 8


def test_the_feed_begins_where_a_query_that_was_not_created_again_needs_it(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        sums(engine), sums(engine, SUMS.replace("10", "100"), "long")
        append(engine, "bids", *[(time, 1) for time in range(0, 50, 10)])
        for query in engine.queries:
            query.evaluate()
    for _ in range(2):
        with opened(tmp_path) as engine:
            assert sums(engine).positions == {"bids": 0}


def test_punctuations_are_part_of_the_feed_of_epochs_by_time(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        query = sums(engine)
        append(engine, "bids", (1, 1), (12, 2))
        engine.punctuate("bids")
        append(engine, "bids", (13, 4))
        assert (numbers(query), query.positions) == ([(0, 0), (1, 1)], {"bids": 1})
    with opened(tmp_path) as engine:
        query = sums(engine)
        append(engine, "bids", (12, 2))
        engine.punctuate("bids")
        append(engine, "bids", (13, 4), (25, 8), (31, 0))
        assert [(each.number, rows_of(each)) for each in query.results()] == [(2, [(2, 8)])]


def test_epochs_in_the_order_of_arrival_keep_their_numbers(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        query = sums(engine, COUNTS)
        append(engine, "bids", *[(0, x) for x in range(5)])
        assert (numbers(query), query.positions) == ([(0, 0), (1, 1)], {"bids": 2})
        with pytest.raises(QueryError, match=r"bids cannot be punctuated: .* 'sums' are numbered"):
            engine.punctuate("bids")
        engine.punctuate("asks")
    with opened(tmp_path) as engine:
        query = sums(engine, COUNTS)
        append(engine, "bids", *[(0, x) for x in range(2, 8)])
        assert [(each.number, each.epoch, rows_of(each)) for each in query.results()] == [
            (2, 2, [(9,)]),
            (3, 3, [(13,)]),
        ]


def test_only_queries_over_epochs_that_have_a_name_and_keep_results_have_a_record(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as engine:
        unnamed = engine.continuous_query(SUMS)
        windows = sums(engine, "SELECT sum(x) AS x FROM tumble(bids, 10)", "windows")
        into = engine.continuous_query(SUMS, name="filled", into="filled")
        sink = engine.continuous_query(SUMS, name="sink", sink=ParquetSink(tmp_path / "sink"))
        for query in (unnamed, windows, into, sink):
            assert query.positions == {}
        assert names(tmp_path) == []
        assert sums(engine).positions == {"bids": 0}, "it shares nothing with the unnamed one"
        assert names(tmp_path) == ["sums.record"]
        assert f"committed to {tmp_path}/queries/sums.record" in engine.query("sums").explain()


@pytest.mark.parametrize("name", ["a/b", "..", "A", "a", "%41", "é ü", "\x00", "q" * 240, "."])
def test_every_name_has_a_file_of_its_own(tmp_path: Path, name: str) -> None:
    with opened(tmp_path) as engine:
        sums(engine, name="sums")
        sums(engine, name=name)
    found = names(tmp_path)
    assert len({each.lower() for each in found}) == 2
    with opened(tmp_path) as engine:
        assert sums(engine, name=name).positions == {"bids": 0}


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as engine, pytest.raises(ParameterError, match="a shorter name"):
        sums(engine, name="é" * 50)


def test_a_directory_is_for_one_engine_at_a_time(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(QueryError, match="another engine uses the directory"):
        Engine(directory=tmp_path)
    with opened(tmp_path):
        pass
    with pytest.raises(ParameterError, match="the path of a directory"):
        Engine(directory=3)  # type: ignore[arg-type]  # on purpose


def test_another_text_under_a_recorded_name_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        sums(engine)
    with opened(tmp_path) as engine:
        path = tmp_path / "queries" / "sums.record"
        for text, semantics, reason in (
            (SUMS.replace("sum(x)", "max(x)"), "append", "another query with this name: SELECT"),
            (SUMS, "update", "of this query with semantics='append'"),
        ):
            given: Semantics = semantics  # type: ignore[assignment]  # one of them
            with pytest.raises(QueryError, match=reason) as raised:
                engine.continuous_query(text, given, name="sums")
            assert str(path) in raised.value.reason
            assert f"remove {path}" in raised.value.hint
        assert sums(engine).positions == {"bids": 0}


def test_a_stream_with_other_columns_is_refused(tmp_path: Path) -> None:
    with Engine(clock=ManualClock(), directory=tmp_path) as engine:
        engine.sql("CREATE STREAM bids (time BIGINT, x BIGINT) TIME (time)")
        sums(engine)
    with opened(tmp_path) as engine, pytest.raises(QueryError, match=r"a stream bids that was"):
        sums(engine)


def test_a_query_whose_rows_have_passed_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        query = sums(engine)
        append(engine, "bids", (1, 1), (11, 1))
        query.evaluate()
        query.close()
        with pytest.raises(QueryError, match="goes on after 0 rows of bids, and 2 have passed"):
            sums(engine)
    with opened(tmp_path) as engine:
        append(engine, "bids", (1, 1))
        with pytest.raises(QueryError, match="before rows are appended, or remove"):
            sums(engine)


def test_a_stream_that_was_created_again_is_refused(tmp_path: Path) -> None:
    create = "CREATE STREAM beats (n BIGINT)"
    text = "SELECT sum(n) AS n FROM epochs(beats, rows => 1)"
    with opened(tmp_path) as engine:
        engine.sql(create)
        query = sums(engine, text)
        engine.append("beats", {"n": [1, 2, 3]})
        query.evaluate()
        query.close()
        engine.sql("DROP STREAM beats")
        engine.sql(create)
        with pytest.raises(QueryError, match="the stream beats was created again"):
            sums(engine, text)


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        pytest.param(
            "SELECT x FROM epochs(bids, INTERVAL '1 second', by => arrival)",
            {},
            "arrive at another time",
            id="arrival",
        ),
        pytest.param(SUMS, {"close_after": 1}, "with close_after", id="close_after"),
        pytest.param(
            "SELECT e.x FROM epochs(bids, 10) e JOIN latest(asks) a ON a.k = e.k",
            {},
            r"reads latest\(…\) or a view",
            id="latest",
        ),
        pytest.param(
            "SELECT sum(x) AS x FROM epochs(derived, 10)", {}, "derived is filled by", id="filled"
        ),
    ],
)
def test_what_cannot_go_on_exactly_keeps_no_record(
    tmp_path: Path, text: str, options: dict[str, float], reason: str
) -> None:
    with opened(tmp_path) as engine:
        engine.sql("CREATE STREAM derived TIME (time) AS SELECT time, x FROM bids")
        with pytest.raises(QueryError, match=f"'sums' cannot keep a record: .*{reason}") as raised:
            engine.continuous_query(text, name="sums", close_after=options.get("close_after"))
        assert "leave the name out" in raised.value.hint
        assert names(tmp_path) == []
        engine.continuous_query(text, close_after=options.get("close_after"))


def test_a_damaged_file_and_one_under_another_name_are_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        sums(engine)
    path = tmp_path / "queries" / "sums.record"
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(QueryError, match=r"sums\.record is damaged"):
        Engine(directory=tmp_path)
    path.write_bytes(content)
    path.rename(path.with_name("other.record"))
    with pytest.raises(QueryError, match=r"other\.record is the record of 'sums'"):
        Engine(directory=tmp_path)
    path.with_name("other.record").rename(path)
    path.with_name(".sums.record").write_bytes(b"half")
    path.with_name("notes.txt").write_bytes(b"of the user")
    with opened(tmp_path) as engine:
        sums(engine)
    assert names(tmp_path) == ["notes.txt", "sums.record"]
