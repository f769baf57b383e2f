"""A command that is told to end, by Ctrl-C or SIGTERM, cancels its Spark jobs and cleans up.

PySpark has a handler for Ctrl-C, which asks Java to cancel by the connection that the interrupted
call is using, and so waits for the job it should end. Here another thread asks, by its own.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
PATIENCE_SECONDS: Final = 5.0
"""How long to wait for Spark to take note."""


class ToldToEndError(KeyboardInterrupt):
    """Raised in the main thread by a signal; a KeyboardInterrupt, which Spark's calls clean up for.

    `status` is what shells expect the command to end with.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.status = 128 + number
        super().__init__(f"stopped by {signal.Signals(number).name}")


class Interruption:
    """What signals do: cancel the jobs of the session, if there is one yet, and end the body."""

    __slots__ = ("number", "session")

    def __init__(self) -> None:
        self.session: SparkSession | None = None
        self.number: int | None = None
        """The signal that came."""

    def watch(self, session: SparkSession) -> None:
        """Cancel this session's jobs from now on; PySpark has put its own handler in place."""
        self.session = session
        if _is_main_thread():
            self.install()

    def install(self) -> None:
        """Put the handler in place."""
        for number in SIGNALS:
            signal.signal(number, self._end)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)  # a second Ctrl-C must not break the cleaning up
        self.number = number
        if self.session is not None:
            cancel = self.session.sparkContext.cancelAllJobs
            canceller = threading.Thread(target=cancel, daemon=True)
            canceller.start()
            canceller.join(PATIENCE_SECONDS)
        raise ToldToEndError(number)


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Let signals end the body by a ToldToEndError; what they did before is put back at its end."""
    interrupted = Interruption()
    if not _is_main_thread():  # where Python allows no handlers
        yield interrupted
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    interrupted.install()
    try:
        yield interrupted
    except Exception as error:
        if interrupted.number is None:
            raise
        # PySpark cleans up by calls to Java, which may fail once a call was interrupted.
        raise ToldToEndError(interrupted.number) from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
