"""The event log of a run on disk: a folder with `run.json` and files of events.

`upstream.events` defines the format, which `python -m datasets summarize` reads. Events stay in
memory until there are `EVENTS_PER_FILE` of them. They are then written as a file that appears
complete or not at all. So memory is bounded, and a run that is killed loses its last file only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from upstream import Key
from upstream.events import (
    DESCRIPTION,
    SUFFIXES,
    EventColumns,
    EventKind,
    Integrated,
    RunDescription,
    description_text,
)

from ..errors import OptionError
from ..model.measures import Measures
from ..model.policy_run import PolicyRun

FORMATS: Final = tuple(suffix.removeprefix(".") for suffix in SUFFIXES)
EVENTS_PER_FILE: Final = 1 << 18

_MANY_WAIT: Final = {"append": "many", "append-shedding": "many", "adaptive": "either"}


@dataclass(frozen=True, slots=True)
class EventLogs:
    """Where the event logs of several runs are written."""

    folder: Path
    format: str
    setting: Mapping[str, object]
    """The setting that the runs share."""

    def check(self, runs: Sequence[PolicyRun]) -> None:
        """Raise OptionError if a log could not be written; called before anything is measured."""
        if self.format not in FORMATS:
            raise OptionError("--events-format", self.format, " or ".join(FORMATS))
        for run in runs:
            folder = self.folder_of(run)
            if folder.exists() or folder.is_symlink():
                free = f"a folder that does not contain {folder.name} yet"
                raise OptionError("--events", self.folder, free)

    def folder_of(self, run: PolicyRun) -> Path:
        """Return the folder of a run's log."""
        return self.folder / f"{run.policy}-seed-{run.seed}"

    def measure(self, run: PolicyRun, on_progress: Callable[[float], None]) -> Measures:
        """Measure a run, and write its log."""
        files = EventFiles(self.folder_of(run), run, self.setting, format=self.format)
        measured = run.measure(on_progress, sink=files)
        files.finish(measured)
        return measured


class EventFiles:
    """The event log of one run. It is a sink of events until `finish`.

    `setting` distinguishes the run from others, for example by its load.
    """

    __slots__ = ("_described", "_events", "_folder", "_format")

    def __init__(
        self,
        folder: Path,
        run: PolicyRun,
        setting: Mapping[str, object],
        *,
        format: str = "parquet",  # noqa: A002 - the name of the option
    ) -> None:
        self._folder = folder
        self._format = format
        self._events = EventColumns()
        folder.mkdir(parents=True)
        self._described: RunDescription = {
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
            "is_finished": False,
            "end": None,
            "events": None,
            "integrated": None,
        }
        self._describe()

    def note(self, time: float, kind: EventKind, key: Key, number: int) -> None:
        """Take one event."""
        self._events.note(time, kind, key, number)
        if len(self._events) == EVENTS_PER_FILE:
            self._flush()

    def finish(self, measured: Measures) -> None:
        """Write the remaining events, and what the queue itself measured."""
        self._flush()
        self._described["is_finished"] = True
        self._described["end"] = measured.elapsed
        self._described["events"] = self._events.written
        self._described["integrated"] = Integrated(
            queue_staleness=measured.queue.mean,
            application_staleness=measured.application.mean,
            keys=len(measured.queue.by_key),
            counters=asdict(measured.counted),
        )
        self._describe()

    def _describe(self) -> None:
        with self._appearing(DESCRIPTION) as path:
            path.write_text(description_text(self._described), encoding="utf-8")

    def _flush(self) -> None:
        if not len(self._events):
            return
        with self._appearing(self._events.file_name(self._format)) as path:
            if self._format == "csv":
                path.write_text(self._events.to_csv(), encoding="utf-8", newline="")
            else:
                from pyarrow.parquet import write_table

                write_table(self._events.to_arrow(), path)
        self._events.set_written()

    @contextmanager
    def _appearing(self, name: str) -> Iterator[Path]:
        """Give the path of a file that gets its name when it is complete."""
        unfinished = self._folder / f".{name}.unfinished"
        yield unfinished
        unfinished.replace(self._folder / name)
