"""The settings of the service: each from an environment variable `UPSTREAM_*`, or its default.

The command line takes precedence over the environment. A value that is not valid stops the service
with a line that names the variable and what is expected. The line does not repeat the value, which
may be a secret in the wrong variable.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Final, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import AfterValidator, BeforeValidator, ByteSize, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from upstream import UpStreamError
from upstream.push_limits import DEFAULT_WINDOW, MOST_WINDOW

PREFIX: Final = "UPSTREAM_"
NOT_OURS: Final = frozenset({"UPSTREAM_URL"})
"""Variables with the prefix that belong to the client."""
FROM_KUBERNETES: Final = re.compile(r"UPSTREAM_(SERVICE_(HOST|PORT)|PORT_\d+_)")
"""Variables that Kubernetes sets where there is a Service named `upstream`."""

KIB: Final = 1_024
MIB: Final = 1_024 * KIB
GIB: Final = 1_024 * MIB

LONGEST_NAME: Final = 255
"""The longest name of a file or folder, in bytes, on all usual file systems."""

_size = TypeAdapter(ByteSize)


def _parse_size(given: object) -> int:
    try:
        return int(_size.validate_python(given))
    except ValidationError:
        raise PydanticCustomError("byte_size", "not a number of bytes") from None


def _parse_origins(given: object) -> object:
    """Return the origins of a list with commas, as browsers send them."""
    origins = given.split(",") if isinstance(given, str) else given
    if not isinstance(origins, (list, tuple)):
        return given
    names = (str(origin).strip().rstrip("/").lower() for origin in origins)
    return tuple(filter(None, names))


def _parse_proxies(given: object) -> object:
    """Return the addresses and networks of a list with commas."""
    return tuple(given.replace(",", " ").split()) if isinstance(given, str) else given


def _check_network(given: str) -> str:
    return str(ip_network(given, strict=False))


def _check_folder(folder: Path) -> Path:
    if any(len(part.encode(errors="replace")) > LONGEST_NAME for part in folder.parts):
        raise PydanticCustomError("folder", "a name that is too long")
    return folder


IS_SIZE: Final = BeforeValidator(_parse_size)
Bytes = Annotated[int, IS_SIZE]
Origin = Annotated[str, Field(pattern=r"^[a-z][a-z0-9+.-]*://[^/?#@\s]+$")]
Origins = Annotated[tuple[Origin, ...], NoDecode, BeforeValidator(_parse_origins)]
Proxy = Annotated[str, AfterValidator(_check_network)]
IS_LIST_OF_PROXIES: Final = BeforeValidator(_parse_proxies)
Proxies = Annotated[tuple[Proxy, ...], NoDecode, IS_LIST_OF_PROXIES]
Folder = Annotated[Path, AfterValidator(_check_folder)]
Seconds = Annotated[float, Field(allow_inf_nan=False)]
LogLevel = Literal["critical", "error", "warning", "info", "debug"]


class SettingsError(UpStreamError, ValueError):
    """Settings are not valid; the message has a line for each fault."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("\n".join(faults))


class Settings(BaseSettings):
    """How the service runs, and its limits. They do not change while it runs."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid"
    )

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        max_length=255,
        description="Address to listen on; 0.0.0.0 is every IPv4 address of this machine.",
    )
    port: int = Field(
        default=8_000, ge=0, le=65_535, description="Port to listen on; 0 lets the system choose."
    )
    allowed_origins: Origins = Field(
        default=(),
        description="Other origins whose pages may use the service from a browser.",
    )
    trusted_proxies: Proxies = Field(
        default=(),
        description="Proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted.",
    )
    demo: bool = Field(
        default=True, description="Run a demo: one feed, and four queues with slow consumers."
    )

    log_level: LogLevel = Field(default="info", description="The lowest level of events to log.")
    log_format: Literal["auto", "text", "json"] = Field(
        default="auto",
        description="text for people, json for programs; auto is text on a terminal, else json.",
    )
    access_log: bool = Field(
        default=False, description="Log every request, which makes the fast routes slower."
    )

    event_log: Folder | None = Field(
        default=None,
        description="A folder for logs of what arrives, is dequeued and is delivered, for "
        "`python -m datasets summarize`. It slows down intake: with one queue, a batch of 1,000 "
        "rows takes 3.0 ms rather than 110 µs. The service never removes the files.",
    )

    max_body_bytes: Bytes = Field(
        default=16 * MIB, ge=KIB, le=4 * GIB, description="The longest body of a request."
    )
    max_key_bytes: Bytes = Field(default=KIB, ge=1, le=MIB, description="The longest key, encoded.")
    max_value_bytes: Bytes = Field(
        default=MIB, ge=1, le=GIB, description="The longest value, encoded."
    )
    max_depth: int = Field(
        default=64,
        ge=1,
        le=500,
        description="The deepest nesting of arrays and objects in a value.",
    )
    max_rows: int = Field(
        default=200_000, ge=1, le=100_000_000, description="The most updates in one request."
    )
    max_answer_bytes: Bytes = Field(
        default=8 * MIB,
        ge=KIB,
        le=4 * GIB,
        description="About the longest answer of a dequeue; it returns fewer updates if needed.",
    )
    max_dequeue: int = Field(
        default=10_000, ge=1, le=1_000_000, description="The largest limit of a dequeue."
    )
    max_wait_seconds: Seconds = Field(
        default=60.0, ge=0, le=3_600, description="The longest that a dequeue may wait for updates."
    )
    max_streams: int = Field(default=1_000, ge=1, le=1_000_000, description="The most streams.")
    max_queues: int = Field(default=1_000, ge=1, le=1_000_000, description="The most queues.")
    max_pool_bytes: Bytes = Field(
        default=GIB,
        ge=4 * KIB,
        le=1_024 * GIB,
        description="The most memory for the page pools of all streams together.",
    )
    max_connections: int = Field(
        default=1_000,
        ge=1,
        le=1_000_000,
        description="The most push connections (websockets and event streams).",
    )

    metrics_names: int = Field(
        default=1_000,
        ge=0,
        le=1_000_000,
        description="The most streams, and the most queues, that /metrics lists by name; it only "
        "counts the others.",
    )

    default_window: int = Field(
        default=DEFAULT_WINDOW,
        ge=1,
        le=MOST_WINDOW,
        description="How many messages a websocket client may leave unanswered, unless it asks for "
        "another number.",
    )
    heartbeat_seconds: Seconds = Field(
        default=15.0,
        gt=0,
        le=3_600,
        description="How often an idle push connection is sent a heartbeat.",
    )

    idempotency_seconds: Seconds = Field(
        default=600.0,
        ge=0,
        le=86_400,
        description="For how many seconds a retry gets the answer of the first request.",
    )
    idempotency_records: int = Field(
        default=100_000, ge=0, le=10_000_000, description="The most answers kept for retries."
    )
    idempotency_bytes: Bytes = Field(
        default=64 * MIB,
        ge=0,
        le=64 * GIB,
        description="The most memory for answers kept for retries.",
    )

    shutdown_seconds: Seconds = Field(
        default=3.0,
        ge=0,
        le=600,
        description="How many seconds a shutdown waits for running requests.",
    )
    header_timeout_seconds: Seconds = Field(
        default=10.0,
        gt=0,
        le=3_600,
        description="How many seconds a client may take to send its headers.",
    )


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, described for `--settings` and the documentation."""

    variable: str
    default: str
    expected: str
    description: str


def load_settings(given: Mapping[str, object] | None = None) -> Settings:
    """Return the settings of the environment, where those given by name take precedence.

    Raises SettingsError if any is not valid.
    """
    try:
        return Settings(**(given or {}))  # type: ignore[arg-type]  # they are validated here
    except ValidationError as error:
        raise SettingsError(faults_of(error)) from None


def faults_of(error: ValidationError) -> list[str]:
    """Return a line for each fault that pydantic found. It names the variable, not its value."""
    faults = error.errors(include_url=False, include_context=False)
    return [_fault(fault) for fault in faults]


def warnings_of(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return a line for each variable with the prefix that is not a setting: it may be mistyped."""
    known = {variable(name) for name in Settings.model_fields}
    return [
        f"{name} is not a setting{_did_you_mean(name.upper(), known)}"
        for name in sorted(environment)
        if name.upper().startswith(PREFIX)
        and name.upper() not in known | NOT_OURS
        and not FROM_KUBERNETES.match(name)
    ]


def describe() -> Iterator[Setting]:
    """Yield the description of each setting, in their order."""
    for name, field in Settings.model_fields.items():
        yield Setting(
            variable=variable(name),
            default=_shown(field.default, is_size=_is_size(field)),
            expected=_expected(field),
            description=field.description or "",
        )


def variable(name: str) -> str:
    """Return the environment variable of a setting.

    >>> variable("port")
    'UPSTREAM_PORT'
    """
    return PREFIX + name.upper()


def _fault(fault: ErrorDetails) -> str:
    name = str(fault["loc"][0])
    field = Settings.model_fields.get(name)
    if field is None:
        return f"{name} is not a setting{_did_you_mean(name, Settings.model_fields)}"
    hint = ""
    if name == "port" and str(fault["input"]).startswith("tcp://"):
        hint = (
            "; Kubernetes sets it for a Service named upstream: "
            "put enableServiceLinks: false into the pod's specification"
        )
    return f"{variable(name)} must be {_expected(field)}{hint}"


def _did_you_mean(name: str, known: Mapping[str, object] | set[str]) -> str:
    nearest = get_close_matches(name, known, n=1)
    return f"; did you mean {nearest[0]}?" if nearest else ""


def _expected(field: FieldInfo) -> str:
    """Return the values that a field's type and bounds allow, in words."""
    if get_origin(field.annotation) is Literal:
        *others, last = get_args(field.annotation)
        return f"{', '.join(others)} or {last}"
    if field.annotation is bool:
        return "true or false"
    if field.annotation is str:
        return "an address or a host name"
    if field.annotation == Folder | None:
        return "a folder, which is created if it does not exist"
    if IS_LIST_OF_PROXIES in field.metadata:
        return "addresses or networks such as 10.0.0.0/8, with commas between them"
    if get_origin(field.annotation) is tuple:
        return "origins such as https://example.org, with commas between them"
    is_size = _is_size(field)
    least = next(
        f"more than {_shown(bound.gt)}" if isinstance(bound, Gt) else _shown(bound.ge, is_size)
        for bound in field.metadata
        if isinstance(bound, Gt | Ge)
    )
    most = next(_shown(bound.le, is_size) for bound in field.metadata if isinstance(bound, Le))
    if is_size:
        return f"a number of bytes from {least} to {most}, such as 65536 or 64KiB"
    if field.annotation is int:
        return f"a whole number from {least} to {most}"
    joint = " and at most " if least.startswith("more") else " to "
    return f"a number of seconds{',' if joint != ' to ' else ' from'} {least}{joint}{most}"


def _is_size(field: FieldInfo) -> bool:
    return IS_SIZE in field.metadata


def _shown(number: object, is_size: bool = False) -> str:
    """Return a default or a bound as it is written in the environment."""
    if isinstance(number, bool):
        return str(number).lower()
    if number is None:
        return ""
    if isinstance(number, tuple):
        return ",".join(number)
    if is_size and isinstance(number, int) and number:
        for unit, size in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
            if number % size == 0:
                return f"{number // size}{unit}"
    return f"{number:g}" if isinstance(number, float) else str(number)
