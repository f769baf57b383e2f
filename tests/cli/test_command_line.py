"""The command line as a whole: what it says of itself, and where it looks for the service."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys

import pytest

import upstream
from tests.server_process import ROOT
from upstream.cli.command_line import HELP, app, create, remove
from upstream.client import Client, NotFoundError

from .console import REFUSED, UNREACHABLE, USAGE_ERROR, invoke

WATCHING = ["--keys", "--max-rate", "--max-rate-per-key", "--window", "--count", "--snapshot"]
COMMANDS: dict[str, list[str]] = {
    "ls": ["--json"],
    "put": ["STREAM", "KEY", "VALUE", "--time", "--raw", "--json-key", "--batch", "--json"],
    "get": ["STREAM", "KEY", "--json-key", "--raw", "--json"],
    "dequeue": ["QUEUE", "--limit", "--wait", "--deliver", "--no-deliver", "--json"],
    "watch": ["QUEUE", *WATCHING, "--json"],
    "tail": ["QUEUE", *WATCHING, "--messages"],
    "top": ["--interval", "--count", "--json"],
    "staleness": ["QUEUE", "--stalest", "--json"],
    "bench": ["--updates", "--batch", "--keys", "--connections", "--seed", "--json"],
    "create stream": ["NAME", "--retain", "--forget-after", "--pool-bytes", "--json"],
    "create queue": [
        *("NAME", "--stream", "--kind", "--scheduler", "--weight", "--longest-wait"),
        *("--processing-cost", "--capacity", "--shedding", "--time-to-live", "--lease"),
        *("--snapshot", "--window-size", "--window-slide", "--window-tick", "--window-buffer"),
        *("--aggregate", "--of", "--json"),
    ],
    "rm stream": ["STREAM", "--yes", "--json"],
    "rm queue": ["QUEUE", "--yes", "--json"],
    "rm key": ["STREAM", "KEY", "--json-key", "--json"],
}

EXAMPLE = re.compile(r"(?:`|^    )(upstream [a-z][^`\n]+)", re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_lists_every_command_and_its_options(command: str) -> None:
    words = command.split()
    assert f" {words[-1]} " in invoke(*words[:-1], "--help").output
    output = invoke(*words, "-h").output
    for option in [*COMMANDS[command], "--help"]:
        assert option in output


def examples() -> list[str]:
    """Return the command lines in the help of all commands, in the order of the commands."""
    found = EXAMPLE.findall(HELP)
    for each in [
        *app.registered_commands,
        *create.registered_commands,
        *remove.registered_commands,
    ]:
        found += EXAMPLE.findall(" ".join((inspect.getdoc(each.callback) or "").split()))
    return found


def test_the_examples_in_the_help_work(service_url: str, client: Client) -> None:
    lines = [each for each in examples() if "|" not in each and "QUEUE" not in each]
    assert len(lines) >= 25
    for line in lines:
        for name in ("prices", "temperatures"):
            client.create_queue(name)
            client.put_many(name, [("IBM", 24.5), ("GOOG", 1.5)])
        words = shlex.split(line)[1:]
        endless = {"watch", "tail", "top"} & {words[0]}
        few = ["--updates", "100"] if words[0] == "bench" else []
        result = invoke(*words, *few, *(["--count", "1"] if endless else []), url=service_url)
        assert result.exit_code == 0, (line, result.output)
    for name in ("prices", "temperatures", "sensors"):
        client.drop_stream(name)


def test_no_command_shows_the_help_which_explains_the_exit_codes() -> None:
    for arguments in ([], ["--help"]):
        output = " ".join(invoke(*arguments).output.split())
        assert "upstream create queue prices" in output
        for meaning in ("0 success", "3 the service cannot be reached", "130 interrupted"):
            assert meaning in output


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nonsense"], "nonsense"),
        (["ls", "--nonsense"], "--nonsense"),
        (["--server", "localhost:8000", "ls"], "http://127.0.0.1:8000"),
        (["--timeout", "0", "ls"], "--timeout"),
        (["--timeout", "1e300", "ls"], "--timeout"),
        (["--timeout", "inf", "ls"], "--timeout"),
        (["--server", "http://a\x7f.org", "ls"], "http://127.0.0.1:8000"),
        (["--server", "http://\u2603..org", "ls"], "http://127.0.0.1:8000"),
        (["--server", f"http://{'a' * 70}.org", "ls"], "http://127.0.0.1:8000"),
        (["put", "s", "-5", "--nonsense"], "--nonsense"),
        (["put"], "STREAM"),
        (["put", "s", "k"], "give both KEY and VALUE"),
        (["put", "s", "--time", "3"], "need KEY and VALUE"),
        (["put", "s", "k", "1", "--time", "nan"], "time nan is not a finite number"),
        (["put", "a/b", "k", "1"], "name"),
        (["get", "s", "x", "--json-key"], "--json-key"),
        (["dequeue", "q", "--limit", "0"], "--limit"),
        (["dequeue", "q", "--wait", "-1"], "--wait"),
        (["watch", "q", "--max-rate", "0"], "--max-rate"),
        (["tail", "q", "--max-rate-per-key", "a:b"], "--max-rate-per-key"),
        (["create", "queue", "q", "--weight", "a"], "--weight"),
        (["create", "queue", "q", "--kind", "lifo"], "--kind"),
        (["top", "--interval", "-1"], "--interval"),
        (["top", "--interval", "1e300"], "--interval"),
        (["bench", "--updates", "0"], "--updates"),
    ],
)
def test_an_invalid_command_line_names_the_fault_and_sends_nothing(
    arguments: list[str], named: str
) -> None:
    result = invoke(*arguments)
    assert result.exit_code == USAGE_ERROR
    assert named in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_an_unreachable_service_has_an_exit_code_of_its_own(unused_url: str) -> None:
    result = invoke("ls", url=unused_url)
    assert result.exit_code == UNREACHABLE
    assert unused_url in result.stderr
    assert result.stdout == ""


def test_the_service_may_be_named_by_the_environment(unused_url: str) -> None:
    result = invoke("ls", env={"UPSTREAM_URL": unused_url})
    assert result.exit_code == UNREACHABLE
    assert unused_url in result.stderr


def test_the_option_goes_before_the_environment(service_url: str, unused_url: str) -> None:
    assert invoke("ls", url=service_url, env={"UPSTREAM_URL": unused_url}).exit_code == 0


@pytest.mark.parametrize(
    "command",
    [
        *("get STREAM", "get STREAM a", "rm stream STREAM", "rm key STREAM a", "reset STREAM a"),
        *("put STREAM a 1", "rm queue QUEUE", "dequeue QUEUE", "deliver QUEUE r-1"),
        *("watch QUEUE", "tail QUEUE", "staleness QUEUE", "get KNOWN a", "get KNOWN 7 -j"),
        "rm key KNOWN 7 --json-key --json",
    ],
)
def test_an_unknown_stream_queue_or_key_is_refused(
    service_url: str, name: str, client: Client, command: str
) -> None:
    client.create_stream(name)
    words = command.replace("STREAM", f"{name}-2").replace("QUEUE", name).replace("KNOWN", name)
    result = invoke(*words.split(), url=service_url)
    assert (result.exit_code, result.stdout) == (REFUSED, "")
    assert "404" in result.stderr


def test_lines_for_an_unknown_stream_are_refused(
    service_url: str, name: str, client: Client
) -> None:
    result = invoke("put", name, url=service_url, said='["a", null, 1]\n')
    assert (result.exit_code, result.stdout) == (REFUSED, "0 waiting, 0 superseded\n")
    assert "404" in result.stderr
    with pytest.raises(NotFoundError):
        client.snapshot(name)


# The option of `version_option`


@pytest.mark.parametrize("module", ["api", "simulator", "datasets", "upstream"])
def test_every_command_line_shows_its_version(module: str) -> None:
    words = ["-m", module, "--version"]
    if module.startswith("upstream"):
        words = ["-c", "from upstream.cli import main; main()", "--version"]
    command = [sys.executable, *words]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert run.stdout == f"UpStream {upstream.__version__}\n"
    assert run.stderr == ""
