"""Why a Spark job failed, in one line, and where a gzip file is broken.

Spark's own errors are pages of Java stack traces, and they do not name the line of a broken file.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ..errors import BadFileError, JobFailedError

JAVA_ENDED: Final = "its Java process has ended; a frequent reason is too little memory"

_ABORTED: Final = re.compile(r"Job aborted .*?: (?=\w+(?:\.\w+)+(?:Exception|Error)\b)")
_DECORATION: Final = re.compile(r"^\[[A-Z0-9_.]+\] |\s*SQLSTATE: \w+|^(?:[a-z]\w*\.)+(?=[A-Z])")


@contextmanager
def failures_named(what: str) -> Iterator[None]:
    """Turn what Spark raises into a JobFailedError that says `what` failed, and why."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it has none
    from pyspark.errors import PySparkException

    try:
        yield
    except BrokenPipeError:
        raise  # the pipe is our own output: Spark's Java is reached by sockets
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise JobFailedError(what, reason_of(error)) from error


def reason_of(error: BaseException) -> str:
    """Return in one line why Spark failed: what it says, and the innermost cause if it has one."""
    said = _said_by_java(error) or [str(error)]
    reasons = [reason for text in said if (reason := first_line(text))]
    if not reasons or _is_about_connection(error):
        return JAVA_ENDED
    if "PythonException" in type(error).__name__:
        return _last_line(str(error))
    return reasons[0] if reasons[-1] in reasons[0] else f"{reasons[0]} ({reasons[-1]})"


def first_line(text: str) -> str:
    r"""Return the first line of what Spark says, without its codes and its packages.

    >>> first_line("[FAILED_READ_FILE.NO_HINT] Encountered error.  SQLSTATE: KD001\n\tat x")
    'Encountered error.'
    """
    lines = text.strip().splitlines()
    return _DECORATION.sub("", _ABORTED.sub("", lines[0])).strip() if lines else ""


def _said_by_java(error: BaseException) -> list[str]:
    """Return the messages of a Java error and of its causes, from the outermost."""
    from py4j.protocol import Py4JError, Py4JJavaError

    if not isinstance(error, Py4JJavaError):
        return []
    said = []
    cause = error.java_exception
    try:
        while cause is not None:
            said.append(str(cause.getMessage() or cause.getClass().getSimpleName()))
            cause = cause.getCause()
    except (Py4JError, ConnectionError):  # Java has ended meanwhile
        pass
    return said


def _is_about_connection(error: BaseException) -> bool:
    from py4j.protocol import Py4JError, Py4JJavaError

    is_of_py4j = isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError)
    return is_of_py4j or isinstance(error, ConnectionError)


def _last_line(text: str) -> str:
    """Return the last line of a Python traceback, before the Java one that may follow it."""
    python = text.partition("JVM stacktrace")[0]
    lines = [line.strip() for line in python.splitlines() if line.strip()]
    return first_line(lines[-1]) if lines else JAVA_ENDED


CHUNK_BYTES: Final = 1 << 20


def gzip_fault(path: Path) -> BadFileError | None:
    """Return where and how a compressed file is broken, None if it is whole.

    This reads all of it, so it is asked only when Spark could not.
    """
    lines = 0
    last = b"\n"
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 16)
    is_first = True
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                while chunk:
                    if decompressor.eof:
                        decompressor, is_first = zlib.decompressobj(zlib.MAX_WBITS | 16), False
                    text = decompressor.decompress(chunk, CHUNK_BYTES)
                    lines += text.count(b"\n")
                    last = text[-1:] or last
                    chunk = decompressor.unused_data or decompressor.unconsumed_tail
    except zlib.error as error:
        if not is_first and str(error).endswith("incorrect header check"):
            return BadFileError(path, "there is other data after the end of the gzip data")
        reason = f"the gzip data is broken here: {error}"
        return BadFileError(path, reason, line=lines + 1)
    except OSError as error:
        return BadFileError(path, error.strerror or str(error))
    if decompressor.eof:
        return None
    reason = "the gzip data ends here; the file is incomplete"
    return BadFileError(path, reason, line=max(1, lines + (last != b"\n")))
