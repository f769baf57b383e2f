"""The stream that a query's results are to be appended to, as the user describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Never

from ..errors import ParameterError, QueryError


@dataclass(frozen=True, slots=True)
class NamedAt:
    """A name that the user wrote, and where, if it is in a text."""

    name: str
    place: int | None = None


@dataclass(frozen=True, slots=True)
class ResultsInto:
    """The stream to which a query's results are to be appended, as the user wrote it.

    With `deletes`, a key that is no longer in the result is deleted from the stream. `text` is the
    statement, and `place` where it names the stream.
    """

    name: str
    key: tuple[NamedAt, ...] = ()
    time: NamedAt | None = None
    deletes: bool = False
    text: str = ""
    place: int | None = None

    def refuse(
        self, kind: type[QueryError], reason: str, hint: str, at: NamedAt | None = None
    ) -> Never:
        """Raise an error at a name, or otherwise at the name of the stream."""
        raise kind(reason, self.text, self.place if at is None else at.place, hint)


def results_into(
    name: str | None, key: Sequence[str], time: str | None, *, deletes: bool
) -> ResultsInto | None:
    """Return the stream that arguments describe, or None if no name is given.

    Raise ParameterError for an argument that is not allowed.
    """
    if name is None and (key or time is not None or deletes):
        raise ParameterError("into", name, "the name of the stream with this key and time")
    if name is None:
        return None
    if not (isinstance(name, str) and name):
        raise ParameterError("into", name, "a string that is not empty")
    if isinstance(key, str) or not all(isinstance(each, str) for each in key):
        raise ParameterError("key", key, "a sequence of names of columns")
    if len({each.lower() for each in key}) < len(key):
        raise ParameterError("key", key, "names of different columns")
    if time is not None and not isinstance(time, str):
        raise ParameterError("time", time, "the name of a column")
    if not isinstance(deletes, bool):
        raise ParameterError("deletes", deletes, "true or false")
    at = None if time is None else NamedAt(time)
    return ResultsInto(name, tuple(NamedAt(each) for each in key), at, deletes)
