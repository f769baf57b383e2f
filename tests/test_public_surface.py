"""What is public on each public class is what is written down, and it explains itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

import upstream

SURFACE = Path(__file__).parent / "public_surface.txt"
CLASSES = {
    name: value
    for name in upstream.__all__
    if inspect.isclass(value := getattr(upstream, name)) and not issubclass(value, BaseException)
}
OF_TUPLES = {"count", "index"}
OF_INTEGERS = {name for name in dir(int) if not name.startswith("_")}


def surface_of(kind: type) -> set[str]:
    """Return the public names of a class, without those of the built-in type that it is."""
    inherited = OF_TUPLES if issubclass(kind, tuple) else set()
    inherited |= OF_INTEGERS if issubclass(kind, int) else set()
    return {name for name in dir(kind) if not name.startswith("_")} - inherited


def written_down() -> dict[str, set[str]]:
    """Return the public names of each class, as the file has them."""
    surfaces: dict[str, set[str]] = {}
    kind = ""
    for line in SURFACE.read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            kind = line.strip()
            surfaces[kind] = set()
        else:
            surfaces[kind].update(line.split())
    return surfaces


def test_every_public_class_is_written_down() -> None:
    assert set(written_down()) == set(CLASSES)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_class_has_exactly_the_public_names_that_are_written_down(name: str) -> None:
    assert surface_of(CLASSES[name]) == written_down()[name]


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_public_method_has_a_signature_and_a_docstring(name: str) -> None:
    kind = CLASSES[name]
    for attribute in sorted(surface_of(kind)):
        value = inspect.getattr_static(kind, attribute)
        value = getattr(value, "__func__", value)  # of class methods and static methods
        if isinstance(value, property):
            value = value.fget
        elif not callable(value) or inspect.isclass(value):
            continue  # a field; its class explains it
        assert inspect.getdoc(value), f"{name}.{attribute} has no docstring"
        assert inspect.signature(value) is not None
        assert inspect.isfunction(value), f"{name}.{attribute} is not what `help` can show"


def test_help_shows_how_to_enqueue() -> None:
    text = str(inspect.signature(upstream.UpdateQueue.enqueue))
    assert "key" in text
    assert "time" in text
    assert "older than the newest" in (inspect.getdoc(upstream.UpdateQueue.enqueue) or "")
    assert "memory" in (inspect.getdoc(upstream.UpdateQueue) or "")


WINDOWS = upstream.WindowSpecification(2, 2)
AnyQueue = upstream.StreamQueue | upstream.WindowQueue | upstream.AppendWindowQueue
QUEUES: dict[str, Callable[[upstream.Clock], AnyQueue]] = {
    "UpdateQueue in-place: 1 waiting, queue staleness 1 s": lambda clock: upstream.UpdateQueue(
        upstream.InPlaceScheduler(), clock=clock
    ),
    "AppendQueue: 1 waiting, queue staleness 1 s": lambda clock: upstream.AppendQueue(clock=clock),
    "AdaptiveQueue appending, index: 1 waiting": lambda clock: upstream.AdaptiveQueue(clock=clock),
    "WindowQueue in-place of WindowSpecification": lambda clock: upstream.WindowQueue(
        WINDOWS, upstream.LazyWindowBuffer, upstream.InPlaceScheduler(), clock=clock
    ),
    "AppendWindowQueue of WindowSpecification": lambda clock: upstream.AppendWindowQueue(
        WINDOWS, clock=clock
    ),
}


@pytest.mark.parametrize("text", QUEUES)
def test_a_queue_is_represented_by_kind_policy_keys_and_staleness(text: str) -> None:
    clock = upstream.ManualClock()
    queue = QUEUES[text](clock)
    queue.enqueue("IBM", 24.0, 0.0)
    clock.advance(2.0)
    assert repr(queue).startswith(f"<{text}")
    assert "application staleness" in repr(queue)
    queue.close()
    assert repr(queue).startswith(f"<closed {type(queue).__name__}: 1 ")


def test_a_stream_is_represented_by_its_keys_and_queues() -> None:
    stream = upstream.Stream(clock=upstream.ManualClock())
    stream.attach(upstream.AppendQueue())
    stream.enqueue("IBM", 24.0)
    assert repr(stream) == "<Stream: 1 keys, 1 queues>"
    stream.close()
    assert repr(stream) == "<closed Stream: 0 keys, 0 queues>"
