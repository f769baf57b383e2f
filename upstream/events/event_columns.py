"""Events that are not written yet, as columns in memory, and the next file of a log made of them.

Nothing here writes a file. An application notes events, asks for the content and the name of the
next file, writes the file, and then says that it is written.
"""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..updates import Key
from .event_format import COLUMNS, EventKind
from .key_texts import key_text

if TYPE_CHECKING:
    import pyarrow as pa


class EventColumns:
    """The events of one log that are not written yet.

    >>> events = EventColumns()
    >>> events.note(0.5, EventKind.ARRIVAL, ("IBM", 7), 0)
    >>> events.file_name("csv")
    'events-000000000000.csv'
    >>> print(events.to_csv(), end="")
    event,time,kind,key,number
    0,0.5,arrival,"[""IBM"",7]",0
    >>> events.set_written()
    >>> len(events), events.written
    (0, 1)
    """

    __slots__ = ("_keys", "_kinds", "_numbers", "_times", "written")

    def __init__(self) -> None:
        self.written = 0
        """How many events are in files."""
        self.drop()

    def __len__(self) -> int:
        return len(self._times)

    def note(self, time: float, kind: EventKind, key: Key, number: int) -> None:
        """Add one event."""
        self._times.append(time)
        self._kinds.append(kind)
        self._keys.append(key)
        self._numbers.append(number)

    def file_name(self, suffix: str) -> str:
        """Return the name of the next file. The names of a log's files sort in their order."""
        return f"events-{self.written:012}.{suffix}"

    def to_csv(self) -> str:
        """Return the events as the text of a CSV file."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(zip(*self._columns().values(), strict=True))
        return text.getvalue()

    def to_arrow(self) -> pa.Table:
        """Return the events as an Arrow table, for a Parquet file."""
        import numpy as np
        import pyarrow as pa

        return pa.table(
            {
                name: pa.array(
                    np.array(cells) if isinstance(cells, array) else cells, COLUMNS[name]
                )
                for name, cells in self._columns().items()
            }
        )

    def set_written(self) -> None:
        """Note that the events are in a file, so that the next file begins after them."""
        self.written += len(self)
        self.drop()

    def drop(self) -> None:
        """Drop the events that are not written, because writing them has failed."""
        self._times, self._numbers = array("d"), array("q")
        self._kinds: list[EventKind] = []
        self._keys: list[Key] = []

    def _columns(self) -> dict[str, Sequence[object]]:
        """Return the columns of the file, in the order of `COLUMNS`."""
        texts = {key: key_text(key) for key in set(self._keys)}
        return {
            "event": range(self.written, self.written + len(self)),
            "time": self._times,
            "kind": self._kinds,
            "key": [texts[key] for key in self._keys],
            "number": self._numbers,
        }
