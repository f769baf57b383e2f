"""`format("upstream")` as Spark sees it: the classes that read and write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from .inference import inferred_schema
from .layout import Layout, readable_layout
from .options import queue_options, table_options, write_options
from .readers import QueueReader, TableReader
from .service import ServiceQueue, snapshot
from .writer import StreamWriter, TableWriter

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class UpstreamDataSource(DataSource):
    """The data source for the service; the package's docstring explains its use."""

    @classmethod
    def name(cls) -> str:
        """Return its name in `format(...)`."""
        return "upstream"

    def schema(self) -> StructType:
        """Return the schema inferred from the current values of a stream."""
        if "queue" in self.options:
            return self._schema_of_queue()
        options = table_options(self.options)
        with options.address.client() as client:
            updates = snapshot(client, options.address.url, options.stream)
        return from_arrow_schema(inferred_schema(updates, may_be_deleted=False))

    def reader(self, schema: StructType) -> TableReader:
        """Return the reader of a table."""
        return TableReader(table_options(self.options), _layout(schema))

    def streamReader(self, schema: StructType) -> QueueReader:  # noqa: N802 - Spark's name
        """Return the reader of a queue."""
        return QueueReader(queue_options(self.options), _layout(schema))

    def writer(self, schema: StructType, overwrite: bool) -> TableWriter:
        """Return the writer of a table."""
        return TableWriter(write_options(self.options), schema, overwrite=overwrite)

    def streamWriter(  # noqa: N802 - Spark's name
        self, schema: StructType, overwrite: bool
    ) -> StreamWriter:
        """Return the writer of a stream; in mode complete, every batch is written in full."""
        return StreamWriter(write_options(self.options), schema)

    def _schema_of_queue(self) -> StructType:
        options = queue_options(self.options)
        address = options.address
        with address.client() as client:
            queue = ServiceQueue(client, address.url, options.queue).look()
            updates = snapshot(client, address.url, queue.stream)
        return from_arrow_schema(inferred_schema(updates, may_be_deleted=True))


def _layout(schema: StructType) -> Layout:
    return readable_layout(to_arrow_schema(schema, timezone="UTC"))
