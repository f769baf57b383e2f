"""Keeps the record of one query over epochs: it is written with each commit.

    stage   the record is written to a hidden file, and survives a crash of the machine
    seal    the hidden file is renamed: from then on, the record has the new results
    took    what earlier epochs needed is forgotten

If the process ends after `seal`, a new engine has the results. If it goes on, it commits them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from ...disk import Disk
from ...errors import RecordError

if TYPE_CHECKING:
    from ..chunks.feed_positions import FeedStart
    from .backlog import Made
    from .query_record import QueryRecord
    from .result_reader import ResultReader

HIDDEN: Final = "."
"""Names of files that are being written begin with this."""


class Feed(Protocol):
    """Knows from which rows on the streams of a query have to be read again."""

    def starts(self, epoch: int) -> Sequence[FeedStart]:
        """Return where to begin so that all epochs after this one can be answered."""

    def forget(self, epoch: int) -> None:
        """Forget what is not needed to begin after this epoch; this cannot fail."""


class RecordFile(NamedTuple):
    """A file, and the disk that it is on."""

    path: Path
    disk: Disk

    def stage(self, record: QueryRecord) -> None:
        """Write a record to a hidden file, and let it survive a crash of the machine."""
        self.disk.write(self._hidden, record.content())
        self.disk.sync(self._hidden)

    def seal(self) -> None:
        """Let the hidden file take the place of the record."""
        self.disk.rename(self._hidden, self.path)
        self.disk.sync_names(self.path.parent)

    @property
    def _hidden(self) -> Path:
        return self.path.with_name(HIDDEN + self.path.name)


class RecordKeeper:
    """Writes the record of one query. `origins` are the first rows that its streams have here."""

    __slots__ = ("_feed", "_file", "_origins", "_staged", "record")

    def __init__(
        self, file: RecordFile, record: QueryRecord, feed: Feed, origins: Mapping[str, int]
    ) -> None:
        self.record = record
        """The newest record in the file."""
        self._file = file
        self._feed = feed
        self._origins = origins
        self._staged = record

    def describe(self) -> str:
        """Say where the record is."""
        return f"each epoch is committed to {self._file.path}"

    def begin(self) -> None:
        """Write the first record of a query."""
        self._stage(self.record)
        self.seal()

    @property
    def first(self) -> int:
        """The number of the first result that is made here."""
        return self.record.made

    @property
    def given_epoch(self) -> int | None:
        """The newest epoch that had a result before, or None."""
        return self.record.epoch

    def stage(self, made: Sequence[Made], reader: ResultReader, keep: int) -> None:
        """Write the record that has these results, of which at most `keep` may wait."""
        newest = made[-1]
        epoch = newest.answer.epoch
        assert epoch is not None
        starts = [
            start._replace(position=start.position + self._origins.get(start.stream, 0))
            for start in self._feed.starts(epoch)
        ]
        self._stage(
            replace(
                self.record,
                starts=tuple(starts),
                made=newest.number + 1,
                epoch=epoch,
                consumed=reader.consumed,
                waiting=(*reader.untaken(), *made)[-keep:],
                expected=reader.expected,
                next_ordinal=newest.ordinal + 1,
            )
        )

    def seal(self) -> None:
        """Let the staged record be the one that counts."""
        with self._failing():
            self._file.seal()

    def took(self) -> None:
        """Note that the state of the query is that of the record; this cannot fail."""
        self.record = self._staged
        if self.record.epoch is not None:
            self._feed.forget(self.record.epoch)

    def end(self, reader: ResultReader) -> None:
        """Write which results were taken, if that has changed since the last commit."""
        if reader.consumed != self.record.consumed:
            taken = replace(self.record, consumed=reader.consumed, expected=reader.expected)
            self._stage(replace(taken, waiting=(*reader.untaken(),)))
            self.seal()
            self.took()

    def _stage(self, record: QueryRecord) -> None:
        with self._failing():
            self._file.stage(record)
        self._staged = record

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecordError(self.record.name, str(self._file.path), str(error)) from error
