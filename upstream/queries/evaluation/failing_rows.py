"""Running a statement over rows of which some make it fail.

A cast that fails or a sum that overflows ends a whole statement in DuckDB. So that one bad row
takes nothing else with it, the rows are halved until those that fail are found; they are left out
and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from .error_text import error_text

if TYPE_CHECKING:
    import pyarrow as pa

_STATEMENTS: Final = 2_000
"""How many statements are spent on a batch; what is left then is left out as it is."""


class FailingRows:
    """How many rows were left out of a query because it fails on them, and how the last failed."""

    __slots__ = ("count", "error")

    def __init__(self) -> None:
        self.count = 0
        self.error: str | None = None

    def spare(self, run: Callable[[pa.Table], pa.Table], rows: pa.Table) -> list[pa.Table]:
        """Run over rows, in parts if need be, and leave out those that fail.

        If it fails over no rows at all (a table is gone, say), it is not for the rows, and all of
        them are left out at once.
        """
        import duckdb

        results: list[pa.Table] = []
        waiting = [rows]
        statements = 0
        while waiting:
            part = waiting.pop()
            statements += 1
            try:
                results.append(run(part))
            except duckdb.Error as error:
                is_hopeless = part is rows and self._fails(run, rows.slice(0, 0))
                if part.num_rows <= 1 or statements > _STATEMENTS or is_hopeless:
                    self.count += part.num_rows
                    self.error = error_text(error)
                    continue
                half = part.num_rows // 2
                waiting.append(part.slice(half))
                waiting.append(part.slice(0, half))  # taken first: rows keep their order
        return results

    @staticmethod
    def _fails(run: Callable[[pa.Table], pa.Table], rows: pa.Table) -> bool:
        import duckdb

        try:
            run(rows)
        except duckdb.Error:
            return True
        return False
