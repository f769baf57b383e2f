"""Runs a statement over rows when some of them make it fail.

A cast that fails or a sum that overflows ends a whole statement in DuckDB. So that one bad row
removes no other, the rows are halved until the failing rows are found. These are left out, and
counted by their chunks, so that each answer can say how many rows it leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from ...database.failure import DatabaseError
from .error_text import error_text

if TYPE_CHECKING:
    import pyarrow as pa

    from ..chunks.windows import Span

Place = tuple[tuple[int, int], ...]
"""The inputs and chunks of a row, or of a pair of rows."""

Saved = tuple[int, str | None, list[tuple[list[tuple[int, int]], int, str]]]
"""The count, the last error, and for each place how many rows failed, and how."""

_STATEMENTS: Final = 2_000
"""At most this many statements are spent on a batch; the rows that are then not tried are left
out too."""


class Spared(NamedTuple):
    """The result of a statement for the rows that it does not fail on, and the other rows.

    `left_out` are pairs: the place of a row, and how many rows were left out from there on.
    """

    results: list[pa.Table]
    left_out: list[tuple[int, int]]
    error: str | None

    @property
    def rows_failed(self) -> int:
        """How many rows were left out."""
        return sum(count for _, count in self.left_out)


def spare(run: Callable[[pa.Table], pa.Table], rows: pa.Table) -> Spared:
    """Run over rows, in parts if necessary, and leave out the rows that fail.

    If the statement fails even over no rows (because a table is gone, for example), the rows are
    not the cause, and all of them are left out at once.
    """
    results: list[pa.Table] = []
    left_out: list[tuple[int, int]] = []
    said: str | None = None
    waiting = [(0, rows)]
    statements = 0
    while waiting:
        place, part = waiting.pop()
        statements += 1
        try:
            results.append(run(part))
        except DatabaseError as error:
            is_hopeless = part is rows and _fails(run, rows.slice(0, 0))
            if part.num_rows <= 1 or statements > _STATEMENTS or is_hopeless:
                said = error_text(error)
                left_out.append((place, part.num_rows))
                continue
            half = part.num_rows // 2
            waiting.append((place + half, part.slice(half)))
            # taken first, so that rows keep their order
            waiting.append((place, part.slice(0, half)))
    return Spared(results, left_out, said)


def _fails(run: Callable[[pa.Table], pa.Table], rows: pa.Table) -> bool:
    try:
        run(rows)
    except DatabaseError:
        return True
    return False


class FailedRows:
    """Rows that failed while some pieces of one input were evaluated, by all leaves together.

    A row that several leaves fail on counts once.
    """

    __slots__ = ("_number", "error", "rows")

    def __init__(self, number: int) -> None:
        self._number = number
        self.rows: set[tuple[int, int]] = set()
        """The chunk of each row, and its place among the rows of that chunk."""
        self.error: str | None = None

    def note(self, chunk: int, places: Iterable[int], error: str | None) -> None:
        """Note rows of a chunk."""
        for place in places:
            self.rows.add((chunk, place))
            self.error = error

    def by_place(self) -> Counter[Place]:
        """Return how many rows of each chunk failed."""
        return Counter(((self._number, chunk),) for chunk, _ in self.rows)


class Failures(Protocol):
    """What is known of rows that were left out of a query."""

    @property
    def count(self) -> int:
        """How many rows were left out."""

    @property
    def error(self) -> str | None:
        """How the last one failed, or None."""


class FailingRows:
    """How many rows were left out because the query fails on them, and how the last one failed."""

    __slots__ = ("_places", "count", "error")

    def __init__(self) -> None:
        self.count = 0
        self.error: str | None = None
        self._places: dict[Place, tuple[int, str]] = {}
        """By place: how many rows failed, and how the last of them did."""

    def add(self, counts: Counter[Place], error: str | None) -> None:
        """Count rows by their places."""
        for place, count in counts.items():
            self.error = error
            self.count += count
            before = self._places.get(place, (0, ""))[0]
            self._places[place] = (before + count, error or "")

    def count_more(self, rows: int, error: str | None) -> None:
        """Count rows that are in no chunk."""
        if rows:
            self.count += rows
            self.error = error

    def saved(self) -> Saved:
        """Return the counts, to be restored."""
        places = [([*place], *counted) for place, counted in self._places.items()]
        return self.count, self.error, places

    def restore(self, saved: Saved) -> None:
        """Begin with what was saved, which may have become lists."""
        self.count, self.error, places = saved
        for place, count, error in places:
            self._places[tuple((number, chunk) for number, chunk in place)] = count, error

    def within(self, spans: Sequence[Span]) -> tuple[int, str | None]:
        """Return how many rows failed in the chunks of a window, and how one of them did."""
        if not self._places:
            return 0, None
        found = [
            failed
            for place, failed in self._places.items()
            if all(spans[number].first <= chunk < spans[number].end for number, chunk in place)
        ]
        return sum(count for count, _ in found), found[-1][1] if found else None

    def forget(self, before: Sequence[int]) -> None:
        """Forget earlier chunks, by input; no window contains them any more."""
        gone = [
            place
            for place in self._places
            if any(chunk < before[number] for number, chunk in place)
        ]
        for place in gone:
            del self._places[place]


class FailingRowsOfInputs:
    """The failing rows of the inputs of a query, each of which has its own as those of input 0."""

    __slots__ = ("_inputs",)

    def __init__(self, inputs: Sequence[FailingRows]) -> None:
        self._inputs = inputs

    @property
    def count(self) -> int:
        """How many rows were left out."""
        return sum(each.count for each in self._inputs)

    @property
    def error(self) -> str | None:
        """How one of them failed, or None."""
        return next((each.error for each in self._inputs if each.error is not None), None)

    def saved(self) -> Saved:
        """Return the counts with the numbers of the inputs, to be restored."""
        places = [
            ([(number, chunk) for _, chunk in place], count, error)
            for number, each in enumerate(self._inputs)
            for place, count, error in each.saved()[2]
        ]
        return self.count, self.error, places

    def restore(self, saved: Saved) -> None:
        """Begin with what was saved, which may have become lists."""
        for place, count, error in saved[2]:
            [(number, chunk)] = place
            self._inputs[number].add(Counter({((0, chunk),): count}), error)
