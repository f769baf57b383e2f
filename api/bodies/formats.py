"""The content types of updates, in bodies and in answers."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from .errors import NotAcceptableError, UnsupportedContentTypeError


class Format(Enum):
    """A format of updates; the value is its content type."""

    JSON = "application/json"
    NDJSON = "application/x-ndjson"
    MESSAGEPACK = "application/msgpack"
    ARROW = "application/vnd.apache.arrow.stream"


class Answer(NamedTuple):
    """The format of an answer, and its content type under the name that was asked for."""

    format: Format
    content_type: str


_BY_NAME: Final = {
    **{known.value: known for known in Format},
    "application/ndjson": Format.NDJSON,
    "application/jsonl": Format.NDJSON,
    "application/x-msgpack": Format.MESSAGEPACK,
    "application/vnd.msgpack": Format.MESSAGEPACK,
}
_JSON_ANSWER: Final = Answer(Format.JSON, Format.JSON.value)
_CONTENT_TYPES: Final = tuple(known.value for known in Format)
_CHARSETS: Final = ("utf-8", "utf8", "us-ascii")


def format_of(content_type: str | None) -> Format:
    """Return the format of a body; raises UnsupportedContentTypeError for an unknown type.

    Without a content type it is JSON.
    """
    if not content_type:
        return Format.JSON
    known = _BY_NAME.get(content_type)
    if known is not None:
        return known
    name, parameters = _split(content_type)
    known = _BY_NAME.get(name)
    if known is None or parameters.get("charset", "utf-8") not in _CHARSETS:
        raise UnsupportedContentTypeError(_CONTENT_TYPES)
    return known


def choose_answer(accept: str | None) -> Answer:
    """Return the format for an `Accept` header; raises NotAcceptableError if it allows none.

    The highest quality wins, then a named type over one that `*` covers, then the first one.
    """
    if not accept or accept in ("*/*", _JSON_ANSWER.content_type):
        return _JSON_ANSWER
    ranges = [_split(part) for part in accept.split(",")]
    qualities = {name: _quality(parameters) for name, parameters in reversed(ranges) if name}
    if not qualities:
        return _JSON_ANSWER
    named = [name for name, _ in ranges if name in _BY_NAME]
    # Of several best ones, max() returns the first.
    best = max(
        (*named, *_CONTENT_TYPES),
        key=lambda name: (_quality_of(name, qualities), name in qualities),
    )
    if _quality_of(best, qualities) <= 0:
        raise NotAcceptableError(_CONTENT_TYPES)
    return Answer(_BY_NAME[best], best)


def _quality_of(name: str, qualities: dict[str, float]) -> float:
    """Return the quality of a content type by the closest range that covers it."""
    for covering in (name, "application/*", "*/*"):
        if covering in qualities:
            return qualities[covering]
    return 0.0


def _split(text: str) -> tuple[str, dict[str, str]]:
    """Return a media type or range, and its parameters, in lower case."""
    name, *parameters = text.lower().split(";")
    pairs = (parameter.partition("=") for parameter in parameters)
    return name.strip(), {key.strip(): value.strip(' \t"') for key, _, value in pairs}


def _quality(parameters: dict[str, str]) -> float:
    """Return the quality of a media range; one that cannot be read is 0."""
    try:
        quality = float(parameters.get("q", "1"))
    except ValueError:
        return 0.0
    return quality if 0.0 <= quality <= 1.0 else 0.0
