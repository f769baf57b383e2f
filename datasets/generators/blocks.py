"""How a stream is cut: into blocks, which follow one another in time, and files of whole blocks.

The cuts depend on the stream alone. Partitions are made of whole files, so another number of them
changes neither a row nor the order of the rows. The table of the blocks, a row each, is drawn on
the driver and goes to every task; the rows themselves are never moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Cut:
    """How many updates a block has, and how many blocks a file.

    >>> Cut().updates_per_file == 1 << 20
    True
    """

    updates_per_block: int = 65_536
    """A task has these in memory at once, to sort them by time."""
    blocks_per_file: int = 16
    partitions: int | None = None
    """How many tasks there are, one for each file unless given; never more than that."""

    @property
    def updates_per_file(self) -> int:
        """How many updates a file has, but for the last one."""
        return self.updates_per_block * self.blocks_per_file

    def frame(self, session: SparkSession, blocks: pa.Table) -> DataFrame:
        """Return the blocks in their order, cut into partitions; the column `block` counts them."""
        import pyarrow as pa
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        count = blocks.num_rows
        files = -(-count // self.blocks_per_file)
        partitions = min(self.partitions or files, files)
        first = F.col("id") * F.lit(self.blocks_per_file)
        last = F.least(first + F.lit(self.blocks_per_file - 1), F.lit(count - 1))
        numbers = session.range(0, files, 1, partitions).select(
            F.explode(F.sequence(first, last)).alias("block")
        )
        numbered = blocks.append_column("block", pa.array(range(count), pa.int64()))
        # An outer join, since Spark looks for keys that are null before an inner one.
        return numbers.join(F.broadcast(session.createDataFrame(numbered)), "block", "left")
