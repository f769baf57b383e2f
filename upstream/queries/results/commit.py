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

A query may keep a record in a directory instead (`RecordKeeper`). The record is staged before the
state is committed and sealed in the same step, so a failure leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...held_interrupt import HeldInterrupt
from .emission import Emitter

if TYPE_CHECKING:
    from ..choices import Choices
    from .answer import Answer, Answers
    from .emission import Emission
    from .record_keeper import RecordKeeper
    from .result_reader import ResultReader
    from .result_stream import ResultStream
    from .sink import SinkWriter


class Commit:
    """Commits the state of an evaluation and its results.

    The results wait for readers, or go to a stream or a sink. Neither lets them wait. If a record
    is kept, results that wait for the one reader survive the end of the process.
    """

    __slots__ = ("_hold", "emitter", "error", "record", "sink", "stream", "unfinished_at")

    def __init__(
        self,
        choices: Choices,
        stream: ResultStream | None = None,
        sink: SinkWriter | None = None,
        record: RecordKeeper | None = None,
    ) -> None:
        before = record if sink is None else sink
        self.emitter = Emitter(
            choices,
            is_taken_at_once=not (stream is None and sink is None),
            first=0 if before is None else before.first,
            given_epoch=None if before is None else before.given_epoch,
        )
        """Decides which answers become results."""
        self.record = record
        """What writes each commit to a file, if the query keeps a record."""
        self.stream = stream
        """What takes the results, if they are rows of a stream."""
        self.sink = sink
        """What takes the results, if the user gave a sink."""
        self._hold = HeldInterrupt()
        self.error: str | None = None
        """The error of the last result that had one."""
        self.unfinished_at: float | None = None
        """The moment whose results the sink or the record does not have yet; None if there is none.
        """
        if record is not None:
            self.emitter.restore(record.record.waiting, record.record.next_ordinal)

    def give(self, answers: Answers, told: Sequence[Answer], now: float) -> None:
        """Make the answers results, as users are told them."""
        emitter, stream = self.emitter, self.stream
        emission = emitter.prepared(told, answers.skipped, now)
        store = None if stream is None else stream.prepared(emission.news)
        record = self._staged(emission, now)
        error = next((each.error for each in told if each.error), None)
        with self._hold:
            if record is not None:
                record.seal()
            answers.commit()
            emission.give()
            if record is not None:
                record.took()
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

    def _staged(self, emission: Emission, now: float) -> RecordKeeper | None:
        """Let the sink or the record have the results before they are committed.

        Return what writes the record, if it has to be sealed.
        """
        sink, record, backlog = self.sink, self.record, self.emitter.backlog
        if sink is None and record is None:
            return None
        self.unfinished_at = now
        made = backlog.next(emission.news, emission.missed)
        for reader in backlog.readers:
            if sink is not None:
                sink.stage(made, reader, now)
            if record is not None and made:
                record.stage(made, reader, backlog.keep)
        return record if made else None

    def begin(self, reader: ResultReader) -> None:
        """Let a new reader take the results that waited before the process began."""
        if self.record is not None:
            before = self.record.record
            reader.restore(before.waiting, expected=before.expected, consumed=before.consumed)

    def end(self, reader: ResultReader) -> None:
        """Record what a reader has taken, which leaves now."""
        if self.record is not None:
            self.record.end(reader)

    def describe(self) -> list[str]:
        """Say where results go."""
        takers = (self.stream, self.sink, self.record)
        return [each.describe() for each in takers if each is not None]

    def finish(self, now: float) -> None:
        """Let the sink commit the results that it has sealed."""
        if self.sink is not None:
            for reader in self.emitter.backlog.readers:
                self.sink.commit(reader, now)
