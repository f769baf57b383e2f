"""Epochs that answer with their new pairs: what is answered once, held, left out, and counted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.queries.setting import append, held, rows_of, windows_of
from upstream import ContinuousQuery, Engine
from upstream.database.prepared import Prepared
from upstream.queries import Semantics
from upstream.queries.evaluation.pair_increments import PairIncrements

PAIR = "SELECT a.x, b.x AS y FROM epochs(bids, 10, keep => {}, pairing => 'window') AS a "
OTHER = "JOIN epochs(asks, 10, keep => {}, pairing => 'window') AS b ON "


def query_of(
    engine: Engine,
    kind: str = "",
    keeps: tuple[int, int] = (2, 2),
    *,
    on: str = "a.k = b.k",
    semantics: Semantics = "append",
) -> ContinuousQuery:
    text = PAIR.format(keeps[0]) + f"{kind} {OTHER.format(keeps[1])}" + on
    query = engine.continuous_query(text.strip(), semantics)
    assert isinstance(windows_of(query)._increments, PairIncrements)
    return query


@pytest.fixture
def engine(shared_engine: Engine) -> Iterator[Engine]:
    yield shared_engine
    for query in shared_engine.queries:
        query.close()


def found(query: ContinuousQuery) -> list[tuple[int | None, list[tuple[object, ...]]]]:
    return [(each.epoch, rows_of(each)) for each in query.results()]


def feed(engine: Engine, *epochs: int) -> None:
    """Append a row to both streams in each of these epochs; their number is that of the epoch."""
    for epoch in epochs:
        for stream in ("bids", "asks"):
            append(engine, stream, (10 * epoch, epoch))


def test_each_pair_is_in_the_answer_of_its_newest_chunk_only(engine: Engine) -> None:
    query = query_of(engine, keeps=(2, 3))
    feed(engine, 0, 1, 2, 3)
    # bids keep two chunks, so a row of asks meets those of its epoch and of the one before
    assert found(query) == [
        (0, [(0, 0)]),
        (1, [(0, 1), (1, 0), (1, 1)]),
        (2, [(1, 2), (2, 0), (2, 1), (2, 2)]),
    ]


def test_a_row_without_a_partner_is_in_the_last_epoch_in_which_it_could_have_one(
    engine: Engine,
) -> None:
    query = query_of(engine, "FULL", (3, 2), on="a.x = b.x + 7")
    append(engine, "bids", (0, 1), (1, 8), (50, 0))
    append(engine, "asks", (0, 2), (11, 1), (50, 0))
    assert found(query) == [
        (0, []),
        (1, [(8, 1), (None, 2)]),
        (2, [(1, None)]),
        (3, []),
    ]


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_what_is_held_does_not_grow_with_the_epochs(engine: Engine, keep: int) -> None:
    query = query_of(engine, "FULL", (keep, keep))
    feed(engine, *range(10))
    query.results()
    before = held(query)
    feed(engine, *range(10, 200))
    assert len(query.results()) == 190
    assert held(query) == before <= 8 * keep


def test_a_pair_on_which_the_query_fails_is_left_out_and_counted(engine: Engine) -> None:
    text = PAIR.replace("a.x,", "a.note::INT AS x,").format(2) + OTHER.format(2) + "a.k = b.k"
    query = engine.continuous_query(text)
    append(engine, "bids", (0, 0, "a", "7"), (1, 0, "a", "x"), (20, 0))
    append(engine, "asks", (0, 1), (20, 0))
    [first, _] = query.results()
    assert (rows_of(first), first.rows_failed, first.error) == ([(7, 1)], 1, None)
    assert query.statistics().rows_failed == 1


def test_an_aggregate_that_fails_is_an_error_of_its_epoch(engine: Engine) -> None:
    text = PAIR.replace("a.x, b.x AS y", "sum(a.note::INT) AS n").format(2)
    query = engine.continuous_query(text + OTHER.format(2) + "a.k = b.k")
    append(engine, "bids", (0, 0, "a", "x"), (10, 0, "a", "4"), (20, 0))
    append(engine, "asks", (0, 1), (10, 1, "b"), (20, 0))
    first, second = query.results()
    assert first.error is not None
    assert (second.error, rows_of(second)) == (None, [(4,)])


def test_the_answer_of_an_epoch_stays_the_same_when_it_is_asked_for_again(engine: Engine) -> None:
    query = query_of(engine, "LEFT")
    feed(engine, 0, 1)
    assert found(query) == [(0, [(0, 0)])]
    for _ in range(2):
        answer = query.ask()
        assert answer is not None
        assert (answer.epoch, rows_of(answer)) == (0, [(0, 0)])


def test_pairs_are_not_lost_if_the_query_over_them_is_interrupted(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = query_of(engine, "FULL", (2, 3))
    feed(engine, 0, 1, 2, 3)
    run, calls = Prepared.run, 0

    def interrupted(self: Prepared, **tables: object) -> object:
        nonlocal calls
        calls += 1
        if calls % 2:
            raise KeyboardInterrupt
        return run(self, **tables)

    with monkeypatch.context() as patch:
        patch.setattr(Prepared, "run", interrupted)
        for _ in range(20):
            try:
                query.evaluate()
            except KeyboardInterrupt:
                continue
            break
    assert calls > 4
    assert found(query) == [
        (0, [(0, 0)]),
        (1, [(0, 1), (1, 0), (1, 1)]),
        (2, [(1, 2), (2, 0), (2, 1), (2, 2)]),
    ]


def test_rows_of_skipped_epochs_are_partners_of_later_ones(engine: Engine) -> None:
    # epochs   |0 |1 |2 |3 |
    # bids       *        *      the row of asks has its partner in epoch 1, which is skipped,
    # asks          *     *      so it is not without a partner in epoch 3
    query = query_of(engine, "RIGHT", (2, 3), semantics="update")
    append(engine, "bids", (0, 1), (30, 2, "b"), (40, 3, "c"))
    append(engine, "asks", (10, 4), (30, 5, "b"), (40, 6, "c"))
    assert found(query) == [(3, [(2, 5)])]


def test_epochs_are_skipped_without_reading_their_rows_where_that_changes_nothing(
    engine: Engine,
) -> None:
    for kind, can_skip in (("", True), ("LEFT", False), ("SEMI", False), ("ANTI", False)):
        query = engine.continuous_query(
            f"SELECT a.x FROM epochs(bids, 10, keep => 2, pairing => 'window') AS a "
            f"{kind} JOIN epochs(asks, 10, keep => 2) AS b ON a.k = b.k"
        )
        assert windows_of(query)._increments.can_skip is can_skip
