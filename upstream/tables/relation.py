"""What one-time SQL reads: rows of a definition, of which it requests a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from ..rows.stream_definition import StreamDefinition


@dataclass(frozen=True, slots=True)
class Condition:
    """`column operator value`: rows for which this is not true do not matter to the query."""

    column: str
    operator: Literal["=", "<", "<=", ">", ">="]
    value: object


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The times that matter: from `start` on and before `end`, in units of the time column.

    None means no bound.
    """

    start: int | None = None
    end: int | None = None


class Relation(Protocol):
    """Rows that a query reads.

    The cost of a scan depends on what it requests, as far as possible.
    """

    @property
    def definition(self) -> StreamDefinition:
        """The columns, the key and the time."""

    def scan(
        self,
        columns: Sequence[str] | None = None,
        conditions: Sequence[Condition] = (),
        between: TimeRange | None = None,
    ) -> pa.Table:
        """Return the rows, with these columns in this order, or with all columns.

        Rows outside the conditions or the time range may be left out, but need not be: the query
        filters the rows again.
        """
