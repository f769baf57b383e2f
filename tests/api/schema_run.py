"""Runs of schemathesis: requests generated from the API description, and their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import cycle
from typing import Any

import msgspec
import requests
import schemathesis
from schemathesis.engine import events, from_schema

from api.bodies import Format
from tests.api.body_strategies import BODIES, damaged
from tests.api.serving import JSON


@cache
def register() -> None:
    """Let schemathesis make bodies, and ask for answers, of all content types."""
    for format_, good in BODIES.items():
        schemathesis.openapi.media_type(format_.value, damaged(good))
    kinds = cycle((*(format_.value for format_ in Format), "*/*"))

    @schemathesis.hook
    def before_call(
        context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, object]
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
    """Return how to run; at most `examples` requests are made up for each operation."""
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
                    "include-operation-id": "reset_key",  # a key may end in /reset, too
                    "checks": {
                        "positive_data_acceptance": {"enabled": False},
                        "unsupported_method": {"enabled": False},
                        "allow_header_conformance": {"enabled": False},
                    },
                },
                {
                    "include-operation-id": "post_updates",
                    # Examples have to be bytes here; `test_openapi` sends all of them.
                    "phases": {"examples": {"enabled": False}},
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


def run(url: str, found: Found, *, examples: int, seed: int, tell: Callable[[], None]) -> None:
    """Send requests to the service at `url`, which is given `QUEUES`, and add what is found."""
    register()
    for name, definition in QUEUES.items():
        requests.delete(f"{url}/v1/streams/{name}", timeout=30)
        body = msgspec.json.encode(definition)
        made = requests.put(f"{url}/v1/queues/{name}", body, headers=JSON, timeout=30)
        assert made.status_code == 201
    schema = schemathesis.openapi.from_url(
        f"{url}/openapi.json", config=configuration(examples, seed)
    )
    for event in _events(schema):
        found.add(event)
        tell()


def _events(schema: schemathesis.BaseSchema) -> Iterator[events.EngineEvent]:
    stream = from_schema(schema).execute()
    for event in stream:
        if isinstance(event, events.FatalError):
            raise event.exception
        yield event
