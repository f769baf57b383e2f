"""The console command in a process of its own: pipes, signals, terminals, missing extras."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest

from tests.server_process import running
from upstream.client import Client
from upstream.extras import install_command

from .console import PROGRAM, REFUSED, UNREACHABLE

PATIENCE_SECONDS = 60.0
INTERRUPTED = 130
TERMINATED = 143
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

pytestmark = pytest.mark.slow


@pytest.fixture
def queue(name: str, client: Client) -> str:
    """Return the name of a queue in which three keys wait."""
    client.create_queue(name)
    client.put_many(name, [("a", 1), ("b", 2), ("[red]", "x")])
    return name


@dataclass
class Process:
    """A console command, and what it has written to its terminal or pipe."""

    popen: subprocess.Popen[bytes]
    output: int
    written: str = ""
    deadline: threading.Timer = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = threading.Timer(PATIENCE_SECONDS, self.popen.kill)
        self.deadline.start()

    def read_until(self, text: str) -> str:
        """Read on until this was written, and return all that was."""
        while text not in self.written:
            assert self._read(), f"it ended before it wrote {text!r}: {self.written!r}"
        return self.written

    def read_all(self) -> str:
        """Read to the end, and return all that was written."""
        while self._read():
            pass
        return self.written

    def interrupt(self) -> int:
        """Press Ctrl-C, and return the exit code."""
        self.popen.send_signal(signal.SIGINT)
        self.read_all()
        return self.popen.wait(PATIENCE_SECONDS)

    def _read(self) -> bool:
        select.select([self.output], [], [], PATIENCE_SECONDS)
        try:
            data = os.read(self.output, 1 << 16)
        except OSError:  # so a terminal ends
            return False
        self.written += ESCAPES.sub("", data.decode())
        return bool(data)


@contextmanager
def piped(url: str, *arguments: str) -> Iterator[Process]:
    """Run a command whose both outputs are one pipe."""
    with started(url, arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as popen:
        assert popen.stdout is not None
        with ended(Process(popen, popen.stdout.fileno())) as process:
            yield process


@contextmanager
def in_terminal(url: str, *arguments: str, columns: int = 120) -> Iterator[Process]:
    """Run a command in a terminal of 16 lines."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 16, columns, 0, 0))
    try:
        with started(url, arguments, stdin=theirs, stdout=theirs, stderr=theirs) as popen:
            os.close(theirs)
            with ended(Process(popen, ours)) as process:
                yield process
    finally:
        os.close(ours)


@contextmanager
def started(
    url: str, arguments: tuple[str, ...], *, stdin: int | None = None, stdout: int, stderr: int
) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {"UPSTREAM_URL": url, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        env=environment,
        start_new_session=True,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
    ) as popen:
        yield popen


@contextmanager
def ended(process: Process) -> Iterator[Process]:
    try:
        yield process
    finally:
        process.deadline.cancel()
        with suppress(ProcessLookupError):
            process.popen.kill()


def test_ctrl_c_ends_quietly(service_url: str, queue: str) -> None:
    with piped(service_url, "tail", queue) as process:
        process.read_until('"key":"b"')
        assert process.interrupt() == INTERRUPTED
    assert "Traceback" not in process.written
    assert len(process.written.splitlines()) == 3


@contextmanager
def with_pipes(url: str, *arguments: str, lines: bytes = b"") -> Iterator[subprocess.Popen[bytes]]:
    """Run a command with a pipe for each standard file, after `lines` were written to it."""
    command = [*PROGRAM, "--server", url, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as popen:
        assert popen.stdin is not None
        popen.stdin.write(lines)
        popen.stdin.flush()
        yield popen


def await_arrivals(popen: subprocess.Popen[bytes], client: Client, stream: str, count: int) -> None:
    """Wait until this many updates have arrived in a stream while the command runs."""
    while client.stream(stream).arrived < count:
        assert popen.poll() is None


def test_a_closed_reader_ends_the_command_quietly(
    service_url: str, queue: str, client: Client
) -> None:
    with with_pipes(service_url, "tail", queue) as popen:
        assert popen.stdout is not None
        assert popen.stderr is not None
        popen.stdout.readline()
        popen.stdout.close()
        for number in range(1_000):
            client.put(queue, "a", number)
            if popen.poll() is not None:
                break
        assert popen.wait(PATIENCE_SECONDS) == REFUSED
        assert popen.stderr.read() == b""


def test_lines_are_sent_although_the_pipe_stays_open(
    service_url: str, queue: str, client: Client
) -> None:
    with (
        client.watch(queue, snapshot=False, keys=["from pipe"]) as watch,
        with_pipes(service_url, "put", queue, lines=b'["from pipe", null, 7]\n') as popen,
    ):
        assert next(iter(watch)).value == 7
        output, _ = popen.communicate(timeout=PATIENCE_SECONDS)
    assert output == b"1 waiting, 0 superseded\n"


def test_the_updates_that_were_sent_are_reported_if_the_service_ends(name: str) -> None:
    lines = b'["a", null, 1]\n["b", null, 1]\n'
    with running() as service, Client(service.url) as client:
        client.create_queue(name)
        with with_pipes(service.url, "put", name, lines=lines) as popen:
            await_arrivals(popen, client, name, 2)
            service.process.terminate()
            service.process.wait(PATIENCE_SECONDS)
            output, errors = popen.communicate(b'["c", null, 1]\n', timeout=PATIENCE_SECONDS)
    assert popen.returncode == UNREACHABLE
    assert output == b"2 waiting, 0 superseded\n"
    assert errors.startswith(b"1 update not confirmed\nError: the service at")


def test_ctrl_c_sends_the_lines_read_so_far_and_reports_them(
    service_url: str, queue: str, client: Client
) -> None:
    with with_pipes(service_url, "put", queue, lines=b'["from pipe", null, 7]\n') as popen:
        await_arrivals(popen, client, queue, 4)
        popen.send_signal(signal.SIGINT)
        assert popen.stdout is not None
        assert popen.stdout.read() == b"1 waiting, 0 superseded\n"
        assert popen.wait(PATIENCE_SECONDS) == INTERRUPTED


def test_a_full_disk_is_reported(service_url: str, queue: str) -> None:
    for arguments in (["ls"], ["get", queue]):
        with open("/dev/full", "w") as full:  # noqa: PTH123
            run = subprocess.run(
                [*PROGRAM, "--server", service_url, *arguments],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert run.returncode == REFUSED
        assert run.stderr.startswith("Error: [Errno 28]")
        assert len(run.stderr.splitlines()) == 1


def test_standard_files_may_be_closed(service_url: str, queue: str, client: Client) -> None:
    for closed, arguments in (("<&-", f"put {queue}"), (">&-", "ls"), ("2>&-", "ls --nonsense")):
        command = f'exec "$@" {arguments} {closed}'
        run = subprocess.run(
            ["/bin/sh", "-c", command, "sh", *PROGRAM, "--server", service_url],
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode in {0, 2}, run
        assert "Traceback" not in run.stderr


def test_a_bench_that_is_terminated_removes_its_stream(service_url: str, client: Client) -> None:
    with piped(service_url, "bench", "--updates", "1000000", "--keys", "10") as process:
        while not any(each.name.startswith("bench-") for each in client.streams()):
            assert process.popen.poll() is None
        process.popen.send_signal(signal.SIGTERM)
        assert process.read_all() == ""
        assert process.popen.wait(PATIENCE_SECONDS) == TERMINATED
    assert not any(each.name.startswith("bench-") for each in client.streams())


def test_a_table_in_a_narrow_terminal_overflows_and_omits_nothing(
    service_url: str, queue: str
) -> None:
    with in_terminal(service_url, "ls", columns=30) as process:
        text = process.read_all()
        assert process.popen.wait(PATIENCE_SECONDS) == 0
    header, *_ = text.splitlines()
    assert header.split() == [
        *("stream", "keys", "arrived", "late", "rejected", "watched", "by", "queues"),
    ]
    assert queue in text
    assert "\u2026" not in text


def test_watch_draws_a_table_in_a_terminal(service_url: str, queue: str, client: Client) -> None:
    with in_terminal(service_url, "watch", queue) as process:
        process.read_until(f"{queue}: 3 keys")
        client.put(queue, "a", "news")
        process.read_until('"news"')
        assert process.interrupt() == INTERRUPTED
    assert '"[red]"' in process.written
    assert "Traceback" not in process.written


def test_top_draws_a_table_of_the_queues_that_fit_in_a_terminal() -> None:
    with running() as service, Client(service.url) as client:
        for number in range(30):
            client.create_queue(f"q{number}", stream="s")
        client.create_queue("zz", stream="s")
        client.put("s", "a", 1)
        for number in range(30):
            client.dequeue(f"q{number}")
        with in_terminal(service.url, "top", "--interval", "0.05", "--count", "3") as process:
            text = process.read_all()
            assert process.popen.wait(PATIENCE_SECONDS) == 0
    assert text.count("zz") >= 3
    assert "q0" in text
    assert "q29" not in text


def test_progress_is_shown_in_a_terminal(service_url: str) -> None:
    with in_terminal(service_url, "bench", "--updates", "200", "--keys", "10") as process:
        text = process.read_all()
        assert process.popen.wait(PATIENCE_SECONDS) == 0
    assert "200/200" in text
    assert "10 keys, batches of 1,000, 1 connection" in text


@pytest.mark.parametrize(
    ("typed", "code"),
    [(b"n\n", REFUSED), (b"", INTERRUPTED), (b"y\n", 0)],
    ids=["no", "ctrl-c", "yes"],
)
def test_rm_asks_a_question_in_a_terminal(
    service_url: str, queue: str, client: Client, typed: bytes, code: int
) -> None:
    with in_terminal(service_url, "rm", "stream", queue) as process:
        process.read_until("[y/N]")
        if typed:
            os.write(process.output, typed)
            process.read_all()
            assert process.popen.wait(PATIENCE_SECONDS) == code
        else:
            assert process.interrupt() == code
    assert (queue in {each.name for each in client.streams()}) == (code != 0)


def run_without(module: str) -> subprocess.CompletedProcess[str]:
    """Run `upstream ls` where a module cannot be imported."""
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from upstream.cli import main\nsys.argv = ['upstream', 'ls']\nmain()"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("missing", ["typer", "rich", "httpx2", "websockets", "msgspec"])
def test_a_missing_extra_is_named(missing: str) -> None:
    run = run_without(missing)
    assert run.returncode == 1
    assert run.stdout == ""
    assert missing in run.stderr
    assert install_command("client") in run.stderr
    assert "Traceback" not in run.stderr


def test_a_missing_module_of_the_package_is_not_reported_as_a_missing_extra() -> None:
    run = run_without("upstream.cli.bench")
    assert "Traceback" in run.stderr
    assert "upstream.cli.bench" in run.stderr
