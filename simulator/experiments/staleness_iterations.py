"""The iterations of a key, and what each adds to application over queue staleness (report, 5.1).

An iteration begins when an update finds none of its key waiting. The key waits until it is
dequeued, then what was dequeued is processed until it is delivered:

```
 enqueue ──── wait ────▶ dequeue ──── cost ────▶ delivery
                                 ▲ the first update of the next iteration may come here
```

Until the delivery the application is stale since the enqueue, and the queue is until the dequeue.
If the next iteration begins before the delivery, what its own staleness is by then, a triangle
under the line, counts for the next one: that is the overlap O.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..model.staleness_lines import Segment


@dataclass(frozen=True, slots=True)
class Iteration:
    """One of them, with what was measured of it."""

    enqueue: float
    dequeue: float
    delivery: float
    difference: float
    """Δ: what it adds to the area under application staleness more than under queue staleness."""
    overlap: float
    """O: the part of the area up to its delivery that counts for the next iteration."""

    @property
    def wait(self) -> float:
        """The time in the queue."""
        return self.dequeue - self.enqueue

    @property
    def cost(self) -> float:
        """The time in process."""
        return self.delivery - self.dequeue


def iterations(application: Sequence[Segment], queue: Sequence[Segment]) -> Iterator[Iteration]:
    """Divide the two lines of a key into its iterations; the last one, if not done, is left out.

    The lines are those of an update queue with one server: from each arrival that finds no other
    waiting both count, in the same order.
    """
    waits = (segment for segment in queue if segment.since is not None)
    for segment, following in pairwise(application):
        if segment.since is None:
            continue
        wait = next(waits)
        assert wait.since == segment.since, "lines that count from different arrivals"
        overlap = following.rises_from**2 / 2.0
        before = segment.rises_from**2 / 2.0
        yield Iteration(
            enqueue=segment.since,
            dequeue=wait.end,
            delivery=segment.end,
            difference=before + segment.area - overlap - wait.area,
            overlap=overlap,
        )
