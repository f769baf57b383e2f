"""Event logs for the tests: of simulations, of a service, and written by hand."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from api.definitions import QueueDefinition, StreamDefinition
from api.entries import QueueEntry, StreamEntry
from api.service import Service
from api.settings import Settings
from datasets.summaries.event_files import COLUMNS
from simulator.model.policy_run import PolicyRun
from simulator.runs.event_files import EventFiles
from simulator.workloads.sources import Bernoulli, Poisson
from simulator.workloads.workload import zipf
from upstream import POLICIES, StreamQueue
from upstream.events import EventSink, key_text

Row = tuple[int, float, str, str, int]
ByKey = dict[str, tuple[float, float]]
"""Queue and application staleness, as a queue integrated them."""

CROWDED = PolicyRun(
    policy="in-place",
    workload=Bernoulli(zipf(15, 0.5), tick=4.0),
    cost=3.0,
    cost_distribution="exponential",
    updates=500,
)
"""Several updates of a key may come at one moment."""
SEVERAL_SERVERS = PolicyRun(
    policy="in-place",
    workload=Poisson(zipf(15, 0.9)),
    cost=12.0,
    cost_distribution="exponential",
    servers=3,
    updates=500,
)
"""Updates of a key may be delivered in another order than they came in."""
PLAIN = PolicyRun(policy="in-place", workload=Poisson(zipf(20, 0.9)), cost=4.0, updates=400)


def simulate(folder: Path, run: PolicyRun, *, file_format: str = "parquet") -> ByKey:
    """Run a policy and write its log; return what the queue integrated."""
    bounded = run.policy in ("adaptive", "append-shedding")
    run = replace(run, capacity=30) if bounded else run
    setting = {"updates": run.updates, "servers": run.servers}
    files = EventFiles(folder, run, setting, format=file_format)
    sink: EventSink = files
    simulation, subscriber = run.set_up(sink)
    simulation.run(run.updates)
    files.finish(simulation.measures(subscriber))
    return integrated(subscriber.queue)


def integrated(queue: StreamQueue) -> ByKey:
    """Return the staleness of each key until now, by the text of the key."""
    rows = queue.key_staleness()
    return {key_text(row.key): (row.queue_staleness, row.application_staleness) for row in rows}


def simulate_all(folder: Path) -> dict[str, ByKey]:
    """Run every policy in two settings, and some with several seeds; return them by folder."""
    found = {}
    for name, run in (("crowded", CROWDED), ("servers", SEVERAL_SERVERS)):
        for policy in POLICIES:
            file_format = "csv" if policy in ("fifo", "append") else "parquet"
            place = folder / name / policy
            found[str(place)] = simulate(
                place, replace(run, policy=policy), file_format=file_format
            )
    for policy in ("in-place", "index"):
        for seed in (1, 2, 3):
            place = folder / "seeds" / f"{policy}-{seed}"
            found[str(place)] = simulate(place, replace(PLAIN, policy=policy, seed=seed))
    return found


@dataclass(frozen=True, slots=True)
class Served:
    """A service with an event log, and its stream."""

    service: Service
    stream: StreamEntry

    @classmethod
    def at(cls, folder: Path) -> Served:
        """Start one that logs into a folder."""
        service = Service(Settings(demo=False, event_log=folder))
        return cls(service, service.define_stream("trades", StreamDefinition())[0])

    def queue(self, name: str, **definition: object) -> QueueEntry:
        """Define a queue."""
        given = QueueDefinition.model_validate({"stream": "trades", **definition})
        return self.service.define_queue(name, given)[0]


def serve(folder: Path, *, steps: int = 400) -> dict[str, ByKey]:
    """Let a service do a bit of everything on its own clock; return its queues by folder.

    Updates come late, in batches and alone; queues attach late, with a snapshot or without; what is
    handed out is delivered, or given back, while newer updates come or not.
    """
    served = Served.at(folder)
    chance = random.Random(7)
    queues = [
        served.queue("leased", lease_seconds=60.0, scheduler="in-place"),
        served.queue("plain"),
        served.queue("every", kind="append"),
    ]
    keys: list[str | int] = ["IBM", "GM", 7, "7", "two\nlines"]
    for step in range(steps):
        if step == steps // 2:
            queues.append(served.queue("late", snapshot=True, scheduler="fifo"))
        if chance.random() < 0.5:
            served.stream.take_in_one(chance.choice(keys), step, float(step - chance.randrange(3)))
        else:
            batch = [chance.choice(keys) for _ in range(3)]
            times = [float(step - chance.randrange(3)) for _ in batch]
            served.stream.take_in(batch, list(range(3)), times)
        _consume(chance.choice(queues), chance)
    found = {f"{queue.name}-{queue.identity}": queue for queue in queues}
    served.service.finish()
    run = served.service.run
    return {
        str(folder / run / name): _as_logged(folder / run / name, queue)
        for name, queue in found.items()
    }


def _consume(queue: QueueEntry, chance: random.Random) -> None:
    """Take some updates, deliver most, and give some back where that is told by the log."""
    taken = queue.take(chance.randrange(3), 1 << 20)
    for update in taken:
        if queue.leases is not None and chance.random() < 0.4:
            queue.give_back([update])
        else:
            queue.deliver([update])


def _as_logged(folder: Path, queue: QueueEntry) -> ByKey:
    """Return what the queue integrated until its log ended, which is some time ago by now."""
    run = json.loads((folder / "run.json").read_text())
    source = queue.queue
    assert isinstance(source, StreamQueue)
    found = {}
    for row in source.key_staleness():
        place = source._find(row.key)
        assert place is not None
        sums, end = source._places.sums, float(run["end"])
        found[key_text(row.key)] = (
            sums.queue_mean(place, end),
            sums.application_mean(place, end),
        )
    return found


def write_log(
    folder: Path,
    rows: Sequence[tuple[float, str, str, int]],
    *,
    file_format: str = "parquet",
    per_file: int = 100,
    described: Mapping[str, object] | None = None,
) -> Path:
    """Write a log by hand; each row is time, kind, key and number."""
    folder.mkdir(parents=True)
    numbered = [(event, *row) for event, row in enumerate(rows)]
    for first in range(0, len(numbered), per_file):
        path = folder / f"events-{first:06}.{file_format}"
        write_rows(path, numbered[first : first + per_file])
    if described is not None:
        text = json.dumps({"format": "upstream-events", "version": 1, **described})
        (folder / "run.json").write_text(text)
    return folder


def write_rows(path: Path, rows: Iterable[tuple[object, ...]]) -> None:
    """Write rows of events as they are, whatever is in them."""
    rows = list(rows)
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([tuple(COLUMNS), *rows])
        return
    types = (pa.int64(), pa.float64(), pa.string(), pa.string(), pa.int64())
    columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * len(COLUMNS)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    pq.write_table(pa.table(dict(zip(COLUMNS, arrays, strict=True))), path)
