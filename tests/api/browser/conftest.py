"""One browser, one page in it and two services for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.api.browser.visit import CHROMIUM, DEMO, PATIENCE, Visit
from tests.server_process import running
from upstream.client import Client

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def service() -> Iterator[str]:
    """Return the address of a service with the demo."""
    with running(DEMO) as server:
        yield server.url


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Return a browser, whose event loop ends with the tests of this package."""
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as started:
        options = ["--no-sandbox", "--disable-gpu"]  # no graphics card to imitate
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=options)
        expect.set_options(timeout=PATIENCE)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def shared_visit(browser: Browser) -> Iterator[Visit]:
    """Return the visit that tests share: loading the plot library anew takes most of the time."""
    visit = Visit(browser)
    yield visit
    visit.context.close()


@pytest.fixture
def visit(shared_visit: Visit) -> Iterator[Visit]:
    """Return a visit at the end of which nothing may have gone wrong."""
    yield shared_visit
    shared_visit.leave()


@pytest.fixture(scope="package")
def service_for_queues() -> Iterator[str]:
    """Return the address of a service without the demo, for `empty_service`."""
    with running() as server:
        yield server.url


@pytest.fixture
def empty_service(service_for_queues: str) -> Iterator[str]:
    """Return the address of a service with nothing in it."""
    yield service_for_queues
    with Client(service_for_queues) as client:
        for stream in client.streams():
            client.drop_stream(stream.name)
