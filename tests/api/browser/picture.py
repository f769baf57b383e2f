"""Take the README's picture: the page, after the demo has run for a minute. `make picture`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.api.browser.visit import CHROMIUM, DEMO
from tests.server_process import running

PICTURE: Final = Path(__file__).resolve().parents[3] / "api" / "page" / "picture.png"
WIDTH: Final = 1_200
SECONDS: Final = 60


def take_picture(path: Path, *, seconds: float) -> None:
    """Write the top of the page to a PNG file, down to the end of the first chart."""
    from playwright.sync_api import sync_playwright

    with running(DEMO) as server, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
        page.goto(server.url)
        page.wait_for_timeout(seconds * 1_000)
        chart = page.locator("figure", has=page.locator("#staleness-chart")).bounding_box()
        assert chart is not None, "the page has no chart"
        height = chart["y"] + chart["height"] + 16
        clip = {"x": 0.0, "y": 0.0, "width": float(WIDTH), "height": height}
        page.screenshot(path=path, clip=clip)  # type: ignore[arg-type]  # it is a FloatRect
        browser.close()


if __name__ == "__main__":
    take_picture(PICTURE, seconds=SECONDS)
