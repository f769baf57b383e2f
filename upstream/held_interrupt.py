"""Hold Ctrl-C back until an operation is complete.

Python raises KeyboardInterrupt between any two steps of the main thread. In the middle of a batch,
this would leave rows that were processed and not counted; in the middle of `attach`, half a queue.
So SIGINT is only noted during such an operation, and its handler is called right after it.

This module calls the functions behind `signal.signal` and `signal.getsignal`, which look each
handler up in an enumeration first. Holding takes 8 µs with them and 1 µs without. Ten updates from
a list take 4 µs.
"""

from __future__ import annotations

from _signal import SIGINT, getsignal  # type: ignore[import-not-found]  # typeshed lacks it
from _signal import signal as set_handler
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import ParamSpec, TypeVar

Handler = Callable[[int, FrameType | None], object]
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


class HeldInterrupt:
    """Hold SIGINT back during a `with` block.

    An object may be used for several blocks, in any threads, but not for two blocks at once. It
    changes nothing if Python calls no handler for the signal: in other threads, or if the signal is
    ignored.
    """

    __slots__ = ("_handler", "_held")

    def __init__(self) -> None:
        self._handler: Handler | None = None
        self._held: tuple[int, FrameType | None] | None = None

    def __enter__(self) -> None:
        self._handler = self._held = None
        handler = getsignal(SIGINT)
        if not callable(handler):
            return
        try:
            # An interrupt before this changes nothing, and one after it is held.
            set_handler(SIGINT, self._hold)
        except ValueError:  # signals are handled in the main thread only
            return
        self._handler = handler

    def __exit__(self, *_: object) -> None:
        handler = self._handler
        if handler is None:
            return
        set_handler(SIGINT, handler)
        if self._held is not None:
            handler(*self._held)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        self._held = (number, frame)


def uninterrupted(method: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Let a method end before Ctrl-C is raised. The result of the method is lost then."""

    @wraps(method)
    def call(*given: Given.args, **named: Given.kwargs) -> Returned:
        with HeldInterrupt():
            return method(*given, **named)

    return call
