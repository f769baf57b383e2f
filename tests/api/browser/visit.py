"""A visit to the page in Chromium, which records the mistakes of the page."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
DEMO: Final = ("-m", "api", "--port", "0")
"""What runs the service with the demo, on a free port."""
PATIENCE: Final = 20_000
"""Milliseconds; a shared machine is slow at times."""
BETWEEN_VISITS: Final = "/livez"
"""What is shown then: of the same site, so that the process with the compiled scripts stays."""
NEEDS_CHROMIUM: Final = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, which is not installed"),
]


class Visit:
    """A page, and what it did that it should not do."""

    def __init__(self, browser: Browser, **context: Any) -> None:
        self.context = browser.new_context(
            **({"viewport": {"width": 1280, "height": 900}} | context)
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self.page.on("dialog", lambda dialog: self.errors.append(dialog.message))

    def _on_console(self, message: Any) -> None:
        # Chromium asks for it where a page names no icon, as `BETWEEN_VISITS` does not.
        is_icon = message.location["url"].endswith("/favicon.ico")
        if message.type in {"error", "warning"} and not is_icon:
            self.errors.append(message.text)

    def leave(self) -> None:
        """Forget the page and what it stored; nothing may have gone wrong since the last time."""
        errors, hosts = self.errors[:], self.hosts.copy()
        if self.page.url.startswith("http"):
            self.page.evaluate("localStorage.clear()")
            self.page.goto(urljoin(self.page.url, BETWEEN_VISITS))
            self.page.evaluate("0")  # messages of the page that was left have come by then
        self.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
        self.errors.clear()
        self.hosts.clear()
        assert not errors, errors
        assert len(hosts) <= 1, hosts

    def open(self, address: str, path: str = "/") -> Page:
        """Open the page and wait until it is live."""
        from playwright.sync_api import expect

        self.page.goto(address + path)
        expect(self.page.locator("#connection")).to_have_attribute("data-state", "live")
        assert self.page.locator("link[rel=icon]").count() == 1
        return self.page
