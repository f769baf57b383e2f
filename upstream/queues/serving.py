"""Serving several updates, or tuples of windows, in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Served = TypeVar("Served")


def serve_many(serve: Callable[[], Served | None], limit: int) -> list[Served]:
    """Return what `serve` returns until it returns None, at most `limit` objects.

    If `serve` raises, for example because of a codec, the objects before are returned, and the next
    call raises the error again. An error at the first object is raised at once.
    """
    served: list[Served] = []
    while len(served) < limit:
        try:
            one = serve()
        except Exception:
            if served:
                break
            raise
        if one is None:
            break
        served.append(one)
    return served
