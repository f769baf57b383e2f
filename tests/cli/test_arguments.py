"""The shared arguments: parsed and completed."""

from __future__ import annotations

import math
import os
import subprocess

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from upstream.cli.arguments import NegativeNumbersCommand, key_of, positive, value_of
from upstream.client import Client, Key

from .console import PROGRAM


def test_a_key_is_a_string_as_it_is() -> None:
    assert key_of("7", is_json=False) == "7"
    assert key_of('["a"]', is_json=False) == '["a"]'


@pytest.mark.parametrize(("text", "key"), [("7", 7), ('"7"', "7"), ('["a", 7]', ("a", 7))])
def test_a_key_may_be_given_as_json(text: str, key: Key) -> None:
    assert key_of(text, is_json=True) == key


@pytest.mark.parametrize("text", ["a", "1.5", "null", "[[1]]", "{}", "", '"\udcff"'])
def test_json_that_is_not_a_key_is_a_usage_error(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="--json-key"):
        key_of(text, is_json=True)


@pytest.mark.parametrize("text", ["24.50", "null", '{"a": [1, 2]}', '"x"', "1e3"])
def test_json_is_sent_as_it_was_typed(text: str) -> None:
    value = value_of(text, is_raw=False)
    assert isinstance(value, msgspec.Raw)
    assert bytes(value) == text.encode()


@pytest.mark.parametrize("text", ["up", "", "1 2", "NaN", "{a: 1}", "01", "'x'", "\udcff"])
def test_a_value_that_is_not_json_is_a_string(text: str) -> None:
    assert value_of(text, is_raw=False) == text


def test_raw_is_a_string_in_any_case() -> None:
    assert value_of("24.5", is_raw=True) == "24.5"


def test_a_number_that_is_not_above_zero_is_a_usage_error() -> None:
    assert positive(None) is None
    assert positive(0.5) == 0.5
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(typer.BadParameter, match="above 0"):
            positive(bad)


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
def test_names_are_completed_from_the_service(service_url: str, name: str, client: Client) -> None:
    client.create_queue(f"{name}-queue", stream=name, kind="append")
    found = completions(service_url, "put", name[:-1])
    assert f"{name}" in found
    assert "0 keys" in found
    assert f"{name}-queue" not in found
    found = completions(service_url, "--server", service_url, "watch", name)
    assert f"{name}-queue" in found
    assert f"append queue of {name}" in found


@pytest.mark.slow
def test_no_name_is_completed_without_a_service() -> None:
    files_instead = "_files\n"  # as zsh has it
    assert completions("http://127.0.0.1:1", "put", "x") == files_instead
    assert completions("nonsense", "put", "x") == files_instead


@pytest.mark.slow
def test_commands_are_completed() -> None:
    assert "staleness" in completions("http://127.0.0.1:1", "stal")


app = typer.Typer()


@app.command(cls=NegativeNumbersCommand)
def show(key: str, value: str = typer.Argument("none"), *, time: float = 0.0) -> None:
    """Print the arguments."""
    typer.echo(f"{key} {value} {time}")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["k", "-5"], "k -5 0.0"),
        (["-1", "-2.5e-3"], "-1 -2.5e-3 0.0"),
        (["k", "-5", "--time", "-7"], "k -5 -7.0"),
        (["--", "--k", "-5"], "--k -5 0.0"),
        (["k", "-"], "k - 0.0"),
    ],
)
def test_a_number_below_zero_is_an_argument(arguments: list[str], shown: str) -> None:
    assert CliRunner().invoke(app, arguments).stdout == f"{shown}\n"


@pytest.mark.parametrize("arguments", [["k", "--nonsense"], ["-5", "--nonsense"], ["-5", "-x"]])
def test_an_option_that_does_not_exist_is_refused(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "No such option" in result.stderr
