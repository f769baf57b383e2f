"""What the commands that generate streams share: how one is written, described and shown."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..output.card import Cell, DataCard
from ..output.folder import output_folder
from ..output.trace import Trace, measure_trace, write_trace
from ..spark.progress import job_progress
from .job import errors_shown, job, show_card

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Generated:
    """A stream that a command makes: its options, its rows, and what they mean."""

    command: str
    title: str
    seed: int
    options: Mapping[str, Cell]
    """All that the data depend on, by the names that the options have, but for the seed."""
    meanings: Mapping[str, str]
    """Of the columns."""
    frame: Callable[[SparkSession], DataFrame]
    notes: tuple[str, ...] = ()

    def card(self, trace: Trace) -> DataCard:
        """Return the card of what was written."""
        return DataCard(
            title=self.title,
            command=self.command_line(),
            updates=trace.updates,
            keys=trace.keys,
            first_time=trace.first_time,
            last_time=trace.last_time,
            columns=trace.columns,
            skew=trace.skew,
            seed=self.seed,
            parameters=self.options,
            notes=self.notes,
        )

    def command_line(self) -> str:
        """Return the command that makes the same again; it depends on no other option."""
        words = ["python", "-m", "datasets", self.command]
        for name, value in {**self.options, "seed": self.seed}.items():
            text = str(value)
            # An argument that begins with a dash would be taken for an option.
            words += [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]
        return f"{shlex.join(words)} --out DIR"


def write_generated(stream: Generated, out: Path, *, cores: int | None, is_json: bool) -> None:
    """Write a stream and its card into a new folder, and show the card."""
    what = f"generating {stream.command}"
    with errors_shown(), output_folder(out) as folder, job(what, cores=cores) as session:
        with job_progress(session, "Drawing updates"):
            write_trace(stream.frame(session), folder)
        with job_progress(session, "Counting what was written"):
            trace = measure_trace(session, folder, stream.meanings)
        card = stream.card(trace)
        card.write(folder)
    show_card(card, out, is_json=is_json)
