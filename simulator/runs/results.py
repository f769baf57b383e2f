"""The files of a measured experiment: its table, its plot and its result."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from ..experiments.experiment import Experiment, Scale, Table, plot, save, to_csv


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an experiment, as it is written beside its table and its plot."""

    name: str
    title: str
    claim: str
    verdict: str
    held: bool | None
    seed: int
    is_quick: bool
    rows: int
    table: str
    """The name of the CSV file."""
    plot: str
    """The name of the PNG file."""
    fingerprint: str


def write_result(
    experiment: Experiment, table: Table, scale: Scale, *, out: Path, fingerprint: str
) -> Result:
    """Write the table, the plot, and last the result, which says that everything is there.

    An older result is removed first, so a run that is killed in between leaves no result.
    """
    verdict = experiment.verdict(table)
    result = Result(
        name=experiment.name,
        title=experiment.title,
        claim=experiment.claim,
        verdict=verdict.sentence,
        held=verdict.held,
        seed=scale.seed,
        is_quick=scale.is_quick,
        rows=len(table),
        table=f"{experiment.file_name}.csv",
        plot=f"{experiment.file_name}.png",
        fingerprint=fingerprint,
    )
    out.mkdir(parents=True, exist_ok=True)
    _path(experiment, out).unlink(missing_ok=True)
    (out / result.table).write_text(to_csv(table), encoding="utf-8")
    save(plot(experiment, table), out / result.plot)
    unfinished = out / f"{experiment.file_name}.json.unfinished"
    unfinished.write_text(json.dumps(asdict(result), indent=2) + "\n", encoding="utf-8")
    unfinished.replace(_path(experiment, out))
    return result


def read_result(experiment: Experiment, out: Path) -> Result | None:
    """Return the result that was written; None if there is none or files are missing."""
    try:
        result = Result(**json.loads(_path(experiment, out).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    is_whole = (out / result.table).exists() and (out / result.plot).exists()
    return result if is_whole else None


def _path(experiment: Experiment, out: Path) -> Path:
    return out / f"{experiment.file_name}.json"
