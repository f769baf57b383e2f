"""Reading goes on where it was saved: in the same log, in another one, or not at all."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.errors import StatementError
from upstream.tables.log import Log
from upstream.tables.resuming import Position, Start, position_in, resumed


def filled(rows: int) -> Log:
    """Return a log with a reader and this many rows."""
    log = Log()
    log.reader(follows_deletions=True)
    add(log, rows)
    return log


def add(log: Log, rows: int) -> None:
    log.add(pa.table({"x": [*range(rows)]}), 0.0)


def delete(log: Log) -> None:
    log.delete(pa.table({"x": [1]}), 0.0)


def test_the_same_log_goes_on_at_the_same_place() -> None:
    log = filled(7)
    saved = position_in(log, 5, 2)
    assert saved == Position(log.identity, 5, 2, 5)
    add(log, 3)
    assert resumed("bids", log, saved) == Start(5, 2, None)


def test_two_logs_have_different_identities() -> None:
    logs = [Log() for _ in range(10)]
    assert len({log.identity for log in logs}) == 10
    assert logs[0].identity == logs[0].identity


@pytest.mark.parametrize("rows", [0, 3, 5])
def test_another_log_goes_on_with_what_comes_next(rows: int) -> None:
    log = filled(rows)
    delete(log)
    start = resumed("bids", log, Position("other", 5, 2, 5))
    assert start == Start(rows, 1, 5 - rows)
    log.origin = start.origin
    assert position_in(log, rows, 1) == Position(log.identity, rows, 1, 5)


def test_another_log_with_more_rows_is_refused() -> None:
    with pytest.raises(StatementError, match="bids has 6 rows here, and the saved view contains 5"):
        resumed("bids", filled(6), Position("other", 5, 0, 5))


def test_a_log_whose_origin_is_known_goes_on_at_that_row() -> None:
    log = filled(4)
    log.origin = 100
    assert resumed("bids", log, Position("other", 9, 9, 102)) == Start(2, 0, 100)
    assert resumed("bids", log, Position("other", 9, 9, 104)) == Start(4, 0, 100)


@pytest.mark.parametrize("in_feed", [99, 105])
def test_a_row_that_such_a_log_lacks_is_refused(in_feed: int) -> None:
    log = filled(4)
    log.origin = 100
    with pytest.raises(StatementError, match=f"rows 100 to 104 here, .* follows row {in_feed}"):
        resumed("bids", log, Position("other", 0, 0, in_feed))


def test_deletions_after_the_row_are_followed_and_refused_if_they_may_be_gone() -> None:
    log = filled(2)
    log.origin = 0
    delete(log)
    add(log, 2)
    delete(log)
    add(log, 2)
    saved = [Position("other", 0, 0, rows) for rows in (1, 2, 3, 4, 5)]
    assert [resumed("bids", log, each).deletions for each in saved] == [0, 0, 1, 1, 2]
    log._readers[0].take(3, 1)
    assert resumed("bids", log, saved[-1]).deletions == 2
    assert log.deletions_after(4) is None
    with pytest.raises(StatementError):
        resumed("bids", log, saved[-2])
