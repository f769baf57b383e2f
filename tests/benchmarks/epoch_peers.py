"""Qc in other stream engines, and here for the same rows, each in a process of its own.

    python -m tests.benchmarks.epoch_peers {epochs,bytewax,pathway-once,pathway-updated} ROWS EPOCHS

It prints JSON. Bytewax is in the development environment where it has a release. Pathway is not,
since it brings some 130 packages: `PATHWAY_PYTHON` names an interpreter that has it, with NumPy and
pyarrow. All get the rows of an epoch in batches of a tenth, the routers in turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median
from time import process_time
from typing import Final

import numpy as np
import pyarrow as pa

from tests.benchmarks.packets import Packets

PEER_CHUNKS: Final = (10_000, 100_000)
EPOCHS: Final = {10_000: 12, 100_000: 5}
"""How many epochs are measured: few of the larger ones, because the peers here forget no row."""
BATCHES: Final = 10
MODULES: Final = {
    "epochs": "engine_epochs",
    "bytewax": "bytewax_epochs",
    "pathway-once": "pathway_epochs",
    "pathway-updated": "pathway_epochs",
}
"""By name, the module whose `run` measures it."""
PACKAGES: Final = {"bytewax": "bytewax", "pathway": "pathway", "epochs": "duckdb"}
ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Step:
    """Rows of a router, and if they cut, how many pairs there are before."""

    router: int
    rows: pa.Table
    pairs: int | None = None


@dataclass(slots=True)
class PeerRun:
    """What a system answered, and what it cost."""

    rows: int
    """Of both routers."""
    epochs: int
    means: dict[int, float] = field(default_factory=dict)
    after_cut: list[float] = field(default_factory=list)
    """The seconds by the wall from each cut to its answer."""
    seconds: float = 0.0
    """Of processor time, for all epochs."""
    megabytes: float = 0.0
    """How much more the process needed at most than before."""

    @property
    def rows_per_second(self) -> float:
        """How many rows a second of processor time is enough for."""
        return self.rows / self.seconds

    @property
    def milliseconds_after_cut(self) -> float:
        """The median time from a cut to its answer."""
        return 1e3 * median(self.after_cut[: self.epochs])


def steps(packets: Packets, epochs: int) -> Iterator[Step]:
    """Return all rows in batches, the routers in turn, each epoch followed by the rows that cut."""
    size = packets.rows // BATCHES
    pairs = 0
    chunks = (packets.epoch(number) for number in range(epochs + 1))
    for number, (this, following) in enumerate(pairwise(chunks)):
        for at in range(min(number, 1), packets.rows, size):
            yield from (Step(router, rows.slice(at, size)) for router, rows in enumerate(this))
        one, two = (rows["pid"].to_numpy() for rows in this)
        pairs += len(np.intersect1d(one, two))
        yield Step(0, following[0].slice(0, 1))
        yield Step(1, following[1].slice(0, 1), pairs)


def measured(name: str, rows: int) -> PeerRun | str:
    """Measure a system in a process of its own, or return why that cannot be done."""
    package, *_ = name.split("-")
    python = os.environ.get("PATHWAY_PYTHON", sys.executable)
    python = python if package == "pathway" else sys.executable
    tried = [python, "-c", f"import {PACKAGES[package]}"]
    if subprocess.run(tried, check=False, capture_output=True).returncode:
        return f"{package} is not installed; CONTRIBUTING.md says how to install it"
    done = subprocess.run(
        [python, "-m", "tests.benchmarks.epoch_peers", name, str(rows), str(EPOCHS[rows])],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    fields = json.loads(done.stdout.splitlines()[-1])
    fields["means"] = {int(minute): mean for minute, mean in fields["means"].items()}
    return PeerRun(**fields)


def main() -> None:
    """Measure one system here, and print what it took."""
    name, rows, epochs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    run = PeerRun(2 * rows * epochs, epochs)
    given = list(steps(Packets(rows), epochs))
    answer = import_module(f"tests.benchmarks.{MODULES[name]}").answer
    before = getrusage(RUSAGE_SELF).ru_maxrss
    work = answer(given, run, is_updated=name.endswith("updated"))
    start = process_time()
    work()
    run.seconds = process_time() - start
    run.megabytes = (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps(asdict(run)))


if __name__ == "__main__":
    main()
