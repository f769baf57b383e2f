"""The options of `format("upstream")`. They are checked, and unknown options are refused.

| option | used by | meaning |
| --- | --- | --- |
| `url` | all | the address of the service, such as `http://127.0.0.1:8000` |
| `queue` | `readStream` | the queue to take updates from |
| `stream` | `read`, writing | the stream; for `readStream`, optionally the stream of the queue |
| `max_updates` | `readStream` | the most updates in a batch, 10,000 by default |
| `partitions` | `readStream` | the least number of tasks that read a batch, 1 by default |
| `batch_rows` | writing | the most rows in a request, 100,000 by default |
| `on_rejected` | writing | `fail` (default) or `warn`, if the service rejects rows |
| `timeout` | all | seconds that each step of a request may take, 30 by default |
| `retries` | all | how often a request is retried, 4 by default |
| `header.NAME` | all | a header for every request, such as `header.Authorization` |
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
"""How many updates of a queue may be in process."""
MOST_AT_ONCE: Final = 10_000
"""The most updates in one answer of the service, by default."""
MOST_ROWS: Final = 200_000
"""The most rows in one body that the service accepts, by default."""
HEADER: Final = "header."

_CONNECTION: Final = ("url", "timeout", "retries")
_STREAM: Final = "the stream to read as a table; readStream needs the option `queue`"
_OF_SPARK: Final = frozenset({"checkpointlocation"})
"""Options of Spark itself, which Spark passes to every data source."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of the service, its headers, timeout and retries."""

    url: str
    timeout: float = TIMEOUT_SECONDS
    retries: int = RETRIES
    headers: Mapping[str, str] = field(default_factory=dict)

    def client(self) -> Client:
        """Return a client of the service; the caller closes it."""
        return Client(
            self.url, timeout=self.timeout, retries=self.retries, headers=dict(self.headers)
        )


@dataclass(frozen=True, slots=True)
class TableOptions:
    """The options for reading a table."""

    address: Address
    stream: str


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """The options for reading a queue as a stream."""

    address: Address
    queue: str
    stream: str | None = None
    max_updates: int = MOST_AT_ONCE
    partitions: int = 1

    @property
    def most_answers(self) -> int:
        """Return the most answers of the service in a batch."""
        return min(
            max(self.partitions, math.ceil(self.max_updates / MOST_AT_ONCE)), self.max_updates
        )

    @property
    def answer_limit(self) -> int:
        """Return how many updates to request at once."""
        return self.max_updates // self.most_answers


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options for writing."""

    address: Address
    stream: str
    batch_rows: int = ROWS_AT_ONCE
    does_fail: bool = True
    """Whether rejected rows are an error."""


def table_options(given: Mapping[str, str]) -> TableOptions:
    """Return the options of `spark.read`; OptionError names an invalid one."""
    options = _lowered(given)
    if "queue" in options:
        raise OptionError("queue", "is for readStream; use the option `stream` to read a table")
    _check_known(options, ("stream",))
    return TableOptions(_address(options), _name(options, "stream", _STREAM))


def queue_options(given: Mapping[str, str]) -> QueueOptions:
    """Return the options of `spark.readStream`; OptionError names an invalid one."""
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
    """Return the options of writing; OptionError names an invalid one."""
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
        hint = f"did you mean `{nearest[0]}`?" if nearest else f"the options are {', '.join(known)}"
        raise OptionError(name, f"is unknown; {hint}")


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
        raise OptionError(option, f"is {given!r}: expected seconds above 0, at most 86,400")
    return seconds
