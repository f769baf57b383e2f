"""`POST /v1/queues/{queue}/dequeue` and `.../delivered`: the way out for consumers that ask.

A request may wait until there is something (long poll). What is dequeued for a client that has hung
up meanwhile is given back, so it is lost neither to the queue nor to the counters.
"""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from upstream import UnknownNameError, Update

from ..bodies import choose_answer, read_key, write_updates
from ..entries import QueueEntry
from ..errors import RequestError
from ..http import (
    ClientGoneError,
    Receive,
    Scope,
    Send,
    answer,
    check_known,
    has_hung_up,
    header,
    number,
    query,
    read_body,
    whole_number,
)
from ..idempotency import Answer, fingerprint
from ..service import Service
from ..settings import Settings
from ..window_results import WindowResults
from .updates import idempotency_key

DEFAULT_LIMIT: Final = 100


async def post_dequeue(
    service: Service, name: str, scope: Scope, receive: Receive, send: Send
) -> int:
    """Answer the next updates of a queue, and return the status."""
    queue = service.queue(name)
    settings = service.settings
    limit, wait = _asked(settings, scope)
    accept = header(scope, b"accept")
    choose_answer(accept)  # before anything is dequeued for an answer that cannot be written
    retry_key = idempotency_key(scope)
    await read_body(scope, receive, settings.max_body_bytes)
    queue.pace.asked(queue.stream.stream.now())
    if retry_key is not None:
        return await _dequeue_once(service, queue, scope, receive, send)
    updates = await updates_within(service, queue, limit, wait, receive)
    content_type, body, leases = _written(queue, updates, accept, expires=True)
    await answer(send, 200, body, content_type)
    if has_hung_up(scope):
        queue.take_back(updates, leases)
    elif leases is None:
        queue.deliver(updates)
    return 200


def _written(
    queue: QueueEntry, updates: list[Update], accept: str | None, *, expires: bool
) -> tuple[str, bytes, list[str] | None]:
    """Return the answer that has these updates, and their leases; if that fails they wait again."""
    leases = queue.lease(updates, expires=expires)
    try:
        content_type, body = write_updates(updates, accept, leases=leases)
    except BaseException:
        queue.take_back(updates, leases)
        raise
    return content_type, body, leases


async def _dequeue_once(
    service: Service, queue: QueueEntry, scope: Scope, receive: Receive, send: Send
) -> int:
    """Dequeue, or answer what was answered to the same request before."""
    limit, wait = _asked(service.settings, scope)
    accept = header(scope, b"accept")
    record_key = f"dequeue {queue.identity} {idempotency_key(scope)}"
    request = fingerprint(scope["query_string"], (accept or "").encode("latin-1"))
    record = await service.idempotent.begin(record_key, request)
    kept = record.answer
    if kept is None:
        try:
            updates = await updates_within(service, queue, limit, wait, receive)
            content_type, body, leases = _written(queue, updates, accept, expires=False)
        except BaseException:
            service.idempotent.abandon(record_key)
            raise
        kept = Answer(200, content_type, body)
        granted = leases or []
        service.idempotent.finish(record_key, kept, on_forget=lambda: queue.let_expire(granted))
        if leases is None:
            queue.deliver(updates)
    await answer(send, kept.status, kept.body, kept.content_type)
    return kept.status


def _asked(settings: Settings, scope: Scope) -> tuple[int, float]:
    """Return how many updates a request wants, and how long it would wait for the first."""
    parameters = query(scope)
    check_known(parameters, ("limit", "wait"))
    most = settings.max_dequeue
    limit = whole_number(parameters, "limit", min(DEFAULT_LIMIT, most), least=1, most=most)
    wait = number(parameters, "wait", 0.0, least=0.0, most=settings.max_wait_seconds)
    return limit, wait


async def updates_within(
    service: Service, queue: QueueEntry, limit: int, seconds: float, receive: Receive
) -> list[Update]:
    """Dequeue, waiting up to `seconds` for the first update; ClientGoneError if nobody does."""
    most_bytes = service.settings.max_answer_bytes
    updates = queue.take(limit, most_bytes)
    if updates or (seconds == 0 and not _is_aggregating(queue)):
        return updates
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    hung_up = asyncio.ensure_future(_hang_up(receive))
    try:
        while not updates and not service.closing.is_set():
            if queue.is_dropped:
                raise UnknownNameError("queue", queue.name)
            if _is_aggregating(queue):
                await asyncio.sleep(0)  # it has more to do; others have their turn
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
    """Wait until there may be something, or the client hangs up; return whether it was in time."""
    if seconds <= 0:
        return False
    woken = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    queue.wake_on_update(wake)
    try:
        done, _ = await asyncio.wait(
            {woken, hung_up}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        queue.stop_waking(wake)
    return bool(done)


async def _hang_up(receive: Receive) -> None:
    """Return when the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Delivered(msgspec.Struct, forbid_unknown_fields=True):
    """What a consumer has: updates by their leases, or all that it was handed of some keys."""

    keys: list[str | int | list[str | int]] | msgspec.UnsetType = msgspec.UNSET
    leases: list[str] | msgspec.UnsetType = msgspec.UNSET


_delivered = msgspec.json.Decoder(Delivered)


async def post_delivered(
    service: Service, name: str, scope: Scope, receive: Receive, send: Send
) -> int:
    """Note what was delivered, and return the status."""
    queue = service.queue(name)
    body = await read_body(scope, receive, service.settings.max_body_bytes)
    try:
        names, unknown = _leases_of(service, queue, _delivered.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestError(
            422,
            "Bad body",
            'expected {"leases": [...]} with leases of dequeued updates, or {"keys": [...]}',
        ) from None
    queue.catch_up()
    updates = []
    for lease in names:
        update = None if queue.leases is None else queue.leases.end(lease)
        if update is None:
            unknown += 1
        else:
            updates.append(update)
    delivered = queue.deliver(updates)
    unknown += len(updates) - delivered
    await answer(send, 200, msgspec.json.encode({"delivered": delivered, "unknown": unknown}))
    return 200


def _leases_of(service: Service, queue: QueueEntry, said: Delivered) -> tuple[list[str], int]:
    """Return the leases that are meant, and how many keys there are of which none is held."""
    keys, leases = said.keys, said.leases
    if (keys is msgspec.UNSET) == (leases is msgspec.UNSET):
        raise RequestError(422, "Bad body", "give either keys or leases")
    if leases is not msgspec.UNSET:
        return leases, 0
    assert keys is not msgspec.UNSET
    names: list[str] = []
    unknown = 0
    for key in dict.fromkeys(read_key(key, service.limits) for key in keys):
        of_key = [] if queue.leases is None else queue.leases.of_key(key)
        names += of_key
        unknown += not of_key
    return names, unknown
