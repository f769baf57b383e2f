"""Run the service: `python -m api`."""

from .command import app

if __name__ == "__main__":
    app(prog_name="python -m api")
