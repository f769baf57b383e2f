"""Logs: one event per line on stderr, as text for people or as JSON for programs.

What clients send is never logged: no bodies, keys, values, headers or query strings. Paths may
contain keys, and so may the messages of some exceptions; these are cut, at every level.
"""

from __future__ import annotations

import json
import logging
import logging.config
import re
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from .settings import Settings

PACKAGE: Final = __name__.partition(".")[0]

TELLING: Final = (
    *(AssertionError, AttributeError, ImportError, MemoryError, NameError),
    *(OSError, RuntimeError, TypeError),
)
"""Exceptions whose messages tell of the program or the system. Those of others, such as KeyError
and ValueError, quote what was wrong, which a client may have sent."""

MOST_CAUSES: Final = 8
"""The most exceptions of a chain, or of a group, that are logged."""
MOST_FRAMES: Final = 50
REPEATED_SECONDS: Final = 10.0
"""After one warning of a library, equal ones are only counted for this long."""

HIDDEN: Final = frozenset(
    {"authorization", "body", "cookie", "headers", "key", "keys", "password", "payload", "query"}
    | {"secret", "token", "value", "values"}
)
"""Fields that are never shown, even if an event has them."""

KEY_IN_PATH: Final = re.compile(r"(/keys/)[^\s?\"]+")
QUERY_STRING: Final = re.compile(r"\?[^\s\"]+")
CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
PLAIN: Final = re.compile(r"[\w.:/+@{}-]+")

_FILTERS: Final = ("repeated", "without_connections")

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {
    *("asctime", "color_message", "message", "taskName")
}
"""Attributes that every record has. Whatever else is in `extra` is a field of the event."""


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, event, and the fields of the event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        event, fields = _event_and_fields(record)
        line: dict[str, object] = {
            "time": _time_of(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": event,
        }
        error = _error_of(record)
        if error is not None:
            line["exception"] = type(error).__qualname__
            line["traceback"] = "".join(traceback_of(error))
        for name, value in fields.items():
            line.setdefault(name, value)
        return json.dumps(line)


class TextFormatter(logging.Formatter):
    """One line of text: time, level, event, fields as name=value; a traceback follows it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line or lines."""
        event, fields = _event_and_fields(record)
        named = "".join(f"  {name}={_quoted(value)}" for name, value in fields.items())
        line = f"{_time_of(record)} {record.levelname.lower():8} {_escaped(event)}{named}"
        error = _error_of(record)
        return line if error is None else f"{line}\n{''.join(traceback_of(error))}".rstrip("\n")


class WithoutConnections(logging.Filter):
    """Lets all records pass except uvicorn's line for each websocket, which is an access log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether to log the record."""
        text = str(record.msg)
        is_of_connection = '"WebSocket %s"' in text or text.startswith("connection ")
        return not is_of_connection or record.levelno > logging.INFO


class Repeated(logging.Filter):
    """Lets one of equal warnings pass in `seconds`, with their number since the last one.

    Clients can cause warnings of libraries, such as that about invalid HTTP, as often as they like.
    A record with a traceback is a mistake of the service, and passes.
    """

    def __init__(self, seconds: float = REPEATED_SECONDS) -> None:
        super().__init__()
        self._seconds = seconds
        self._passed: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether to log the record."""
        if record.levelno != logging.WARNING or record.exc_info:
            return True
        text = str(record.msg)  # without its arguments, so these are few
        passed_at = self._passed.get(text)
        if passed_at is not None and record.created < passed_at + self._seconds:
            self._left_out[text] = self._left_out.get(text, 0) + 1
            return False
        self._passed[text] = record.created
        left_out = self._left_out.pop(text, 0)
        if left_out:
            record.repeated = left_out + 1
        return True


def configure(settings: Settings) -> None:
    """Send the logs of the whole process where `settings` says."""
    logging.config.dictConfig(dict_config(settings))


def dict_config(settings: Settings) -> dict[str, object]:
    """Return the configuration of logging, for `uvicorn.Config(log_config=...)`.

    Call uvicorn with `log_level=None`, since it would set levels of its own, and without
    `use_colors`.
    """
    level = settings.log_level.upper()
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"event": {"()": _formatter(settings)}},
        "filters": {
            "repeated": {"()": Repeated},
            "without_connections": {"()": WithoutConnections},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "event",
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"level": _most(level, "WARNING"), "handlers": ["stderr"]},
        "loggers": {
            PACKAGE: {"level": level},
            # Its debugging output has data in it: headers, and the frames of websockets.
            "uvicorn": {"level": _most(level, "INFO"), "handlers": []},
            "uvicorn.error": {
                "level": _most(level, "INFO"),
                "filters": ["repeated"] if settings.access_log else list(_FILTERS),
            },
            "asyncio": {"filters": ["repeated"]},
            "uvicorn.access": {
                "level": "INFO" if settings.access_log else "CRITICAL",
                "handlers": [],
                "propagate": True,
            },
        },
    }


def traceback_of(error: BaseException) -> Iterator[str]:
    """Yield the lines of a traceback, without the data in the exceptions' messages."""
    for cause in _chain(error):
        if cause.__traceback__ is not None:
            yield "Traceback (most recent call last):\n"
            yield from traceback.format_tb(cause.__traceback__, limit=-MOST_FRAMES)
        says = f": {_escaped(str(cause))}" if isinstance(cause, TELLING) else ""
        yield f"{type(cause).__qualname__}{says}\n"
        if isinstance(cause, BaseExceptionGroup):
            for member in cause.exceptions[:MOST_CAUSES]:
                lines = "".join(traceback_of(member)).splitlines(keepends=True)
                yield from (f"  | {line}" for line in lines)
        if cause is not error:
            yield "While this was handled:\n"


def _chain(error: BaseException) -> list[BaseException]:
    """Return the exception and its causes, the first cause first."""
    chain = [error]
    while len(chain) < MOST_CAUSES:
        cause = error.__cause__
        if cause is None and not error.__suppress_context__:
            cause = error.__context__
        if cause is None or any(cause is known for known in chain):
            break
        chain.append(cause)
        error = cause
    return chain[::-1]


def _formatter(settings: Settings) -> type[logging.Formatter]:
    is_text = settings.log_format == "text" or (
        settings.log_format == "auto" and sys.stderr.isatty()
    )
    return TextFormatter if is_text else JsonFormatter


def _most(level: str, other: str) -> str:
    """Return the more serious of two levels."""
    return max(level, other, key=logging.getLevelNamesMapping().__getitem__)


def _event_and_fields(record: logging.LogRecord) -> tuple[str, dict[str, object]]:
    fields = {
        name: "hidden" if name.lower() in HIDDEN else _simple(value)
        for name, value in vars(record).items()
        if name not in _STANDARD
    }
    if record.name == "uvicorn.access" and isinstance(record.args, tuple) and len(record.args) == 5:
        client, method, path, _, status = record.args
        return "request", {
            "client": _simple(client),
            "method": _simple(method),
            "path": _cut(str(path)),
            "status": _simple(status),
        }
    event = record.getMessage()
    if record.name == "asyncio":
        event = re.split(r"[\n(]", event)[0]  # the arguments of a callback follow
    return _cut(event).strip(), fields


def _cut(text: str) -> str:
    """Return a text without the keys and query strings of the paths in it."""
    return QUERY_STRING.sub("", KEY_IN_PATH.sub(r"\1{key}", text))


def _simple(value: object) -> object:
    """Return a field as it is shown: of anything but a number, text or boolean only its type."""
    return value if value is None or isinstance(value, (str, int, float)) else type(value).__name__


def _error_of(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


def _time_of(record: logging.LogRecord) -> str:
    time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    return time.replace("+00:00", "Z")


def _quoted(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if PLAIN.fullmatch(text) else json.dumps(text)


def _escaped(text: str) -> str:
    """Return a text as one line, whatever it contains."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
