"""`python -m datasets taq`: NYSE TAQ trades or quotes, as a trace in order of time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..output.card import write_card
from ..output.folder import output_folder
from ..taq.formats import FORMATS, USUAL_CORRECTIONS, USUALLY_DROPPED
from .job import command_line, errors_shown, job, need_spark, show_card, usage_errors
from .options import Cores, Json, Out

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Files of one kind, trades or quotes; also gzip."),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help=f"The format of the files: {', '.join(FORMATS)}. [default: from their first lines]",
    ),
]
Day = Annotated[
    str | None,
    typer.Option(
        "--date",
        metavar="YYYYMMDD",
        help="The day of daily files that do not state it. [default: the date in their names]",
    ),
]
Symbols = Annotated[
    str | None,
    typer.Option("--symbols", metavar="A,B", help="Keep only these symbols, such as `IBM,BRK B`."),
]
AllConditions = Annotated[
    bool, typer.Option("--all-conditions", help="Drop no row for its condition.")
]
KeptConditions = Annotated[
    str | None,
    typer.Option(
        "--conditions",
        metavar="LIST",
        help="Keep only rows whose codes are all in this list, such as `@,F`; a blank condition "
        "has none.",
    ),
]
DroppedConditions = Annotated[
    str | None,
    typer.Option(
        "--drop-conditions",
        metavar="LIST",
        help="Drop rows with one of these codes, or with all the codes of one such as `@4`. "
        f"[default: for trades {','.join(USUALLY_DROPPED)}]",
    ),
]
Corrections = Annotated[
    str | None,
    typer.Option(
        "--corrections",
        metavar="LIST",
        help="Correction indicators of trades to keep, or `all`. "
        f"[default: {','.join(map(str, USUAL_CORRECTIONS))}]",
    ),
]
AnyG127 = Annotated[bool, typer.Option("--any-g127", help="Keep trades whose G127 is not 0.")]
AnyPrice = Annotated[bool, typer.Option("--any-price", help="Keep trades at prices not above 0.")]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="HH:MM[:SS]", help="Drop rows before this time, New York."),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="HH:MM[:SS]", help="Drop rows after this time, New York."),
]
NoTrailer = Annotated[
    bool,
    typer.Option("--no-trailer", help="Accept daily files without a last line END|date|rows."),
]
BadRows = Annotated[
    int,
    typer.Option(
        "--bad-rows", min=0, help="How many rows that do not parse to drop before failing."
    ),
]


def load_taq(
    *,
    files: Files,
    out: Out,
    format_name: FormatName = None,
    day: Day = None,
    symbols: Symbols = None,
    all_conditions: AllConditions = False,
    conditions: KeptConditions = None,
    drop_conditions: DroppedConditions = None,
    corrections: Corrections = None,
    any_g127: AnyG127 = False,
    any_price: AnyPrice = False,
    from_time: From = None,
    to_time: To = None,
    no_trailer: NoTrailer = False,
    bad_rows: BadRows = 0,
    cores: Cores = None,
    is_json: Json = False,
) -> None:
    """Load NYSE TAQ trades or quotes into Parquet, sorted by time over all files.

    Formats: the daily files since October 2016, with `|` between fields and a trailer; those
    before, with fields of fixed widths; and the monthly product as WRDS exports it, with commas.

    Columns: `time` in seconds, UTC; `key`, the symbol; `time_ns`, the time exactly; then those of
    trades or quotes. Rows of the same time keep the order of the files and of their lines.

    A sale condition is judged by its codes, wherever they are in it: `4` is dropped in `4`, `@4`
    and ` 4 B`. Trades with unusual corrections, G127 or prices are dropped too. Each dropped row
    is counted under the first reason that applies.
    """
    need_spark()
    from ..taq.checks import Allowance
    from ..taq.load import Wanted, load
    from ..taq.options import date_of, filters_of, format_of
    from ..taq.sources import kind_of, recognise

    with errors_shown(), usage_errors():
        sources = recognise(files, format_of(format_name))
        filters = filters_of(
            kind_of(sources),
            conditions=conditions,
            drop_conditions=drop_conditions,
            all_conditions=all_conditions,
            corrections=corrections,
            any_g127=any_g127,
            any_price=any_price,
            symbols=symbols,
            from_time=from_time,
            to_time=to_time,
        )
        date = date_of(day, [source.format for source in sources])
        allowance = Allowance(bad_rows, is_trailer_needed=not no_trailer, date=date)
    wanted = Wanted(filters, allowance)
    with errors_shown(), output_folder(out) as folder, job("loading TAQ", cores=cores) as session:
        card = load(session, sources, folder, wanted, command_line())
        write_card(card, folder)
    show_card(card, out, is_json=is_json)
