"""Update semantics on Spark Structured Streaming: `conflate` and its parts.

```
 micro-batch ──▶ conflate_partition (Arrow, before the shuffle): a row per key, late updates
                   │  shuffle by bucket: one bucket per partition
                   ▼
 BucketQueue.take_in ──▶ KeyPages: the key's cell   ──▶ WaitingLines: it waits
 BucketQueue.serve   ◀── at most the bucket's share of the budget, in the policy's order
                   │
                   └──▶ updates, and one row of counters per bucket (observed metrics)
```

`BucketQueue` and the modules below it do not depend on Spark. They keep blocks of bytes in a
`BlockStore`, which is a map in the state store in Spark, and a dict in the tests.
"""

from .conflate import conflate
from .metrics import ConflationMetrics

__all__ = ["ConflationMetrics", "conflate"]
