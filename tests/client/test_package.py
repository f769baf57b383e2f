"""The package: what it offers by name, and what it needs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from typing import is_typeddict

import pytest

from upstream import client
from upstream.client import (
    AnswerNotUnderstoodError,
    AsyncClient,
    AsyncFeed,
    AsyncWatch,
    Client,
    Feed,
    OutcomeUnknownError,
    QueueOptions,
    RetryPolicy,
    ServiceUnreachableError,
    StreamOptions,
    Watch,
)
from upstream.extras import install_command

PAIRS = [(Client, AsyncClient), (Feed, AsyncFeed), (Watch, AsyncWatch)]

CLIENT = """
    call close consume create_queue create_stream delete deliver dequeue drop_queue drop_stream feed
    get put put_body put_columns put_many put_table queue queues read reset_key snapshot staleness
    statistics stream streams watch
"""
FEED = "counts flush put unconfirmed"
WATCH = "close messages superseded"
REFUSED = "detail is_passing members problem status title"
PUBLIC = {
    "AnswerNotUnderstoodError": "is_passing reason status url",
    "ArrivalRates": "arrival keys",
    "AsyncClient": CLIENT,
    "AsyncFeed": FEED,
    "AsyncWatch": WATCH,
    "Client": CLIENT,
    "ClientClosedError": "",
    "ConflictError": REFUSED,
    "Counters": """
        arrived delivered dequeued expired forgotten in_process keys late rejected returned shed
        superseded switches taken_as_delivered tuples waiting windows
    """,
    "Counts": "late outside plus rejected rejections superseded waiting",
    "Delivered": "delivered plus unknown",
    "DroppedQueue": "name statistics",
    "DroppedStream": "name queues",
    "Feed": FEED,
    "InvalidRequestError": REFUSED,
    "KeyStaleness": """
        application_staleness key queue_staleness rate stale_seconds waiting_seconds
    """,
    "NotFoundError": REFUSED,
    "OutcomeUnknownError": "is_passing seconds updates",
    "QueueOptions": """
        capacity keep_for_dequeue kind lease_seconds longest_wait processing_cost scheduler shedding
        snapshot stream time_to_live weights window
    """,
    "QueueView": """
        capacity in_process keep_for_dequeue kind lease_seconds longest_wait name processing_cost
        scheduler serves shedding snapshot stream subscribers time_to_live waiting weights window
    """,
    "RankStaleness": "application_staleness queue_staleness rank rate",
    "ReceivedUpdate": "is_deleted key lease time value",
    "Rejection": "index reason",
    "RequestRefusedError": REFUSED,
    "RetryPolicy": """
        delay delay_asked_for first_delay is_worth_it longest_delay longest_total longest_wait
        retries
    """,
    "ServiceError": "is_passing",
    "ServiceFailedError": REFUSED,
    "ServiceUnavailableError": f"{REFUSED} retry_after",
    "ServiceUnreachableError": "attempts is_passing may_have_arrived reason url",
    "Staleness": """
        application_is_warming_up application_lower_bound application_percentiles application_ratio
        application_staleness bound cost is_warming_up lower_bound percentiles
        present_application_staleness present_queue_staleness queue_staleness ranks rates ratio
        stalest_keys worst_key
    """,
    "StreamOptions": "forget_after most_ahead pool_bytes retain",
    "StreamView": """
        arrived forget_after keys late most_ahead name pool_bytes queues rejected retain run
        subscribers too_far_ahead
    """,
    "TooLargeError": REFUSED,
    "Watch": WATCH,
    "WatchMessage": "id is_reset superseded updates",
}
"""The public names of every public class. A new one is a promise to users: add it here."""

MADE = {
    "AnswerNotUnderstoodError": AnswerNotUnderstoodError("http://a", 200, "x"),
    "OutcomeUnknownError": OutcomeUnknownError(1, 2.0),
    "ServiceUnreachableError": ServiceUnreachableError("http://a", "x", 1),
    **{
        name: getattr(client, name)(404, "x") for name in PUBLIC if PUBLIC[name].startswith(REFUSED)
    },
}
"""Exceptions whose attributes are on the object and not on the class."""


def names_of(name: str) -> set[str]:
    """Return the public names of a class and, of an exception, of its objects."""
    found = getattr(client, name)
    if is_typeddict(found):
        return set(found.__annotations__)
    inherited = {each for each in dir(OSError) if each[0] != "_"} | {"args"}
    names = {each for each in {*dir(found), *dir(MADE.get(name))} if each[0] != "_"}
    return names - inherited if issubclass(found, Exception) else names


def signature_of(method: Callable[..., object]) -> list[tuple[str, object, object]]:
    """Return the name, kind and default of each parameter."""
    parameters = inspect.signature(method).parameters.values()
    return [(each.name, each.kind, each.default) for each in parameters]


def methods_of(kind: type) -> dict[str, Callable[..., object]]:
    """Return the public methods of a class by name."""
    found = inspect.getmembers(kind, inspect.isfunction)
    return {name: method for name, method in found if name[0] != "_"}


def test_the_list_has_every_class() -> None:
    assert {name for name in client.__all__ if inspect.isclass(getattr(client, name))} == set(
        PUBLIC
    )


@pytest.mark.parametrize("name", PUBLIC)
def test_a_class_has_the_public_names_that_are_written_down(name: str) -> None:
    assert names_of(name) == set(PUBLIC[name].split())


@pytest.mark.parametrize(("blocking", "awaited"), PAIRS)
def test_both_kinds_have_the_same_methods_parameters_and_docstrings(
    blocking: type, awaited: type
) -> None:
    methods, others = methods_of(blocking), methods_of(awaited)
    assert methods.keys() == others.keys()
    for name, method in methods.items():
        assert signature_of(method) == signature_of(others[name]), name
        told = inspect.getdoc(others[name]) or ""
        for waiting in ("async ", "await "):
            told = told.replace(waiting, "")
        assert inspect.getdoc(method) == told.replace("other tasks", "other threads"), name


def test_every_parameter_of_a_client_is_explained() -> None:
    told = inspect.getdoc(Client) or ""
    for parameter in inspect.signature(Client).parameters:
        assert f"`{parameter}`" in told


@pytest.mark.parametrize("options", [StreamOptions, QueueOptions])
def test_help_lists_each_option_with_its_meaning(options: type) -> None:
    listed = re.findall(r"^- `(\w+)`: \S", inspect.getdoc(options) or "", re.MULTILINE)
    assert listed == list(options.__annotations__)


def test_help_lists_each_parameter_of_the_retries() -> None:
    listed = re.findall(r"^- `(\w+)`: \S", inspect.getdoc(RetryPolicy) or "", re.MULTILINE)
    assert listed == list(inspect.signature(RetryPolicy).parameters)


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )


def test_all_names_are_there_and_in_order() -> None:
    assert sorted(set(client.__all__)) == client.__all__
    assert all(hasattr(client, name) for name in client.__all__)


@pytest.mark.parametrize("missing", ["httpx2", "msgspec", "websockets"])
def test_a_missing_extra_is_named(missing: str) -> None:
    found = run(f"import sys; sys.modules[{missing!r}] = None; import upstream.client")
    assert f"upstream.client needs {missing}" in found.stderr
    assert install_command("client") in found.stderr


def test_a_missing_module_of_the_package_is_not_a_missing_extra() -> None:
    found = run("import sys; sys.modules['upstream.client.feed'] = None; import upstream.client")
    assert "pip install" not in found.stderr
    assert "upstream.client.feed" in found.stderr


def test_tables_need_arrow_and_nothing_else_does() -> None:
    found = run(
        "import sys; sys.modules['pyarrow'] = None\n"
        "from upstream.client import Client\n"
        "Client('http://127.0.0.1:1').put_table('s', [])"
    )
    assert "install the extra `client`" in found.stderr


def test_the_library_does_not_import_its_client() -> None:
    found = run("import sys, upstream; print(sorted(m for m in sys.modules if 'client' in m))")
    assert "upstream.client" not in found.stdout
