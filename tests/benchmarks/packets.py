"""Packets that two routers see, and queries Qc and Qd over them, as in the paper on epoch joins.

Both streams are in the order of the source's time, as the paper has it. The paper gives no
distributions. Here nine of ten packets of a router pass the other one too, times are uniform over a
minute, and a packet id is a number of 63 bits without any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import pyarrow as pa

COLUMNS: Final = "pid BIGINT, ts TIMESTAMP, from_ip TEXT, to_ip TEXT, bytes BIGINT, trt DOUBLE"
ROUTERS: Final = ("rt1", "rt2")
MINUTE: Final = 60
SHARED: Final = 0.9
"""The share of a router's packets that pass the other router too."""
HOSTS: Final = 1_000
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
"""Multiplication by an odd number is one-to-one, and scatters consecutive numbers."""


@cache
def hosts() -> pa.Array:
    """Return the addresses of all hosts."""
    return pa.array([f"10.0.{host // 250}.{host % 250}" for host in range(HOSTS)])


Chunks = tuple[pa.Table, pa.Table]
"""The rows of both routers in one epoch."""


@dataclass(frozen=True, slots=True)
class Packets:
    """The packets of any minute: the same every time, with this many rows for each router."""

    rows: int
    spread: float = 0.0
    """By what share of them at most the rows of a minute are more or fewer."""
    has_dense_ids: bool = False
    """Whether ids are consecutive numbers, which is easier for a hash join."""

    def epoch(self, number: int) -> Chunks:
        """Return the packets of one minute; both routers see the first one, at its first moment."""
        random = np.random.default_rng((620, number))
        rows = round(self.rows * (1 + random.uniform(-self.spread, self.spread)))
        common = round(SHARED * rows)
        packets = 2 * rows - common
        times = np.sort(random.integers(0, MINUTE * 1_000_000, packets))
        times[0] = 0
        all_rows = self._all(number, number * MINUTE * 1_000_000 + times, random)
        seen = random.permutation(np.arange(1, packets))
        both = np.append(seen[: common - 1], 0)
        only = np.split(seen[common - 1 :], 2)
        first, second = (all_rows.take(np.sort(np.append(both, each))) for each in only)
        later = second["trt"].to_numpy() + random.exponential(0.01, rows)
        return first, second.set_column(5, "trt", pa.array(later))

    def _all(self, number: int, times: np.ndarray, random: np.random.Generator) -> pa.Table:
        """Return the packets of a minute as they leave their sources."""
        ids = np.arange(len(times), dtype=np.uint64) + np.uint64(number * 2 * self.rows)
        if not self.has_dense_ids:
            ids = (ids * _ODD) & np.uint64(2**63 - 1)
        ends = (hosts().take(pa.array(random.integers(0, HOSTS, len(times)))) for _ in range(2))
        columns = [
            pa.array(ids.astype(np.int64)),
            pa.array(times, pa.timestamp("us")),
            *ends,
            pa.array(random.integers(40, 1_500, len(times))),
            pa.array(times / 1e6 + random.exponential(0.02, len(times))),
        ]
        return pa.table(columns, names=[column.split()[0] for column in COLUMNS.split(", ")])
