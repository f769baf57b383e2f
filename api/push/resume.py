"""Where a connection begins: with what comes next, a snapshot, or where another one stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from upstream import Key, Update

from .feed import QueueFeed
from .position import arrival_of
from .selection import Selection, SelectionError


@dataclass(frozen=True, slots=True)
class Beginning:
    """What is sent before the updates that are still to come."""

    snapshot: bool = False
    """Whether the newest values are."""
    since: float | None = None
    """Only keys whose newest update arrived then or later; all if None."""
    deletions: tuple[Update, ...] = ()
    """The keys that the client knows and that are gone."""
    is_reset: bool = False
    """Whether the client has to forget what it had."""


def beginning_of(selection: Selection, feed: QueueFeed) -> Beginning:
    """Return where a connection begins: with the newest values, unless it does not want them.

    A client that asks to resume gets what it may have missed. If that cannot be told any more, it
    gets a snapshot and is told to forget what it had. Streams that keep no values have neither.
    """
    keeps_values = feed.stream.stream.retain
    if selection.last_event_id is not None:
        return _resume(selection.last_event_id, feed, selection.is_wanted, keeps_values)
    if selection.snapshot and not keeps_values:
        raise SelectionError("snapshot", "false, since the stream does not retain values")
    return Beginning(snapshot=keeps_values and selection.snapshot is not False)


def _resume(
    last_event_id: str, feed: QueueFeed, is_wanted: Callable[[Key], bool], keeps_values: bool
) -> Beginning:
    stream = feed.stream
    since = arrival_of(last_event_id, run=stream.run, now=stream.stream.now())
    deletions = None if since is None else stream.deletions.since(since)
    if deletions is None or not keeps_values:
        return Beginning(snapshot=keeps_values, is_reset=True)
    wanted = tuple(deletion for deletion in deletions if is_wanted(deletion.key))
    return Beginning(snapshot=True, since=since, deletions=wanted)
