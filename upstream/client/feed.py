"""A feed that blocks: batches are sent when they are full, or by a thread when they are old."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Self, TypeAlias

from upstream.errors import ClosedError

from .answers import Counts, Key
from .errors import RequestRefusedError, ServiceError
from .exchange import Request
from .gathering import Gathering, check_batch_seconds

Send: TypeAlias = Callable[[Request[Counts]], Counts]


class Feed:
    """Gather updates and send them in batches; made by `Client.feed`, and used with `with`.

    A full batch is sent by the `put` that fills it, which so takes as long as the service needs. A
    thread sends what is not full in time; what goes wrong there is raised by the next call. On
    leaving, the rest is sent.
    """

    def __init__(self, send: Send, gathering: Gathering, *, batch_seconds: float | None) -> None:
        check_batch_seconds(batch_seconds)
        self._send = send
        self._gathering = gathering
        self._batch_seconds = batch_seconds
        self._changed = threading.Condition()  # its lock guards all of the state
        self._failure: ServiceError | None = None
        self._is_open = False
        self._timer: threading.Thread | None = None

    @property
    def counts(self) -> Counts:
        """Return what became of the updates that were sent so far."""
        return self._gathering.counts

    def put(self, key: Key, value: object, time: float | None = None) -> None:
        """Add an update, and send the batch if it is full now."""
        with self._changed:
            self._check()
            count = self._gathering.add(key, value, time)
            if self._gathering.is_full:
                self._send_all()
            elif count == 1:
                self._changed.notify()

    def flush(self) -> Counts:
        """Send what there is, and return what became of all that was sent so far."""
        with self._changed:
            self._check()
            self._send_all()
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

    def _check(self) -> None:
        if not self._is_open:
            raise ClosedError("feed")
        failure, self._failure = self._failure, None
        if failure is not None:
            self._changed.notify()
            raise failure

    def _send_all(self) -> None:
        while (request := self._gathering.next_request()) is not None:
            try:
                counts = self._send(request)
            except RequestRefusedError:
                self._gathering.gave_up()
                raise
            self._gathering.sent(counts)

    def _send_the_rest(self) -> None:
        failure, self._failure = self._failure, None
        self._send_all()
        if isinstance(failure, RequestRefusedError):  # anything else has been made up for just now
            raise failure

    def _send_in_time(self, seconds: float) -> None:
        with self._changed:
            while self._is_open:
                age = self._gathering.age()
                if age is None or self._failure is not None:
                    self._changed.wait()
                elif age < seconds:
                    self._changed.wait(seconds - age)
                else:
                    self._send_quietly()

    def _send_quietly(self) -> None:
        try:
            self._send_all()
        except ServiceError as error:
            self._failure = error
