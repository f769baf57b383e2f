"""A log, and an input of a query that reads it."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

import pyarrow as pa

from upstream.queries.chunks.cutter import Cut, Cutter
from upstream.queries.chunks.grid import EvenGrid
from upstream.queries.chunks.input_cuts import cuts_along
from upstream.queries.chunks.progress import Progress
from upstream.queries.chunks.reading import Input
from upstream.queries.chunks.windows import EndTimes, Schedule, Windows
from upstream.queries.sql.window_clause import Axis
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables.log import Log

DEFINITION = StreamDefinition("s", pa.schema([("time", pa.int64())]), (), "time")
INSTANTS = StreamDefinition("s", pa.schema([("time", pa.timestamp("us"))]), (), "time")


class Feed:
    """A log, and windows of this size and slide over it."""

    def __init__(
        self,
        size: int = 10,
        slide: int = 10,
        *,
        axis: Axis = Axis.SOURCE,
        lateness: int | None = None,
        close_after: float | None = None,
        since: float = 0.0,
        definition: StreamDefinition = DEFINITION,
        log: Log | None = None,
    ) -> None:
        self.log = log or Log()
        self.definition = definition
        length = gcd(size, slide)
        self.grid = EvenGrid(length)
        schedule = Schedule([Windows(size // length, slide // length)])
        self.progress = Progress(
            axis,
            EndTimes(self.grid, schedule),
            seconds_per_unit=definition.seconds_per_unit if axis is Axis.SOURCE else 1.0,
            close_after=close_after,
            since=since,
        )
        reader = self.log.reader()
        cuts = cuts_along(axis, definition, Cutter(self.grid, lateness), reader)
        self.input = Input(reader, self.grid, self.progress, cuts)

    def add(self, arrival: float, *times: object) -> None:
        """Let rows arrive without reading them."""
        self.log.add(pa.table({"time": times}, self.definition.schema), arrival)

    def read(self) -> list[Cut]:
        """Read and take what waits."""
        found = []
        for batch, cut in self.input.waiting():
            self.input.took(batch, cut)
            found.append(cut)
        return found

    def take(self, arrival: float, *times: object) -> list[Cut]:
        """Let rows arrive, and read them at once."""
        self.add(arrival, *times)
        return self.read()


def pieces(cuts: Iterable[Cut]) -> list[tuple[int, list[int]]]:
    """Return the times by chunk."""
    return [(chunk, rows["time"].to_pylist()) for cut in cuts for chunk, rows in cut.pieces]
