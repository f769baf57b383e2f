"""Sinks: what takes the results of a standing query by number, each of them once.

A result is staged, sealed and committed. Between these steps the query commits its own state:

    stage, seal  ─▶  the query commits its state  ─▶  commit

So a result that was sealed is never lost, and one that the sink has committed never comes again:
its number says that it is a repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ...errors import ParameterError, SinkError
from ...held_interrupt import HeldInterrupt
from .backlog import Result

if TYPE_CHECKING:
    import pyarrow as pa

    from .backlog import Made
    from .result_reader import ResultReader


class Sink(Protocol):
    """Takes the results of one standing query, by number.

    For each result the query calls `stage`, `seal` and `commit` with its number, in this order, and
    in the order of the numbers. If one of them fails, the call that evaluates the query raises
    `SinkError`, `run` after it has served the other queries. An `append` that evaluates the query
    does not raise it, because the rows are accepted. `QueryStatistics` counts all failures.

    The next evaluation tries again, and reads nothing new before it succeeds. A number that is not
    committed may be staged again, and the new result replaces the old one. A number that is
    committed is a repeat, which changes nothing.

    A new query whose sink has results of an earlier run goes on with the number after `committed`,
    and leaves out the epochs up to `epoch`. So the feed may be repeated from an earlier position.
    Epochs by count, object or punctuation are numbered from the first row that the query reads, so
    a query over them is refused if the sink has epochs already.

    A sink that cannot store columns of every type may have a method `check(schema)`, which raises
    an exception for such columns. It is called before the query exists.
    """

    @property
    def committed(self) -> int | None:
        """The number of the newest committed result; None before the first one."""

    @property
    def epoch(self) -> int | None:
        """The epoch of the newest committed result that has one; None if there is none."""

    def stage(self, number: int, result: Result) -> None:
        """Store a result where readers do not see it yet."""

    def seal(self, number: int) -> None:
        """Let the staged result survive a crash, so that `commit` has little left to do."""

    def commit(self, number: int) -> None:
        """Make the sealed result visible to readers, at once."""


@runtime_checkable
class CheckingSink(Protocol):
    """A sink that says beforehand which columns it cannot store."""

    def check(self, schema: pa.Schema) -> None:
        """Raise an exception if results with these columns cannot be stored."""


class SinkWriter:
    """Gives the results of one query to its sink.

    Exceptions of the sink are counted, and raised as `SinkError`.
    """

    __slots__ = ("_hold", "_query", "error", "failures", "first", "given_epoch", "sink")

    def __init__(self, sink: Sink, query: str) -> None:
        for name in ("committed", "epoch", "stage", "seal", "commit"):
            if not hasattr(sink, name):
                raise ParameterError("sink", sink, f"a Sink, which has the attribute {name}")
        self.sink = sink
        committed = sink.committed
        self.first = 0 if committed is None else committed + 1
        """The number of the first result that the sink lacked at the beginning."""
        self.given_epoch = sink.epoch
        """The newest epoch that the sink had at the beginning, or None."""
        self._query = query
        self._hold = HeldInterrupt()
        self.failures = 0
        """How often the sink raised an exception."""
        self.error: str | None = None
        """The last exception, unless the sink has committed a result since."""

    def check(self, schema: pa.Schema) -> None:
        """Raise the exception of the sink if it cannot store results with these columns."""
        if isinstance(self.sink, CheckingSink):
            self.sink.check(schema)

    def describe(self) -> str:
        """Say where results go."""
        return "the sink takes each result by its number"

    def stage(self, results: Sequence[Made], reader: ResultReader, now: float) -> None:
        """Stage and seal results that are about to become visible; no reader of the sink sees them.

        The reader has taken all earlier ones.
        """
        expected = reader.expected
        for number, ordinal, answer in results:
            result = Result.of(answer, now, ordinal - expected, number)
            expected = ordinal + 1
            self._do(number, partial(self.sink.stage, number, result))
            self._do(number, partial(self.sink.seal, number))

    def commit(self, reader: ResultReader, now: float) -> None:
        """Commit the results that wait, oldest first, and let the reader take each.

        If this was interrupted before, the sink may have committed the first one already.
        """
        while (number := reader.next_waiting) is not None:
            self._do(number, partial(self._commit, number))
            with self._hold:
                reader.take(now)
                self.error = None

    def _commit(self, number: int) -> None:
        committed = self.sink.committed
        if committed is None or committed < number:
            self.sink.commit(number)

    def _do(self, number: int, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:
            self.failures += 1
            self.error = repr(error)
            raise SinkError(self._query, number, repr(error)) from error
