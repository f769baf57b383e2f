"""The files of a queue's event log: `run.json`, and Parquet files that appear when they are whole.

The format is that of datasets/summaries/log_format.py, which `python -m datasets summarize` reads.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from upstream import Key
from upstream.events import key_text

VERSION: Final = 1


def load_arrow() -> None:
    """Import what files are written with, which takes a while."""
    import pyarrow.parquet  # noqa: F401


class EventFiles:
    """The folder of one queue's log: columns in memory, and the files that they are written to."""

    __slots__ = ("_described", "_folder", "_keys", "_kinds", "_numbers", "_times", "events")

    def __init__(self, folder: Path, described: Mapping[str, object]) -> None:
        folder.mkdir()
        self._folder = folder
        self._described: dict[str, object] = {
            "format": "upstream-events",
            "version": VERSION,
            "written_by": "service",
            "unit": "s",
            **described,
        }
        self._times, self._numbers = array("d"), array("q")
        self._kinds: list[str] = []
        self._keys: list[Key] = []
        self.events = 0
        """How many were written."""

    @property
    def unwritten(self) -> int:
        """How many events were not written yet."""
        return len(self._times)

    @property
    def has_unwritten(self) -> bool:
        """Whether there are any."""
        return bool(self._times)

    def note(self, time: float, kind: str, key: Key, number: int) -> None:
        """Take one event."""
        self._times.append(time)
        self._kinds.append(kind)
        self._keys.append(key)
        self._numbers.append(number)

    def flush(self) -> None:
        """Write the events as the next file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self._times:
            return
        end = self.events + len(self._times)
        texts = {key: key_text(key) for key in set(self._keys)}
        columns = {
            "event": pa.array(range(self.events, end), pa.int64()),
            "time": pa.array(self._times, pa.float64()),
            "kind": pa.array(self._kinds, pa.string()),
            "key": pa.array([texts[key] for key in self._keys], pa.string()),
            "number": pa.array(self._numbers, pa.int64()),
        }
        with self._appearing(f"events-{self.events:012}.parquet") as path:
            pq.write_table(pa.table(columns), path)
        self.events = end
        self.drop()

    def drop(self) -> None:
        """Forget what was not written, since it cannot be."""
        self._times, self._numbers = array("d"), array("q")
        self._kinds, self._keys = [], []

    def describe(self, more: Mapping[str, object]) -> None:
        """Write `run.json`, with what was said before and what is said now."""
        self._described |= more
        with self._appearing("run.json") as path:
            path.write_text(json.dumps(self._described, indent=2) + "\n", encoding="utf-8")

    @contextmanager
    def _appearing(self, name: str) -> Iterator[Path]:
        """Give the path of a file that gets its name when it is whole."""
        unfinished = self._folder / f".{name}.unfinished"
        yield unfinished
        unfinished.replace(self._folder / name)
