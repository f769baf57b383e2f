"""A feed that blocks: batches are sent when they are full, or by a thread when they are old."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Self, TypeAlias

from upstream.errors import ClosedError

from .answers import Counts, Key
from .errors import ClientClosedError, ServiceError
from .exchange import Request
from .gathering import Gathering, check_batch_seconds
from .moments import Moment

Send: TypeAlias = Callable[[Request[Counts]], Counts]


class Feed:
    """Gather updates and send them in batches; made by `Client.feed`, and used with `with`.

    A full batch is sent by the `put` that fills it, which so takes as long as the service needs. A
    thread sends what is not full in time; what goes wrong there is raised by the next `put`. On
    leaving, the rest is sent.

    A batch that fails on the way (the service is away or fails) is kept, and sent again before all
    others: by the next `put` that fills a batch, by the thread after a while, by `flush`, and on
    leaving. What is put meanwhile is kept as well, without a bound: so whoever puts should stop
    for a while when `put` raises. What the service refuses is not sent again, and a batch that it
    may have had for longer than `RetryPolicy.longest_total` is given up (`OutcomeUnknownError`).
    """

    def __init__(self, send: Send, gathering: Gathering, *, batch_seconds: float | None) -> None:
        check_batch_seconds(batch_seconds)
        self._send = send
        self._gathering = gathering
        self._batch_seconds = batch_seconds
        self._changed = threading.Condition()  # its lock guards all of the state
        self._is_open = False
        self._timer: threading.Thread | None = None

    @property
    def counts(self) -> Counts:
        """Return what became of the updates that were sent so far."""
        return self._gathering.counts

    @property
    def unconfirmed(self) -> int:
        """Return how many updates were put of which it is not known what became of them."""
        return self._gathering.unconfirmed

    def put(self, key: Key, value: object, time: Moment | None = None) -> None:
        """Add an update, and send the batch if it is full now.

        When it raises a `ServiceError`, the update is kept all the same and must not be put again,
        unless its own batch was refused or given up. Any other error says that it was not added.
        """
        with self._changed:
            self._check_open()
            count = self._gathering.add(key, value, time)
            self._gathering.raise_failure()
            if self._gathering.is_full:
                self._send_all()
            elif count == 1:
                self._changed.notify()

    def flush(self) -> Counts:
        """Send what there is, and return what became of all that was sent so far."""
        with self._changed:
            self._check_open()
            self._send_the_rest()
            return self._gathering.counts

    def __enter__(self) -> Self:
        self._is_open = True
        if self._batch_seconds is not None:
            self._timer = threading.Thread(
                target=self._send_in_time, args=(self._batch_seconds,), daemon=True
            )
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            with self._changed:
                self._send_the_rest()
        finally:
            with self._changed:
                self._is_open = False
                self._changed.notify()
            if self._timer is not None:
                self._timer.join()

    def _check_open(self) -> None:
        if not self._is_open:
            raise ClientClosedError("feed")

    def _send_all(self) -> None:
        while (request := self._gathering.next_request()) is not None:
            try:
                counts = self._send(request)
            except ServiceError as error:
                self._gathering.failed(error)
                self._changed.notify()
                raise
            self._gathering.sent(counts)

    def _send_the_rest(self) -> None:
        self._send_all()
        self._gathering.raise_failure(but_passing=True)  # which has been made up for just now

    def _send_in_time(self, seconds: float) -> None:
        with self._changed:
            while self._is_open:
                due_in = self._gathering.due_in(seconds)
                if due_in is None or due_in > 0:
                    self._changed.wait(due_in)
                elif not self._send_quietly():
                    return

    def _send_quietly(self) -> bool:
        """Send what there is, and return whether more can ever be sent."""
        try:
            self._send_all()
        except ServiceError as error:
            self._gathering.note(error)
        except ClosedError as error:
            self._gathering.note(error)
            return False
        return True
