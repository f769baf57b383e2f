"""What the commands that generate streams share: how a stream is made, written and described.

This imports Spark, so the commands import it when they run.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from ..generators.arrivals import Arrivals, Cut, Span
from ..generators.bursts import BurstArrivals
from ..generators.key_shares import KeyShares
from ..generators.update_stream import UpdateStream
from ..generators.value_columns import parse_values
from ..output.card import Cell, DataCard, Trace, write_card
from ..output.folder import output_folder
from ..output.trace import measure_trace, write_trace
from ..spark.progress import job_progress
from .job import errors_shown, job, show_card


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
            trace=trace,
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


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options that every generated stream has."""

    updates: int
    rate: float
    start: float
    value: str
    key_prefix: str
    seed: int
    partitions: int | None

    def generated(
        self,
        command: str,
        title: str,
        shares: KeyShares,
        arrivals: Arrivals | BurstArrivals,
        options: Mapping[str, Cell],
    ) -> Generated:
        """Return the stream of such keys; BadOptionError for what makes no sense."""
        values = parse_values(self.value)
        span = Span(self.updates, self.rate, self.start)
        stream = UpdateStream(shares, arrivals, span, values, self.seed, self.key_prefix)
        cut = Cut(partitions=self.partitions)
        meanings = {each.name: each.meaning for each in values}
        return Generated(
            command=command,
            title=title,
            seed=self.seed,
            options={**options, **self._own_options()},
            meanings={"time": "seconds", "key": self._meaning_of_key(), **meanings},
            frame=lambda session: stream.frame(session, cut),
        )

    def _own_options(self) -> dict[str, Cell]:
        said: dict[str, Cell] = {
            "updates": self.updates,
            "rate": self.rate,
            "start": self.start,
            "value": self.value,
        }
        return {**said, "key-prefix": self.key_prefix} if self.key_prefix else said

    def _meaning_of_key(self) -> str:
        number = "the number of the key, the busiest is 0"
        return f"{self.key_prefix} and {number}" if self.key_prefix else number


def write_generated(stream: Generated, out: Path, *, cores: int | None, is_json: bool) -> None:
    """Write a stream and its card into a new folder, and show the card."""
    what = f"generating {stream.command}"
    with errors_shown(), output_folder(out) as folder, job(what, cores=cores) as session:
        with job_progress(session, "Drawing updates"):
            write_trace(stream.frame(session), folder)
        with job_progress(session, "Counting what was written"):
            trace = measure_trace(session, folder, stream.meanings)
        card = stream.card(trace)
        write_card(card, folder)
    show_card(card, out, is_json=is_json)
