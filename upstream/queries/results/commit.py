"""The step in which the results of an evaluation become visible: together, once and in order.

An exception or Ctrl-C may end an evaluation anywhere. This is what it leaves, and what the next
evaluation does. "Hidden" results are those that the sink has and its readers do not see.

| raised in | state of the query | results in the sink | the next evaluation |
| --- | --- | --- | --- |
| finding answers | as before | none of them | gives the same answers |
| `stage`, `seal` | as before | some of them, hidden | gives the same with the same numbers |
| between the steps | as before | all of them, hidden | gives the same with the same numbers |
| committing the state | Ctrl-C comes after it | all of them, hidden | commits the hidden ones |
| `commit` of a result | has all results; they wait | those before it, perhaps this one | asks the \
sink what it has, and commits the rest |
| noting that it was taken | the result still waits | this one too | asks the sink, and takes it |

If the process ends instead, the sink alone knows what was committed. It forgets what is hidden, and
a new query gives the next number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...held_interrupt import HeldInterrupt
from .emission import Emitter

if TYPE_CHECKING:
    from ..choices import Choices
    from .answer import Answer, Answers
    from .result_stream import ResultStream
    from .sink import SinkWriter


class Commit:
    """Commits the state of an evaluation and its results.

    The results wait for readers, or go to a stream or a sink. Neither lets them wait.
    """

    __slots__ = ("_hold", "_sink", "_stream", "emitter", "error", "unfinished_at")

    def __init__(
        self, choices: Choices, stream: ResultStream | None = None, sink: SinkWriter | None = None
    ) -> None:
        self.emitter = Emitter(
            choices,
            is_taken_at_once=not (stream is None and sink is None),
            first=0 if sink is None else sink.first,
            given_epoch=None if sink is None else sink.given_epoch,
        )
        """Decides which answers become results."""
        self._stream = stream
        self._sink = sink
        self._hold = HeldInterrupt()
        self.error: str | None = None
        """The error of the last result that had one."""
        self.unfinished_at: float | None = None
        """The moment whose results the sink does not have yet; None if it has all of them."""

    def give(self, answers: Answers, told: Sequence[Answer], now: float) -> None:
        """Make the answers results, as users are told them."""
        emitter, stream = self.emitter, self._stream
        emission = emitter.prepared(told, answers.skipped, now)
        store = None if stream is None else stream.prepared(emission.news)
        if self._sink is not None:
            self.unfinished_at = now
            made = emitter.backlog.next(emission.news, emission.missed)
            for reader in emitter.backlog.readers:
                self._sink.stage(made, reader, now)
        error = next((each.error for each in told if each.error), None)
        with self._hold:
            answers.commit()
            emission.give()
            if error is not None:
                self.error = error
                for reader in emitter.backlog.readers:
                    reader.callback_error = None
            if store is not None:
                for reader in emitter.backlog.readers:
                    reader.take_all(now)
                store()
        self.finish(now)
        self.unfinished_at = None

    def finish(self, now: float) -> None:
        """Let the sink commit the results that it has sealed."""
        if self._sink is not None:
            for reader in self.emitter.backlog.readers:
                self._sink.commit(reader, now)
