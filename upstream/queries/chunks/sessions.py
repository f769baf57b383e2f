"""Sessions: rows of one group that are closer together than a gap.

A row at time t opens a session, or extends the open session of its group, up to t + gap. So a
session is `[first row, last row + gap)`. It is closed when time passes its end. A row that would
open a session which has already ended is late. A row that falls into an open session is never late.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from ...held_interrupt import HeldInterrupt
from ...rows.arrow_words import one_array
from ...rows.group_codes import GroupCodes

if TYPE_CHECKING:
    from .grid import Integers

_SPARE_PLACES: Final = 4_096
_SPARE_ROWS: Final = 65_536


class GapEnds:
    """When sessions can end: one gap after any row."""

    __slots__ = ("_gap",)

    def __init__(self, gap: int) -> None:
        self._gap = gap

    def after(self, time: int) -> int:
        """Return the time by which all sessions end that are open at a given time."""
        return time + self._gap

    def newest(self, time: int) -> int:
        """Return the given time, since a session may end at any time."""
        return time


@dataclass(slots=True, eq=False)
class Session:
    """Rows of one group from `start` to `last`. `number` orders sessions by when they began.

    The evaluation sets `is_told` when the session's failing rows have been counted.
    """

    number: int
    place: int
    start: int
    last: int
    pieces: list[pa.Table] = field(default_factory=list)
    is_told: bool = False

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(piece.num_rows for piece in self.pieces)


class Growth(NamedTuple):
    """The rows of a batch that belong to one session, which is open or new."""

    session: Session | None
    place: int
    start: int
    last: int
    rows: pa.Table


class SessionCut(NamedTuple):
    """A batch of a number of rows, divided among sessions."""

    rows: int
    growths: list[Growth]
    progress: int | None
    newest: int | None
    late: int


class Sessions:
    """The open sessions of a stream, by the columns `per`."""

    __slots__ = (
        "_by_end",
        "_gap",
        "_kept_rows",
        "_numbered",
        "_open",
        "_per",
        "_places",
        "_types",
        "rows",
    )

    def __init__(self, schema: pa.Schema, per: Sequence[str], gap: int) -> None:
        self._per = per
        self._gap = gap
        self._types = [schema.field(name).type for name in per]
        self._places = GroupCodes(self._types)
        self._open: dict[int, Session] = {}
        """The open session of each group, by the group's place."""
        self._by_end: list[tuple[int, int, Session]] = []
        """A heap of sessions by the end that they had when they were added; they end then or
        later."""
        self._numbered = 0
        self.rows = 0
        """How many rows are held."""
        self._kept_rows = 0
        """How many rows the batches had that the held rows belong to, since rows were last
        copied."""

    def cut(self, rows: pa.Table, times: Integers, newest: int | None) -> SessionCut:
        """Divide rows among sessions. O(rows * log rows). Nothing has changed until `take`."""
        if not len(times):
            return SessionCut(0, [], newest, None, 0)
        places = self._places_of(rows, self._places)
        is_ordered = bool((times[1:] >= times[:-1]).all())
        if is_ordered and (newest is None or int(times[0]) >= newest):
            growths = self._growths(rows, times, places)
            return SessionCut(rows.num_rows, growths, int(times[-1]), int(times[-1]), 0)
        return self._cut_unordered(rows, times, places, newest)

    def take(self, cut: SessionCut) -> list[Session]:
        """Take a batch that was cut.

        Return the sessions that are followed by another of their group.
        """
        followed: list[Session] = []
        for session, place, start, last, rows in cut.growths:
            if session is None:
                before = self._open.get(place)
                if before is not None:
                    followed.append(before)
                self._numbered += 1
                session = self._open[place] = Session(self._numbered, place, start, last)
                heappush(self._by_end, (last + self._gap, session.number, session))
            session.start, session.last = min(start, session.start), max(last, session.last)
            session.pieces.append(rows)
            self.rows += rows.num_rows
        self._kept_rows += cut.rows
        return followed

    def close(self, passed: int) -> list[Session]:
        """Remove and return the sessions that have ended by a time."""
        closed: list[Session] = []
        while self._by_end and self._by_end[0][0] <= passed:
            _, number, session = self._by_end[0]
            end = session.last + self._gap
            if end > passed:
                heapreplace(self._by_end, (end, number, session))
                continue
            heappop(self._by_end)
            if self._open.get(session.place) is session:
                del self._open[session.place]
                closed.append(session)
        self._compact()
        return closed

    def settle(self) -> None:
        """Copy the held rows, if they are the lesser part of the batches that they were cut from.

        A row that was cut from a batch keeps the whole batch in memory. O(1) per row, amortized.
        """
        if self._kept_rows <= 2 * self.rows + _SPARE_ROWS:
            return
        sessions = list(self._open.values())
        pieces = [piece for session in sessions for piece in session.pieces]
        copies: list[pa.Table] = []
        if pieces:
            rows = pa.concat_tables(pieces)
            is_one = len(pieces) == 1  # combining them would not copy anything
            rows = rows.take(list(range(rows.num_rows))) if is_one else rows.combine_chunks()
            at = 0
            for session in sessions:
                copies.append(rows.slice(at, session.rows))
                at += session.rows
        with HeldInterrupt():
            for session, piece in zip(sessions, copies, strict=True):
                session.pieces = [piece]
            self._kept_rows = self.rows

    def release(self, sessions: Iterable[Session]) -> None:
        """Stop counting the rows of these closed sessions as held."""
        self.rows -= sum(session.rows for session in sessions)

    def first_end(self) -> int | None:
        """Return when the first open session ends if no row arrives for it, or None."""
        while self._by_end:
            known, number, session = self._by_end[0]
            end = session.last + self._gap
            if self._open.get(session.place) is not session:
                heappop(self._by_end)
            elif end > known:
                heapreplace(self._by_end, (end, number, session))
            else:
                return end
        return None

    def end_of(self, session: Session) -> int:
        """Return when a session ends."""
        return session.last + self._gap

    def _growths(self, rows: pa.Table, times: Integers, places: Integers) -> list[Growth]:
        """Divide rows that are in the order of time, none of them before an earlier row."""
        order = np.argsort(places, kind="stable")
        rows = rows.take(pa.array(order))
        times, places = times[order], places[order]
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = (places[1:] != places[:-1]) | (times[1:] - times[:-1] >= self._gap)
        starts = np.flatnonzero(is_first)
        ends = np.append(starts[1:], len(order))
        growths: list[Growth] = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            place, first, last = int(places[start]), int(times[start]), int(times[end - 1])
            session = self._open.get(place)
            is_new_place = not growths or growths[-1].place != place
            if session is not None and (not is_new_place or first - session.last >= self._gap):
                session = None
            growths.append(Growth(session, place, first, last, rows.slice(start, end - start)))
        return growths

    def _cut_unordered(
        self, rows: pa.Table, times: Integers, places: Integers, newest: int | None
    ) -> SessionCut:
        """Divide rows one after the other, as time passes with each of them."""
        drafts: list[_Draft] = []
        open_drafts: dict[int, _Draft] = {}
        late = 0
        newest_row: int | None = None
        for row, (time, place) in enumerate(zip(times.tolist(), places.tolist(), strict=True)):
            draft = open_drafts.get(place)
            if draft is None and (session := self._open.get(place)) is not None:
                draft = _Draft(session, place, session.start, session.last)
            if draft is None or not self._reaches(draft, time, newest):
                if newest is not None and time + self._gap <= newest:
                    late += 1
                    continue
                draft = _Draft(None, place, time, time)
            if open_drafts.get(place) is not draft:
                open_drafts[place] = draft
                drafts.append(draft)
            draft.start, draft.last = min(time, draft.start), max(time, draft.last)
            draft.rows.append(row)
            newest = time if newest is None else max(time, newest)
            newest_row = time if newest_row is None else max(time, newest_row)
        growths = [
            Growth(each.session, each.place, each.start, each.last, rows.take(pa.array(each.rows)))
            for each in drafts
        ]
        return SessionCut(0, growths, newest, newest_row, late)

    def _reaches(self, draft: _Draft, time: int, newest: int | None) -> bool:
        """Tell whether a row belongs to a session that has not ended."""
        end = draft.last + self._gap
        is_open = newest is None or newest < end
        return is_open and draft.start - self._gap < time < end

    def _places_of(self, rows: pa.Table, places: GroupCodes) -> Integers:
        columns = [one_array(rows.column(name)) for name in self._per]
        return places.codes_of(columns, rows.num_rows)

    def _compact(self) -> None:
        """Number the places again when more than half of them have no session."""
        if len(self._places) < 2 * len(self._open) + _SPARE_PLACES:
            return
        places = GroupCodes(self._types)
        sessions = list(self._open.values())
        if sessions:
            rows = pa.concat_tables([session.pieces[0].slice(0, 1) for session in sessions])
            for session, place in zip(
                sessions, self._places_of(rows, places).tolist(), strict=True
            ):
                session.place = place
        self._places, self._open = places, {session.place: session for session in sessions}


@dataclass(slots=True, eq=False)
class _Draft:
    """A session as it will be after a batch."""

    session: Session | None
    place: int
    start: int
    last: int
    rows: list[int] = field(default_factory=list)
