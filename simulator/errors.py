"""What the simulator refuses, each with an error that says what to do instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from upstream import ParameterError, UpStreamError


class OptionError(UpStreamError):
    """Raised for a parameter that makes no sense; names the option, its value and what fits."""

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
    """Raised when another run writes its results to the same folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        return f"{self.folder} is written to by another run; wait for it, or choose another folder"


class WorkerDiedError(UpStreamError):
    """Raised when a process that measured was killed."""

    def __str__(self) -> str:
        return (
            "a process that measured was killed, perhaps since memory ran out; the same command "
            "goes on from here, with fewer --jobs if need be"
        )


class CodeChangedError(UpStreamError):
    """Raised when the code was changed while it was measured."""

    def __str__(self) -> str:
        return "the code was changed while it was measured; run the same command again"


class TraceError(UpStreamError, ValueError):
    """Raised for a recorded trace that cannot be read or replayed; names the file and the row.

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
