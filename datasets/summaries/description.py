"""What a `run.json` says of a run, checked member by member."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from upstream.events import FORMAT, VERSION, WAITING_PER_KEY

from ..errors import BadFileError

STALENESS: Final = ("queue", "application")
"""The kinds of staleness."""


@dataclass(frozen=True, slots=True)
class Integrated:
    """What the queue itself measured, until the end of the log."""

    queue_staleness: float
    application_staleness: float
    keys: int
    counters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a run."""

    name: str
    policy: str
    seed: int | None = None
    setting: str = "{}"
    """As JSON, so that two are the same if they say the same."""
    unit: str = "s"
    start: float | None = None
    end: float | None = None
    events: int | None = None
    is_finished: bool = True
    processing_cost: float | None = None
    servers: int = 1
    waiting_per_key: str = "one"
    not_told: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For either kind of staleness, why it cannot be recomputed."""
    integrated: Integrated | None = None
    is_assumed: bool = False
    """Whether there was no description, and this is what was assumed."""

    def why_not(self, of: str) -> tuple[str, ...]:
        """Return why this kind of staleness cannot be recomputed; () if it can."""
        return self.not_told.get(of, ())


def read_description(path: Path) -> Description:
    """Read a `run.json`; BadFileError names the member that makes no sense."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise BadFileError(path, f"is not JSON: {error}", line=line) from error
    members = _Members(path, given)
    if members.text("format", "") != FORMAT:
        raise BadFileError(path, f"`format` is not {FORMAT!r}, so this is not an event log")
    version = members.count("version")
    if version != VERSION:
        reason = f"format version {version} is not supported; expected {VERSION}"
        raise BadFileError(path, reason)
    policy = members.text("policy", path.parent.name)
    not_told = members.below("not_told")
    description = Description(
        name=members.text("name", policy),
        policy=policy,
        seed=members.count("seed"),
        setting=json.dumps(members.mapping("setting"), sort_keys=True),
        unit=members.text("unit", "s"),
        start=members.number("start"),
        end=members.number("end"),
        events=members.count("events"),
        is_finished=members.given.get("is_finished", True) is True,
        processing_cost=members.number("processing_cost", least=0.0),
        servers=members.count("servers", 1) or 1,
        waiting_per_key=members.text("waiting_per_key", "one", among=WAITING_PER_KEY),
        not_told={of: not_told.texts(of) for of in STALENESS},
        integrated=_integrated(members),
    )
    if None not in (description.start, description.end) and (
        (description.end or 0.0) < (description.start or 0.0)
    ):
        raise BadFileError(path, "`end` is before `start`")
    return description


def _integrated(members: _Members) -> Integrated | None:
    if members.given.get("integrated") is None:
        return None
    below = members.below("integrated")
    counters = below.below("counters")
    return Integrated(
        queue_staleness=below.number("queue_staleness", least=0.0) or 0.0,
        application_staleness=below.number("application_staleness", least=0.0) or 0.0,
        keys=below.count("keys", 0) or 0,
        counters={name: counters.count(name, 0) or 0 for name in counters.given},
    )


class _Members:
    """The members of a JSON object, each of which may be missing, or null."""

    def __init__(self, path: Path, given: object, within: str = "") -> None:
        self.path = path
        self.within = within
        if not isinstance(given, dict):
            raise BadFileError(path, f"{f'`{within}`' if within else 'it'} is not a JSON object")
        self.given: dict[str, object] = given

    def below(self, name: str) -> _Members:
        return _Members(self.path, self.mapping(name), f"{self.within}{name}.")

    def mapping(self, name: str) -> dict[str, object]:
        value = self._get(name, {})
        if not isinstance(value, dict):
            raise self._wrong(name, "an object")
        return value

    def text(self, name: str, default: str, *, among: tuple[str, ...] | None = None) -> str:
        value = self._get(name, default)
        if not isinstance(value, str) or (among is not None and value not in among):
            raise self._wrong(name, "a string" if among is None else " or ".join(among))
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._get(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._wrong(name, "a list of strings")
        return tuple(value)

    def number(self, name: str, *, least: float = -math.inf) -> float | None:
        value = self._get(name, None)
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not (isinstance(value, int | float) and least <= value < math.inf):
            raise self._wrong(name, "a finite number" + (", zero or more" if least == 0 else ""))
        return float(value)

    def count(self, name: str, default: int | None = None) -> int | None:
        value = self._get(name, default)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._wrong(name, "a whole number, zero or more")
        return value

    def _get(self, name: str, default: object) -> object:
        value = self.given.get(name)
        return default if value is None else value

    def _wrong(self, name: str, expected: str) -> BadFileError:
        value = json.dumps(self.given.get(name))
        return BadFileError(self.path, f"`{self.within}{name}` is {value[:60]}, not {expected}")
