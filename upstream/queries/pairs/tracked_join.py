"""A join of inputs that finds each pair of rows once, and knows which rows have no partner.

New rows are joined with the held rows of the other inputs, and are held from then on, until they
are evicted. A pair waits until it is due, at the greatest place of its rows. A row of a preserved
side of an outer join that never met a partner comes out when it is evicted. Then the user's query
runs over the rows of the pairs only (see `rewriting.paired`).

A place is the number of a chunk or a time; a `Reach` says which places may meet. Neither the order
in which inputs are fed nor the sizes of the batches change which pairs are found. A pair on which
the condition fails is left out and counted, as if its rows did not match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...held_interrupt import HeldInterrupt
from ..sql.lending import prepare
from ..sql.names import ROW
from .held_rows import ALONE, HeldRows, ReachedRows
from .sparing_join import Joined, sparing_join
from .staged_pairs import FoundPairs, StagedPairs

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from ...database.duck import Duck
    from ..chunks.cutter import Piece
    from ..results.failing_rows import FailingRows
    from ..rewriting.paired import PairedQuery
    from .held_rows import HeldPiece
    from .reach import Reach

Take = Callable[[], None]
"""Takes prepared rows in. It cannot fail, and must be called with interrupts held back."""
_TRACKING: Final = {"left": (0,), "right": (1,), "full": (0, 1), "semi": (0,), "anti": (0,)}
"""Whose rows have to know whether they have a partner, by the place of the input in FROM."""


class _Meetings(NamedTuple):
    """Rows that meet, side by side, by input, and the greatest place of each pair."""

    rows: Mapping[int, NDArray[np.int64]]
    places: NDArray[np.int64]

    def at(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> _Meetings:
        """Return some of the pairs, in this order."""
        rows = {number: each[which] for number, each in self.rows.items()}
        return _Meetings(rows, self.places[which])

    def first_of(self, number: int) -> _Meetings:
        """Return for each row of an input the pair with the least place."""
        rows = self.rows[number]
        found = self.at(np.lexsort((self.places, rows)))
        rows = found.rows[number]
        is_first = np.ones(len(rows), np.bool_)
        is_first[1:] = rows[1:] != rows[:-1]
        return found.at(is_first)


class _Mark(NamedTuple):
    """What is noted of rows that have met a partner: where, and the least places."""

    met: NDArray[np.int64]
    rows: NDArray[np.int64]
    places: NDArray[np.int64]

    def note(self) -> None:
        """Note it. Nothing can fail here."""
        self.met[self.rows] = self.places


class _Fed(NamedTuple):
    """Everything that changes when rows are taken in."""

    number: int
    pieces: list[HeldPiece]
    marks: list[_Mark]
    found: list[FoundPairs] | None
    joined: Joined
    version: int


class TrackedJoin:
    """Find the pairs of a query as rows come.

    With chunks, of which M of an input are kept, rows of chunk i are evicted for the answer of
    epoch i + M - 1: `evict(number, epoch - M + 2)` for each input, then `ready(epoch + 1)`. Pairs
    that fail are counted in `failing`, by input and place, until its owner forgets the places.
    """

    __slots__ = (
        "_failing",
        "_held",
        "_kind",
        "_preserved",
        "_reach",
        "_reads",
        "_staged",
        "_statements",
        "_tracked",
        "_version",
    )

    def __init__(
        self,
        paired: PairedQuery,
        schemas: Mapping[int, pa.Schema],
        duck: Duck,
        failing: FailingRows,
        *,
        reach: Reach,
    ) -> None:
        self._kind = paired.kind
        self._reach = reach
        self._failing = failing
        self._preserved = paired.preserved
        self._tracked = tuple(paired.windows[i] for i in _TRACKING.get(paired.kind, ()))
        self._reads = paired.reads
        schemas = {number: schemas[number] for number in paired.windows}
        lent = paired.read_schemas({f"chunk_{i}": schema for i, schema in schemas.items()})
        self._statements = {i: prepare(duck, paired.pairs_of(i), lent) for i in schemas}
        """The statements that find pairs, by the input that has new rows."""
        self._held = {
            number: HeldRows(tracks=number in self._tracked, tells_apart=self._replaces(number))
            for number in schemas
        }
        self._staged = StagedPairs(schemas)
        self._version = 0
        """How often the rows have changed."""

    @property
    def rows(self) -> int:
        """How many rows are held, and how many pairs and rows wait to be taken."""
        return self.held_rows + self._staged.rows

    @property
    def held_rows(self) -> int:
        """How many rows are held for later partners."""
        return sum(held.rows for held in self._held.values())

    def held_beyond(self, number: int, place: int) -> int:
        """Return how many held rows of an input have a greater place."""
        return self._held[number].beyond(place)

    def feed(self, number: int, rows: pa.Table, places: NDArray[np.int64]) -> Take:
        """Join new rows of an input with the held rows of the others.

        The returned function takes the pairs in, and holds the rows from then on. Nothing has
        changed before it is called. It must be called, if at all, before anything else is fed or
        evicted.
        """
        if not len(places):
            return _nothing
        piece = self._held[number].piece(rows, places)
        ends = int(piece.places[0]), int(piece.places[-1])
        sides = {
            each: ReachedRows([piece])
            if each == number
            else held.between(*self._reach.span(number, each, *ends))
            for each, held in self._held.items()
        }
        joined = self._joined(number, sides)
        meetings = self._meetings(number, sides, joined)
        found: list[FoundPairs] | None = None
        marks: list[_Mark] = []
        if meetings is not None:
            found, marks = self._news(meetings, sides)
        for mark in (each for each in marks if each.met is piece.met):
            mark.note()  # before the piece is combined with others
        pieces = self._held[number].with_piece(piece)
        return partial(self._take, _Fed(number, pieces, marks, found, joined, self._version))

    def evict(self, number: int, before: int) -> None:
        """Remove the held rows of an input with places before this one: they meet no more rows.

        Rows of a preserved side that never met a partner are ready from now on.
        """
        gone, kept = self._held[number].without(before)
        if not gone:
            return
        alone = []
        if number in self._preserved:
            alone = [piece.alone() for piece in gone]
        with HeldInterrupt():
            self._version += 1
            self._held[number].keep(kept)
            self._staged.leave_alone(number, alone)

    def ready(self, until: int | None) -> dict[int, pa.Table]:
        """Return the rows that the query runs over, by input, with the column `__pair`.

        They are the rows of the pairs whose greatest place is less than `until` (all if it is
        None), and the rows that were evicted without a partner. They stay until `taken` is called.
        """
        return self._staged.ready(until)

    def taken(self) -> None:
        """Forget the rows that `ready` returned last, since when nothing was fed or evicted.

        Nothing can fail here. Call it with interrupts held back, together with whatever makes the
        result visible.
        """
        self._staged.taken()

    def first_alone(self, number: int) -> int | None:
        """Return the least place of a held row of a preserved side that has met no partner."""
        return self._held[number].first_alone()

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        for statement in self._statements.values():
            statement.close()

    def describe(self) -> str:
        """Describe how pairs are found."""
        words = "new rows are joined once with the held rows of the other inputs"
        if self._kind == "semi":
            return f"{words}; of each row only the first pair is kept"
        if self._preserved:
            return f"{words}; a row without a partner is given when no further row can meet it"
        return words

    # Joining

    def _joined(self, number: int, sides: Mapping[int, ReachedRows]) -> Joined:
        """Find the pairs of new rows; pairs that fail are left out."""
        if not all(map(len, sides.values())):
            return Joined([], Counter(), None)
        tables = {each: side.table(self._reads[each], ROW) for each, side in sides.items()}
        others = {each: table for each, table in tables.items() if each != number}
        made_of = {each: _runs(side, tables[each]) for each, side in sides.items()}
        return sparing_join(self._run, number, tables[number], others, made_of)

    def _run(self, number: int, rows: pa.Table, others: Mapping[int, pa.Table]) -> pa.Table:
        chunks = {f"chunk_{each}": table for each, table in others.items()}
        return self._statements[number].run(**{f"chunk_{number}": rows}, **chunks)

    def _meetings(
        self, number: int, sides: Mapping[int, ReachedRows], joined: Joined
    ) -> _Meetings | None:
        """Return the pairs whose places may meet, or None."""
        results = [table for table in joined.results if table.num_rows]
        if not results:
            return None
        rows = {
            each: np.concatenate([table.column(f"{ROW}_{each}").to_numpy() for table in results])
            for each in sides
        }
        places = {each: side.places[rows[each]] for each, side in sides.items()}
        meetings = _Meetings(rows, np.maximum.reduce([*places.values()]))
        within = self._reach.meets(places)
        if within is not None:
            meetings = meetings.at(within)
        [other, *more] = [each for each in sides if each != number]
        order = meetings.rows[other]
        if not more and not np.all(order[1:] >= order[:-1]):
            meetings = meetings.at(np.argsort(order, kind="stable"))  # held rows are copied faster
        return meetings if len(meetings.places) else None

    def _news(
        self, meetings: _Meetings, sides: Mapping[int, ReachedRows]
    ) -> tuple[list[FoundPairs] | None, list[_Mark]]:
        """Return the pairs to stage, with those that wait, and what is noted of their rows."""
        waiting, firsts = self._staged.found, None
        marks: list[_Mark] = []
        for number in self._tracked:
            first, side = meetings.first_of(number), sides[number]
            before = side.met()[first.rows[number]]
            is_news = first.places < before
            if self._replaces(number):
                is_news &= before >= self._staged.until  # the others were taken
                meetings = first.at(is_news)
                firsts = side.numbers()[meetings.rows[number]]
                waiting = self._staged.without(firsts[before[is_news] < ALONE])
            news = first.at(is_news)
            for piece, rows, which in side.by_piece(news.rows[number]):
                assert piece.met is not None
                marks.append(_Mark(piece.met, rows, news.places[which]))
        if self._kind == "anti" or not len(meetings.places):
            return None, marks
        tables = {number: side.take(meetings.rows[number]) for number, side in sides.items()}
        found = FoundPairs(meetings.places, tables, firsts)
        return self._staged.together_with(waiting, found), marks

    def _take(self, fed: _Fed) -> None:
        assert fed.version == self._version, "rows were fed or evicted before these were taken"
        self._version += 1
        for mark in fed.marks:
            mark.note()
        self._held[fed.number].hold(fed.pieces)
        if fed.found is not None:
            self._staged.stage(fed.found)
        self._failing.add(fed.joined.failed, fed.joined.error)

    def _replaces(self, number: int) -> bool:
        """Tell whether a row of an input has one partner only, for which a better one may come."""
        return self._kind == "semi" and number in self._tracked

    def _check(self) -> None:
        """Assert every invariant."""
        for held in self._held.values():
            held._check()
        self._staged._check()


def _runs(side: ReachedRows, table: pa.Table) -> Iterator[Piece]:
    """Yield the rows with one place after the other."""
    starts = np.flatnonzero(np.diff(side.places, prepend=side.places[0] - 1))
    ends = [*starts[1:].tolist(), len(side)]
    for start, end in zip(starts.tolist(), ends, strict=True):
        yield int(side.places[start]), table.slice(start, end - start)


def _nothing() -> None:
    """Take no rows in."""
