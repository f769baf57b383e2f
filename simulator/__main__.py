"""Run the command line: `python -m simulator`."""

from upstream.extras import imports_of_command

with imports_of_command("python -m simulator", "simulator"):
    from .cli import app

if __name__ == "__main__":  # worker processes import this module, too
    app(prog_name="python -m simulator")
