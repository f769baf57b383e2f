"""Sessions against a loop that takes row by row."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.sessions import GapEnds, Session, SessionCut, Sessions

SCHEMA = pa.schema([("k", pa.string()), ("row", pa.int64())])
GAP = 5

Rows = list[tuple[int, str]]
Told = tuple[str, int, int, list[int]]


@dataclass
class OpenSession:
    """A session of the loop."""

    start: int
    last: int
    rows: list[int] = field(default_factory=list)


class RowByRow:
    """What sessions do, with one row at a time; sessions end as soon as time passes their end."""

    def __init__(self) -> None:
        self.open: dict[str, OpenSession] = {}
        self.ended: list[Told] = []
        self.newest: int | None = None
        self.late = 0

    def add(self, row: int, time: int, key: str) -> None:
        session = self.open.get(key)
        if session is not None and session.start - GAP < time < session.last + GAP:
            session.start, session.last = min(session.start, time), max(session.last, time)
            session.rows.append(row)
        elif self.newest is not None and time + GAP <= self.newest:
            self.late += 1
            return
        else:
            self.end(key)
            self.open[key] = OpenSession(time, time, [row])
        self.newest = time if self.newest is None else max(time, self.newest)
        self.close(self.newest)

    def close(self, passed: int) -> None:
        for key in [key for key, each in self.open.items() if each.last + GAP <= passed]:
            self.end(key)

    def end(self, key: str) -> None:
        session = self.open.pop(key, None)
        if session is not None:
            self.ended.append((key, session.start, session.last, sorted(session.rows)))


class Fed:
    """Sessions, which are fed as an evaluation does it."""

    def __init__(self) -> None:
        self.sessions = Sessions(SCHEMA, ["k"], GAP)
        self.newest: int | None = None
        self.count = 0
        self.ended: list[Session] = []
        self.late = 0

    def cut(self, rows: Rows) -> SessionCut:
        times, keys = zip(*rows, strict=True)
        numbers = range(self.count, self.count + len(rows))
        table = pa.table({"k": keys, "row": numbers}, SCHEMA)
        return self.sessions.cut(table, np.array(times, np.int64), self.newest)

    def add(self, *rows: tuple[int, str]) -> None:
        if self.newest is not None:
            self.ended += self.sessions.close(self.newest)
        cut = self.cut([*rows])
        self.count += len(rows)
        self.ended += self.sessions.take(cut)
        self.late += cut.late
        self.newest = cut.progress
        if self.newest is not None:
            self.ended += self.sessions.close(self.newest)


def told(session: Session) -> Told:
    rows = pa.concat_tables(session.pieces)
    [key] = set(rows["k"].to_pylist())
    return key, session.start, session.last, sorted(rows["row"].to_pylist())


batches = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.lists(st.tuples(st.integers(-12, 12), st.sampled_from("abc")), min_size=1, max_size=8),
        st.booleans(),
    ),
    max_size=8,
)


@given(batches)
def test_rows_are_of_the_sessions_that_they_are_of_one_by_one(
    moves: list[tuple[int, Rows, bool]],
) -> None:
    fed, model, at, row = Fed(), RowByRow(), 0, 0
    for forward, rows, is_ordered in moves:
        at += forward
        rows = [(at + time, key) for time, key in (sorted(rows) if is_ordered else rows)]
        fed.add(*rows)
        for time, key in rows:
            model.add(row, time, key)
            row += 1
        assert sorted(map(told, fed.ended)) == sorted(model.ended)
        assert (fed.late, fed.newest) == (model.late, model.newest)
        first = min((each.last + GAP for each in model.open.values()), default=None)
        assert fed.sessions.first_end() == first
        assert fed.sessions.rows == row - model.late
    fed.sessions.release(fed.ended)
    assert fed.sessions.rows == sum(len(each.rows) for each in model.open.values())


def test_a_session_is_open_for_a_gap_after_its_last_row() -> None:
    # time   0  1  2  3  4  5  6  7  8  9  10
    # a      *           *                    ends at 8 + 1
    # b               *                       ends at 8
    fed = Fed()
    fed.add((0, "a"), (3, "b"), (4, "a"))
    assert fed.sessions.close(7) == []
    assert [told(each)[:3] for each in fed.sessions.close(8)] == [("b", 3, 3)]
    [session] = fed.sessions.close(9)
    assert (told(session), fed.sessions.end_of(session)) == (("a", 0, 4, [0, 2]), 9)


def test_a_row_further_off_than_the_gap_opens_another_session() -> None:
    fed = Fed()
    fed.add((0, "a"), (4, "a"), (9, "a"))
    assert [told(each)[:3] for each in fed.ended] == [("a", 0, 4)]


def test_nothing_has_changed_until_a_cut_is_taken() -> None:
    fed = Fed()
    fed.add((0, "a"))
    before = fed.cut([(1, "a"), (9, "b")])
    again = fed.cut([(1, "a"), (9, "b")])
    assert [each[1:4] for each in before.growths] == [each[1:4] for each in again.growths]
    assert (fed.sessions.rows, fed.sessions.first_end()) == (1, 5)


def test_a_batch_without_rows_takes_time_nowhere() -> None:
    cut = Sessions(SCHEMA, ["k"], GAP).cut(SCHEMA.empty_table(), np.array([], np.int64), 7)
    assert (cut.growths, cut.progress, cut.newest, cut.late) == ([], 7, None, 0)


@pytest.mark.parametrize("per", [[], ["k"]])
def test_without_columns_all_rows_are_one_group(per: list[str]) -> None:
    sessions = Sessions(SCHEMA, per, GAP)
    table = pa.table({"k": ["a", "b"], "row": [0, 1]}, SCHEMA)
    sessions.take(sessions.cut(table, np.array([0, 1], np.int64), None))
    assert len(sessions.close(99)) == (len(per) or 1) + len(per)


def test_groups_that_are_gone_take_no_room() -> None:
    sessions = Sessions(SCHEMA, ["k"], 1)
    for number in range(100):
        keys = [f"{number}-{i}" for i in range(200)]
        table = pa.table({"k": keys, "row": range(200)}, SCHEMA)
        times = np.full(200, 10 * number, np.int64)
        sessions.take(sessions.cut(table, times, None if not number else 10 * number - 10))
        closed = sessions.close(10 * number - 5)
        assert len(closed) == (200 if number else 0)
    assert len(sessions._places) < 5_000
    assert len(sessions._by_end) == 200


def test_sessions_may_end_at_any_time_and_all_have_a_gap_later() -> None:
    ends = GapEnds(GAP)
    assert (ends.after(7), ends.newest(7)) == (12, 7)


@pytest.mark.parametrize("open_keys", [1, 40])
def test_the_memory_of_sessions_depends_on_their_rows_and_not_on_their_batches(
    open_keys: int,
) -> None:
    sessions = Sessions(SCHEMA, ["k"], 1_000_000)
    for number in range(200):
        keys = [f"open-{number % open_keys}", *[f"gone-{number}"] * 9_999]
        rows = pa.table({"k": keys, "row": range(10_000)}, SCHEMA)
        cut = sessions.cut(rows, np.full(10_000, number), None if not number else number - 1)
        sessions.take(cut)
        sessions.release([sessions._open.pop(cut.growths[1].place)])  # as if it had ended
        sessions.settle()
    held = [piece for each in sessions._open.values() for piece in each.pieces]
    assert sum(piece.num_rows for piece in held) == sessions.rows == 200
    assert len(sessions._open) == open_keys
    chunks = [chunk for piece in held for chunk in piece.column("row").chunks]
    buffers = {chunk.buffers()[1].address: chunk.buffers()[1].size for chunk in chunks}
    assert sum(buffers.values()) < 10 * 8 * 10_000  # of the 200 batches that there were
