"""Run the command line: `python -m datasets`."""

from upstream.extras import imports_of_command

with imports_of_command("python -m datasets", "datasets"):
    from .cli import app

if __name__ == "__main__":
    app(prog_name="python -m datasets")
