"""The files of a measured experiment, its table, plot and result, and the page of all results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Final

from ..experiments.experiment import Experiment, Scale, Table, plot, save, to_csv
from ..experiments.registry import EXPERIMENTS


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


FILE_NAME: Final = "index.html"

_UNITS: Final = (
    "Times are in units of the mean time between two arrivals unless an axis says otherwise."
)
_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem;
       color: #222; background: #fff }
h1 { line-height: 1.2 }
table { border-collapse: collapse; width: 100% }
td, th { border-bottom: 1px solid #ddd; padding: .3rem .5rem; text-align: left;
         vertical-align: top }
section { border-top: 1px solid #ddd; margin-top: 2rem }
img { max-width: 100%; height: auto }
.mark { border-radius: .3rem; padding: .1rem .5rem; white-space: nowrap; font-size: .9rem }
.held { background: #d9f2e0; color: #0a4a20 }
.failed { background: #fbdedb; color: #7a130a }
.measured { background: #e4e9f2; color: #24344f }
.claim { color: #555 }
"""


def write_summary_page(out: Path) -> Path:
    """Write the page of all results that are in a folder, and return where it is."""
    found = [read_result(experiment, out) for experiment in EXPERIMENTS.values()]
    path = out / FILE_NAME
    path.write_text(summary_page([result for result in found if result]), encoding="utf-8")
    return path


def summary_page(results: Sequence[Result]) -> str:
    """Return the page of these results."""
    figures = [result for result in results if EXPERIMENTS[result.name].is_figure]
    ours = [result for result in results if not EXPERIMENTS[result.name].is_figure]
    return "\n".join(
        [
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>UpStream: what was measured</title><style>{_STYLE}</style></head><body>",
            "<h1>UpStream: what was measured</h1>",
            f"<p>{_count(results)} {_scales(results)} {_UNITS}</p>",
            *_contents("The report's figures", figures),
            *_contents("Beyond the report", ours),
            *(line for result in [*figures, *ours] for line in _section(result)),
            "</body></html>",
            "",
        ]
    )


def _count(results: Sequence[Result]) -> str:
    held = sum(result.held is True for result in results)
    failed = sum(result.held is False for result in results)
    return (
        f"{len(results)} experiments: {held} claims held, {failed} did not, in "
        f"{len(results) - held - failed} nothing was claimed."
    )


def _scales(results: Iterable[Result]) -> str:
    found = sorted(
        {f"seed {each.seed}, {'quick' if each.is_quick else 'full'} scale" for each in results}
    )
    return f"Measured with {'; with '.join(found)}." if found else ""


def _contents(heading: str, results: Sequence[Result]) -> list[str]:
    if not results:
        return []
    rows = [
        f'<tr><td><a href="#{result.name}">{_label(result)}</a></td>'
        f"<td>{_mark(result)}</td><td>{escape(result.verdict)}</td></tr>"
        for result in results
    ]
    return [f"<h2>{heading}</h2>", "<table>", *rows, "</table>"]


def _section(result: Result) -> list[str]:
    return [
        f'<section id="{result.name}"><h2>{_label(result)}</h2>',
        f'<p class="claim">{escape(result.claim)}</p>',
        f"<p>{_mark(result)} {escape(result.verdict)}</p>",
        f'<img src="{escape(result.plot)}" alt="{_label(result)}" loading="lazy">',
        f'<p><a href="{escape(result.table)}">{result.table}</a>, {result.rows:,} rows</p>',
        "</section>",
    ]


def _label(result: Result) -> str:
    is_figure = EXPERIMENTS[result.name].is_figure
    label = f"Figure {result.name}" if is_figure else result.name.capitalize()
    return escape(f"{label}: {result.title}")


def _mark(result: Result) -> str:
    kind = {True: "held", False: "failed", None: "measured"}[result.held]
    words = {"held": "claim held", "failed": "claim did not hold", "measured": "measured"}
    return f'<span class="mark {kind}">{words[kind]}</span>'
