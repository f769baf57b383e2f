"""What SQL that is answered once reads: rows of a definition, of which only a part is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from ..rows.stream_definition import StreamDefinition


@dataclass(frozen=True, slots=True)
class Condition:
    """`column operator value`: rows for which it is not true do not matter to the query."""

    column: str
    operator: Literal["=", "<", "<=", ">", ">="]
    value: object


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The times that matter: from `start` on and before `end`, in units of the time column.

    None stands for no bound.
    """

    start: int | None = None
    end: int | None = None


class Relation(Protocol):
    """Rows that a query reads; a scan costs by what it asks for, as far as that is possible."""

    @property
    def definition(self) -> StreamDefinition:
        """The columns, the key and the time."""

    def scan(
        self,
        columns: Sequence[str] | None = None,
        conditions: Sequence[Condition] = (),
        between: TimeRange | None = None,
    ) -> pa.Table:
        """Return the rows, of these columns in this order, or of all.

        Rows that do not meet the conditions, or are not in the time range, may be left out or not:
        the query filters the rows again.
        """
