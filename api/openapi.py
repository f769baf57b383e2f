"""The OpenAPI description: FastAPI's own routes, and those that stand outside of it to be fast."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI

from upstream.push_limits import MOST_APPENDED, MOST_WINDOW

from .routes.descriptions import (
    BINARY,
    LINKS_OF_DEQUEUE,
    LINKS_OF_UPDATES,
    PROBLEMS,
    RETRY_KEY,
    RETRY_KEY_SCHEMA,
    SCHEMAS,
    UPDATES,
    Description,
    of_schema,
)
from .settings import Settings

_NAME: Final[Description] = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"}


def describe(app: FastAPI) -> Description:
    """Return the whole description; made once, and kept by the application."""
    if app.openapi_schema is None:
        made = FastAPI.openapi(app)
        made["components"]["schemas"] |= SCHEMAS
        for path, operations in _plain_routes(app.state.service.settings).items():
            made["paths"].setdefault(path, {}).update(operations)
        for operations in made["paths"].values():
            for method, operation in operations.items():
                _describe_invalid_parameters(operation)
                if method != "get":
                    operation["responses"] |= _problems(403)
    described: Description = app.openapi_schema or {}
    return described


def _describe_invalid_parameters(operation: Description) -> None:
    """Let a 422 be a problem, as it is, where FastAPI describes its own."""
    for status, response in PROBLEMS[422].items():
        if str(status) in operation.get("responses", {}):
            operation["responses"][str(status)] = response


def _problems(*statuses: int) -> Description:
    return {str(status): response for status, response in PROBLEMS[statuses].items()}


def _path(name: str) -> Description:
    return {"name": name, "in": "path", "required": True, "schema": _NAME}


def _query(name: str, schema: Description, description: str) -> Description:
    return {"name": name, "in": "query", "schema": schema, "description": description}


_IDEMPOTENCY: Final[Description] = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", **RETRY_KEY_SCHEMA},
    "description": RETRY_KEY,
}

_JSON_UPDATES: Final[Description] = {
    "schema": {
        "anyOf": [
            {"$ref": "#/components/schemas/Update"},
            {
                "type": "array",
                "items": {
                    "anyOf": [
                        {"$ref": "#/components/schemas/Update"},
                        {"$ref": "#/components/schemas/Row"},
                    ]
                },
            },
        ]
    },
    "examples": {
        "one": {"value": {"key": "IBM", "value": 24.0}},
        "several": {"value": [{"key": "IBM", "value": 24.0, "time": 1.5}, ["MSFT", 2.5, 410.0]]},
    },
}

_POST_UPDATES: Final[Description] = {
    "operationId": "post_updates",
    "summary": "Put updates into a stream",
    "description": "One update or a batch, by content type. The good updates of a batch are taken "
    "in, and the others are told of; with `atomic`, all or none. What load does to good ones, such "
    "as a newer value or a queue's capacity, is counted in any case.",
    "tags": ["streams"],
    "parameters": [
        _path("stream"),
        _query(
            "atomic",
            {"type": "boolean", "default": False},
            "All updates, or none if one is bad or the page pool may lack room.",
        ),
        _IDEMPOTENCY,
    ],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": _JSON_UPDATES,
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One update or row a line."}
            },
            "application/msgpack": BINARY,
            "application/vnd.apache.arrow.stream": BINARY,
        },
    },
    "responses": {
        "202": {**of_schema("Counts", "What became of the updates."), "links": LINKS_OF_UPDATES},
        **_problems(400, 404, 408, 409, 413, 415, 422),
    },
}


def _post_dequeue(settings: Settings) -> Description:
    most, longest = settings.max_dequeue, settings.max_wait_seconds
    limit = {"type": "integer", "minimum": 1, "maximum": most, "default": min(100, most)}
    wait = {"type": "number", "minimum": 0, "maximum": longest, "default": 0}
    return {
        "operationId": "post_dequeue",
        "summary": "Dequeue updates",
        "description": "Answers the updates that are to be processed next. Waits up to `wait` "
        "seconds for the first one. Where the queue has leases each update is to be delivered by "
        "its own. The first dequeue of a queue that only push connections were served from begins "
        "with the newest values of the keys that changed since it was defined, and with the "
        "deletions since then that the stream remembers, 10,000 at most; a consumer that may have "
        "missed more reads the snapshot of the stream after it.",
        "tags": ["queues"],
        "parameters": [
            _path("queue"),
            _query("limit", limit, "How many updates at most."),
            _query("wait", wait, "Seconds to wait for an update."),
            _query(
                "expire",
                {"type": "boolean", "default": False},
                "Let leases run out in their time though a retry may come, which then dequeues "
                "anew. Without it, leases that are granted under an Idempotency-Key last until "
                "they are delivered, or the key is forgotten.",
            ),
            _IDEMPOTENCY,
        ],
        "responses": {
            "200": {**UPDATES, "links": LINKS_OF_DEQUEUE},
            **_problems(400, 404, 406, 408, 409, 413, 415, 422),
        },
    }


_DELIVERED: Final[Description] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "leases": {"type": "array", "items": {"type": "string"}},
        "keys": {"type": "array", "items": {"$ref": "#/components/schemas/Key"}},
    },
    "oneOf": [{"required": ["leases"]}, {"required": ["keys"]}],
}

_POST_DELIVERED: Final[Description] = {
    "operationId": "post_delivered",
    "summary": "Say what was delivered",
    "description": "By the leases that came with the updates, or by keys: all that is leased of "
    "them. Without leases an answered dequeue counts as delivered, and there is nothing to say.",
    "tags": ["queues"],
    "parameters": [_path("queue"), _IDEMPOTENCY],
    "requestBody": {"required": True, "content": {"application/json": {"schema": _DELIVERED}}},
    "responses": {
        "200": {
            "description": "How many leases ended, and how many are not known (any more).",
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["delivered", "unknown"],
                        "properties": {
                            "delivered": {"type": "integer", "minimum": 0},
                            "unknown": {"type": "integer", "minimum": 0},
                        },
                    }
                }
            },
        },
        **_problems(400, 404, 408, 409, 413, 415, 422),
    },
}

_PUSH_PARAMETERS: Final[list[Any]] = [
    _path("queue"),
    _query(
        "max_rate",
        {"type": "number", "exclusiveMinimum": 0},
        "Updates per second, at most. Not messages: one may hold many updates.",
    ),
    _query(
        "max_rate_per_key",
        {"type": "array", "items": {"type": "string"}},
        "Updates per second of a key, at most: `GOOG:1`, `GM:1/3600`, or a number for all keys.",
    ),
    _query(
        "keys",
        {"type": "array", "items": {"type": "string"}},
        "Patterns of the keys that are wanted, such as `GO*`.",
    ),
    _query(
        "snapshot",
        {"type": "boolean", "default": True},
        "Begin with all newest values, if the stream retains any.",
    ),
    _query(
        "last_event_id",
        {"type": "string"},
        "The id of the last message, to resume: only what was missed comes then, whatever "
        "`snapshot` says. The header wins.",
    ),
    {
        "name": "Last-Event-ID",
        "in": "header",
        "schema": {"type": "string"},
        "description": "As `last_event_id`; browsers send it when they reconnect an event stream.",
    },
    _query(
        "conflate",
        {"type": "string", "enum": ["auto", "never"], "default": "auto"},
        "`never`, for `append` queues only: end the connection instead of leaving updates out. A "
        "websocket is closed with code 1008 and the reason. An event stream ends with an event "
        'named `end`, whose data is `{"reason": "..."}`. Every update before the end was sent.',
    ),
]
_PUSHED: Final = (
    f"\n\nA client of an `append` queue gets every update while at most {MOST_APPENDED:,} wait for "
    "it. Beyond that the connection conflates: it keeps the newest update of each key only. "
    "`conflate=never` ends the connection instead. A client that reconnects gets the newest update "
    "of each key that it missed, not all updates. For `append` and `adaptive` queues each message "
    "says how many updates were left out before it, over all keys: "
    '`{"updates": [...], "id": "...", "superseded": 3}`.'
)


def _window(settings: Settings, description: str) -> Description:
    default = settings.default_window
    schema = {"type": "integer", "minimum": 1, "maximum": MOST_WINDOW, "default": default}
    return _query("window", schema, description)


def _get_events(settings: Settings) -> Description:
    return {
        "operationId": "get_events",
        "summary": "Follow a queue by server-sent events",
        "description": "A private queue of the same definition feeds the connection; the named "
        "queue is not consumed. An event's data is "
        '`{"updates": [...], "id": "..."}`; its id is what to resume from. With `"reset": true` '
        "a new picture begins: forget what came before." + _PUSHED,
        "tags": ["push"],
        "parameters": [
            *_PUSH_PARAMETERS,
            _window(settings, "Without effect: events are not answered."),
        ],
        "responses": {
            "200": {
                "description": "Events, until the client has enough.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            },
            **_problems(403, 404, 422, 503),
        },
    }


def _get_socket(settings: Settings) -> Description:
    return {
        "operationId": "get_socket",
        "summary": "Follow a queue by websocket",
        "description": "As events, with credit: at most `window` messages are sent ahead of what "
        'the client has answered by `{"credit": n}`, so a slow client gets new values, not old '
        "ones." + _PUSHED,
        "tags": ["push"],
        "parameters": [
            *_PUSH_PARAMETERS,
            _window(settings, "How many messages may be unanswered."),
        ],
        "responses": {
            "101": {"description": "The websocket is open."},
            **_problems(403, 404, 422, 426, 503),
        },
    }


def _plain_routes(settings: Settings) -> Description:
    """Return the description of the routes that FastAPI does not know, by path and method."""
    return {
        "/v1/streams/{stream}/updates": {"post": _POST_UPDATES},
        "/v1/queues/{queue}/dequeue": {"post": _post_dequeue(settings)},
        "/v1/queues/{queue}/delivered": {"post": _POST_DELIVERED},
        "/v1/queues/{queue}/events": {"get": _get_events(settings)},
        "/v1/queues/{queue}/socket": {"get": _get_socket(settings)},
    }
