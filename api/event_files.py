"""The files of a queue's event log: `run.json`, and Parquet files that appear when complete.

`upstream.events` defines the format, which `python -m datasets summarize` reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from upstream.events import (
    DESCRIPTION,
    EventColumns,
    RunDescription,
    description_text,
)


def load_arrow() -> None:
    """Import the package that writes the files, which takes a while."""
    import pyarrow.parquet  # noqa: F401


class EventFiles:
    """The folder of one queue's log; its `events` take what happens, and `flush` writes them."""

    __slots__ = ("_described", "_folder", "events")

    def __init__(self, folder: Path, described: RunDescription) -> None:
        folder.mkdir()
        self._folder = folder
        self._described: RunDescription = {"written_by": "service", "unit": "s", **described}
        self.events = EventColumns()
        """The events that are not written yet."""

    def flush(self) -> None:
        """Write the events as the next file."""
        from pyarrow.parquet import write_table

        if not len(self.events):
            return
        with self._appearing(self.events.file_name("parquet")) as path:
            write_table(self.events.to_arrow(), path)
        self.events.set_written()

    def describe(self, more: RunDescription) -> None:
        """Write `run.json` with these members, and with those that earlier calls gave."""
        self._described |= more
        with self._appearing(DESCRIPTION) as path:
            path.write_text(description_text(self._described), encoding="utf-8")

    @contextmanager
    def _appearing(self, name: str) -> Iterator[Path]:
        """Give the path of a file that gets its name when it is complete."""
        unfinished = self._folder / f".{name}.unfinished"
        yield unfinished
        unfinished.replace(self._folder / name)
