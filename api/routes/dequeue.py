"""`POST /v1/queues/{queue}/dequeue` and `.../delivered`, for consumers that ask for updates.

A request may wait for the first update (long poll). If the client disconnects before the response
is sent, its updates are given back: nothing is lost, and the counters stay balanced.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Protocol, cast

import msgspec

from upstream import Key, UnknownNameError, Update

from ..bodies import Limits, TooManyRowsError, choose_answer, write_updates
from ..bodies.keys import key_type
from ..bodies.wire import REFUSALS
from ..entries import QueueEntry
from ..errors import RequestError
from ..http import (
    JSON,
    ClientGoneError,
    answer,
    check_known,
    flag,
    has_hung_up,
    number,
    query,
    read_body,
    whole_number,
)
from ..idempotency import Answer, check_key, fingerprint
from ..push.asgi import Receive, Scope, Send, header
from ..service import Service
from ..settings import Settings
from ..unknown_names import unknown_name
from ..window_results import WindowResults

DEFAULT_LIMIT: Final = 100
_MEMBERS: Final = ("keys", "leases")
_EXPECTED: Final = (
    'expected {"leases": [...]} with the leases of dequeued updates, or {"keys": [...]}'
)
_UNKNOWN_MEMBER: Final = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)


async def post_dequeue(
    service: Service, name: str, scope: Scope, receive: Receive, send: Send
) -> int:
    """Answer with the next updates of a queue, and return the status."""
    queue = service.queue(name)
    settings = service.settings
    asked = _asked(settings, scope)
    accept = header(scope, b"accept")
    choose_answer(accept)  # before anything is dequeued, since the answer may be impossible
    await read_body(scope, receive, settings.max_body_bytes)
    queue.pace.asked(queue.stream.stream.now())
    if asked.retry_key is not None:
        kept = await _dequeued_once(service, queue, asked, scope, receive)
        await answer(send, kept.status, kept.body, kept.content_type)
        return kept.status
    updates = await updates_within(service, queue, asked, receive)
    content_type, body, leases = _written(queue, updates, accept, expires=True)
    if has_hung_up(scope):
        queue.take_back(updates, leases)
        raise ClientGoneError
    await answer(send, 200, body, content_type)
    if leases is None:
        queue.deliver(updates)
    return 200


def _written(
    queue: QueueEntry, updates: list[Update], accept: str | None, *, expires: bool
) -> tuple[str, bytes, list[str] | None]:
    """Return an answer with these updates, and their leases; on failure they wait again."""
    leases = queue.lease(updates, expires=expires)
    try:
        content_type, body = write_updates(updates, accept, leases=leases)
    except BaseException:
        queue.take_back(updates, leases)
        raise
    return content_type, body, leases


async def _dequeued_once(
    service: Service, queue: QueueEntry, asked: Asked, scope: Scope, receive: Receive
) -> Answer:
    """Return the queue's answer, or the answer to the same request before."""
    accept = header(scope, b"accept")
    record_key = f"dequeue {queue.identity} {asked.retry_key}"
    request = fingerprint(scope["query_string"], (accept or "").encode("latin-1"))
    record = await service.idempotent.begin(record_key, request)
    if record.answer is not None:
        return record.answer
    try:
        updates = await updates_within(service, queue, asked, receive)
        content_type, body, leases = _written(queue, updates, accept, expires=asked.expire)
    except BaseException:
        service.idempotent.cancel(record_key)
        raise
    kept = Answer(200, content_type, body)
    granted = leases or []
    lease_seconds = queue.definition.lease_seconds
    lasts = math.inf
    if asked.expire and lease_seconds is not None:
        lasts = service.clock.now() + lease_seconds  # its leases have run out by then
    service.idempotent.finish(
        record_key, kept, on_forget=lambda: queue.let_expire(granted), lasts_until=lasts
    )
    if leases is None:
        queue.deliver(updates)
    return kept


class Asked(NamedTuple):
    """What a request to dequeue asks for."""

    limit: int
    wait: float
    """How many seconds it would wait for the first update."""
    expire: bool
    """Whether leases run out in their time, though the request may come again."""
    retry_key: str | None = None


def _asked(settings: Settings, scope: Scope) -> Asked:
    parameters = query(scope)
    check_known(parameters, ("limit", "wait", "expire"))
    retry_key = header(scope, b"idempotency-key")
    if retry_key is not None:
        check_key(retry_key)
    most = settings.max_dequeue
    return Asked(
        limit=whole_number(parameters, "limit", min(DEFAULT_LIMIT, most), least=1, most=most),
        wait=number(parameters, "wait", 0.0, least=0.0, most=settings.max_wait_seconds),
        expire=flag(parameters, "expire"),
        retry_key=retry_key,
    )


async def updates_within(
    service: Service, queue: QueueEntry, asked: Asked, receive: Receive
) -> list[Update]:
    """Dequeue, and wait for the first update if asked to; ClientGoneError if the client leaves."""
    limit = asked.limit
    most_bytes = service.settings.max_answer_bytes
    updates = queue.take(limit, most_bytes)
    if updates or (asked.wait == 0 and not _is_aggregating(queue)):
        return updates
    loop = asyncio.get_running_loop()
    until = loop.time() + asked.wait
    hung_up = asyncio.ensure_future(_hang_up(receive))
    try:
        while not updates and not service.closing.is_set():
            if queue.is_dropped:
                raise UnknownNameError("queue", queue.name)
            if _is_aggregating(queue):
                await asyncio.sleep(0)  # it has more to do, after other tasks
            elif not await _woken(queue, hung_up, until - loop.time()):
                break
            if hung_up.done():
                raise ClientGoneError
            updates = queue.take(limit, most_bytes)
        return updates
    finally:
        hung_up.cancel()


def _is_aggregating(queue: QueueEntry) -> bool:
    windows = queue.queue
    return isinstance(windows, WindowResults) and windows.has_more


async def _woken(queue: QueueEntry, hung_up: asyncio.Future[None], seconds: float) -> bool:
    """Wait for an update or for the client to disconnect; return whether either came in time."""
    if seconds <= 0:
        return False
    woken = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    idle = (queue.idle, queue.stream.idle)
    for waiting in idle:
        waiting.add(wake)
    try:
        done, _ = await asyncio.wait(
            {woken, hung_up}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        for waiting in idle:
            waiting.remove(wake)
    return bool(done)


async def _hang_up(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Delivered(Protocol):
    """What a consumer confirms: leases, or keys for all leases of these keys."""

    keys: Sequence[Key] | msgspec.UnsetType
    leases: Sequence[str] | msgspec.UnsetType


@lru_cache(maxsize=16)
def _delivered_type(limits: Limits) -> type[Delivered]:
    keys = list[key_type(limits)]  # type: ignore[misc,valid-type]  # made at run time
    made = msgspec.defstruct(
        "Delivered",
        [
            ("keys", cast(type, keys) | msgspec.UnsetType, msgspec.UNSET),
            ("leases", list[str] | msgspec.UnsetType, msgspec.UNSET),
        ],
        forbid_unknown_fields=True,
    )
    return cast(type[Delivered], made)


async def post_delivered(
    service: Service, name: str, scope: Scope, receive: Receive, send: Send
) -> int:
    """End the leases of delivered updates, and return the status."""
    queue = service.queue(name)
    body = await read_body(scope, receive, service.settings.max_body_bytes)
    kept = await service.idempotent.once(
        f"delivered {queue.identity}",
        header(scope, b"idempotency-key"),
        (body,),
        lambda: Answer(200, JSON, msgspec.json.encode(_deliver(queue, body, service.limits))),
    )
    await answer(send, kept.status, kept.body, kept.content_type)
    return kept.status


def _deliver(queue: QueueEntry, body: bytes, limits: Limits) -> dict[str, int]:
    """Deliver what a body names; return how many leases ended and how many were unknown."""
    names, unknown = _leases_of(queue, _read_delivered(body, limits), limits)
    queue.catch_up()
    updates = []
    for lease in names:
        update = None if queue.leases is None else queue.leases.end(lease)
        if update is None:
            unknown += 1
        else:
            updates.append(update)
    delivered = queue.deliver(updates)
    return {"delivered": delivered, "unknown": unknown + len(updates) - delivered}


def _read_delivered(body: bytes, limits: Limits) -> Delivered:
    try:
        return msgspec.json.decode(body, type=_delivered_type(limits))
    except REFUSALS as error:
        found = _UNKNOWN_MEMBER.match(str(error))
        detail = _EXPECTED if found is None else unknown_name("member", found[1], _MEMBERS)
        raise RequestError(422, "Bad body", detail) from None


def _leases_of(queue: QueueEntry, said: Delivered, limits: Limits) -> tuple[Sequence[str], int]:
    """Return the leases that a body names, and how many of its keys have no lease."""
    keys, leases = said.keys, said.leases
    if (keys is msgspec.UNSET) == (leases is msgspec.UNSET):
        raise RequestError(422, "Bad body", "expected either keys or leases, not both")
    named = leases if keys is msgspec.UNSET else keys
    assert named is not msgspec.UNSET
    if len(named) > limits.rows:
        raise TooManyRowsError(limits.rows)
    if leases is not msgspec.UNSET:
        return leases, 0
    assert keys is not msgspec.UNSET
    names: list[str] = []
    unknown = 0
    for key in dict.fromkeys(keys):
        of_key = [] if queue.leases is None else queue.leases.of_key(key)
        names += of_key
        unknown += not of_key
    return names, unknown
