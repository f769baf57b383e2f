"""Run the service: `python -m api`."""

from upstream.extras import imports_of_command

with imports_of_command("python -m api", "api"):
    from .command import app

if __name__ == "__main__":
    app(prog_name="python -m api")
