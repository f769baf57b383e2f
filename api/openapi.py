"""The OpenAPI description: FastAPI's routes, and the fast routes that it does not know."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI

from upstream.push_limits import MOST_APPENDED, MOST_WINDOW

from .routes.descriptions import (
    BINARY,
    LINKS_OF_DEQUEUE,
    LINKS_OF_UPDATES,
    RETRY_KEY,
    RETRY_KEY_SCHEMA,
    SCHEMAS,
    UPDATES,
    Description,
    counts,
    examples,
    object_of,
    of_schema,
    problems,
    reference_to,
)
from .settings import Settings

_NAME: Final[Description] = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"}


def describe(app: FastAPI) -> Description:
    """Return the whole description. It is made once and kept by the application."""
    if app.openapi_schema is None:
        made = FastAPI.openapi(app)
        made["components"]["schemas"] |= SCHEMAS
        for path, operations in _fast_routes(app.state.service.settings).items():
            made["paths"].setdefault(path, {}).update(operations)
        for operations in made["paths"].values():
            for method, operation in operations.items():
                if "422" in operation["responses"]:
                    # FastAPI describes an error format of its own.
                    operation["responses"] |= problems(422)
                if method != "get":
                    operation["responses"] |= problems(403)
    described: Description = app.openapi_schema or {}
    return described


def _path(name: str) -> Description:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "schema": _NAME,
        "description": f"The {name}'s name.",
        "example": "trades",
    }


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
            reference_to("Update"),
            {"type": "array", "items": {"anyOf": [reference_to("Update"), reference_to("Row")]}},
        ]
    },
    "examples": examples(
        one={"key": "IBM", "value": 24.0},
        several=[{"key": "IBM", "value": 24.0, "time": 1.5}, ["MSFT", 2.5, 410.0]],
    ),
}

_POST_UPDATES: Final[Description] = {
    "operationId": "post_updates",
    "summary": "Put updates into a stream",
    "description": "One update, or a batch in one of the content types. Valid updates of a batch "
    "are taken in, and the answer lists the others. With `atomic`, all are taken in or none. "
    "The answer also counts the valid updates that were superseded, late, or rejected since there "
    "was no room for them.",
    "tags": ["streams"],
    "parameters": [
        _path("stream"),
        _query(
            "atomic",
            {"type": "boolean", "default": False},
            "Take in none of the updates if one is not valid or may not fit into the page pool.",
        ),
        _IDEMPOTENCY,
    ],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": _JSON_UPDATES,
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One update or row per line."},
                "examples": examples(
                    lines='{"key": "IBM", "value": 24.0}\n["MSFT", null, 410.0]\n'
                ),
            },
            "application/msgpack": BINARY,
            "application/vnd.apache.arrow.stream": BINARY,
        },
    },
    "responses": {
        "202": {**of_schema("Counts", "What became of the updates."), "links": LINKS_OF_UPDATES},
        **problems(400, 404, 408, 409, 413, 415, 422),
    },
}


def _post_dequeue(settings: Settings) -> Description:
    most, longest = settings.max_dequeue, settings.max_wait_seconds
    limit = {"type": "integer", "minimum": 1, "maximum": most, "default": min(100, most)}
    wait = {"type": "number", "minimum": 0, "maximum": longest, "default": 0}
    return {
        "operationId": "post_dequeue",
        "summary": "Dequeue updates",
        "description": "Returns the updates to process next. If none waits, waits for one for up "
        "to `wait` seconds. If the queue has leases, each update comes with a lease by which it is "
        "delivered.\n\nThe first dequeue of a queue that only push connections have used begins "
        "with the newest values of the keys that changed since the queue was defined, and with the "
        "deletions since then that the stream remembers (10,000 at most). A consumer that may have "
        "missed more deletions reads the snapshot of the stream afterwards.",
        "tags": ["queues"],
        "parameters": [
            _path("queue"),
            _query("limit", limit, "The most updates to return."),
            _query("wait", wait, "How many seconds to wait for the first update."),
            _query(
                "expire",
                {"type": "boolean", "default": False},
                "Let leases that are granted under an Idempotency-Key run out in their usual time. "
                "A retry after that dequeues other updates. By default such leases last until they "
                "are delivered or the Idempotency-Key is forgotten.",
            ),
            _IDEMPOTENCY,
        ],
        "responses": {
            "200": {**UPDATES, "links": LINKS_OF_DEQUEUE},
            **problems(400, 404, 406, 408, 409, 413, 415, 422),
        },
    }


_DELIVERED: Final[Description] = {
    "type": "object",
    "additionalProperties": False,
    "description": "Either leases or keys.",
    "properties": {
        "leases": {
            "type": "array",
            "description": "Leases that came with dequeued updates.",
            "items": {"type": "string"},
        },
        "keys": {
            "type": "array",
            "description": "Keys whose leased updates were all delivered.",
            "items": reference_to("Key"),
        },
    },
    "oneOf": [{"required": ["leases"]}, {"required": ["keys"]}],
}

_LEASES_ENDED: Final = object_of(
    None,
    counts(
        delivered="How many leases ended.",
        unknown="How many leases are unknown or had run out.",
    ),
)

_POST_DELIVERED: Final[Description] = {
    "operationId": "post_delivered",
    "summary": "Confirm delivery",
    "description": "Ends leases, so that their updates do not wait again. Name the leases that came"
    " with the updates, or keys to end all their leases. A queue without leases needs no "
    "confirmation: a dequeued update counts as delivered once it is answered.",
    "tags": ["queues"],
    "parameters": [_path("queue"), _IDEMPOTENCY],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": _DELIVERED,
                "examples": examples(
                    by_lease={"leases": ["2f1c9a0b77d34e15-1"]}, by_key={"keys": ["IBM", ["GM", 7]]}
                ),
            }
        },
    },
    "responses": {
        "200": {
            "description": "How many leases ended, and how many are unknown or had run out.",
            "content": {
                "application/json": {"schema": _LEASES_ENDED},
            },
        },
        **problems(400, 404, 408, 409, 413, 415, 422),
    },
}

_PUSH_PARAMETERS: Final[list[Any]] = [
    _path("queue"),
    _query(
        "max_rate",
        {"type": "number", "exclusiveMinimum": 0},
        "Updates per second over all keys, at most. A message may hold many updates.",
    ),
    _query(
        "max_rate_per_key",
        {"type": "array", "items": {"type": "string"}},
        "The most updates per second of a key: `GOOG:1`, `GM:1/3600`, or a number for all keys.",
    ),
    _query(
        "keys",
        {"type": "array", "items": {"type": "string"}},
        "Patterns of the keys that are wanted, such as `GO*`.",
    ),
    _query(
        "snapshot",
        {"type": "boolean", "default": True},
        "Begin with the newest value of every key, if the stream retains values.",
    ),
    _query(
        "last_event_id",
        {"type": "string"},
        "The id of the last message received. The connection then begins with what was missed "
        "since, whatever `snapshot` says. The header takes precedence.",
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
        "description": "The connection has a queue of its own with the same definition, so nothing "
        'is dequeued from the named queue. The data of an event is `{"updates": [...], '
        '"id": "..."}`. Send that id as `last_event_id` to resume. `"reset": true` means that the '
        "client must forget the values it had: a new snapshot begins." + _PUSHED,
        "tags": ["push"],
        "parameters": [
            *_PUSH_PARAMETERS,
            _window(settings, "Has no effect here: events are not answered."),
        ],
        "responses": {
            "200": {
                "description": "Events, until either side ends the connection.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            },
            **problems(403, 404, 422, 503),
        },
    }


def _get_socket(settings: Settings) -> Description:
    return {
        "operationId": "get_socket",
        "summary": "Follow a queue by websocket",
        "description": "The same messages as server-sent events, with flow control. The client "
        'answers `{"credit": n}` when it is done with `n` messages. At most `window` messages are '
        "unanswered, so a slow client gets new values rather than a backlog." + _PUSHED,
        "tags": ["push"],
        "parameters": [
            *_PUSH_PARAMETERS,
            _window(settings, "The most messages that may be unanswered."),
        ],
        "responses": {
            "101": {"description": "The websocket is open."},
            **problems(403, 404, 422, 426, 503),
        },
    }


def _fast_routes(settings: Settings) -> Description:
    """Return the descriptions of the fast routes, by path and method."""
    return {
        "/v1/streams/{stream}/updates": {"post": _POST_UPDATES},
        "/v1/queues/{queue}/dequeue": {"post": _post_dequeue(settings)},
        "/v1/queues/{queue}/delivered": {"post": _POST_DELIVERED},
        "/v1/queues/{queue}/events": {"get": _get_events(settings)},
        "/v1/queues/{queue}/socket": {"get": _get_socket(settings)},
    }
