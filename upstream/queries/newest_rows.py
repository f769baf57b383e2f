"""The newest rows of each group of a stream, which `latest(trades, rows => 3)` reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from .stream_definition import StreamDefinition


@dataclass(frozen=True, slots=True)
class NewestRowsStatistics:
    """What became of the rows: came = superseded + late + kept."""

    came: int
    superseded: int
    late: int
    kept: int


class NewestRows:
    """The newest `rows` rows of each group; groups are by the columns `per`, or by the key."""

    def __init__(
        self, definition: StreamDefinition, rows: int = 1, per: Sequence[str] | None = None
    ) -> None:
        raise NotImplementedError

    def add(self, rows: pa.Table) -> None:
        """Add rows that conform to the definition, in the order in which they came."""
        raise NotImplementedError

    def table(self) -> pa.Table:
        """Return the newest rows of all groups."""
        raise NotImplementedError

    def take_changed(self) -> pa.Table:
        """Return the newest rows of the groups that changed since this was last asked."""
        raise NotImplementedError

    def statistics(self) -> NewestRowsStatistics:
        """Return what became of the rows so far."""
        raise NotImplementedError
