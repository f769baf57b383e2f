"""The errors of the simulator; each says what to do instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from upstream import ParameterError, UpStreamError


class OptionError(UpStreamError):
    """An option has a value that makes no sense; the error says which values do."""

    def __init__(self, option: str, value: object, expected: str) -> None:
        super().__init__(option, value, expected)
        self.option = option
        self.value = value
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.option} {self.value}: expected {self.expected}"


@contextmanager
def parameters_as_options() -> Iterator[None]:
    """Turn a ParameterError of the body into an OptionError.

    >>> with parameters_as_options():
    ...     raise ParameterError("slow_keys", 3, "at most 2")
    Traceback (most recent call last):
        ...
    simulator.errors.OptionError: slow keys 3: expected at most 2
    """
    try:
        yield
    except ParameterError as error:
        name = error.name.replace("_", " ")
        raise OptionError(name, error.value, error.expected) from error


class FolderInUseError(UpStreamError):
    """Another run writes its results to the same folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        return f"another run is writing to {self.folder}; wait for it, or choose another folder"


class WorkerDiedError(UpStreamError):
    """A process that measured was killed."""

    def __str__(self) -> str:
        return (
            "a process that measured was killed, perhaps because memory ran out; the same command "
            "continues from here; use fewer --jobs if it happens again"
        )


class CodeChangedError(UpStreamError):
    """The code changed while it was measured."""

    def __str__(self) -> str:
        return "the code changed during the measurement; run the same command again"


class TraceError(UpStreamError, ValueError):
    """A recorded trace cannot be read or replayed; the error names the file and the row.

    `row` counts the rows of data from 1, and `line` those of a text file, whose header is 1.

    >>> print(TraceError(Path("trades.csv"), "there is no time", row=17, line=18))
    trades.csv, row 17 (line 18): there is no time
    """

    def __init__(
        self, path: Path, reason: str, *, row: int | None = None, line: int | None = None
    ) -> None:
        self.path = path
        self.reason = reason
        self.row = row
        self.line = line
        at_row = "" if row is None else f", row {row}"
        at_line = "" if line is None else f" (line {line})"
        super().__init__(f"{path}{at_row}{at_line}: {reason}")
