"""Pieces of the OpenAPI description that several routes share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..errors import PROBLEM_TYPE
from ..idempotency import LONGEST_KEY

Description = dict[str, Any]

_KEY_PARTS: Final[list[Description]] = [
    {"type": "string", "maxLength": 1024},
    {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
]
KEY_SCHEMA: Final[Description] = {
    "title": "Key",
    "description": "A string, an integer, or a list of 1 to 16 strings and integers.",
    "examples": ["IBM", 7, ["IBM", 7]],
    "anyOf": [
        *_KEY_PARTS,
        {"type": "array", "minItems": 1, "maxItems": 16, "items": {"anyOf": _KEY_PARTS}},
    ],
}
TIME_SCHEMA: Final[Description] = {
    "description": "The source's time in seconds. By default, or if null, the service's clock.",
    "type": ["number", "null"],
}
VALUE_SCHEMA: Final[Description] = {
    "description": "Any JSON value. It is served as it was written."
}

RETRY_KEY_SCHEMA: Final[Description] = {
    "minLength": 1,
    "maxLength": LONGEST_KEY,
    "pattern": "^[ -~]+$",
}
RETRY_KEY: Final = (
    "Any text that identifies this request. A retry with the same key gets the answer of the first "
    "request, and changes nothing."
)


def object_of(
    description: str | None, members: Description, *, required: Iterable[str] | None = None
) -> Description:
    """Return the schema of an object with these members, all required unless said otherwise."""
    names = list(members if required is None else required)
    told = {"description": description, "required": names}
    return {
        "type": "object",
        **{name: value for name, value in told.items() if value},
        "properties": members,
    }


def counts(**meanings: str) -> Description:
    """Return the schemas of whole numbers from 0, by name."""
    kind = {"type": "integer", "minimum": 0}
    return {name: {**kind, "description": meaning} for name, meaning in meanings.items()}


def _numbers(*, may_be_null: bool = False, **meanings: str) -> Description:
    """Return the schemas of numbers by name."""
    kind: Description = (
        {"type": ["number", "null"]} if may_be_null else {"type": "number", "minimum": 0}
    )
    return {name: {**kind, "description": meaning} for name, meaning in meanings.items()}


def _text(description: str) -> Description:
    return {"type": "string", "description": description}


def _list_of(items: Description, description: str, **more: object) -> Description:
    return {"type": "array", "description": description, "items": items, **more}


def reference_to(name: str) -> Description:
    """Return a reference to a schema by its name in `SCHEMAS`."""
    return {"$ref": f"#/components/schemas/{name}"}


def _percentiles(of: str) -> Description:
    return {
        "type": "object",
        "description": f"Percentiles of the keys' mean {of} staleness, by the percentage.",
        "additionalProperties": {"type": ["number", "null"]},
    }


_OF_A_KEY: Final[Description] = {
    **_numbers(
        queue_staleness="The key's mean queue staleness.",
        application_staleness="The key's mean application staleness.",
        waiting_seconds="How long the key has waited at this moment.",
        stale_seconds="How far the consumer is behind at this moment.",
    ),
    **_numbers(may_be_null=True, rate="Updates per second, estimated; null if not known yet."),
}

SCHEMAS: Final[Description] = {
    "Key": KEY_SCHEMA,
    "Update": object_of(
        "A new value for a key, at a time of its source.",
        {"key": reference_to("Key"), "value": VALUE_SCHEMA, "time": TIME_SCHEMA},
        required=("key", "value"),
    )
    | {"additionalProperties": False},
    "Row": {
        "type": "array",
        "description": "A compact update: key, time, value.",
        "minItems": 3,
        "maxItems": 3,
        "prefixItems": [reference_to("Key"), TIME_SCHEMA, VALUE_SCHEMA],
    },
    "ServedUpdate": object_of(
        "An update as it is dequeued or read.",
        {
            "key": reference_to("Key"),
            "time": {"type": "number", "description": "The source's time in seconds."},
            "value": VALUE_SCHEMA,
            "lease": _text("Names this update in `delivered`, if the queue has leases."),
            "deleted": {
                "const": True,
                "description": "The key was deleted. The value is null then.",
            },
        },
        required=("key", "time", "value"),
    ),
    "ServedUpdates": object_of(
        "Updates in the order in which they are to be processed.",
        {
            "updates": _list_of(
                reference_to("ServedUpdate"), "The updates; none if the list is empty."
            )
        },
    ),
    "Counts": object_of(
        "What became of the updates of a request.",
        {
            **counts(
                waiting="Updates of keys that began to wait.",
                superseded="Updates that replaced one that waited.",
                late="Updates that were dropped since a newer one was known.",
                rejected="Updates that were not taken in; `rejections` says why.",
                outside="Updates that belong to no window of any queue.",
            ),
            "rejections": _list_of(
                object_of(
                    None,
                    {
                        **counts(index="The update's place in the request; the first is 0."),
                        "reason": _text("What is wrong with it."),
                    },
                ),
                "The first 100 updates that were rejected.",
                maxItems=100,
            ),
        },
    ),
    "Problem": object_of(
        "What went wrong, and what to do (RFC 9457).",
        {
            "type": _text("Always `about:blank`."),
            "title": _text("The kind of problem."),
            "status": {"type": "integer", "description": "The status of the response."},
            "detail": _text("What is wrong here, and what to do."),
        },
    ),
    "Staleness": object_of(
        "How stale a queue is. All means are over keys; all times are in seconds.",
        {
            "queue": _text("The queue's name."),
            **_numbers(
                queue_staleness="How long keys have waited, as a mean over time.",
                application_staleness="How far the consumer has been behind, as a mean over time.",
                present_queue_staleness="How long keys have waited at this moment.",
                present_application_staleness="How far the consumer is behind at this moment.",
            ),
            **_numbers(
                may_be_null=True,
                cost="Seconds that the consumer needs for an update; null if not known yet.",
                lower_bound="A lower bound on queue staleness, assuming Poisson arrivals.",
                ratio="Queue staleness divided by its lower bound; null while warming up.",
                application_lower_bound="A lower bound on application staleness, likewise.",
                application_ratio="Application staleness divided by its lower bound, likewise.",
            ),
            **{
                key: {
                    "type": "boolean",
                    "description": "Whether the measurement is shorter than ten times the bound, "
                    "so that there is no ratio yet.",
                }
                for key in ("is_warming_up", "application_is_warming_up")
            },
            "worst_key": {
                "description": "The key with the largest mean queue staleness; null if no key is "
                "known.",
                "anyOf": [reference_to("Key"), {"type": "null"}],
            },
            "percentiles": _percentiles("queue"),
            "application_percentiles": _percentiles("application"),
            "stalest_keys": _list_of(
                object_of(None, {"key": reference_to("Key"), **_OF_A_KEY}, required=()),
                "The keys with the largest mean queue staleness, stalest first.",
            ),
            "ranks": _list_of(
                object_of(
                    None,
                    {"rank": {"type": "integer", "description": "The key's rank."}, **_OF_A_KEY},
                    required=(),
                ),
                "Some keys by how often they update; the busiest has rank 1.",
            ),
            "rates": object_of(
                "The load.",
                {
                    "arrival": {"type": "number", "description": "Updates per second, estimated."},
                    "keys": {"type": "integer", "description": "How many keys are known."},
                },
                required=(),
            ),
            "bound": {
                "const": "memoryless",
                "description": "What the lower bounds assume: memoryless (Poisson) arrivals.",
            },
        },
        required=("queue", "queue_staleness", "application_staleness", "lower_bound", "ratio"),
    ),
}


def of_schema(name: str, description: str, *content_types: str) -> Description:
    """Return the description of an answer or body of a schema, as JSON or the types given."""
    schema = {"schema": reference_to(name)}
    return {
        "description": description,
        "content": dict.fromkeys(content_types or ("application/json",), schema),
    }


def examples(**values: object) -> Description:
    """Return examples of a request body by name. Each of them works when it is sent."""
    return {name: {"value": value} for name, value in values.items()}


BINARY: Final[Description] = {"schema": {"type": "string", "contentEncoding": "binary"}}
_OTHER_TYPES: Final[Description] = {
    "application/x-ndjson": {"schema": {"type": "string"}},
    "application/msgpack": BINARY,
    "application/vnd.apache.arrow.stream": BINARY,
}
UPDATE: Final = of_schema("ServedUpdate", "The update.")
UPDATE["content"] |= _OTHER_TYPES
UPDATES: Final = of_schema("ServedUpdates", "The updates.")
UPDATES["content"] |= _OTHER_TYPES
STALENESS: Final = of_schema("Staleness", "How stale the queue is.")

_PROBLEM_DESCRIPTIONS: Final = {
    400: "The request is malformed.",
    403: "A browser sent this for a page of another origin, which is not allowed.",
    404: "No stream or queue has that name, or the key is unknown.",
    406: "The service has none of the types that `Accept` names.",
    408: "The body did not arrive in time.",
    409: "It exists with another definition; a limit on streams, queues or memory is reached; or "
    "the request was carried out before, and its answer is no longer kept.",
    413: "The body, or one of its parts, is too large.",
    415: "The service cannot read this content type or encoding.",
    422: "A part of the request is not valid.",
    426: "The request is not a websocket handshake.",
    503: "The service is starting or stopping, or has too many push connections.",
}


def problems(*statuses: int) -> dict[int | str, Description]:
    """Return the descriptions of the problems with these statuses."""
    return {
        str(status): of_schema("Problem", _PROBLEM_DESCRIPTIONS[status], PROBLEM_TYPE)
        for status in statuses
    }


def _links(*operations: str, **parameters: str) -> Description:
    return {name: {"operationId": name, "parameters": parameters} for name in operations}


LINKS_OF_STREAM: Final = _links(
    *("get_stream", "delete_stream", "get_snapshot", "post_updates"),
    stream="$request.path.stream",
)
"""What to do with a new stream."""
LINKS_OF_QUEUE: Final = {
    **_links(
        *("get_queue", "delete_queue", "post_dequeue", "get_statistics", "get_staleness"),
        queue="$request.path.queue",
    ),
    **_links("post_updates", stream="$response.body#/stream"),
}
"""What to do with a new queue; its answer names the stream that feeds it."""
LINKS_OF_UPDATES: Final = _links(
    *("get_key", "delete_key", "reset_key"),
    stream="$request.path.stream",
    key="$request.body#/key",
)
"""What to do after a single update whose key is a string."""
LINKS_OF_DEQUEUE: Final = {
    **_links("post_delivered", queue="$request.path.queue"),
    **_links("get_waiting", queue="$request.path.queue", key="$response.body#/updates/0/key"),
}
LINKS_OF_DEQUEUE["post_delivered"]["requestBody"] = {"leases": ["$response.body#/updates/0/lease"]}
"""What to do with dequeued updates."""
