"""Rows are sent to the service in Arrow bodies of bounded size, each with an idempotency key.

The key consists of the query, the task and a digest of the body. So a task or a batch that runs
again counts once, as long as the service remembers the keys. If its rows come in another order, or
the service has forgotten the keys, the rows are applied again. That changes no newest value, but
the rows are counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import pyarrow as pa

from upstream.client import Client, Counts
from upstream.client.bodies import BODY_BYTES, arrow_bodies

from .service import put_arrow

MOST_REASONS: Final = 5


@dataclass(frozen=True, slots=True)
class Sent:
    """What happened to the rows of one task."""

    rows: int
    counts: Counts

    def plus(self, later: Sent) -> Sent:
        """Add two results."""
        counts = self.counts.plus(later.counts, sent=self.rows)
        return Sent(self.rows + later.rows, counts)

    def reasons(self) -> list[str]:
        """Return why rows were rejected, each reason once."""
        found = dict.fromkeys(rejection.reason for rejection in self.counts.rejections)
        return list(found)[:MOST_REASONS]


def send_all(
    client: Client, stream: str, batches: Iterable[pa.RecordBatch], *, rows: int, identity: str
) -> Sent:
    """Send record batches in requests of limited size; `identity` names the query and the task."""
    sent = Sent(0, Counts())
    for number, (count, body) in enumerate(_bodies(batches, rows)):
        digest = blake2b(body, digest_size=12).hexdigest()
        counts = put_arrow(client, stream, body, f"{identity}-{number}-{digest}")
        sent = sent.plus(Sent(count, counts))
    return sent


def _bodies(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[tuple[int, bytes]]:

    for gathered in _gathered(batches, rows):
        yield from arrow_bodies(pa.Table.from_batches(gathered), rows)


def _gathered(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[list[pa.RecordBatch]]:
    """Yield groups of record batches for about one body each, so that memory is bounded."""
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
