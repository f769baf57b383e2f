"""Options that the commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

MAX_SEED: Final = 2**32 - 1

Out = Annotated[
    Path,
    typer.Option("--out", metavar="DIR", help="The folder to write; there must be none as yet."),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=MAX_SEED, help="Seed from which all is drawn.")
]
Cores = Annotated[
    int | None,
    typer.Option("--cores", min=1, help="How many cores Spark may use. [default: all]"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]
