"""The streams of an engine by their names, which are found in any case, as in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..errors import UnknownNameError

if TYPE_CHECKING:
    from ..rows.stream_definition import StreamDefinition
    from .engine_stream import EngineStream


class Streams(Mapping[str, "EngineStream"]):
    """Streams by name. Any thread may look one up while another defines or drops one."""

    __slots__ = ("_streams",)

    def __init__(self) -> None:
        self._streams: Mapping[str, EngineStream] = {}
        """Never changed: another one takes its place."""

    def __getitem__(self, name: str) -> EngineStream:
        """Return the stream that was defined under exactly this name."""
        return self._streams[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names as they were defined."""
        return iter(self._streams)

    def __len__(self) -> int:
        """Return how many streams there are."""
        return len(self._streams)

    def found(self, name: str) -> str | None:
        """Return a stream's name as it was defined, if there is one of this name in any case."""
        streams = self._streams
        if name in streams:
            return name
        return next((each for each in streams if each.lower() == name.lower()), None)

    def named(self, name: str) -> EngineStream:
        """Return the stream of a name in any case; UnknownNameError if there is none."""
        streams, known = self._streams, self.found(name)
        if known is None or known not in streams:
            raise UnknownNameError("stream", name)
        return streams[known]

    def add(self, stream: EngineStream) -> None:
        """Add a stream under the name of its definition."""
        self._streams = {**self._streams, stream.definition.name: stream}

    def remove(self, name: str) -> EngineStream:
        """Remove the stream that was defined under this name, and return it."""
        removed = self._streams[name]
        self._streams = {each: of for each, of in self._streams.items() if each != name}
        return removed

    def definitions(self) -> dict[str, StreamDefinition]:
        """Return what each stream is, by name."""
        return {name: stream.definition for name, stream in self._streams.items()}
