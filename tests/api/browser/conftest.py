"""One browser and one service for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.api.browser.running_service import running_service
from tests.api.browser.visit import CHROMIUM, PATIENCE, Visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def service() -> Iterator[str]:
    """Return the address of a service with the demo."""
    with running_service() as address:
        yield address


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


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Return a visit at the end of which nothing may have gone wrong."""
    visit = Visit(browser)
    yield visit
    visit.context.close()
    assert visit.errors == []
    assert len(visit.hosts) <= 1
