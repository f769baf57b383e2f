"""What can go wrong by the caller's doing, each as an exception of its own.

Load is not an error: what load makes a queue drop is counted (see ``statistics``), and a bug of
ours is an assertion. Every exception here derives from :class:`UpStreamError` and, where Python
has a fitting class, from that as well, so that ``except ValueError`` works as people expect. The
data of the condition is on attributes; the message says what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import repr as shorten


class UpStreamError(Exception):
    """The parent of every exception that this library raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        """Return how to make it again in another process: as it is, not by what it was made of."""
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
    """A time is so far from zero that windows around it cannot be told apart."""

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
            f"the columns of a batch must be equally long, not {keys} keys, {values} values and "
            f"{times} times"
        )


class ColumnTypeError(UpStreamError, TypeError):
    """A column of a batch is not something that updates can be read from."""

    def __init__(self, column: str, reason: str) -> None:
        self.column = column
        super().__init__(f"column {column!r}: {reason}")


class ParameterError(UpStreamError, ValueError):
    """A parameter has a value that makes no sense."""

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
    """No queue or scheduler goes by this name."""

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
    """No update of this key has arrived here, or it was forgotten since."""

    def __init__(self, key: object) -> None:
        self.key = key
        super().__init__("no update of that key has arrived here, or the key was forgotten since")


class NameTakenError(UpStreamError, ValueError):
    """There is a stream, a queue, a table or a query of this name already."""

    def __init__(self, kind: str, name: object) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"a {kind} named {name!r} exists already; drop it, or choose another name")


class PositionNotKeptError(UpStreamError, LookupError):
    """A reader was to be opened at a position whose rows are not kept any more, or never came."""

    def __init__(self, position: int, *, first: int, end: int) -> None:
        self.position = position
        self.first = first
        self.end = end
        super().__init__(
            f"no reader can begin at row {position}: rows {first} to {end} are kept; begin at one "
            "of these, or at the end"
        )


class StreamFullError(UpStreamError):
    """A stream of an engine takes no more rows until those that wait for queries are read.

    That is while another thread evaluates for long. No row of the batch was taken; `stream` and
    `rows`, how many wait, say more.
    """

    def __init__(self, stream: str, rows: int) -> None:
        self.stream = stream
        self.rows = rows
        super().__init__(
            f"{rows:,} rows of {stream} wait for an evaluation by another thread; append again "
            "when it is done, or evaluate queries more often"
        )


class NotInProcessError(UpStreamError, LookupError):
    """An update was delivered or given back that this queue has not handed out."""

    _advice = (
        "this queue did not hand that update out, or got it back already: deliver and give back "
        "what dequeue() returned, once"
    )

    def __init__(self, update: object) -> None:
        self.update = update
        super().__init__(self._advice)


class WindowNotInProcessError(NotInProcessError):
    """A result was delivered of a window that this queue has not handed out in full."""

    _advice = (
        "this queue did not hand out a whole window of that key and end, or its result was "
        "delivered already: deliver what Aggregate.process() returned, once"
    )


class KeyChangedError(UpStreamError, ValueError):
    """The function of a Map returned an update of another key or time than it was given."""

    def __init__(self, given: object, returned: object) -> None:
        self.given = given
        self.returned = returned
        super().__init__(
            f"a Map must keep key and time, but made {shorten(returned)} of {shorten(given)}; "
            "return the new value alone"
        )


class AlreadyAttachedError(UpStreamError, RuntimeError):
    """A queue is attached to a stream already, or a part of it serves another queue."""


class NotAttachedError(UpStreamError, LookupError):
    """A queue is not attached to this stream."""

    def __init__(self) -> None:
        super().__init__("this queue is not attached to this stream")


class ClosedError(UpStreamError, RuntimeError):
    """A queue, a stream or an engine was used after it was closed or detached."""

    def __init__(self, what: str) -> None:
        advice = "make another" if what == "engine" else "its final statistics can still be read"
        super().__init__(f"this {what} is closed; {advice}")


class PagePoolFullError(UpStreamError, MemoryError):
    """The page pool has no room for the value; the update was counted as rejected."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        super().__init__(
            f"the page pool of {capacity} bytes is full; consume faster, or make the pool larger"
        )


class ValueTooLargeError(UpStreamError, ValueError):
    """A value is longer than the whole page pool, so that no amount of waiting would help."""

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
    """A statement cannot be understood, or not be run; the parent of those that say why.

    `text` is the statement, `line` and `column` the place in it, counted from one, or None where
    no place is known; `hint` is what to do instead, and may be empty.
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

    def _headline(self) -> list[str]:
        at = "" if self.line is None else f" (line {self.line}, column {self.column})"
        return [self.reason + at]

    def _shown_line(self) -> list[str]:
        """Return the line with a caret under the place; of a long line what is around it."""
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
"""How much of a line with a mistake is shown: before the place, and in all."""


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
    """A window function has arguments from which no window can be made."""


class QueryKeyError(QueryError):
    """An update query without a window drops the key by which its results supersede one another."""


class UnboundedQueryError(QueryError):
    """A query would have to remember all that ever came."""


class QueryTypeError(QueryError):
    """Types in a statement do not fit one another, or do not fit a stream."""


class StatementError(QueryError):
    """A statement of this kind is not for this place."""


class StreamTypeError(UpStreamError, ValueError):
    """Rows do not fit the stream that they are for; none of them was taken."""

    def __init__(
        self, stream: str, reason: str, *, column: str | None = None, row: int | None = None
    ) -> None:
        self.stream = stream
        self.reason = reason
        self.column = column
        self.row = row
        colon = "" if reason.startswith("is ") else ":"
        named = "" if column is None else f"column {column!r}{colon} "
        super().__init__(f"{_at(row)}{named}{reason} (stream {stream!r}; no row was taken)")


def _at(row: int | None) -> str:
    return "" if row is None else f"row {row}: "


def _again(kind: type[UpStreamError], args: tuple[object, ...]) -> UpStreamError:
    """Return an exception with a message that was made before."""
    error = kind.__new__(kind)
    error.args = args
    return error
