"""The places of a queue's keys, and what takes them apart once the queue is gone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ..keys import KeyCell, Place


class Part(Protocol):
    """Something that refers to itself, by way of others."""

    def take_apart(self) -> None:
        """Let go of what refers back to it. Must not fail, whatever state it is in."""
        ...


class PlaceColumn:
    """The places of the keys of one queue, each at the number that its key has in the stream.

    It does not know the queue, so whoever needs to find places can hold on to it.
    """

    __slots__ = ("places",)

    def __init__(self) -> None:
        self.places: list[Place | None] = []

    def place_of(self, cell: KeyCell) -> Place | None:
        """Return the key's place in this queue, if it has one."""
        places = self.places
        return places[cell.index] if cell.index < len(places) else None

    def put(self, cell: KeyCell, place: Place) -> None:
        """Give a key its place."""
        index = cell.index
        places = self.places
        if index >= len(places):
            places.extend([None] * (index + 1 + index // 8 - len(places)))
        assert places[index] is None, "a key with two places in one queue"
        places[index] = place

    def reserve(self, rows: int) -> None:
        """Have room for so many keys, and none to spare."""
        assert not self.places, "a queue that has keys already"
        self.places[:] = [None] * rows


class Rings:
    """Takes apart what some collections hold, as soon as nothing holds the rings any more.

    The parts refer to themselves, so else they would wait for the garbage collector. Whatever may
    still use them holds the rings: a queue, and its own stream. No part does.
    """

    __slots__ = ("_collections",)

    def __init__(self) -> None:
        self._collections: list[Iterable[Part | None]] = []

    def add(self, parts: Iterable[Part | None]) -> None:
        """Take apart, in the end, what `parts` holds then."""
        self._collections.append(parts)

    def __del__(self) -> None:
        for collection in self._collections:
            for part in collection:
                if part is not None:
                    part.take_apart()
