"""The event log of a run on disk: a folder with `run.json` and files of events.

The format is the one that `python -m datasets summarize` reads; datasets/summaries/log_format.py
describes it, and a test writes with this and reads with that. Events are kept in memory until there
are `EVENTS_PER_FILE` of them, and then written as a file of their own, which appears complete or
not at all: so the memory is bounded, and a run that is killed leaves all but its last file.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from upstream import Key
from upstream.events import key_text

from ..errors import OptionError
from ..model.event_log import EventKind
from ..model.measures import Measures
from ..model.policy_run import PolicyRun

FORMATS: Final = ("parquet", "csv")
EVENTS_PER_FILE: Final = 1 << 18
VERSION: Final = 1
COLUMNS: Final = ("event", "time", "kind", "key", "number")
KINDS: Final = tuple(kind.name.lower() for kind in EventKind)

Columns = tuple[Sequence[int], Sequence[float], Sequence[str], Sequence[str], Sequence[int]]

_MANY_WAIT: Final = {"append": "many", "append-shedding": "many", "adaptive": "either"}


@dataclass(frozen=True, slots=True)
class EventLogs:
    """Where the event logs of runs go."""

    folder: Path
    format: str
    setting: Mapping[str, object]
    """What the runs have in common."""

    def check(self, runs: Sequence[PolicyRun]) -> None:
        """Raise OptionError, before anything is measured, if some log could not be written."""
        if self.format not in FORMATS:
            raise OptionError("--events-format", self.format, " or ".join(FORMATS))
        for run in runs:
            folder = self.folder_of(run)
            if folder.exists() or folder.is_symlink():
                free = f"a folder without {folder.name}, which is there"
                raise OptionError("--events", self.folder, free)

    def folder_of(self, run: PolicyRun) -> Path:
        """Return where the log of a run goes."""
        return self.folder / f"{run.policy}-seed-{run.seed}"

    def measure(self, run: PolicyRun, on_progress: Callable[[float], None]) -> Measures:
        """Measure a run, and write its log."""
        files = EventFiles(self.folder_of(run), run, self.setting, format=self.format)
        measured = run.measure(on_progress, sink=files)
        files.finish(measured)
        return measured


class EventFiles:
    """The event log of one run. It is a sink of events until `finish`.

    `setting` is what else tells the run from others, such as its load.
    """

    __slots__ = (
        *("_described", "_events", "_files", "_folder", "_format"),
        *("_keys", "_kinds", "_numbers", "_times"),
    )

    def __init__(
        self,
        folder: Path,
        run: PolicyRun,
        setting: Mapping[str, object],
        *,
        format: str = "parquet",  # noqa: A002 - as the option is called
    ) -> None:
        self._folder = folder
        self._format = format
        self._events = self._files = 0
        self._times: list[float] = []
        self._kinds: list[EventKind] = []
        self._keys: list[Key] = []
        self._numbers: list[int] = []
        folder.mkdir(parents=True)
        self._described = {
            "format": "upstream-events",
            "version": VERSION,
            "written_by": "simulator",
            "policy": run.policy,
            "seed": run.seed,
            "setting": dict(setting),
            "unit": "mean inter-arrival times",
            "processing_cost": run.cost,
            "servers": run.servers,
            "waiting_per_key": _MANY_WAIT.get(run.policy, "one"),
            "not_told": {"queue": [], "application": []},
            "start": 0.0,
        }
        self._describe({"is_finished": False, "end": None, "events": None, "integrated": None})

    def note(self, time: float, kind: EventKind, key: Key, number: int) -> None:
        """Take one event."""
        self._times.append(time)
        self._kinds.append(kind)
        self._keys.append(key)
        self._numbers.append(number)
        if len(self._times) == EVENTS_PER_FILE:
            self._flush()

    def finish(self, measured: Measures) -> None:
        """Write what is left, and what the queue itself says of the run."""
        self._flush()
        integrated = {
            "queue_staleness": measured.queue.mean,
            "application_staleness": measured.application.mean,
            "keys": len(measured.queue.by_key),
            "counters": asdict(measured.counted),
        }
        end = {"end": measured.elapsed, "events": self._events, "integrated": integrated}
        self._describe({"is_finished": True, **end})

    def _describe(self, rest: Mapping[str, object]) -> None:
        text = json.dumps({**self._described, **rest}, indent=2, allow_nan=False)
        with self._appearing("run.json") as path:
            path.write_text(text + "\n", encoding="utf-8")

    def _flush(self) -> None:
        if not self._times:
            return
        with self._appearing(f"events-{self._files:06}.{self._format}") as path:
            columns = self._columns()
            (_write_csv if self._format == "csv" else _write_parquet)(path, columns)
        self._files += 1
        self._events += len(self._times)
        self._times, self._kinds, self._keys, self._numbers = [], [], [], []

    def _columns(self) -> Columns:
        events = range(self._events, self._events + len(self._times))
        kinds = [KINDS[kind] for kind in self._kinds]
        texts = {key: key_text(key) for key in set(self._keys)}
        keys = [texts[key] for key in self._keys]
        return events, self._times, kinds, keys, self._numbers

    @contextmanager
    def _appearing(self, name: str) -> Iterator[Path]:
        """Give the path of a file that gets its name when it is whole."""
        unfinished = self._folder / f".{name}.unfinished"
        yield unfinished
        unfinished.replace(self._folder / name)


def _write_csv(path: Path, columns: Columns) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(zip(*columns, strict=True))  # a float as the shortest text that is it


def _write_parquet(path: Path, columns: Columns) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = (pa.int64(), pa.float64(), pa.string(), pa.string(), pa.int64())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    pq.write_table(pa.table(dict(zip(COLUMNS, arrays, strict=True))), path)
