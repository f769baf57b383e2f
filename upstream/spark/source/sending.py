"""Sending rows to the service in Arrow bodies of bounded size, each under a key of its own.

A body is known by what is written, by whom, and by what it holds: so a task that is run again, or a
batch of a query that is started again, counts once as long as the service remembers the keys, even
if its rows come in another order, and then are sent under other keys. Beyond that they are sent
again, which changes no newest value but counts them twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from upstream.client import Client, Counts
from upstream.client.bodies import BODY_BYTES, arrow_bodies

from .service import put_arrow

if TYPE_CHECKING:
    import pyarrow as pa

MOST_REASONS: Final = 5


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of the rows of one task."""

    rows: int
    counts: Counts

    def plus(self, later: Sent) -> Sent:
        """Return the sum of both."""
        counts = self.counts.plus(later.counts, sent=self.rows)
        return Sent(self.rows + later.rows, counts)

    def reasons(self) -> list[str]:
        """Return why rows were not taken, each reason once."""
        found = dict.fromkeys(rejection.reason for rejection in self.counts.rejections)
        return list(found)[:MOST_REASONS]


def send_all(
    client: Client, stream: str, batches: Iterable[pa.RecordBatch], *, rows: int, identity: str
) -> Sent:
    """Send record batches, at most so many rows at once; `identity` tells who writes what."""
    sent = Sent(0, Counts())
    for number, (count, body) in enumerate(_bodies(batches, rows)):
        digest = blake2b(body, digest_size=12).hexdigest()
        counts = put_arrow(client, stream, body, f"{identity}-{number}-{digest}")
        sent = sent.plus(Sent(count, counts))
    return sent


def _bodies(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[tuple[int, bytes]]:
    import pyarrow as pa

    for gathered in _gathered(batches, rows):
        yield from arrow_bodies(pa.Table.from_batches(gathered), rows)


def _gathered(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[list[pa.RecordBatch]]:
    """Yield record batches that are about one body together, so that no more are held at once."""
    gathered: list[pa.RecordBatch] = []
    count = size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        if gathered and (count + batch.num_rows > rows or size + batch.nbytes > BODY_BYTES):
            yield gathered
            gathered, count, size = [], 0, 0
        gathered.append(batch)
        count += batch.num_rows
        size += batch.nbytes
    if gathered:
        yield gathered
