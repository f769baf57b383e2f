"""Newest rows tell the leaves that follow them what came and what went; they are refreshed once."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.queries.setting import append
from upstream import Engine, ManualClock
from upstream.queries.evaluation.followed_rows import FollowedRows
from upstream.queries.evaluation.increments import Take
from upstream.queries.evaluation.refreshed import Refreshed
from upstream.tables.newest_reader import NewestReader
from upstream.tables.newest_rows import NewestRows

Values = list[object]


class Follower:
    """Notes the values of x that came and went, and can fail before anything is noted."""

    def __init__(self) -> None:
        self.told: list[tuple[Values, Values]] = []
        self.fails = False

    def follow(self, added: pa.Table, removed: pa.Table) -> Take:
        if self.fails:
            raise MemoryError
        change = added["x"].to_pylist(), removed["x"].to_pylist()
        return lambda: self.told.append(change)


def followed(engine: Engine, expire_after: float | None = None) -> FollowedRows:
    stream = engine._catalogue.streams["bids"]
    newest = NewestRows(stream.definition, expire_after=expire_after, follows_changes=True)
    _, reader = stream.newest_and_reader()
    return FollowedRows(NewestReader(reader, newest))


def test_each_change_is_told_once_to_every_follower(engine: Engine) -> None:
    rows: Refreshed = followed(engine)
    assert isinstance(rows, FollowedRows)
    one, other = Follower(), Follower()
    rows.followed_by(one)
    rows.followed_by(other)
    append(engine, "bids", (1, 5), (1, 7, "b"))
    rows.refresh(0.0)
    append(engine, "bids", (2, 6), (0, 100, "b"))
    rows.refresh(0.0)
    engine.delete("bids", {"k": ["b"]})
    rows.refresh(0.0)
    assert one.told == other.told == [([5, 7], []), ([6], [5]), ([], [7])]
    assert rows.table()["x"].to_pylist() == [6]
    assert rows.version == 3


def test_what_came_and_went_between_two_refreshes_is_not_told(engine: Engine) -> None:
    rows, follower = followed(engine), Follower()
    rows.followed_by(follower)
    rows.refresh(0.0)
    append(engine, "bids", (1, 5))
    append(engine, "bids", (2, 6))
    rows.refresh(0.0)
    assert follower.told == [([], []), ([6], [])]


def test_without_news_nothing_is_told_and_the_version_stays(engine: Engine) -> None:
    rows, follower = followed(engine), Follower()
    rows.followed_by(follower)
    rows.refresh(0.0)
    assert (rows.version, follower.told) == (1, [([], [])])
    rows.refresh(5.0)
    assert (rows.version, follower.told) == (1, [([], [])])


def test_rows_expire_when_they_are_due(engine: Engine, clock: ManualClock) -> None:
    rows, follower = followed(engine, expire_after=4.0), Follower()
    rows.followed_by(follower)
    rows.refresh(0.0)
    assert rows.due_at() is None
    clock.advance(1.0)
    append(engine, "bids", (1, 5))
    rows.refresh(1.0)
    assert rows.due_at() == 5.0
    rows.refresh(4.0)
    assert follower.told[1:] == [([5], [])]
    rows.refresh(5.0)
    assert follower.told[1:] == [([5], []), ([], [5])]
    assert rows.due_at() is None


def test_a_follower_that_fails_lets_no_other_follow_and_the_change_is_told_later(
    engine: Engine,
) -> None:
    rows, one, failing = followed(engine), Follower(), Follower()
    rows.followed_by(one)
    rows.followed_by(failing)
    append(engine, "bids", (1, 5))
    failing.fails = True
    with pytest.raises(MemoryError):
        rows.refresh(0.0)
    assert (one.told, rows.version) == ([], 0)
    append(engine, "bids", (2, 6))
    failing.fails = False
    rows.refresh(0.0)
    assert one.told == failing.told == [([6], [])]


def test_closed_rows_keep_nothing_of_the_stream(engine: Engine) -> None:
    log = engine._catalogue.streams["bids"].log
    before = len(log._readers)
    rows = followed(engine)
    assert len(log._readers) == before + 1
    rows.close()
    assert len(log._readers) == before
