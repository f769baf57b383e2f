"""How a command runs: it starts Spark, shows errors in one line and describes its output."""

from __future__ import annotations

import json
import logging
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from upstream import UpStreamError

from ..errors import BadOptionError
from ..output.card import DataCard
from ..spark.failure import failures_named
from ..spark.interruption import ToldToEndError, interruption
from ..spark.session import check_extra, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show an error of the job, of Spark or of the system in one line, with exit status 1."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output closed it; typer ends quietly
    except ToldToEndError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.status) from error
    except (UpStreamError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from error


def need_spark() -> None:
    """End the command with one line and exit status 1 if Spark or what it needs is not installed.

    A command calls this before it imports the modules of its job, which import Spark.
    """
    with errors_shown():
        check_extra()


@contextmanager
def usage_errors() -> Iterator[None]:
    """Show invalid options as usage errors, with exit status 2."""
    try:
        yield
    except BadOptionError as error:
        raise typer.BadParameter(str(error)) from error


@contextmanager
def job(
    what: str, *, cores: int | None = None, input_bytes: int | None = None
) -> Iterator[SparkSession]:
    """Start Spark for a command, and show its errors in one line.

    `input_bytes` says about how much it reads, if that is known.

    Ctrl-C and SIGTERM cancel what Spark is doing, and end the command as the shell expects.
    """
    with errors_shown(), interruption() as interrupted:
        check_extra()
        with (
            failures_named(what),
            _logs_of_spark_off(),
            spark_session(cores=cores, input_bytes=input_bytes) as session,
        ):
            interrupted.watch(session)
            yield session


@contextmanager
def _logs_of_spark_off() -> Iterator[None]:
    """Keep PySpark's tracebacks off the error output: what went wrong is shown in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def show_card(card: DataCard, out: object, *, is_json: bool) -> None:
    """Print what was written, for a person or for a program."""
    if is_json:
        text = json.dumps({"folder": str(out), **card.as_json()}, indent=2, allow_nan=False)
        sys.stdout.write(text + "\n")
        return
    console = Console(highlight=False)
    table = Table(show_header=False, box=None)
    for name, value in card.as_facts().items():
        table.add_row(name, value)
    console.print(f"{card.title}, in {out}\n", markup=False)
    console.print(table)


def command_line() -> str:
    """Return the command as typed, with DIR for the folder of the output."""
    words = sys.argv[1:]
    for place, word in enumerate(words):
        if word == "--out" and place + 1 < len(words):
            words[place + 1] = "DIR"
        elif word.startswith("--out="):
            words[place] = "--out=DIR"
    return shlex.join(["python", "-m", "datasets", *words])
