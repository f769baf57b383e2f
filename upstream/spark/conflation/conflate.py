"""`conflate`: keeps the newest update of each key of a stream, and limits the served keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from upstream.errors import ParameterError
from upstream.statistics import check_count

from .bucket_queue import POLICIES
from .metrics import DEFAULT_NAME, ConflationMetrics
from .partition_conflation import COUNTED, DELETED, TIME, PartitionConflation

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

    from .processor import BucketSettings

RESERVED: Final = "__upstream_"
ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER: Final = "spark.sql.streaming.stateStore.providerClass"
_TO_KEPT: Final = {"timestamp": "unix_micros", "date": "unix_date"}
"""How times become numbers: independent of time zones, and also after the year 9999."""
_FROM_KEPT: Final = {"timestamp": "timestamp_micros", "date": "date_from_unix_date"}
_KEY_TYPES: Final = {
    *("string", "tinyint", "smallint", "int", "bigint", "boolean", "date"),
    *("timestamp", "timestamp_ntz"),
}
_TIME_TYPES: Final = {
    *("tinyint", "smallint", "int", "bigint", "float", "double"),
    *("timestamp", "timestamp_ntz", "date"),
}


def conflate(
    stream: DataFrame,
    key: str | Sequence[str] | None = None,
    time: str | None = None,
    policy: str = "index",
    budget: int | None = None,
    *,
    deleted: str | None = None,
    partitions: int | None = None,
    name: str = DEFAULT_NAME,
) -> DataFrame:
    """Keep the newest update of each key, and let at most `budget` keys through per trigger.

    The result has the columns of `stream`, and a struct `upstream` with `waiting_since`, `served`,
    `staleness_seconds`, `superseded` and `mean_staleness_seconds` of each update. Write it with a
    trigger, such as `.trigger(processingTime="1 second")`. Every trigger serves waiting keys, even
    if no rows arrive. (If a query continues from a checkpoint, this may begin with the first
    trigger in which rows arrive.) A query with `availableNow` therefore never ends, unless
    `spark.sql.streaming.noDataMicroBatches.enabled` is false. Then it ends once all rows have
    arrived, and the keys that still wait are served when more rows arrive.

    - `key`: the key column or columns; None means one key for the whole stream.
    - `time`: the column with the time of an update; None means that a later row is newer. Later
      means later in its partition of the micro-batch, or in a partition with a higher number. The
      same rule decides between rows with equal times.
    - `policy`: the order of keys if more wait than the budget allows. `index` serves the keys that
      reduce mean staleness most, `in-place` those that have waited longest, and `fifo` those that
      were updated least recently.
    - `budget`: the most keys per trigger; None means no limit.
    - `deleted`: a boolean column; if it is true, the row is served like any other, and then its
      key is forgotten.
    - `partitions`: how many partitions divide the keys, by hash, and the budget. Each partition
      chooses among its own keys. The default is `spark.sql.shuffle.partitions`.
    - `name`: the name of the observed metrics.

    A key is known until its deletion is served, so the state grows with the number of keys. In a
    trigger, a partition holds the rows of its changed keys in Python's memory, about 2 kB each
    beside their values. If that is too much, use more partitions or limit the rows in a trigger.

    Counters and staleness are observed metrics; see `ConflationMetrics.of`.
    """
    if not stream.isStreaming:
        raise ParameterError("stream", "a table", "a streaming DataFrame, from spark.readStream")
    if policy not in POLICIES:
        raise ParameterError("policy", policy, " or ".join(POLICIES))
    session = stream.sparkSession
    if partitions is None:
        partitions = int(str(session.conf.get("spark.sql.shuffle.partitions")))
    check_count("partitions", partitions, least=1)
    if budget is not None:
        check_count("budget", budget, least=partitions)
    if session.conf.get(PROVIDER, None) != ROCKSDB:
        raise ParameterError(PROVIDER, session.conf.get(PROVIDER, None), repr(ROCKSDB))
    keys = (key,) if isinstance(key, str) else tuple(key or ())
    _check_columns(stream.schema, keys, time, deleted)
    buckets = _bucket_ids(session, partitions)
    return _Plan(stream, keys, time, deleted).build(buckets, policy, budget, name)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan of a query, from the stream to the served updates."""

    stream: DataFrame
    keys: tuple[str, ...]
    time: str | None
    deleted: str | None

    def build(
        self, buckets: Sequence[int], policy: str, budget: int | None, name: str
    ) -> DataFrame:
        """Return the served updates; each of `buckets` goes to a partition of its own."""
        from pyspark.sql import functions as F  # noqa: N812 - the usual name

        from .processor import BUCKET, COUNTS, BucketProcessor, turn_schema

        kept = self._kept()
        processor = BucketProcessor(self._settings(kept, policy, _shares(buckets, budget)))
        turns = (
            self._with_buckets(kept, buckets)
            .groupBy(BUCKET)
            .transformWithState(processor, turn_schema(kept), "Append", "ProcessingTime")
        )
        sums = [F.sum(f"{COUNTS}.{each}").alias(each) for each in ConflationMetrics.names()]
        served = turns.observe(name, *sums).where(F.col(COUNTS).isNull())
        return self._as_given(served)

    def _settings(
        self, kept: StructType, policy: str, shares: dict[int, int | None]
    ) -> BucketSettings:
        from .processor import BucketSettings

        return BucketSettings(
            policy=policy,
            columns=tuple(f"{each.name} {each.dataType.simpleString()}" for each in kept),
            names=tuple(kept.names),
            keys=tuple(kept.names.index(each) for each in self.keys),
            time=self.time,
            shares=shares,
        )

    def _kept(self) -> StructType:
        """Return the columns as they are stored; all may be null, as in rejected rows."""
        from pyspark.sql.types import StructField, StructType

        converted = self.stream.select(*_converted(self.stream.schema, _TO_KEPT)).schema
        return StructType([StructField(each.name, each.dataType) for each in converted])

    def _with_buckets(self, kept: StructType, buckets: Sequence[int]) -> DataFrame:
        """Return a row per key of each partition of a micro-batch, with its bucket."""
        from pyspark.sql import functions as F  # noqa: N812 - the usual name

        from .processor import BUCKET, HASH, counted_schema

        helped = self.stream.select(
            *_converted(self.stream.schema, _TO_KEPT),
            self._seconds().alias(TIME),
            self._is_deletion().alias(DELETED),
        )
        conflation = PartitionConflation(tuple(kept.names), self.keys)
        rows = helped.mapInArrow(conflation, counted_schema(kept))
        hashed = F.xxhash64(*map(_column, self.keys)) if self.keys else F.lit(0).cast("bigint")
        numbers = F.array(*map(F.lit, buckets))
        chosen = F.element_at(numbers, (F.pmod(hashed, F.lit(len(buckets))) + 1).cast("int"))
        return rows.select(
            chosen.cast("bigint").alias(BUCKET),
            F.shiftrightunsigned(hashed, 16).alias(HASH),
            *COUNTED,
            *map(_column, kept.names),
        )

    def _seconds(self) -> Column:
        """Return the time of a row in seconds."""
        from pyspark.sql import functions as F  # noqa: N812 - the usual name

        if self.time is None:
            return F.lit(0.0)
        time = _column(self.time)
        kind = self.stream.schema[self.time].dataType.simpleString()
        if kind == "timestamp":
            return F.unix_micros(time) / 1e6
        if kind == "timestamp_ntz":  # from its parts, independent of time zones
            seconds = F.expr(f"extract(SECOND FROM {_quoted(self.time)})").cast("double")
            minutes = F.hour(time) * 60 + F.minute(time)
            return F.unix_date(F.to_date(time)) * 86_400.0 + minutes * 60.0 + seconds
        if kind == "date":
            return F.unix_date(time) * 86_400.0
        return time.cast("double")

    def _is_deletion(self) -> Column:
        from pyspark.sql import functions as F  # noqa: N812 - the usual name

        if self.deleted is None:
            return F.lit(False)
        return F.coalesce(_column(self.deleted), F.lit(False))

    def _as_given(self, served: DataFrame) -> DataFrame:
        """Return the original columns, and the measures of each update."""
        from pyspark.sql import functions as F  # noqa: N812 - the usual name

        from .processor import SERVED

        columns = _converted(self.stream.schema, _FROM_KEPT)
        known = F.struct(
            F.timestamp_millis(f"{SERVED}.waiting_since").alias("waiting_since"),
            F.timestamp_millis(f"{SERVED}.served").alias("served"),
            f"{SERVED}.staleness_seconds",
            f"{SERVED}.superseded",
            f"{SERVED}.mean_staleness_seconds",
        )
        return served.select(*columns, known.alias(SERVED))


def _shares(buckets: Sequence[int], budget: int | None) -> dict[int, int | None]:
    """Divide a budget over buckets.

    >>> _shares([4, 0, 7], 11)
    {4: 3, 0: 4, 7: 4}
    """
    count = len(buckets)
    return {
        bucket: None if budget is None else budget * (place + 1) // count - budget * place // count
        for place, bucket in enumerate(buckets)
    }


def _bucket_ids(session: SparkSession, partitions: int) -> list[int]:
    """Return a number for each partition that Spark's hash sends to that partition.

    The expression has no input, so it is computed without a job.
    """
    enough = 64 + 20 * partitions
    text = f"transform(sequence(0L, {enough}L), number -> pmod(hash(number), {partitions}))"
    row = session.sql(f"SELECT {text} AS places").first()
    assert row is not None
    places: list[int] = row["places"]
    missing = set(range(partitions)) - set(places)
    assert not missing, "numbers whose hashes miss a partition"
    return [places.index(partition) for partition in range(partitions)]


def _check_columns(
    schema: StructType, keys: tuple[str, ...], time: str | None, deleted: str | None
) -> None:
    """Raise ParameterError for columns that are missing or have unsupported types."""
    from .processor import SERVED

    names = schema.names
    twice = [name for name in names if [each.lower() for each in names].count(name.lower()) > 1]
    if twice:
        expected = "distinct, ignoring case"
        raise ParameterError("the names of the stream's columns", twice[0], expected)
    for name in names:
        if name.lower() == SERVED or name.lower().startswith(RESERVED):
            expected = "one whose name is not reserved; rename it"
            raise ParameterError("a column of the stream", name, expected)
        if _has_inner_timestamp(schema[name].dataType):
            expected = "a type that contains no timestamps; put them in columns of their own"
            raise ParameterError(f"the column {name!r}", schema[name].dataType, expected)
    wanted = {
        "key": keys,
        "time": () if time is None else (time,),
        "deleted": () if deleted is None else (deleted,),
    }
    types = {"key": _KEY_TYPES, "time": _TIME_TYPES, "deleted": {"boolean"}}
    for parameter, columns in wanted.items():
        for name in columns:
            if name not in names:
                raise ParameterError(parameter, name, "one of the columns " + ", ".join(names))
            kind = schema[name].dataType.simpleString()
            if kind not in types[parameter]:
                expected = "one of the types " + ", ".join(sorted(types[parameter])) + "; cast it"
                raise ParameterError(f"the type of {parameter}={name!r}", kind, expected)


def _has_inner_timestamp(kind: DataType, *, is_inner: bool = False) -> bool:
    """Tell whether a type contains timestamps."""
    from pyspark.sql.types import ArrayType, MapType, StructType, TimestampType

    if isinstance(kind, StructType):
        return any(_has_inner_timestamp(each.dataType, is_inner=True) for each in kind)
    if isinstance(kind, ArrayType):
        return _has_inner_timestamp(kind.elementType, is_inner=True)
    if isinstance(kind, MapType):
        inner = (kind.keyType, kind.valueType)
        return any(_has_inner_timestamp(each, is_inner=True) for each in inner)
    return is_inner and isinstance(kind, TimestampType)


def _converted(schema: StructType, functions: Mapping[str, str]) -> list[Column]:
    """Return the columns, with the conversion function of their type applied."""
    from pyspark.sql import functions as F  # noqa: N812 - the usual name

    columns = []
    for each in schema:
        found = _column(each.name)
        function = functions.get(each.dataType.simpleString())
        converted = found if function is None else F.call_function(function, found)
        columns.append(converted.alias(each.name))
    return columns


def _column(name: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - the usual name

    return F.col(_quoted(name))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
