"""Runs of schemathesis: requests made up from the service's description, and what they found.

Schemathesis knows no bodies but JSON, so those of the other content types are made here: good ones,
some with a few bytes changed, and some that are nothing at all.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import cycle

import msgspec
import pyarrow as pa
import requests
import schemathesis
from hypothesis import strategies as st
from schemathesis.engine import events, from_schema

from api.bodies import Format

keys = st.one_of(
    st.sampled_from(["IBM", "MSFT", "", "a/b", "\u2028", "é" * 600]),
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.sampled_from(["NYSE", 1, -1]), max_size=17),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
times = st.none() | st.floats() | st.integers(-(2**53), 2**53)
updates = st.fixed_dictionaries(
    {"key": keys, "value": values}, optional={"time": times, "odd": values}
)
rows = st.tuples(keys, times, values)
anything = st.lists(updates | rows | values, max_size=6)


@st.composite
def damaged(draw: st.DrawFn, good: st.SearchStrategy[bytes]) -> bytes:
    """Return a good body, or one with a few bytes changed or cut off, or no body at all."""
    body = bytearray(draw(good))
    match draw(st.sampled_from(["good", "good", "changed", "cut", "random"])):
        case "changed" if body:
            for _ in range(draw(st.integers(1, 4))):
                body[draw(st.integers(0, len(body) - 1))] = draw(st.integers(0, 255))
        case "cut":
            del body[draw(st.integers(0, len(body))) :]
        case "random":
            return draw(st.binary(max_size=64))
    return bytes(body)


def as_lines(made: list[object]) -> bytes:
    """Return a line of JSON for each of these."""
    return b"".join(msgspec.json.encode(one) + b"\n" for one in made)


@st.composite
def arrow_streams(draw: st.DrawFn) -> bytes:
    """Return a stream of one batch, with columns as they should be and as they should not."""
    count = draw(st.integers(0, 5))

    def column(elements: st.SearchStrategy[object], kind: pa.DataType) -> pa.Array:
        return pa.array(draw(st.lists(elements, min_size=count, max_size=count)), kind)

    texts = st.sampled_from(["IBM", "MSFT", "", None, "\0"])
    columns = {
        "key": draw(
            st.sampled_from(
                [
                    column(texts, pa.string()),
                    column(texts, pa.string()).dictionary_encode(),
                    column(st.integers(-(2**63), 2**63 - 1), pa.int64()),
                    column(st.floats(), pa.float64()),
                ]
            )
        ),
        "time": draw(
            st.sampled_from(
                [
                    column(st.none() | st.floats(), pa.float64()),
                    column(st.none() | st.integers(-(2**62), 2**62), pa.timestamp("ns")),
                    column(st.booleans(), pa.bool_()),
                ]
            )
        ),
        "value": draw(
            st.sampled_from(
                [
                    column(st.floats(), pa.float64()),
                    column(st.binary(max_size=9), pa.binary()),
                    column(st.lists(st.integers(0, 9), max_size=3), pa.list_(pa.int32())),
                ]
            )
        ),
    }
    names = draw(st.lists(st.sampled_from([*columns]), unique=True, max_size=3))
    table = pa.table({name: columns[name] for name in names or columns})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


BODIES = {
    Format.NDJSON: anything.map(as_lines),
    Format.MESSAGEPACK: (anything | updates).map(msgspec.msgpack.encode),
    Format.ARROW: arrow_streams(),
}


@cache
def register() -> None:
    """Let schemathesis make bodies, and ask for answers, of all content types."""
    for format_, good in BODIES.items():
        schemathesis.openapi.media_type(format_.value, damaged(good))
    kinds = cycle((*(format_.value for format_ in Format), "*/*"))

    @schemathesis.hook
    def before_call(
        context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, object]
    ) -> None:
        # No parameter may say `Accept`.
        case.headers.setdefault("accept", next(kinds))


QUEUES: dict[str, dict[str, object]] = {
    "trades": {},
    "leased": {"lease_seconds": 0.2},
    "windows": {"kind": "window", "window": {"size": 2}},
    "quotes": {"kind": "adaptive", "capacity": 2, "time_to_live": 1},
    "log": {"kind": "append", "capacity": 5, "shedding": True},
}
"""Queues that are there, so that requests with their names do something."""
UNDECIDABLE = (
    *("put_stream", "put_queue"),  # members have to fit together, and 1.0 is no integer there
    *("post_updates", "post_delivered"),  # nor here; and what JSON cannot say has no schema
    *("get_key", "delete_key", "get_waiting"),  # a key may have to be JSON
    "post_dequeue",  # an idempotency key is for one request only
)
"""Operations that refuse some of what their schemas allow."""


@dataclass
class Found:
    """What a run came to."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    """How often each operation was answered with which status, 0 for no answer."""
    bodies: Counter[tuple[str, int]] = field(default_factory=Counter)
    """How often updates of each content type were answered with which status."""
    answers: Counter[str] = field(default_factory=Counter)
    """How often answers had which content type."""
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        return self.statuses.total()

    def add(self, event: events.EngineEvent) -> None:
        if isinstance(event, events.NonFatalError):
            self.failures[f"error: {event.label}"] = event.info.format()
        elif isinstance(event, events.ScenarioFinished):
            for case_id, sent in event.recorder.interactions.items():
                label = event.recorder.cases[case_id].value.operation.label
                status = 0 if sent.response is None else sent.response.status_code
                self.statuses[label, status] += 1
                if label.endswith("/updates"):
                    self.bodies[_first(sent.request.headers, "content-type"), status] += 1
                if status == 200 and sent.response is not None:
                    self.answers[_first(sent.response.headers, "content-type")] += 1
            for node in (node for nodes in event.recorder.checks.values() for node in nodes):
                failed = node.failure_info
                if failed is not None:
                    label = f"{event.recorder.label}: {failed.failure.title}"
                    told = f"{label}\n{failed.failure.message}\n{failed.code_sample}"
                    self.failures.setdefault(label, told)


def _first(headers: Mapping[str, list[str]], name: str) -> str:
    values = {found.lower(): value for found, value in headers.items()}
    return values.get(name, ["none"])[0]


def configuration(examples: int, seed: int) -> schemathesis.Config:
    """Return how to run: `examples` is how many requests are made up for each operation, at most."""
    return schemathesis.Config.from_dict(
        {
            "seed": seed,
            "suppress-health-check": ["all"],
            "cache": {"enabled": False},
            "output": {"sanitization": {"enabled": False}},
            "generation": {"max-examples": examples, "database": "none"},
            "dictionaries": {
                "names": {"values": [*QUEUES]},
                "others": {"values": ["gone", "going"]},
                "keys": {"values": ["IBM", "MSFT", "a/b", '["NYSE","IBM"]']},
            },
            "parameters": {
                "path.stream": {"dictionary": "names", "probability": 0.7},
                "path.queue": {"dictionary": "names", "probability": 0.7},
                "path.key": {"dictionary": "keys", "probability": 0.7},
            },
            "operations": [
                {"include-path-regex": "(events|socket)$", "enabled": False},
                {
                    "include-operation-id": list(UNDECIDABLE),
                    "checks": {"positive_data_acceptance": {"enabled": False}},
                },
                {
                    "include-operation-id": "post_updates",
                    "generation": {
                        "dictionaries": {"string": {"dictionary": "keys", "probability": 0.3}}
                    },
                },
                {
                    "include-operation-id": ["delete_stream", "delete_queue"],
                    "parameters": {
                        "path.stream": {"dictionary": "others", "probability": 0.7},
                        "path.queue": {"dictionary": "others", "probability": 0.7},
                    },
                },
            ],
        }
    )


def run(
    url: str, *, examples: int, seed: int, tell: Callable[[Found], None] = lambda _: None
) -> Found:
    """Send requests to the service at `url`, and return what was found."""
    register()
    for name, definition in QUEUES.items():
        assert requests.put(f"{url}/v1/queues/{name}", json=definition, timeout=30).ok
    schema = schemathesis.openapi.from_url(
        f"{url}/openapi.json", config=configuration(examples, seed)
    )
    found = Found()
    for event in _events(schema):
        found.add(event)
        tell(found)
    return found


def _events(schema: schemathesis.BaseSchema) -> Iterator[events.EngineEvent]:
    stream = from_schema(schema).execute()
    for event in stream:
        if isinstance(event, events.FatalError):
            raise event.exception
        yield event
