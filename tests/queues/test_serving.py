"""Several updates are served in one call, and an error loses none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from upstream.queues.serving import serve_many


def serving(objects: Iterable[int | Exception | None]) -> Callable[[], int | None]:
    """Return a function that serves these objects, or raises them, one by one."""
    left = iter(objects)

    def serve() -> int | None:
        one = next(left)
        if isinstance(one, Exception):
            raise one
        return one

    return serve


@pytest.mark.parametrize(
    ("limit", "served"), [(0, []), (2, [1, 2]), (9, [1, 2, 3])], ids=["none", "some", "all"]
)
def test_objects_are_served_until_none_is_left_or_the_limit_is_reached(
    limit: int, served: list[int]
) -> None:
    assert serve_many(serving([1, 2, 3, None]), limit) == served


def test_an_error_after_an_object_is_left_to_the_next_call() -> None:
    serve = serving([1, ValueError("first"), ValueError("second")])
    assert serve_many(serve, 9) == [1]
    with pytest.raises(ValueError, match="second"):
        serve_many(serve, 9)
