"""Update semantics on Spark Structured Streaming: `conflate`, and what it is made of.

```
 micro-batch ──▶ conflate_partition (Arrow, before the shuffle): a row per key, what was late
                   │  shuffle by bucket: one bucket per partition
                   ▼
 BucketQueue.take_in ──▶ KeyPages: the key's cell   ──▶ WaitingLines: it waits
 BucketQueue.serve   ◀── at most the bucket's share of the budget, in the policy's order
                   │
                   └──▶ updates, and one row of counters per bucket (observed metrics)
```

`BucketQueue` and what it stands on know nothing of Spark: they keep blocks of bytes in a
`BlockStore`, which in Spark is a map in the state store, and in the tests a dict.
"""

from .conflate import conflate
from .metrics import ConflationMetrics

__all__ = ["ConflationMetrics", "conflate"]
