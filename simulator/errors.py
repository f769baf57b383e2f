"""What the simulator refuses, each with an error that says what to do instead."""

from __future__ import annotations

from pathlib import Path

from upstream import UpStreamError


class OptionError(UpStreamError):
    """Raised for a parameter that makes no sense; names the option, its value and what fits."""

    def __init__(self, option: str, value: object, expected: str) -> None:
        super().__init__(option, value, expected)
        self.option = option
        self.value = value
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.option} {self.value}: expected {self.expected}"


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
