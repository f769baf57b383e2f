"""The service as a data source of Spark, `format("upstream")`: read queues and streams, and write.

    from upstream.spark import register

    register(spark)
    prices = spark.readStream.format("upstream").options(url=url, queue="prices").load()

`import upstream.spark.registered` does the first two lines, for the active session.

- `spark.readStream` with option `queue` takes the newest update of each key out of a queue, batch
  by batch; the queue must have leases (`lease_seconds`).
- `spark.read` with option `stream` is a table of the newest values.
- `df.write` (append) and `df.writeStream` (append or complete) with option `stream` send rows. For
  what is in mode update, which Spark does not let sinks in Python have, write within
  `foreachBatch`: a batch that is repeated counts once there, too.

Columns are `key`, `time` (seconds, or a timestamp) and the members of the values, or one `value`
for the whole of each; what is read of a queue may have `deleted`, which tells that a key is gone.
The schema is inferred from what the stream holds now, unless it is given: a query that is to run
for long should be given one. See `options` for the options, and `taking` for what holds when
batches are repeated.
"""

from .registration import register

__all__ = ["register"]
