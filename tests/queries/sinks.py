"""A sink in memory that can fail at any step, and what a disk and a directory are tested with."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tests.queries.setting import Row, rows_of
from upstream import Result
from upstream.disk import Disk


class BrokenError(Exception):
    """Stands for whatever a sink may raise."""


class MemorySink:
    """Keeps what was committed, by number, and notes each step."""

    def __init__(self, committed: int | None = None, epoch: int | None = None) -> None:
        self.committed = committed
        self.epoch = epoch
        self.steps: list[str] = []
        self.breaks: set[str] = set()
        """The steps that raise an exception before they have done anything."""
        self.breaks_after: set[str] = set()
        """The steps that raise an exception when they have done everything."""
        self.hidden: dict[int, Result] = {}
        self.sealed: set[int] = set()
        self.results: dict[int, Result] = {}

    def stage(self, number: int, result: Result) -> None:
        """Store a result where readers do not see it."""
        self._step(f"stage {number}")
        self.sealed.discard(number)
        self.hidden[number] = result
        self._after(f"stage {number}")

    def seal(self, number: int) -> None:
        """Note that the result may be committed."""
        self._step(f"seal {number}")
        assert number in self.hidden
        self.sealed.add(number)
        self._after(f"seal {number}")

    def commit(self, number: int) -> None:
        """Let readers see the result, which is the next one."""
        self._step(f"commit {number}")
        assert number in self.sealed
        assert self.committed is None or number == self.committed + 1
        result = self.hidden.pop(number)
        self.results[number] = result
        self.committed = number
        self.epoch = result.epoch
        self._after(f"commit {number}")

    def _step(self, step: str) -> None:
        self.steps.append(step)
        if self.breaks & {step, step.partition(" ")[0]}:
            raise BrokenError(step)

    def _after(self, step: str) -> None:
        if step in self.breaks_after:
            self.breaks_after.discard(step)
            raise BrokenError(step)

    def rows(self) -> dict[int, list[Row]]:
        """Return the rows of each committed result."""
        return {number: rows_of(result) for number, result in self.results.items()}


class FailingDisk(Disk):
    """A disk of which chosen steps fail."""

    __slots__ = ("fails", "steps")

    def __init__(self) -> None:
        self.fails: set[str] = set()
        self.steps: list[str] = []

    def write(self, path: Path, content: bytes | memoryview) -> None:
        """Write a half of the file if this fails."""
        if "write" in self.fails:
            super().write(path, memoryview(content)[: len(content) // 2])
        self._step("write")
        super().write(path, content)

    def sync(self, path: Path) -> None:
        """Let the content survive."""
        self._step("sync")
        super().sync(path)

    def sync_names(self, folder: Path) -> None:
        """Let the names survive."""
        self._step("sync_names")
        super().sync_names(folder)

    def rename(self, path: Path, new: Path) -> None:
        """Give a file another name."""
        self._step("rename")
        super().rename(path, new)

    def _step(self, step: str) -> None:
        self.steps.append(step)
        if step in self.fails:
            raise OSError(28, f"no space for {step}")


class QuickDisk(Disk):
    """A disk that survives no crash of the machine, for tests that write many files."""

    __slots__ = ()

    def sync(self, path: Path) -> None:
        """Do nothing."""

    def sync_names(self, folder: Path) -> None:
        """Do nothing."""


def files_in(directory: Path) -> dict[str, list[Row]]:
    """Return the rows of each Parquet file that readers see, sorted."""
    return {
        path.name: sorted(map(tuple_of, pq.read_table(path).to_pylist()), key=repr)
        for path in sorted(directory.glob("[!.]*.parquet"))
    }


def tuple_of(row: dict[str, object]) -> Row:
    """Return the values of a row."""
    return tuple(row.values())
