"""The options of `format("upstream")`, checked, and those that are not known refused.

| option | of | what |
| --- | --- | --- |
| `url` | all | the address of the service, such as `http://127.0.0.1:8000` |
| `queue` | `readStream` | the queue to take updates from |
| `stream` | `read`, writing | the stream; for `readStream` it may say which one the queue is of |
| `max_updates` | `readStream` | the most updates in a batch, 10,000 by default |
| `partitions` | `readStream` | in how many tasks at least a batch is read; 1 by default |
| `batch_rows` | writing | the most rows that are sent at once, 100,000 by default |
| `on_rejected` | writing | `fail` (default) or `warn`, where the service does not take rows |
| `timeout` | all | seconds that each step of a request may take, 30 by default |
| `retries` | all | how often a request is sent again, 4 by default |
| `header.NAME` | all | a header to send along, such as `header.Authorization` |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from upstream.client import Client
from upstream.client.bodies import ROWS_AT_ONCE
from upstream.client.connection import TIMEOUT_SECONDS
from upstream.client.retries import RETRIES
from upstream.errors import ParameterError

from .errors import OptionError

MOST_UPDATES: Final = 1_000_000
"""What a queue of the service lets be in process at most."""
MOST_AT_ONCE: Final = 10_000
"""How many updates a service hands out in one answer, by default."""
MOST_ROWS: Final = 200_000
"""How many rows a service takes in one body, by default."""
HEADER: Final = "header."

_CONNECTION: Final = ("url", "timeout", "retries")
_STREAM: Final = "the stream to read as a table; readStream needs the option `queue`"
_OF_SPARK: Final = frozenset({"checkpointlocation"})
"""Options that Spark hands on, which are its own."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the service is, and how patient to be with it."""

    url: str
    timeout: float = TIMEOUT_SECONDS
    retries: int = RETRIES
    headers: Mapping[str, str] = field(default_factory=dict)

    def client(self) -> Client:
        """Return a client of the service, which its user closes."""
        return Client(
            self.url, timeout=self.timeout, retries=self.retries, headers=dict(self.headers)
        )


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What to read as a table."""

    address: Address
    stream: str


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """What to read as a stream, and how much at once."""

    address: Address
    queue: str
    stream: str | None = None
    max_updates: int = MOST_AT_ONCE
    partitions: int = 1

    @property
    def most_answers(self) -> int:
        """Return how many answers of the service a batch may be made of."""
        return min(
            max(self.partitions, math.ceil(self.max_updates / MOST_AT_ONCE)), self.max_updates
        )

    @property
    def answer_limit(self) -> int:
        """Return how many updates to ask for at once."""
        return self.max_updates // self.most_answers


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Where to write."""

    address: Address
    stream: str
    batch_rows: int = ROWS_AT_ONCE
    does_fail: bool = True
    """Whether rows that the service does not take are an error."""


def table_options(given: Mapping[str, str]) -> TableOptions:
    """Return the options of `spark.read`; OptionError names the one that makes no sense."""
    options = _lowered(given)
    if "queue" in options:
        raise OptionError("queue", "is for readStream; a table is read of the option `stream`")
    _check_known(options, ("stream",))
    return TableOptions(_address(options), _name(options, "stream", _STREAM))


def queue_options(given: Mapping[str, str]) -> QueueOptions:
    """Return the options of `spark.readStream`; OptionError names the one that makes no sense."""
    options = _lowered(given)
    _check_known(options, ("queue", "stream", "max_updates", "partitions"))
    return QueueOptions(
        _address(options),
        _name(options, "queue", "the queue to take updates from"),
        _name(options, "stream", "") if "stream" in options else None,
        _whole(options, "max_updates", MOST_AT_ONCE, most=MOST_UPDATES),
        _whole(options, "partitions", 1, most=MOST_UPDATES),
    )


def write_options(given: Mapping[str, str]) -> WriteOptions:
    """Return the options of writing; OptionError names the one that makes no sense."""
    options = _lowered(given)
    _check_known(options, ("stream", "batch_rows", "on_rejected"))
    on_rejected = options.get("on_rejected", "fail")
    if on_rejected not in {"fail", "warn"}:
        raise OptionError("on_rejected", f"is {on_rejected!r}: expected fail or warn")
    return WriteOptions(
        _address(options),
        _name(options, "stream", "the stream to write to"),
        _whole(options, "batch_rows", ROWS_AT_ONCE, most=MOST_ROWS),
        on_rejected == "fail",
    )


def _lowered(given: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in given.items()}


def _check_known(options: Mapping[str, str], others: tuple[str, ...]) -> None:
    known = (*_CONNECTION, *others)
    for name in options:
        if name in known or name in _OF_SPARK or name.startswith(HEADER):
            continue
        nearest = get_close_matches(name, known, n=1)
        hint = f"did you mean `{nearest[0]}`?" if nearest else f"there are {', '.join(known)}"
        raise OptionError(name, f"is not known here; {hint}")


def _address(options: Mapping[str, str]) -> Address:
    url = _name(options, "url", "the address of the service, such as http://127.0.0.1:8000")
    headers = {
        name.removeprefix(HEADER): value
        for name, value in options.items()
        if name.startswith(HEADER)
    }
    address = Address(
        url,
        _seconds(options, "timeout", TIMEOUT_SECONDS),
        _whole(options, "retries", RETRIES, least=0, most=1_000),
        headers,
    )
    try:
        address.client().close()
    except ParameterError as error:
        option = "url" if error.name == "url" else "header.NAME"
        raise OptionError(option, f"cannot be used: {error}") from error
    return address


def _name(options: Mapping[str, str], option: str, what: str) -> str:
    name = options.get(option, "").strip()
    if not name:
        raise OptionError(option, f"is missing: {what}" if what else "is empty")
    return name


def _whole(
    options: Mapping[str, str], option: str, default: int, *, most: int, least: int = 1
) -> int:
    given = options.get(option)
    if given is None:
        return default
    try:
        number = int(given)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise OptionError(option, f"is {given!r}: expected a whole number from {least} to {most:,}")
    return number


def _seconds(options: Mapping[str, str], option: str, default: float) -> float:
    given = options.get(option)
    if given is None:
        return default
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= 86_400:
        raise OptionError(option, f"is {given!r}: expected seconds, more than 0 and at most 86,400")
    return seconds
