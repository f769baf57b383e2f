"""Pieces of the OpenAPI description that several routes share."""

from __future__ import annotations

from typing import Any, Final

from ..errors import PROBLEM_TYPE
from ..idempotency import LONGEST_KEY

Description = dict[str, Any]

KEY_SCHEMA: Final[Description] = {
    "title": "Key",
    "description": "A string, an integer, or a list of 1 to 16 of them.",
    "anyOf": [
        {"type": "string", "maxLength": 1024},
        {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
        {
            "type": "array",
            "minItems": 1,
            "maxItems": 16,
            "items": {
                "anyOf": [
                    {"type": "string", "maxLength": 1024},
                    {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
                ]
            },
        },
    ],
}
TIME_SCHEMA: Final[Description] = {
    "description": "The source's time, in seconds; the service's clock if missing.",
    "type": ["number", "null"],
}
VALUE_SCHEMA: Final[Description] = {"description": "Any JSON value, kept as it is written."}

RETRY_KEY_SCHEMA: Final[Description] = {
    "minLength": 1,
    "maxLength": LONGEST_KEY,
    "pattern": "^[ -~]+$",
}
RETRY_KEY: Final = "A retry with the same key gets the same answer, and does nothing again."

SCHEMAS: Final[Description] = {
    "Key": KEY_SCHEMA,
    "Update": {
        "type": "object",
        "description": "A new value for a key, at a time of its source.",
        "required": ["key", "value"],
        "additionalProperties": False,
        "properties": {
            "key": {"$ref": "#/components/schemas/Key"},
            "value": VALUE_SCHEMA,
            "time": TIME_SCHEMA,
        },
    },
    "Row": {
        "type": "array",
        "description": "A compact update: key, time, value.",
        "minItems": 3,
        "maxItems": 3,
        "prefixItems": [{"$ref": "#/components/schemas/Key"}, TIME_SCHEMA, VALUE_SCHEMA],
    },
    "ServedUpdate": {
        "type": "object",
        "required": ["key", "time", "value"],
        "properties": {
            "key": {"$ref": "#/components/schemas/Key"},
            "time": {"type": "number"},
            "value": VALUE_SCHEMA,
            "lease": {"type": "string", "description": "What to deliver it by."},
            "deleted": {"const": True, "description": "The key was deleted; value is null."},
        },
    },
    "ServedUpdates": {
        "type": "object",
        "required": ["updates"],
        "properties": {
            "updates": {"type": "array", "items": {"$ref": "#/components/schemas/ServedUpdate"}}
        },
    },
    "Counts": {
        "type": "object",
        "description": "What became of the updates of a request.",
        "required": ["waiting", "superseded", "late", "rejected", "outside", "rejections"],
        "properties": {
            **{
                key: {"type": "integer", "minimum": 0}
                for key in ("waiting", "superseded", "late", "rejected", "outside")
            },
            "rejections": {
                "type": "array",
                "maxItems": 100,
                "items": {
                    "type": "object",
                    "required": ["index", "reason"],
                    "properties": {
                        "index": {"type": "integer", "minimum": 0},
                        "reason": {"type": "string"},
                    },
                },
            },
        },
    },
    "Problem": {
        "type": "object",
        "description": "What went wrong, and what to do (RFC 9457).",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
        },
    },
    "Staleness": {
        "type": "object",
        "required": ["queue", "queue_staleness", "application_staleness", "lower_bound", "ratio"],
        "properties": {
            "queue": {"type": "string"},
            **{
                key: {"type": "number", "minimum": 0, "description": "Seconds, a mean over keys."}
                for key in (
                    "queue_staleness",
                    "application_staleness",
                    "present_queue_staleness",
                    "present_application_staleness",
                )
            },
            **{
                key: {"type": ["number", "null"]}
                for key in (
                    "cost",
                    "lower_bound",
                    "ratio",
                    "application_lower_bound",
                    "application_ratio",
                )
            },
            **{
                key: {
                    "type": "boolean",
                    "description": "Measured for less than ten times the bound; no ratio yet.",
                }
                for key in ("is_warming_up", "application_is_warming_up")
            },
            "worst_key": {"anyOf": [{"$ref": "#/components/schemas/Key"}, {"type": "null"}]},
            "percentiles": {"type": "object"},
            "application_percentiles": {"type": "object"},
            "stalest_keys": {"type": "array", "items": {"type": "object"}},
            "ranks": {"type": "array", "items": {"type": "object"}},
            "rates": {"type": "object"},
            "bound": {"const": "memoryless"},
        },
    },
}


def of_schema(name: str, description: str, *content_types: str) -> Description:
    """Return the description of an answer or body of a schema, as JSON or the types given."""
    schema = {"schema": {"$ref": f"#/components/schemas/{name}"}}
    return {
        "description": description,
        "content": dict.fromkeys(content_types or ("application/json",), schema),
    }


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
    403: "A browser sends this for a page of another origin, which is not allowed.",
    404: "There is nothing of that name, or no such key.",
    406: "None of the types in `Accept` can be answered.",
    408: "The body did not arrive in time.",
    409: "It exists already, and is defined otherwise; there are too many; there may be no room "
    "for all of it; or it was done before, and its answer is not kept any more.",
    413: "The body, or one of its parts, is too large.",
    415: "The body is of a content type, or encoding, that cannot be read.",
    422: "Something in the request is not acceptable.",
    426: "This is no websocket.",
    503: "The service starts, or shuts down.",
}


class _Problems:
    """The descriptions of some problems: `PROBLEMS[404, 422]`."""

    def __getitem__(self, statuses: int | tuple[int, ...]) -> dict[int | str, Description]:
        wanted = statuses if isinstance(statuses, tuple) else (statuses,)
        return {
            status: of_schema("Problem", _PROBLEM_DESCRIPTIONS[status], PROBLEM_TYPE)
            for status in wanted
        }


PROBLEMS: Final = _Problems()

_STREAMS_OPERATIONS: Final = ("get_stream", "delete_stream", "get_snapshot", "post_updates")
_QUEUES_OPERATIONS: Final = (
    "get_queue",
    "delete_queue",
    "post_dequeue",
    "get_statistics",
    "get_staleness",
)


def _links(operations: tuple[str, ...], **parameters: str) -> Description:
    return {name: {"operationId": name, "parameters": parameters} for name in operations}


LINKS_OF_STREAM: Final = _links(_STREAMS_OPERATIONS, stream="$request.path.stream")
"""Where one goes from a new stream."""
LINKS_OF_QUEUE: Final = {
    **_links(_QUEUES_OPERATIONS, queue="$request.path.queue"),
    **_links(("post_updates",), stream="$response.body#/stream"),
}
"""Where one goes from a new queue; it says which stream feeds it."""
LINKS_OF_UPDATES: Final = _links(
    ("get_key", "delete_key", "reset_key"), stream="$request.path.stream", key="$request.body#/key"
)
"""Where one goes from a single update whose key is a string."""
LINKS_OF_DEQUEUE: Final[Description] = {
    "post_delivered": {
        "operationId": "post_delivered",
        "parameters": {"queue": "$request.path.queue"},
        "requestBody": {"leases": ["$response.body#/updates/0/lease"]},
    },
    "get_waiting": {
        "operationId": "get_waiting",
        "parameters": {
            "queue": "$request.path.queue",
            "key": "$response.body#/updates/0/key",
        },
    },
}
"""Where one goes with what was dequeued."""
