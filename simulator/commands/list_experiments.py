"""`python -m simulator list`: what can be measured."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..experiments.registry import EXPERIMENTS


def list_experiments(
    *,
    is_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the experiments: the report's figures, and our own.

    Run one with `python -m simulator figure NAME --out DIR`, or all of them with
    `python -m simulator all --out DIR`.
    """
    if is_json:
        found = [
            {"name": each.name, "title": each.title, "claim": each.claim}
            for each in EXPERIMENTS.values()
        ]
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    table = Table("name", "what it shows", "what is claimed or asked", box=None, pad_edge=False)
    for each in EXPERIMENTS.values():
        label = f"figure {each.name}" if each.is_figure else each.name
        table.add_row(label, each.title, each.claim)
    Console().print(table)
