"""Names of streams and queues for the shell's completion."""

from __future__ import annotations

import os
import subprocess

import pytest

from upstream.client import Client

from .console import PROGRAM


def completions(url: str, *words: str) -> str:
    """Return what the shell is told about the last word."""
    environment = os.environ | {
        "_UPSTREAM_COMPLETE": "complete_zsh",
        "_TYPER_COMPLETE_ARGS": " ".join(["upstream", *words]),
    }
    run = subprocess.run(
        PROGRAM,
        env=environment | {"UPSTREAM_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""
    return run.stdout


@pytest.mark.slow
def test_names_are_completed_by_what_is_there(service_url: str, name: str, client: Client) -> None:
    client.create_queue(f"{name}-queue", stream=name, kind="append")
    found = completions(service_url, "put", name[:-1])
    assert f"{name}" in found
    assert "0 keys" in found
    assert f"{name}-queue" not in found
    found = completions(service_url, "--server", service_url, "watch", name)
    assert f"{name}-queue" in found
    assert f"append queue of {name}" in found


@pytest.mark.slow
def test_nothing_is_completed_where_no_service_is() -> None:
    files_instead = "_files\n"  # as zsh has it
    assert completions("http://127.0.0.1:1", "put", "x") == files_instead
    assert completions("nonsense", "put", "x") == files_instead


@pytest.mark.slow
def test_commands_are_completed() -> None:
    assert "staleness" in completions("http://127.0.0.1:1", "stal")
