"""A service with queues of every kind that have work in progress."""

from __future__ import annotations

from api.definitions import QueueDefinition, StreamDefinition
from api.service import Service
from api.settings import Settings

ROUTE = "/v1/streams/{stream}/updates"


def make_service() -> Service:
    """Return a service with queues of all kinds that took updates and gave some of them out."""
    service = Service(Settings(demo=False))
    service.is_ready = True
    pool = StreamDefinition.model_validate({"pool_bytes": 65_536})
    stream, _ = service.define_stream("trades", pool)
    for kind in ("update", "append", "adaptive"):
        define_queue(service, kind, kind=kind, processing_cost=0.001)
    define_queue(service, "window", kind="window", window={"size": 2})
    for time in range(6):
        for key in ("s3cr3t-a", "s3cr3t-b"):
            stream.take_in_one(key, b"24.0", float(time))
    for name in ("update", "append", "adaptive"):
        entry = service.queue(name)
        updates = entry.take(1, 1_000)
        entry.deliver(updates)
    service.meter.observe(ROUTE, "POST", 202, 0.0005)
    service.meter.push_updates_sent += 7
    return service


def define_queue(service: Service, name: str, **definition: object) -> None:
    """Define a queue of the stream `trades`."""
    given = {"stream": "trades", **definition}
    service.define_queue(name, QueueDefinition.model_validate(given))
