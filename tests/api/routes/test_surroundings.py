"""Routes find the service of the application that they are in."""

from __future__ import annotations

from tests.api.serving import serving


def test_two_applications_have_two_services() -> None:
    with serving() as first, serving() as second:
        first.put("/v1/streams/trades")
        assert len(first.get("/v1/streams").json()["streams"]) == 1
        assert second.get("/v1/streams").json()["streams"] == []
