"""Exceptions for mistakes of the caller, each with a class of its own.

Load is not an error: `statistics` counts what a queue drops because of load. A bug of ours is an
assertion. Every exception here derives from :class:`UpStreamError` and, where Python has a fitting
class, from that class as well, so that ``except ValueError`` works as expected. Attributes hold the
data of the condition; the message says what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import repr as shorten


class UpStreamError(Exception):
    """The parent of all exceptions that this library raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        """Return how to restore the exception in another process with message and attributes."""
        return _again, (type(self), self.args), self.__dict__


class KeyNotHashableError(UpStreamError, TypeError):
    """An update key cannot be hashed, or does not equal itself (NaN)."""

    def __init__(self, key: object, row: int | None = None) -> None:
        self.key = key
        self.row = row
        super().__init__(
            f"{_at(row)}a key of type {type(key).__name__} cannot be an update key: keys must be "
            "hashable and equal to themselves; use a string, a number or a tuple of them"
        )


class TimeNotFiniteError(UpStreamError, ValueError):
    """A time is not a finite number of seconds."""

    def __init__(self, time: object, row: int | None = None) -> None:
        self.time = time
        self.row = row
        super().__init__(
            f"{_at(row)}time {shorten(time)} is not a finite number of seconds; pass a float, or "
            "leave it out to use the clock"
        )


class TimeOutOfRangeError(UpStreamError, ValueError):
    """A time is so far from zero that floats cannot tell the windows around it apart."""

    def __init__(self, time: float, slide: float, row: int | None = None) -> None:
        self.time = time
        self.slide = slide
        self.row = row
        super().__init__(
            f"{_at(row)}time {time:g} is too far from zero for windows that start every {slide:g} "
            "seconds; count time from a later moment, or choose a longer slide"
        )


class ColumnLengthError(UpStreamError, ValueError):
    """The columns of a batch have different lengths."""

    def __init__(self, *, keys: int, values: int, times: int) -> None:
        self.lengths = {"keys": keys, "values": values, "times": times}
        super().__init__(
            f"the columns of a batch must have the same length, not {keys} keys, {values} values "
            f"and {times} times"
        )


class ColumnTypeError(UpStreamError, TypeError):
    """Updates cannot be read from a column of a batch."""

    def __init__(self, column: str, reason: str) -> None:
        self.column = column
        super().__init__(f"column {column!r}: {reason}")


class ParameterError(UpStreamError, ValueError):
    """A parameter has a value that is not allowed."""

    def __init__(self, name: str, value: object, expected: str) -> None:
        self.name = name
        self.value = value
        self.expected = expected
        super().__init__(f"{name} must be {expected}, not {shorten(value)}")


class WeightError(ParameterError):
    """A key's weight is negative or not a finite number."""


class CostError(ParameterError):
    """A processing cost is negative or not a finite number."""


class RateError(ParameterError):
    """An update rate is negative or not a finite number."""


class UnknownPolicyError(UpStreamError, LookupError):
    """No queue or scheduler has this name."""

    def __init__(self, name: object, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(f"unknown policy {name!r}; choose one of {', '.join(self.known)}")


class UnknownNameError(UpStreamError, LookupError):
    """There is no stream or queue of this name."""

    def __init__(self, kind: str, name: object) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"there is no {kind} named {name!r}")


class UnknownKeyError(UpStreamError, LookupError):
    """No update of this key has arrived, or the key was forgotten since."""

    def __init__(self, key: object) -> None:
        self.key = key
        super().__init__("no update of this key has arrived here, or the key was forgotten")


class NameTakenError(UpStreamError, ValueError):
    """There already is a stream, a queue, a table or a query of this name."""

    def __init__(self, kind: str, name: object) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"a {kind} named {name!r} already exists; drop it, or choose another name")


class PositionNotKeptError(UpStreamError, LookupError):
    """A reader was requested at a position whose rows are no longer kept, or have not arrived."""

    def __init__(self, position: int, *, first: int, end: int) -> None:
        self.position = position
        self.first = first
        self.end = end
        super().__init__(
            f"a reader cannot begin at row {position}: only rows {first} to {end} are kept; begin "
            "at one of these, or at the end"
        )


class StreamFullError(UpStreamError):
    """A stream of an engine accepts no more rows until queries have read the rows that wait.

    This happens while another thread evaluates for a long time, a stream that this one is joined
    with does not advance, or the sink of a query fails. No row of the batch was accepted. `stream`
    names the stream, and `rows` is the number of rows that wait.
    """

    def __init__(self, stream: str, rows: int) -> None:
        self.stream = stream
        self.rows = rows
        super().__init__(
            f"{rows:,} rows of {stream} wait, because another thread evaluates, a joined stream is "
            "behind, or the sink of a query fails; append again when that is over, or evaluate "
            "queries more often"
        )


class CommitError(UpStreamError):
    """The results of a standing query could not be stored; the parent of errors that say where.

    No result is lost: the next evaluation of the query tries again. `query` is its name.
    """

    query: str


class RecordError(CommitError):
    """The record of a standing query in the engine's directory could not be written.

    The cause is the OSError of the disk. Nothing has changed: the next evaluation of the query
    tries again. `query` is its name, and `path` is the file.
    """

    def __init__(self, query: str, path: str, failure: str) -> None:
        self.query = query
        self.path = path
        super().__init__(
            f"the record of the query {query!r} could not be written to {path}: {failure}; the "
            "next evaluation tries again"
        )


class SinkError(CommitError):
    """The sink of a standing query raised an exception, which is the cause of this one.

    No result is lost: the next evaluation of the query tries again, with the same numbers. `query`
    is the name of the query, and `number` that of the result.
    """

    def __init__(self, query: str, number: int, failure: str) -> None:
        self.query = query
        self.number = number
        super().__init__(
            f"the sink of the query {query!r} failed at result {number}: {failure}; the next "
            "evaluation tries again"
        )


class NotInProcessError(UpStreamError, LookupError):
    """An update was delivered or given back that this queue has not handed out."""

    _advice = (
        "this queue did not hand out that update, or it was already delivered or given back: call "
        "deliver() or give_back() once for each update that dequeue() returned"
    )

    def __init__(self, update: object) -> None:
        self.update = update
        super().__init__(self._advice)


class WindowNotInProcessError(NotInProcessError):
    """A result was delivered for a window that this queue has not handed out completely."""

    _advice = (
        "this queue did not hand out a complete window with that key and end, or its result was "
        "already delivered: deliver each result of Aggregate.process() once"
    )


class KeyChangedError(UpStreamError, ValueError):
    """The function of a Map returned an update with another key or time than the given one."""

    def __init__(self, given: object, returned: object) -> None:
        self.given = given
        self.returned = returned
        super().__init__(
            f"a Map must keep key and time, but turned {shorten(given)} into {shorten(returned)}; "
            "return only the new value"
        )


class AlreadyAttachedError(UpStreamError, RuntimeError):
    """A queue is already attached to a stream, or a part of it belongs to another queue."""


class NotAttachedError(UpStreamError, LookupError):
    """A queue is not attached to this stream."""

    def __init__(self) -> None:
        super().__init__("this queue is not attached to this stream")


class ClosedError(UpStreamError, RuntimeError):
    """A queue, a stream or an engine was used after it was closed or detached."""

    def __init__(self, what: str) -> None:
        advice = "make a new one" if what == "engine" else "only its statistics can still be read"
        super().__init__(f"this {what} is closed; {advice}")


class PagePoolFullError(UpStreamError, MemoryError):
    """The page pool has no room for the value; the update was counted as rejected."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        super().__init__(
            f"the page pool of {capacity} bytes is full; consume faster, or make the pool larger"
        )


class ValueTooLargeError(UpStreamError, ValueError):
    """A value is longer than the whole page pool, so it can never fit."""

    def __init__(self, length: int, capacity: int) -> None:
        self.length = length
        self.capacity = capacity
        super().__init__(
            f"a value of {length} bytes can never fit into a page pool of {capacity} bytes"
        )


class ValueNotEncodableError(UpStreamError, TypeError):
    """The codec of the page pool cannot turn this value into bytes."""

    def __init__(self, value: object, reason: str, row: int | None = None) -> None:
        self.value = value
        self.value_type = type(value).__name__
        self.reason = reason
        self.row = row
        super().__init__(f"{_at(row)}a value of type {self.value_type} cannot be encoded: {reason}")

    def at(self, row: int) -> ValueNotEncodableError:
        """Return the same error for a row of a batch."""
        return ValueNotEncodableError(self.value, self.reason, row)


class QueryError(UpStreamError, ValueError):
    """A statement cannot be understood or run; the parent of the exceptions that say why.

    `text` is the statement. `line` and `column` are the place in it, counted from one, or None if
    no place is known. `hint` says what to do instead, and may be empty.
    """

    def __init__(
        self, reason: str, text: str = "", place: int | None = None, hint: str = ""
    ) -> None:
        self.reason = reason
        self.text = text
        self.hint = hint
        self.line: int | None = None
        self.column: int | None = None
        if place is not None:
            place = min(max(place, 0), len(text))
            self.line = text.count("\n", 0, place) + 1
            self.column = place - text.rfind("\n", 0, place)
        super().__init__("\n".join([*self._headline(), *self._shown_line(), *self._advice()]))

    def within(self, text: str, hint: str = "") -> QueryError:
        """Return the same error for a text of which this one is a part, with blanks around it.

        It has another hint if one is given.
        """
        place = None
        if self.line is not None and self.column is not None:
            lines = text.split("\n")[: self.line - 1]
            place = sum(len(line) + 1 for line in lines) + self.column - 1
        return type(self)(self.reason, text, place, hint or self.hint)

    def _headline(self) -> list[str]:
        at = "" if self.line is None else f" (line {self.line}, column {self.column})"
        return [self.reason + at]

    def _shown_line(self) -> list[str]:
        """Return the line with a caret under the place; of a long line, only the part around it."""
        if self.line is None or self.column is None:
            return []
        line = self.text.split("\n")[self.line - 1]
        start = max(0, self.column - 1 - _SHOWN_BEFORE)
        shown = line[start : start + _SHOWN_WIDTH]
        shown = "".join(sign if sign.isprintable() else " " for sign in shown)
        return [f"  {shown.rstrip()}", f"  {' ' * (self.column - 1 - start)}^"]

    def _advice(self) -> list[str]:
        return [self.hint] if self.hint else []


_SHOWN_BEFORE, _SHOWN_WIDTH = 60, 100
"""How much of a line with a mistake is shown: before the place, and in total."""


class QuerySyntaxError(QueryError):
    """A statement does not parse."""


class UnknownStreamError(QueryError, LookupError):
    """A statement names a stream that does not exist."""


class UnknownTableError(QueryError, LookupError):
    """A statement names something that is neither a stream nor a table."""


class UnknownColumnError(QueryError, LookupError):
    """A statement names a column that does not exist."""


class UnknownFunctionError(QueryError, LookupError):
    """A statement calls a function that does not exist."""


class WindowError(QueryError):
    """The arguments of a window function do not define a window."""


class QueryKeyError(QueryError):
    """An update query without a window does not select the key of its results."""


class UnboundedQueryError(QueryError):
    """A query would have to keep every row that ever arrived."""


class QueryTypeError(QueryError):
    """Types in a statement do not fit together, or do not fit a stream."""


class StatementError(QueryError):
    """A statement of this kind is not allowed here."""


class StreamTypeError(UpStreamError, ValueError):
    """Rows do not fit their stream; none of them was accepted."""

    def __init__(
        self, stream: str, reason: str, *, column: str | None = None, row: int | None = None
    ) -> None:
        self.stream = stream
        self.reason = reason
        self.column = column
        self.row = row
        colon = "" if reason.startswith("is ") else ":"
        named = "" if column is None else f"column {column!r}{colon} "
        super().__init__(f"{_at(row)}{named}{reason} (stream {stream!r}; no row was accepted)")


def _at(row: int | None) -> str:
    return "" if row is None else f"row {row}: "


def _again(kind: type[UpStreamError], args: tuple[object, ...]) -> UpStreamError:
    """Return an exception with the message that it had."""
    error = kind.__new__(kind)
    error.args = args
    return error
