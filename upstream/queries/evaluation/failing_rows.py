"""Running a statement over rows of which some make it fail.

A cast that fails or a sum that overflows ends a whole statement in DuckDB. So that one bad row
takes nothing else with it, the rows are halved until those that fail are found; they are left out,
and counted by the steps that they are in, so that each answer can say how many are missing in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ...database.failure import DatabaseError
from .error_text import error_text

if TYPE_CHECKING:
    import pyarrow as pa

LeftOut = Callable[[int, int], None]
"""Takes note that rows were left out: the place of the first of them, and how many they are."""

_STATEMENTS: Final = 2_000
"""How many statements are spent on a batch; what is left then is left out as it is."""


class FailingRows:
    """How many rows were left out of a query because it fails on them, and how the last failed.

    A row that several leaves of a query fail on is counted once: `begin` is called before rows are
    given to the first of them.
    """

    __slots__ = ("_known", "_spans", "count", "error")

    def __init__(self) -> None:
        self.count = 0
        self.error: str | None = None
        self._known: set[tuple[int, int]] = set()
        """The rows that failed since `begin`: the step, and the place among its rows."""
        self._spans: dict[tuple[int, int], tuple[int, str]] = {}
        """How many failed by their first and last step, and how the last of them did."""

    def begin(self) -> None:
        """Say that rows follow which were not seen before."""
        self._known.clear()

    def spare(
        self,
        run: Callable[[pa.Table], pa.Table],
        rows: pa.Table,
        left_out: LeftOut | None = None,
    ) -> list[pa.Table]:
        """Run over rows, in parts if need be, and leave out those that fail.

        `left_out` takes note of them; without it they are counted. If the statement fails over no
        rows at all (a table is gone, say), it is not for the rows, and all of them are left out at
        once.
        """
        results: list[pa.Table] = []
        waiting = [(0, rows)]
        statements = 0
        while waiting:
            place, part = waiting.pop()
            statements += 1
            try:
                results.append(run(part))
            except DatabaseError as error:
                is_hopeless = part is rows and self._fails(run, rows.slice(0, 0))
                if part.num_rows <= 1 or statements > _STATEMENTS or is_hopeless:
                    self.error = error_text(error)
                    (left_out or self._count)(place, part.num_rows)
                    continue
                half = part.num_rows // 2
                waiting.append((place + half, part.slice(half)))
                waiting.append((place, part.slice(0, half)))  # taken first: rows keep their order
        return results

    def note_row(self, step: int, place: int) -> None:
        """Count a row by its step and its place among the rows of it that are given now."""
        if (step, place) not in self._known:
            self._known.add((step, place))
            self.note(step, step)

    def note(self, first: int, last: int, count: int = 1) -> None:
        """Count what is in the windows that have both of these steps."""
        self.count += count
        before = self._spans.get((first, last), (0, ""))[0]
        self._spans[first, last] = (before + count, self.error or "")

    def between(self, first: int, end: int) -> tuple[int, str | None]:
        """Return how many failed of the steps in `[first, end)`, and how one of them did."""
        found = [
            failed for (start, last), failed in self._spans.items() if first <= start and last < end
        ]
        return sum(count for count, _ in found), found[-1][1] if found else None

    def forget(self, before: int) -> None:
        """Say that steps below are in no window any more."""
        for span in [span for span in self._spans if span[0] < before]:
            del self._spans[span]

    def _count(self, place: int, rows: int) -> None:
        self.count += rows

    @staticmethod
    def _fails(run: Callable[[pa.Table], pa.Table], rows: pa.Table) -> bool:
        try:
            run(rows)
        except DatabaseError:
            return True
        return False
