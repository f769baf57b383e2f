"""The service as a data source of Spark, `format("upstream")`: read queues and streams, and write.

    from upstream.spark import register

    register(spark)
    prices = spark.readStream.format("upstream").options(url=url, queue="prices").load()

`import upstream.spark.registered` does the first two lines, for the active session.

- `spark.readStream` with option `queue` takes the newest update of each key from a queue, in
  batches. The queue must grant leases (`lease_seconds`).
- `spark.read` with option `stream` reads the newest values as a table.
- `df.write` (append) and `df.writeStream` (append or complete) with option `stream` send rows.
  Spark does not support Python sinks in mode update; use `foreachBatch` for that. A batch that is
  repeated counts once there, too.

The columns are `key`, `time` (seconds, or a timestamp), and either the members of the values or one
column `value` with the whole value. A queue may also be read with a column `deleted`, which is true
if the key was deleted. Unless a schema is given, it is inferred from the values that the stream
holds now; a query that runs for a long time should be given one. The module `options` has the
options, and `taking` explains what happens when batches are repeated.

Spark finds data sources by itself only in top-level packages that are named `pyspark_…`, and this
distribution installs only `upstream`. So the format is registered explicitly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]


def register(spark: SparkSession) -> None:
    """Let a session read and write `format("upstream")`; calling it again changes nothing.

    The session must be the active one. A session from `newSession()` is not active at first.
    """
    from .data_source import UpstreamDataSource

    spark.dataSource.register(UpstreamDataSource)
