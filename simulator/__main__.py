"""Run the command line: `python -m simulator`."""

from .cli import app

app(prog_name="python -m simulator")
